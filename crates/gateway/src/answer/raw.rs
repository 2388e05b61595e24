//! Answers that go on as they are, whatever they are: nobody asked a model for them.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_ENCODING;

use crate::answer::{Answering, InFlight, Incoming, is_packed};
use crate::failure::{Result, Whose};
use crate::observe::Outcome;
use crate::state::Snapshot;
use crate::tap::Head;

/// An answer of any status. One with an error status is read to its end: it says whose fault it was.
pub(crate) async fn open_raw(
    snapshot: &Arc<Snapshot>,
    incoming: Incoming,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let Incoming { protocol, mut head, mut feed } = incoming;
    let bytes_max = snapshot.config().limits.answer_bytes_max;
    let mut whole = None;
    // Nothing can be redacted beneath a compression that nobody asked for.
    if is_packed(&head.headers) && !feed.redactor().is_empty() {
        whole = Some(feed.collect_unpacked(snapshot, &head.headers, bytes_max).await?);
        head.headers.remove(CONTENT_ENCODING);
    } else if head.status >= 400 {
        whole = Some(feed.collect(bytes_max).await?);
    }
    flight.begin_answer(&head, None);
    let Some(body) = whole else { return Ok(Answering::raw(head, feed)) };
    flight.body(&body);
    let outcome = match head.status {
        ..400 => Outcome::Answered,
        status => Outcome::Failed(Whose::of_upstream(protocol.decode_fault(status, &body).kind)),
    };
    Ok(Answering::whole(head, body, outcome))
}

/// An answer that has no body, whatever its headers say of one.
pub(crate) fn open_bodiless(head: Head, flight: &mut InFlight) -> Box<Answering> {
    flight.begin_answer(&head, None);
    Answering::whole(head, Bytes::new(), Outcome::Answered)
}
