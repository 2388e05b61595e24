//! The error of a provider that refuses, read in the manner of its protocol.

use std::sync::Arc;

use http::HeaderMap;
use sabir_wire::FaultKind;
use sabir_wire::json::Text;

use crate::answer::{Incoming, SHORT_BYTES_MAX};
use crate::failure::{Failure, Refusal, Whose};
use crate::state::Snapshot;
use crate::tap::Head;

/// Reads an answer with any status but a good one to its end: it states what failed.
pub(super) async fn refused(snapshot: &Arc<Snapshot>, incoming: Incoming) -> Box<Failure> {
    let Incoming { protocol, head: Head { status, headers }, mut feed } = incoming;
    let bytes_max = snapshot.config().limits.answer_bytes_max.min(SHORT_BYTES_MAX);
    let body = feed.collect_unpacked(snapshot, &headers, bytes_max).await.unwrap_or_default();
    refusal(Refusal { protocol, status, headers, body })
}

/// The failure that such an answer is.
pub(super) fn refusal(refusal: Refusal) -> Box<Failure> {
    let Refusal { protocol, status, headers, body } = refusal;
    if !(400..600).contains(&status) {
        return stray(Refusal { protocol, status, headers, body });
    }
    let mut fault = protocol.decode_fault(status, &body);
    if body.trim_ascii().is_empty() {
        let message = format!("the provider answered with status {status} and no message");
        fault.message = Text::plain(message);
    }
    fault.retry_after_s = fault
        .retry_after_s
        .or_else(|| header(&headers, "retry-after").and_then(seconds))
        .or_else(|| header(&headers, "retry-after-ms").and_then(seconds_of_millis));
    if fault.request_id.is_none() {
        let id = header(&headers, "x-request-id").or_else(|| header(&headers, "request-id"));
        fault.request_id = id.map(|id| Text::plain(id.to_owned()));
    }
    let whose = Whose::of_upstream(fault.kind);
    // An inner failure keeps its own number: a bad gateway is not an internal error.
    let own_status = (fault.kind == FaultKind::Internal).then_some(status);
    let upstream = Some(Refusal { protocol, status, headers, body });
    Box::new(Failure { fault, whose, status: own_status, upstream, broken: None })
}

/// Whether a provider does not have what its protocol has under a path, as many that speak another vendor's protocol. Of a
/// path that is not there nobody says anything about models.
pub(crate) fn is_missing(status: u16, body: &[u8]) -> bool {
    let names_model = || body.windows(5).any(|word| word.eq_ignore_ascii_case(b"model"));
    matches!(status, 405 | 501) || status == 404 && !names_model()
}

/// A status that is neither an answer nor an error.
fn stray(refusal: Refusal) -> Box<Failure> {
    let status = refusal.status;
    let message = match status {
        ..400 => format!(
            "the provider answered with status {status}: it is not followed, because it leads \
             where the operator did not"
        ),
        _ => format!("the provider answered with status {status}, which HTTP does not have"),
    };
    let mut failure = Failure::new(Whose::Upstream, FaultKind::Internal, message);
    failure.upstream = Some(refusal);
    failure.with_status(502)
}

fn header<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// Some servers state their pause in milliseconds, and some of them in nothing else.
fn seconds_of_millis(value: &str) -> Option<u64> {
    value.trim().parse().ok().map(|millis: u64| millis.div_ceil(1_000))
}

/// Seconds, rounded up, of a number or of a date: the two forms that `retry-after` has.
fn seconds(value: &str) -> Option<u64> {
    let value = value.trim();
    if let Ok(date) = httpdate::parse_http_date(value) {
        let ahead = date.duration_since(std::time::SystemTime::now()).unwrap_or_default();
        return Some(ahead.as_secs_f64().ceil() as u64);
    }
    let seconds: f64 = value.parse().ok()?;
    (seconds.is_finite() && seconds >= 0.0).then(|| seconds.ceil() as u64)
}
