//! Reading a body: within its limit, compression taken off.

use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http_body::Body;
use http_body::Frame;
use sabir_wire::FaultKind;
use sabir_wire::utf8;

use crate::failure::Failure;
use crate::failure::Result;
use crate::ingress::coding;

/// How much is reserved for a body before it comes, whatever it says of its length.
const RESERVED_BYTES_MAX: usize = 1024 * 1024;

/// Reads the whole body and takes compression off.
pub(crate) async fn read<B>(body: B, headers: &HeaderMap, bytes_max: usize) -> Result<Vec<u8>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let whole = read_raw(body, headers, bytes_max).await?;
    coding::unpack(whole, headers, bytes_max).await
}

/// A body as text, which all that is JSON must be.
pub(crate) fn text(body: &[u8]) -> Result<&str> {
    Ok(utf8::text(body)?)
}

/// Reads the whole body as it is.
pub(crate) async fn read_raw<B>(
    mut body: B,
    headers: &HeaderMap,
    bytes_max: usize,
) -> Result<Vec<u8>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let stated = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let stated: usize = stated.unwrap_or_default();
    if stated > bytes_max {
        return Err(too_large(bytes_max));
    }
    let mut whole = Vec::with_capacity(stated.min(RESERVED_BYTES_MAX));
    loop {
        let next = next_frame(&mut body);
        let Some(frame) = tokio::time::timeout(SILENCE_MAX, next).await.map_err(|_| silent())?
        else {
            return Ok(whole);
        };
        let frame = frame.map_err(|_| {
            Failure::client(FaultKind::BadRequest, "the connection broke inside the body")
        })?;
        if let Ok(data) = frame.into_data() {
            whole.extend_from_slice(&data);
        }
        if whole.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
    }
}

async fn next_frame<B>(body: &mut B) -> Option<std::result::Result<Frame<Bytes>, B::Error>>
where
    B: Body<Data = Bytes> + Unpin,
{
    std::future::poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await
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

fn silent() -> Box<Failure> {
    let message = format!("nothing of the body came for {SILENCE_MAX:?}");
    Failure::client(FaultKind::Timeout, message).with_status(408)
}

pub(super) fn too_large(bytes_max: usize) -> Box<Failure> {
    let message =
        format!("the body is larger than {bytes_max} bytes; raise `max_body_size` in [limits]");
    Failure::client(FaultKind::TooLarge, message)
}
