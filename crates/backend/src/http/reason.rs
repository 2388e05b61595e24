//! Words for statuses that no standard names: a server would write `<none>` for them.

use http::Response;
use hyper::ext::ReasonPhrase;

/// Adds a phrase to the status of an answer that has none of its own.
pub fn add_reason<B>(response: &mut Response<B>) {
    let status = response.status();
    if status.canonical_reason().is_some() {
        return;
    }
    let phrase = match status.as_u16() {
        529 => OVERLOADED,
        400..500 => CLIENT_ERROR,
        500..600 => SERVER_ERROR,
        _ => UNASSIGNED,
    };
    response.extensions_mut().insert(phrase);
}

const OVERLOADED: ReasonPhrase = ReasonPhrase::from_static(b"Overloaded");
const CLIENT_ERROR: ReasonPhrase = ReasonPhrase::from_static(b"Client Error");
const SERVER_ERROR: ReasonPhrase = ReasonPhrase::from_static(b"Server Error");
const UNASSIGNED: ReasonPhrase = ReasonPhrase::from_static(b"Unassigned");
