//! The URL of a PostgreSQL server, and what it says of TLS beyond what the client library reads.

use std::fmt;
use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use crate::error::{Error, Kind, Result};

pub(super) struct Address {
    pub(super) config: Config,
    pub(super) trust: Trust,
}

/// Whose certificate the server must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Anybody's, where TLS itself is not asked for: whoever could forge it could as well refuse TLS.
    Anybody,
    /// One that the system's authorities vouch for.
    System,
    /// One that the authorities of this file vouch for.
    File(PathBuf),
}

impl Address {
    pub(super) fn parse(url: &str) -> Result<Self> {
        let (base, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut roots, mut rest) = ("prefer", None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = value,
                Some(("sslrootcert", value)) => roots = Some(PathBuf::from(decoded(value))),
                _ => rest.push(pair.to_owned()),
            }
        }
        rest.push(format!("sslmode={}", known_mode(mode)?));
        let config = format!("{base}?{}", rest.join("&")).parse::<Config>();
        let mut config = config.map_err(|_| malformed())?;
        if config.get_application_name().is_none() {
            config.application_name("sabir");
        }
        let trust = match roots {
            Some(file) => Trust::File(file),
            None if mode == "prefer" => Trust::Anybody,
            None => Trust::System,
        };
        Ok(Self { config, trust })
    }

    /// The servers and the database, without user, password and options.
    pub(super) fn shown(&self) -> String {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(folder) => folder.display().to_string(),
        });
        let ports = self.config.get_ports();
        let port = |index: usize| ports.get(index).or_else(|| ports.first());
        let servers = hosts.enumerate().map(|(index, host)| match port(index) {
            Some(port) => format!("{host}:{port}"),
            None => host,
        });
        let servers = servers.collect::<Vec<_>>().join(",");
        format!("postgres://{servers}/{}", self.config.get_dbname().unwrap_or_default())
    }
}

/// The library knows three modes. All that demand TLS also demand a certificate that is vouched for.
fn known_mode(mode: &str) -> Result<&'static str> {
    match mode {
        "disable" => Ok("disable"),
        "prefer" => Ok("prefer"),
        "require" | "verify-ca" | "verify-full" => Ok("require"),
        _ => Err(Error::new(
            Kind::Url,
            "`sslmode` in `store.url` must be disable, prefer, require or verify-full",
        )),
    }
}

fn malformed() -> Error {
    let text =
        "`store.url` cannot be read: it must be like postgres://user:password@host:5432/database";
    Error::new(Kind::Url, text)
}

/// A value with its percent signs resolved; what is no such sign stays as it is.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        (rest, _) = match (first, byte) {
            (b'%', Some(byte)) => (&tail[2..], bytes.push(byte)),
            _ => (tail, bytes.push(*first)),
        };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address(…)")
    }
}

#[cfg(test)]
mod tests {
    use tokio_postgres::config::SslMode;

    use super::*;

    fn parse(query: &str) -> Address {
        Address::parse(&format!("postgres://u:hunter2@h:5433/db{query}")).unwrap()
    }

    #[test]
    fn each_mode_says_whose_certificate_is_taken() {
        let modes = [
            ("", SslMode::Prefer, Trust::Anybody),
            ("?sslmode=disable", SslMode::Disable, Trust::System),
            ("?sslmode=require", SslMode::Require, Trust::System),
            ("?sslmode=verify-full&connect_timeout=3", SslMode::Require, Trust::System),
            (
                "?sslrootcert=%2Fa%20b&sslmode=verify-ca",
                SslMode::Require,
                Trust::File("/a b".into()),
            ),
        ];
        for (query, mode, trust) in modes {
            let address = parse(query);
            assert_eq!((address.config.get_ssl_mode(), address.trust), (mode, trust), "{query}");
        }
    }

    #[test]
    fn the_place_is_shown_without_user_and_password() {
        let shown = |url: &str| Address::parse(url).unwrap().shown();
        assert_eq!(parse("?sslmode=disable").shown(), "postgres://h:5433/db");
        assert_eq!(shown("postgresql://h/db?user=u&password=hunter2"), "postgres://h:5432/db");
        assert_eq!(shown("postgres://u:a%40b%3Fc@h1,h2:2/db"), "postgres://h1:5432,h2:2/db");
        assert_eq!(shown("postgres://%2Frun%2Fpg/db"), "postgres:///run/pg:5432/db");
    }

    #[test]
    fn what_cannot_be_read_is_refused_without_its_password() {
        for url in ["postgres://u:hunter2@h:port/db", "postgres://u:hunter2@h/db?sslmode=maybe"] {
            let error = Address::parse(url).unwrap_err();
            assert_eq!(error.kind(), Kind::Url);
            assert!(!error.to_string().contains("hunter2"));
        }
        assert!(!format!("{:?}", parse("")).contains("hunter2"));
    }
}
