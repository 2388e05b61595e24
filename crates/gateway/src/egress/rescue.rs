//! The one place where a failure becomes a reply: in the client's protocol, with the upstream's words kept.

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderValue, StatusCode};
use sabir_wire::Protocol;

use crate::answer::{Ended, InFlight};
use crate::egress::Reply;
use crate::egress::reply::failed;
use crate::failure::{Failure, Refusal};
use crate::observe::Outcome;
use crate::surface;
use crate::surface::is_for_client;

pub(crate) fn rescue(client: Protocol, failure: Failure, mut flight: InFlight) -> Reply {
    let Failure { fault, whose, status, upstream, broken: _ } = failure;
    // The provider's own words, if they are an error of the client's protocol.
    let same = upstream.filter(|refusal| refusal.protocol == client && fault.original.is_some());
    let (status, body) = match (&same, status) {
        (Some(Refusal { status, body, .. }), _) => (*status, body.clone()),
        (None, Some(status)) => (status, client.encode_fault_under(status, &fault).into()),
        (None, None) => {
            let (status, body) = client.encode_fault(&fault);
            (status, Bytes::from(body))
        }
    };
    flight.trace.set_status(status);
    flight.end(Ended { fault: Some(fault.kind), ..Ended::plain(Outcome::Failed(whose)) });
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
    let mut reply = failed(status, body, client, &flight.trace);
    let headers = reply.headers_mut();
    for (name, value) in same.iter().flat_map(|refusal| &refusal.headers) {
        if is_for_client(name) {
            headers.insert(name.clone(), value.clone());
        }
    }
    if let Some(id) = &fault.request_id
        && let Ok(id) = HeaderValue::try_from(&*id.to_str())
    {
        headers.insert("x-request-id", id.clone());
        if let Some(name) = &surface::of(client).headers.request_id {
            headers.insert(name, id);
        }
    }
    // In seconds or not at all: the provider's own header may be anything.
    match fault.retry_after_s {
        Some(seconds) => headers.insert(RETRY_AFTER, HeaderValue::from(seconds)),
        None => headers.remove(RETRY_AFTER),
    };
    reply
}
