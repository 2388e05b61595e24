//! Where a provider listens: what connections are kept apart by.

use std::fmt;
use std::sync::Arc;

use http::Uri;
use http::uri::Scheme;

use crate::http::Tls;

/// A host and port, and whether and how TLS is used there.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Address(Arc<Parts>);

#[derive(Clone, PartialEq, Eq, Hash)]
struct Parts {
    is_tls: bool,
    /// Certificates of its own: a connection that was made with others is not used for it.
    tls: Option<Tls>,
    host: String,
    port: u16,
    /// What the `host` header says: the port only where it is not the scheme's own.
    authority: String,
    /// Connections of different partitions are kept apart.
    partition: u64,
}

impl Address {
    /// The address in a URL; none without a host or with a scheme other than `http` and `https`.
    pub fn of(url: &Uri) -> Option<Self> {
        let is_tls = match url.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return None,
        };
        let parts = Parts::of(url, if is_tls { 443 } else { 80 })?;
        Some(Self(Arc::new(Parts { is_tls, ..parts })))
    }

    /// The address of something that does not speak HTTP, whatever the scheme.
    pub(super) fn of_other(url: &Uri, default_port: u16) -> Option<Self> {
        Parts::of(url, default_port).map(|parts| Self(Arc::new(parts)))
    }

    /// The address with certificates of its own, which matter where TLS is used.
    pub fn with_tls(&self, tls: Tls) -> Self {
        Self(Arc::new(Parts { tls: Some(tls), ..Parts::clone(&self.0) }))
    }

    /// The same address, with connections of its own.
    pub fn in_partition(&self, partition: u64) -> Self {
        Self(Arc::new(Parts { partition, ..Parts::clone(&self.0) }))
    }

    pub fn is_tls(&self) -> bool {
        self.0.is_tls
    }

    pub(super) fn tls(&self) -> Option<&Tls> {
        self.0.tls.as_ref()
    }

    /// The host's name or number, without the brackets of IPv6.
    pub fn host(&self) -> &str {
        &self.0.host
    }

    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// What the `host` header says.
    pub fn authority(&self) -> &str {
        &self.0.authority
    }
}

impl Parts {
    /// What a URL says of an address without TLS.
    fn of(url: &Uri, default_port: u16) -> Option<Self> {
        let host = url.host().filter(|host| !host.is_empty())?;
        let port = url.port_u16().unwrap_or(default_port);
        let authority = match port == default_port {
            true => host.to_owned(),
            false => format!("{host}:{port}"),
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Some(Self { is_tls: false, tls: None, host, port, authority, partition: 0 })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.authority)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}
