//! Answers that go on as they are, whatever they are: nobody asked a model for them.

use std::sync::Arc;

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use sabir_wire::Protocol;

use crate::answer::{Answering, InFlight, Incoming, is_packed};
use crate::failure::{Result, Whose};
use crate::observe::Outcome;
use crate::state::Snapshot;
use crate::tap::Head;

/// An answer of any status, sent as it comes. One with an error status is read to its end: it states whose fault it was.
pub(crate) async fn open_raw(
    snapshot: &Arc<Snapshot>,
    incoming: Incoming,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let Incoming { protocol, head, mut feed } = incoming;
    let bytes_max = snapshot.config().limits.answer_bytes_max;
    // Nothing can be redacted beneath a compression that nobody asked for.
    if is_packed(&head.headers) && !feed.redactor().is_empty() {
        return open_raw_whole(snapshot, Incoming { protocol, head, feed }, flight).await;
    }
    if head.status >= 400 {
        let body = feed.collect(bytes_max).await?;
        return all_there(snapshot, (protocol, head, body), flight).await;
    }
    feed.begin().await?;
    flight.begin_answer(&head, None);
    Ok(Answering::raw(head, feed))
}

/// An answer of any status, sent when all of it is there: one that breaks off is an error with a status of its own.
pub(crate) async fn open_raw_whole(
    snapshot: &Arc<Snapshot>,
    incoming: Incoming,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let Incoming { protocol, mut head, mut feed } = incoming;
    let bytes_max = snapshot.config().limits.answer_bytes_max;
    let body = feed.collect_unpacked(snapshot, &head.headers, bytes_max).await?;
    head.headers.remove(CONTENT_ENCODING);
    all_there(snapshot, (protocol, head, body), flight).await
}

async fn all_there(
    snapshot: &Snapshot,
    (protocol, head, body): (Protocol, Head, Bytes),
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    flight.begin_answer(&head, None);
    flight.body(&body);
    let outcome = match head.status {
        ..400 => Outcome::Answered,
        status => Outcome::Failed(whose(snapshot, protocol, status, &body).await?),
    };
    Ok(Answering::whole(head, body, outcome))
}

/// Whose fault a refusal is. A long one is read on another thread.
async fn whose(
    snapshot: &Snapshot,
    protocol: Protocol,
    status: u16,
    body: &Bytes,
) -> Result<Whose> {
    let own = body.clone();
    let work = move |_: &_| Ok(Whose::of_upstream(protocol.decode_fault(status, &own).kind));
    Box::pin(snapshot.shared.pool.run_on(body.len(), work)).await
}

/// An answer that has no body, whatever its headers announce.
pub(crate) fn open_bodiless(head: Head, flight: &mut InFlight) -> Box<Answering> {
    flight.begin_answer(&head, None);
    Answering::whole(head, Bytes::new(), Outcome::Answered)
}
