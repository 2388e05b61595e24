//! Certificates of a provider's own, as PEM: the authorities to trust there, and what the gateway shows of itself.

use std::fmt;
use std::sync::Arc;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

/// Certificate authorities that are trusted in place of the system's.
#[derive(Clone)]
pub struct Authorities(pub(super) Arc<RootCertStore>);

/// A client's certificate with what leads to its authority, and its private key.
#[derive(Clone)]
pub struct Identity(pub(super) Arc<CertifiedKey>);

/// What of an identity cannot be used, and why, without a word of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityError {
    Certificate(String),
    Key(String),
}

impl Authorities {
    /// Reads all certificates of a PEM text. An error says why it cannot be used.
    pub fn parse(pem: &str) -> Result<Self, String> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(pem)? {
            roots.add(certificate).map_err(|error| error.to_string())?;
        }
        Ok(Self(Arc::new(roots)))
    }
}

impl Identity {
    /// Reads a client's certificate, followed by those between it and its authority, and the key that belongs to it.
    pub fn parse(certificate: &str, key: &str) -> Result<Self, IdentityError> {
        let chain = certificates(certificate).map_err(IdentityError::Certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes())
            .map_err(|_| IdentityError::Key("it has no private key in PEM".to_owned()))?;
        match CertifiedKey::from_der(chain, key, &rustls::crypto::ring::default_provider()) {
            Ok(certified) => Ok(Self(Arc::new(certified))),
            Err(rustls::Error::InconsistentKeys(_)) => {
                Err(IdentityError::Key("its key is not that of the certificate".to_owned()))
            }
            Err(rustls::Error::InvalidCertificate(error)) => {
                Err(IdentityError::Certificate(format!("its certificate is not valid: {error}")))
            }
            Err(error) => Err(IdentityError::Key(error.to_string())),
        }
    }
}

/// The certificates of a PEM text, at least one.
fn certificates(pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem.as_bytes()).collect();
    match found {
        Ok(found) if found.is_empty() => Err("it has no certificate in PEM".to_owned()),
        Ok(found) => Ok(found),
        // What the reader says of it may quote a line.
        Err(_) => Err("it is not valid PEM".to_owned()),
    }
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authorities({})", self.0.len())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Identity")
    }
}
