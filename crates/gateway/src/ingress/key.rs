//! Gateway keys: each protocol's clients send theirs in their own way.

use std::borrow::Cow;

use http::HeaderMap;
use http::Uri;
use sabir_backend::percent;
use sabir_wire::FaultKind;
use subtle::ConstantTimeEq;

use crate::Gateway;
use crate::failure::Failure;
use crate::failure::Result;
use crate::surface;
use crate::surface::Auth;

/// Asks for a key that the gateway knows, if it asks for keys at all. A client may send several, in every way that it
/// knows: one of them is enough. Returns its place among the gateway's keys.
pub(crate) fn identify(gateway: &Gateway, uri: &Uri, headers: &HeaderMap) -> Result<Option<usize>> {
    if !gateway.config.auth.required {
        return Ok(None);
    }
    let mut sent = keys_of(uri, headers).peekable();
    if sent.peek().is_none() {
        let places: Vec<String> = surface::key_places().map(Auth::advice).collect();
        let message = format!("this gateway asks for a key: send it {}", places.join(" or "));
        return Err(Failure::client(FaultKind::Authentication, message));
    }
    // All are compared, so that the time taken says nothing about which one is near.
    match sent.fold(None, |found, key| known(gateway, key.as_bytes()).or(found)) {
        Some(place) => Ok(Some(place)),
        None => Err(Failure::client(
            FaultKind::Authentication,
            "that key is not one of this gateway's keys",
        )),
    }
}

/// The place of a key among the gateway's.
fn known(gateway: &Gateway, key: &[u8]) -> Option<usize> {
    let keys = gateway.config.auth.keys.iter().enumerate();
    keys.fold(None, |found, (place, known)| {
        match bool::from(known.value.expose().as_bytes().ct_eq(key)) {
            true => Some(place),
            false => found,
        }
    })
}

/// Every key that a request carries.
fn keys_of<'r>(uri: &'r Uri, headers: &'r HeaderMap) -> impl Iterator<Item = Cow<'r, str>> {
    let in_headers = surface::key_places().flat_map(|auth| auth.keys_in(headers));
    let query = uri.query().unwrap_or_default().split('&');
    let in_query =
        query.filter_map(|pair| surface::key_places().find_map(|auth| auth.key_in_pair(pair)));
    in_headers.map(Cow::from).chain(in_query.map(|key| percent::decode(key).into()))
}
