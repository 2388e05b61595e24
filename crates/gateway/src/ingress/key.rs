//! Gateway keys: each protocol's clients send theirs in their own way.

use std::borrow::Cow;

use http::HeaderMap;
use http::Uri;
use http::header::AUTHORIZATION;
use sabir_backend::percent;
use sabir_wire::FaultKind;
use subtle::ConstantTimeEq;

use crate::Gateway;
use crate::failure::Failure;
use crate::failure::Result;

/// Asks for a key that the gateway knows, if it asks for keys at all.
pub(crate) fn identify(gateway: &Gateway, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    if !gateway.config.auth.required {
        return Ok(());
    }
    let Some(key) = key_of(uri, headers) else {
        let message = "this gateway asks for a key: send it as a bearer token, in x-api-key or in x-goog-api-key";
        return Err(Failure::client(FaultKind::Authentication, message));
    };
    // All are compared, so that the time taken says nothing about which one is near.
    let matches = gateway.config.auth.keys.iter().fold(false, |found, known| {
        found | bool::from(known.value.expose().as_bytes().ct_eq(key.as_bytes()))
    });
    match matches {
        true => Ok(()),
        false => Err(Failure::client(
            FaultKind::Authentication,
            "that key is not one of this gateway's keys",
        )),
    }
}

fn key_of<'r>(uri: &'r Uri, headers: &'r HeaderMap) -> Option<Cow<'r, str>> {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = header(AUTHORIZATION.as_str()).and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    let query = uri.query().unwrap_or_default();
    let in_query = || query.split('&').find_map(|pair| pair.strip_prefix("key="));
    let sent = bearer.or_else(|| header("x-api-key")).or_else(|| header("x-goog-api-key"));
    sent.map(Cow::from).or_else(|| in_query().map(|key| percent::decode(key).into()))
}
