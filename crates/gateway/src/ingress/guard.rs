//! Which hosts and origins may ask, so that no web page spends the operator's keys, and no gateway asks itself.

use http::header::{HOST, ORIGIN, VIA};
use http::{HeaderMap, Uri};
use sabir_wire::FaultKind;

use crate::authority::{Authority, Origin};
use crate::failure::{Failure, Result, Whose};
use crate::state::Snapshot;

/// Refuses requests that come under a strange name, from a strange page, or from this gateway itself.
pub(crate) fn admit(snapshot: &Snapshot, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    if !is_allowed_host(snapshot, &host(uri, headers)?) {
        let message =
            "this gateway does not answer under that host name; add it to `allowed_hosts`";
        return Err(refused(message));
    }
    if !are_allowed_origins(snapshot, headers) {
        let message = "web pages of that origin may not use this gateway; add it to `cors_origins`";
        return Err(refused(message));
    }
    if is_embedded(headers) {
        let message = "a web page may not use this gateway by embedding it";
        return Err(refused(message));
    }
    if has_come_through(headers, &snapshot.shared.instance) {
        let message = "this gateway is its own upstream: a provider's base_url points back to it";
        let failure = Failure::new(Whose::Gateway, FaultKind::Internal, message);
        return Err(failure.with_status(508));
    }
    Ok(())
}

/// The one host that a request names. What two readers could take for two different hosts is refused, so that none gets
/// past the check under one name and is served under the other.
fn host<'r>(uri: &Uri, headers: &'r HeaderMap) -> Result<Authority<'r>> {
    let mut stated = headers.get_all(HOST).iter();
    let host = match (stated.next(), stated.next()) {
        (Some(host), None) => host.to_str().ok().and_then(Authority::parse),
        _ => None,
    };
    let agrees = |host: &Authority<'_>| match uri.authority() {
        Some(target) => Authority::parse(target.as_str()).is_some_and(|it| it.is_same(host)),
        None => true,
    };
    host.filter(agrees).ok_or_else(|| {
        let message = "expected one `host` header, a name or an address with or without a port, \
                       that agrees with the request's target";
        Failure::client(FaultKind::BadRequest, message)
    })
}

/// Whether a request names this machine by one of its own names, as nobody does who comes through a proxy by a public one.
pub(crate) fn names_loopback(uri: &Uri, headers: &HeaderMap) -> bool {
    host(uri, headers).is_ok_and(|host| host.is_loopback())
}

/// Whether a browser fetches this for a page of another site that is not named: an image, a script, a frame.
fn is_embedded(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(http::HeaderValue::as_bytes);
    matches!(site, Some(b"cross-site" | b"same-site")) && !headers.contains_key(ORIGIN)
}

fn refused(message: &'static str) -> Box<Failure> {
    Failure::new(Whose::Policy, FaultKind::Permission, message)
}

/// Loopback names, the address that is listened on, and what the operator allows.
fn is_allowed_host(snapshot: &Snapshot, host: &Authority<'_>) -> bool {
    let config = &snapshot.config();
    let allowed = || config.allowed_hosts.iter().filter_map(|it| Authority::parse(it));
    host.is_loopback()
        || host.has_address(config.listen.ip())
        || allowed().any(|allowed| host.is_covered_by(&allowed))
}

/// Whether all pages that a request states as its origin are among those that the operator names.
fn are_allowed_origins(snapshot: &Snapshot, headers: &HeaderMap) -> bool {
    let mut origins = headers.get_all(ORIGIN).iter();
    origins.all(|origin| is_allowed_origin(snapshot, origin.as_bytes()))
}

pub(crate) fn is_allowed_origin(snapshot: &Snapshot, origin: &[u8]) -> bool {
    let origin = std::str::from_utf8(origin).ok().and_then(Origin::parse);
    let mut allowed = snapshot.config().cors_origins.iter().filter_map(|it| Origin::parse(it));
    origin.is_some_and(|origin| allowed.any(|allowed| origin.is_same(&allowed)))
}

fn has_come_through(headers: &HeaderMap, instance: &str) -> bool {
    let passed = headers.get_all(VIA).iter().filter_map(|via| via.to_str().ok());
    passed.flat_map(|via| via.split(',')).any(|hop| hop.trim().ends_with(instance))
}
