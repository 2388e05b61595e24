//! TLS towards providers and proxies. Where a provider has no certificates of its own, those authorities are trusted that
//! the system trusts.

use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::{fmt, io};

use rustls::pki_types::ServerName;
use rustls::sign::SingleCertAndKey;
use rustls::{AlertDescription, CertificateError, ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::{Error, ErrorKind, Result};
use crate::http::{Address, Authorities, Identity};

/// TLS as one provider has it. Two of them are equal if they are the same one: connections are kept apart by it.
#[derive(Clone)]
pub struct Tls(Arc<ClientConfig>);

impl Tls {
    /// Trusts these authorities, or those of the system, and shows this identity where a server asks for one.
    pub fn new(
        authorities: Option<Authorities>,
        identity: Option<Identity>,
    ) -> Result<Self, String> {
        let roots = match authorities {
            Some(Authorities(roots)) => roots,
            None => system_roots()?,
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots);
        let config = match identity {
            Some(Identity(key)) => {
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
            }
            None => builder.with_no_client_auth(),
        };
        Ok(Self(Arc::new(config)))
    }
}

/// The TLS of whoever has none of its own.
static SHARED: OnceLock<Result<Tls, String>> = OnceLock::new();

/// Reading the system's certificates takes milliseconds and a megabyte: done once, when first needed.
static SYSTEM_ROOTS: OnceLock<Result<Arc<RootCertStore>, String>> = OnceLock::new();

/// No file of certificate authorities is larger.
const AUTHORITIES_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) async fn handshake<S>(address: &Address, stream: S) -> Result<TlsStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let host = address.host();
    let tls = match address.tls() {
        Some(tls) => tls,
        None => {
            let shared = SHARED.get_or_init(|| Tls::new(None, None));
            shared.as_ref().map_err(|text| failed(host, text))?
        }
    };
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| failed(host, "the host is no valid name for a certificate"))?;
    let connector = TlsConnector::from(Arc::clone(&tls.0));
    connector.connect(name, stream).await.map_err(|error| failed(host, &reason(&error)))
}

/// What went wrong on a connection, in words that help where it is about certificates or the other side speaks no TLS at
/// all.
pub(super) fn reason(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    let text = match cause {
        Some(rustls::Error::InvalidMessage(_)) => {
            return "it does not speak TLS; perhaps its URL begins with http://".to_owned();
        }
        Some(rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        )) => "its certificate is not signed by an authority that is trusted for it",
        Some(rustls::Error::AlertReceived(AlertDescription::CertificateRequired)) => {
            "it requires a client certificate"
        }
        Some(rustls::Error::AlertReceived(
            AlertDescription::BadCertificate | AlertDescription::UnknownCA,
        )) => "it does not accept the client certificate",
        _ => return error.to_string(),
    };
    format!("{text} ({error})")
}

fn system_roots() -> Result<Arc<RootCertStore>, String> {
    SYSTEM_ROOTS.get_or_init(|| read_system_roots().map(Arc::new)).clone()
}

fn read_system_roots() -> Result<RootCertStore, String> {
    if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
        check_authorities(Path::new(&file))?;
    }
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    match roots.is_empty() {
        true => Err("this system has no certificate authorities; install its ca-certificates \
                     package or set SSL_CERT_FILE"
            .into()),
        false => Ok(roots),
    }
}

/// Refuses what would be read without an end, in a thread that serves others too. What is not there at all is for the
/// reader to say.
fn check_authorities(file: &Path) -> Result<(), String> {
    match std::fs::metadata(file) {
        Ok(found) if !found.is_file() => {
            Err("SSL_CERT_FILE names something that is no file".into())
        }
        Ok(found) if found.len() > AUTHORITIES_BYTES_MAX => {
            Err("SSL_CERT_FILE names a file of more than 64 MiB".into())
        }
        _ => Ok(()),
    }
}

fn failed(host: &str, detail: &str) -> Error {
    Error::new(ErrorKind::Connect, format!("no TLS connection to {host}: {detail}"))
}

impl PartialEq for Tls {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Tls {}

impl Hash for Tls {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn authorities_are_read_from_files_that_have_an_end() {
        let check = |path: &str| check_authorities(Path::new(path));
        for path in ["/dev/zero", "/dev"] {
            assert!(check(path).unwrap_err().contains("no file"), "{path}");
        }
        assert_eq!(check(env!("CARGO_MANIFEST_PATH")), Ok(()));
        assert_eq!(check("/there/is/nothing"), Ok(()));
    }

    #[tokio::test]
    async fn a_server_without_tls_is_told_from_a_bad_certificate() {
        let (client, mut server) = tokio::io::duplex(4096);
        let answer = b"HTTP/1.1 400 Bad Request\r\n\r\n";
        tokio::io::AsyncWriteExt::write_all(&mut server, answer).await.unwrap();
        let address = Address::of(&"https://llm.example".parse().unwrap()).unwrap();
        let error = handshake(&address, client).await.err().unwrap().to_string();
        assert!(error.starts_with("no TLS connection to llm.example: "), "{error}");
        assert!(error.ends_with("perhaps its URL begins with http://"), "{error}");
    }
}
