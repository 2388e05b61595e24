//! Gateway keys: each protocol's clients send theirs in their own way.

use std::borrow::Cow;
use std::sync::Arc;

use http::{HeaderMap, Uri};
use sabir_backend::percent;
use sabir_wire::FaultKind;
use subtle::ConstantTimeEq;

use crate::config::types::GatewayKey;
use crate::failure::{Failure, Result};
use crate::state::Snapshot;
use crate::surface;
use crate::surface::Auth;

/// Asks for a key that the gateway knows, if it asks for keys at all. A client may send several, in every way that it
/// knows: one of them is enough. Returns the one that it is.
pub(crate) fn identify<'s>(
    snapshot: &'s Snapshot,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Option<&'s Arc<GatewayKey>>> {
    if !snapshot.config().auth.required {
        return Ok(None);
    }
    let mut sent = keys_of(uri, headers).peekable();
    if sent.peek().is_none() {
        let places: Vec<String> = surface::key_places().map(Auth::advice).collect();
        let message = format!("this gateway asks for a key: send it {}", places.join(" or "));
        return Err(Failure::client(FaultKind::Authentication, message));
    }
    // All are compared, so that the time taken reveals nothing about which one is near.
    match sent.fold(None, |found, key| known(snapshot, key.as_bytes()).or(found)) {
        Some(key) => Ok(Some(key)),
        None => Err(Failure::client(
            FaultKind::Authentication,
            "that key is not one of this gateway's keys",
        )),
    }
}

/// The key of the gateway that this is.
fn known<'s>(snapshot: &'s Snapshot, key: &[u8]) -> Option<&'s Arc<GatewayKey>> {
    let keys = snapshot.config().auth.keys.iter();
    keys.fold(None, |found, known| match bool::from(known.value.expose().as_bytes().ct_eq(key)) {
        true => Some(known),
        false => found,
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
