//! Providers with certificates of their own: whom the client believes, and what it shows of itself.

use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::*;

/// A certificate authority of the tests, which nobody trusts who is not told to.
struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    fn pem(&self) -> String {
        self.0.pem()
    }

    fn authorities(&self) -> Authorities {
        Authorities::parse(&self.pem()).unwrap()
    }

    /// A certificate for the name and its key, both as PEM.
    fn signed(&self, name: &str) -> (String, String) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap().pem(), key.serialize_pem())
    }

    fn identity(&self, name: &str) -> Identity {
        let (certificate, key) = self.signed(name);
        Identity::parse(&certificate, &key).unwrap()
    }
}

/// How a server of `authority` speaks TLS. With clients of an authority it demands a certificate of that one.
fn acceptor(authority: &Authority, clients: Option<&Authority>) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            roots.add(clients.0.der().clone()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let (certificate, key) = authority.signed("localhost");
    let chain = CertificateDer::pem_slice_iter(certificate.as_bytes()).map(Result::unwrap);
    let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
    TlsAcceptor::from(Arc::new(builder.with_single_cert(chain.collect(), key).unwrap()))
}

/// A server that says on which connection a request came and whether the client showed a certificate.
async fn serve_tls(authority: &Authority, clients: Option<&Authority>) -> Address {
    let acceptor = acceptor(authority, clients);
    let plain = serve(move |number, mut stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut tls) = acceptor.accept(&mut stream).await else {
                // What is left unread would reset the connection, and the alert would be lost.
                let _ = stream.read_to_end(&mut Vec::new()).await;
                return;
            };
            let has_shown = tls.get_ref().1.peer_certificates().is_some();
            let body = format!("{number} {has_shown}");
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            while read_tls_request(&mut tls).await {
                tls.write_all((head.clone() + &body).as_bytes()).await.unwrap();
                tls.flush().await.unwrap();
            }
        }
    })
    .await;
    Address::of(&format!("https://localhost:{}", plain.port()).parse().unwrap()).unwrap()
}

/// Whether a request with an empty body came.
async fn read_tls_request(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> bool {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let Ok(byte) = stream.read_u8().await else { return false };
        request.push(byte);
    }
    true
}

/// What the server says, or why it says nothing.
async fn ask(client: &Client, address: &Address) -> Result<String, String> {
    let answer = send(client, address).await.map_err(|error| error.to_string())?;
    whole(answer.body).await.map_err(|error| error.to_string())
}

#[test]
fn a_providers_own_authority_is_trusted_and_no_other() {
    run(async {
        let (authority, stranger) = (Authority::new("own"), Authority::new("stranger"));
        let address = serve_tls(&authority, None).await;
        let client = Client::default();
        let trusting = |authority: &Authority| {
            address.with_tls(Tls::new(Some(authority.authorities()), None).unwrap())
        };
        assert_eq!(ask(&client, &trusting(&authority)).await.unwrap(), "0 false");
        let namesake = Authority::new("own");
        let expected = "no TLS connection to localhost: its certificate is not signed by an \
                        authority that is trusted for it";
        for (authority, kind) in [(&stranger, "UnknownIssuer"), (&namesake, "BadSignature")] {
            let error = ask(&client, &trusting(authority)).await.unwrap_err();
            assert!(error.contains(expected) && error.contains(kind), "{error}");
        }
        let both = Authorities::parse(&(stranger.pem() + &authority.pem())).unwrap();
        let both = address.with_tls(Tls::new(Some(both), None).unwrap());
        assert_eq!(ask(&client, &both).await.unwrap(), "3 false");
    });
}

#[test]
fn a_client_certificate_is_shown_to_who_demands_it() {
    run(async {
        let (authority, stranger) = (Authority::new("own"), Authority::new("stranger"));
        let address = serve_tls(&authority, Some(&authority)).await;
        let client = Client::default();
        let shown =
            |identity| address.with_tls(Tls::new(Some(authority.authorities()), identity).unwrap());
        let own = shown(Some(authority.identity("gateway")));
        assert_eq!(ask(&client, &own).await.unwrap(), "0 true");
        let error = ask(&client, &shown(None)).await.unwrap_err();
        assert!(error.contains("it requires a client certificate"), "{error}");
        let error = ask(&client, &shown(Some(stranger.identity("gateway")))).await.unwrap_err();
        assert!(error.contains("it does not accept the client certificate"), "{error}");
    });
}

#[test]
fn connections_of_one_identity_are_not_used_for_another() {
    run(async {
        let authority = Authority::new("own");
        let address = serve_tls(&authority, Some(&authority)).await;
        let client = Client::default();
        let named = |name| {
            let identity = Some(authority.identity(name));
            address.with_tls(Tls::new(Some(authority.authorities()), identity).unwrap())
        };
        let (one, other) = (named("one"), named("other"));
        for (address, expected) in
            [(&one, "0 true"), (&one, "0 true"), (&other, "1 true"), (&one, "0 true")]
        {
            assert_eq!(ask(&client, address).await.unwrap(), expected);
        }
    });
}

#[test]
fn what_cannot_be_used_is_named_and_never_quoted() {
    let authority = Authority::new("own");
    let (certificate, key) = authority.signed("gateway");
    let (_, other_key) = authority.signed("gateway");
    let broken = "-----BEGIN CERTIFICATE-----\nc2VzYW1l\n-----END CERTIFICATE-----\n";
    let cut = "-----BEGIN CERTIFICATE-----\nsesame\n";
    for pem in ["", "sesame", &key, cut, broken] {
        let error = Authorities::parse(pem).unwrap_err();
        assert!(!error.is_empty() && !error.contains("sesame"), "{error}");
    }
    let not_that = IdentityError::Key("its key is not that of the certificate".into());
    let none = IdentityError::Key("it has no private key in PEM".into());
    let no_certificate = IdentityError::Certificate("it has no certificate in PEM".into());
    for (certificate, key, expected) in [
        (&*certificate, &*other_key, not_that),
        (&certificate, &certificate, none),
        (&key, &key, no_certificate),
    ] {
        assert_eq!(Identity::parse(certificate, key).unwrap_err(), expected);
    }
    let error = Identity::parse(broken, &key).unwrap_err();
    assert!(matches!(error, IdentityError::Certificate(_)), "{error:?}");
    let both = certificate + &key;
    let identity = Identity::parse(&both, &both).unwrap();
    assert_eq!(format!("{identity:?}"), "Identity");
}
