//! Reading a body: within its limit, compression taken off.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body::{Body, Frame};
use sabir_wire::{FaultKind, utf8};
use tokio::time::{Instant, timeout_at};

use crate::admission::Admission;
use crate::failure::{Failure, Result};
use crate::ingress::coding;
use crate::state::Snapshot;

/// How much is reserved for a body before it comes, whatever length it announces.
const RESERVED_BYTES_MAX: usize = 256 * 1024;

/// Reads the whole body and takes compression off. The admission counts it, as far as it has come.
pub(crate) async fn read<B>(
    body: B,
    headers: &HeaderMap,
    admission: &mut Admission,
) -> Result<Vec<u8>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let whole = read_raw(body, headers, admission).await?;
    if !headers.contains_key(CONTENT_ENCODING) {
        return Ok(whole);
    }
    let bytes_max = bytes_max(admission.snapshot());
    let unpacking = coding::unpack(admission.snapshot(), whole, headers, bytes_max);
    let (whole, held) = Box::pin(unpacking).await?;
    if let Some(held) = held {
        admission.replace_body(held);
    }
    Ok(whole)
}

/// A body as text, which all that is JSON must be.
pub(crate) fn text(body: &[u8]) -> Result<&str> {
    Ok(utf8::text(body)?)
}

/// The same for whoever keeps it.
pub(crate) fn into_text(body: Vec<u8>) -> Result<String> {
    text(&body)?;
    String::from_utf8(body).map_err(|_| Failure::client(FaultKind::BadRequest, "no text"))
}

/// Reads the whole body as it is.
pub(crate) async fn read_raw<B>(
    mut body: B,
    headers: &HeaderMap,
    admission: &mut Admission,
) -> Result<Vec<u8>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let bytes_max = bytes_max(admission.snapshot());
    let stated = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let stated: usize = stated.unwrap_or_default();
    if stated > bytes_max {
        return Err(too_large(bytes_max));
    }
    let mut whole = Vec::with_capacity(stated.min(RESERVED_BYTES_MAX));
    let mut patience = Patience::default();
    loop {
        let Some(frame) = patience.next_frame(&mut body, whole.len()).await? else {
            return Ok(whole);
        };
        let frame = frame.map_err(|_| {
            Failure::client(FaultKind::BadRequest, "the connection broke inside the body")
        })?;
        if let Ok(data) = frame.into_data() {
            if whole.len() + data.len() > bytes_max {
                return Err(too_large(bytes_max));
            }
            admission.hold_body(data.len())?;
            whole.extend_from_slice(&data);
        }
    }
}

/// The longest body. One that is longer than all may be together would be refused whenever it came.
fn bytes_max(snapshot: &Snapshot) -> usize {
    let limits = &snapshot.config().limits;
    limits.body_bytes_max.min(limits.bodies_bytes_max)
}

/// How long a body has been waited for. Most come with their head, and nobody looks at the clock.
#[derive(Debug, Default)]
struct Patience {
    since: Option<Instant>,
}

impl Patience {
    /// The next frame, unless the client falls silent or is slower than anybody's line.
    async fn next_frame<B>(&mut self, body: &mut B, bytes: usize) -> Result<Option<Arrived<B>>>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let at_once = poll_fn(|cx| Poll::Ready(Pin::new(&mut *body).poll_frame(cx))).await;
        if let Poll::Ready(frame) = at_once {
            return Ok(frame);
        }
        let silent_at = Instant::now() + SILENCE_MAX;
        let slow_at = *self.since.get_or_insert_with(Instant::now) + allowed(bytes);
        let next = timeout_at(silent_at.min(slow_at), next_frame(body)).await;
        next.map_err(|_| if silent_at <= slow_at { silent() } else { slow() })
    }
}

type Arrived<B> = std::result::Result<Frame<Bytes>, <B as Body>::Error>;

async fn next_frame<B>(body: &mut B) -> Option<Arrived<B>>
where
    B: Body<Data = Bytes> + Unpin,
{
    poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await
}

/// How long a body may be under way of which so much has come.
fn allowed(bytes: usize) -> Duration {
    START_MAX + Duration::from_secs((bytes / BYTES_PER_SECOND_MIN) as u64)
}

