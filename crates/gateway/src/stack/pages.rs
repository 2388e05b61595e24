//! Web pages: whether one may ask, and that it may read the answer. Who may is decided by `ingress`.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};

use crate::egress::Reply;
use crate::ingress::Misframed;
use crate::state::Snapshot;
use crate::{egress, ingress, surface};

/// Whether a web page may be asking for leave, and not a client what a provider offers.
pub(super) fn is_preflight(head: &Parts) -> bool {
    let may_ask = head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
        || !ingress::is_passthrough(head.uri.path());
    may_ask && head.extensions.get::<Misframed>().is_none()
}

/// A web page asks whether it may ask.
pub(super) fn preflight(snapshot: &Snapshot, uri: &Uri, headers: &HeaderMap) -> Reply {
    let status = match ingress::admit(snapshot, uri, headers) {
        Ok(()) => StatusCode::NO_CONTENT,
        Err(_) => StatusCode::FORBIDDEN,
    };
    let mut reply = egress::json(status, String::new());
    if status == StatusCode::NO_CONTENT {
        let headers = reply.headers_mut();
        let methods = HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE, OPTIONS");
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        let names = HeaderValue::try_from(surface::headers_from_pages());
        headers.extend(names.ok().map(|names| (ACCESS_CONTROL_ALLOW_HEADERS, names)));
    }
    reply
}

/// Lets a page read the reply if it may ask.
pub(super) fn expose(snapshot: &Snapshot, head: &Parts, reply: &mut Reply) {
    if let Some(origin) = head.headers.get(ORIGIN)
        && ingress::is_allowed_origin(snapshot, origin.as_bytes())
    {
        let headers = reply.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("*"));
        headers.append(VARY, HeaderValue::from_static("origin"));
    }
}
