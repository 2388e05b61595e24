//! Gateway keys: each protocol's clients send theirs in their own way.

use std::borrow::Cow;

use http::HeaderMap;
use http::HeaderName;
use http::Uri;
use http::header::AUTHORIZATION;
use sabir_backend::percent;
use sabir_wire::FaultKind;
use subtle::ConstantTimeEq;

use crate::Gateway;
use crate::failure::Failure;
use crate::failure::Result;

const X_API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

/// Asks for a key that the gateway knows, if it asks for keys at all. A client may send several, in every way that it
/// knows: one of them is enough.
pub(crate) fn identify(gateway: &Gateway, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    if !gateway.config.auth.required {
        return Ok(());
    }
    let mut sent = keys_of(uri, headers).peekable();
    if sent.peek().is_none() {
        let message = "this gateway asks for a key: send it as a bearer token, in x-api-key or in x-goog-api-key";
        return Err(Failure::client(FaultKind::Authentication, message));
    }
    // All are compared, so that the time taken says nothing about which one is near.
    match sent.fold(false, |found, key| found | is_known(gateway, key.as_bytes())) {
        true => Ok(()),
        false => Err(Failure::client(
            FaultKind::Authentication,
            "that key is not one of this gateway's keys",
        )),
    }
}

fn is_known(gateway: &Gateway, key: &[u8]) -> bool {
    gateway
        .config
        .auth
        .keys
        .iter()
        .fold(false, |found, known| found | bool::from(known.value.expose().as_bytes().ct_eq(key)))
}

/// Every key that a request carries.
fn keys_of<'r>(uri: &'r Uri, headers: &'r HeaderMap) -> impl Iterator<Item = Cow<'r, str>> {
    let values =
        |name: HeaderName| headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let bearers = values(AUTHORIZATION).filter_map(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let in_headers = bearers.chain(values(X_API_KEY)).chain(values(X_GOOG_API_KEY));
    let query = uri.query().unwrap_or_default().split('&');
    let in_query = query.filter_map(|pair| pair.strip_prefix("key="));
    in_headers.map(Cow::from).chain(in_query.map(|key| percent::decode(key).into()))
}