/// Takes what is left of a body that nobody reads. Many clients listen only when they have sent all of it: closing the
/// connection before would keep the answer from them.
pub(crate) async fn drain<B>(body: &mut B)
where
    B: Body<Data = Bytes> + Unpin,
{
    if body.is_end_stream() {
        return;
    }
    let rest = async { while let Some(Ok(_)) = next_frame(body).await {} };
    let _ = tokio::time::timeout(DRAIN_MAX, rest).await;
}

/// How long a refused client may go on sending.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// How long a client may send nothing of a body that it has begun.
const SILENCE_MAX: Duration = Duration::from_secs(60);

/// How long a body may be under way however little of it comes.
const START_MAX: Duration = Duration::from_secs(60);

/// The rate at which the rest must come, on average over the whole: less than the slowest modem had.
const BYTES_PER_SECOND_MIN: usize = 1024;

fn silent() -> Box<Failure> {
    late(format!("nothing of the body came for {SILENCE_MAX:?}"))
}

fn slow() -> Box<Failure> {
    late(format!(
        "the body comes too slowly: less than {BYTES_PER_SECOND_MIN} bytes each second, after a \
         start of {START_MAX:?}"
    ))
}

fn late(message: String) -> Box<Failure> {
    Failure::client(FaultKind::Timeout, message).with_status(408)
}

pub(super) fn too_large(bytes_max: usize) -> Box<Failure> {
    let message =
        format!("the body is larger than {bytes_max} bytes; raise `max_body_size` in [limits]");
    Failure::client(FaultKind::TooLarge, message)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::iter::{repeat, repeat_n};
    use std::sync::Arc;
    use std::task::{Context, ready};

    use tokio::time::{Sleep, sleep};

    use super::*;
    use crate::config::types::Config;

    /// A body that comes in pieces, each of so many bytes and after a pause.
    struct Slow<P>(P, Option<(Pin<Box<Sleep>>, usize)>);

    impl<P: Iterator<Item = (u64, usize)> + Unpin> Body for Slow<P> {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            cx: &mut Context<'_>,
        ) -> Poll<Option<std::result::Result<Frame<Bytes>, Infallible>>> {
            let Self(pieces, next) = self.get_mut();
            if next.is_none() {
                let piece = pieces.next();
                *next = piece.map(|(s, bytes)| (Box::pin(sleep(Duration::from_secs(s))), bytes));
            }
            let Some((alarm, bytes)) = next else { return Poll::Ready(None) };
            ready!(alarm.as_mut().poll(cx));
            let data = vec![b'x'; *bytes].into();
            *next = None;
            Poll::Ready(Some(Ok(Frame::data(data))))
        }
    }

    const LIMIT: usize = 64 << 20;

    /// How many bytes were read, or which status refused them after how many seconds.
    async fn read(
        pieces: impl Iterator<Item = (u64, usize)> + Unpin,
    ) -> std::result::Result<usize, (Option<u16>, u64)> {
        let began = Instant::now();
        let snapshot = Arc::new(Snapshot::new(Config::default()));
        let mut admission = Admission::begin(&snapshot);
        let read = read_raw(Slow(pieces, None), &HeaderMap::new(), &mut admission).await;
        read.map(|body| body.len()).map_err(|it| (it.status, began.elapsed().as_secs()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_trickles_in_is_given_up_after_a_minute() {
        assert_eq!(read(repeat((1, 1))).await, Err((Some(408), 60)));
        assert_eq!(read(repeat((59, 1))).await, Err((Some(408), 60)));
        let (_, after_s) = read(repeat((1, 512))).await.unwrap_err();
        assert!((110..125).contains(&after_s), "half of the rate has twice the time: {after_s}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_falls_silent_is_given_up_whatever_it_has_sent() {
        for sent in [0, 30] {
            let pieces = repeat_n((0, 1 << 20), sent).chain([(3_600, 1)]);
            assert_eq!(read(pieces).await, Err((Some(408), 60)));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_line_has_the_time_that_the_largest_body_takes() {
        assert_eq!(read(repeat_n((1, 1_100), LIMIT / 1_100)).await, Ok(LIMIT / 1_100 * 1_100));
        assert_eq!(read(repeat_n((55, 60_000), 100)).await, Ok(6_000_000));
    }
}
