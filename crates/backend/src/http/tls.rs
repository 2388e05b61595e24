//! TLS towards providers and proxies, trusting the certificate authorities that the system trusts.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::OnceLock;

use rustls::ClientConfig;
use rustls::RootCertStore;
use rustls::pki_types::ServerName;
use tokio::io::AsyncRead;
use tokio::io::AsyncWrite;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;

/// Reading the system's certificates takes milliseconds and a megabyte: done once, when first needed.
static CONFIG: OnceLock<Result<Arc<ClientConfig>, String>> = OnceLock::new();

/// No file of certificate authorities is larger.
const AUTHORITIES_BYTES_MAX: u64 = 64 * 1024 * 1024;

pub(super) async fn handshake<S>(host: &str, stream: S) -> Result<TlsStream<S>>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let config = CONFIG.get_or_init(configure).as_ref().map_err(|text| failed(host, text))?;
    let name = ServerName::try_from(host.to_owned())
        .map_err(|_| failed(host, "the host is no valid name for a certificate"))?;
    let connector = TlsConnector::from(Arc::clone(config));
    connector.connect(name, stream).await.map_err(|error| failed(host, &told(&error)))
}

fn configure() -> Result<Arc<ClientConfig>, String> {
    if let Some(file) = std::env::var_os("SSL_CERT_FILE") {
        check_authorities(Path::new(&file))?;
    }
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    roots.add_parsable_certificates(found.certs);
    if roots.is_empty() {
        return Err("this system has no certificate authorities; install its ca-certificates \
                    package or set SSL_CERT_FILE"
            .into());
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
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

/// What went wrong, in words that help where the other side speaks no TLS at all.
fn told(error: &io::Error) -> String {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>());
    match cause {
        Some(rustls::Error::InvalidMessage(_)) => {
            "it does not speak TLS; perhaps its URL begins with http://".to_owned()
        }
        _ => error.to_string(),
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
        let error = handshake("llm.example", client).await.err().unwrap().to_string();
        assert!(error.starts_with("no TLS connection to llm.example: "), "{error}");
        assert!(error.ends_with("perhaps its URL begins with http://"), "{error}");
    }
}
