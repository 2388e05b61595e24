//! Reading a body: within its limit, compression taken off.

use std::io::Read;
use std::pin::Pin;

use bytes::Bytes;
use bytes::BytesMut;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http::header::CONTENT_LENGTH;
use http_body::Body;
use sabir_wire::FaultKind;

use crate::failure::Failure;
use crate::failure::Result;

/// Reads the whole body and takes compression off.
pub(crate) async fn read<B>(body: B, headers: &HeaderMap, bytes_max: usize) -> Result<Bytes>
where
    B: Body<Data = Bytes> + Unpin,
{
    let whole = read_raw(body, headers, bytes_max).await?;
    decompress(whole, headers, bytes_max)
}

/// Reads the whole body as it is.
pub(crate) async fn read_raw<B>(mut body: B, headers: &HeaderMap, bytes_max: usize) -> Result<Bytes>
where
    B: Body<Data = Bytes> + Unpin,
{
    let stated = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    let stated: usize = stated.unwrap_or_default();
    if stated > bytes_max {
        return Err(too_large(bytes_max));
    }
    let mut whole = Gathered::Nothing;
    while let Some(frame) = std::future::poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        let frame = frame.map_err(|_| {
            Failure::client(FaultKind::BadRequest, "the connection broke inside the body")
        })?;
        if let Ok(data) = frame.into_data() {
            whole = whole.with(data, stated);
        }
        if whole.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
    }
    Ok(whole.into_bytes())
}

/// A body so far. One that comes in one piece is not copied.
enum Gathered {
    Nothing,
    One(Bytes),
    Several(BytesMut),
}

impl Gathered {
    fn with(self, data: Bytes, expected: usize) -> Self {
        match self {
            Self::Nothing => Self::One(data),
            Self::One(first) => {
                let mut several = BytesMut::with_capacity(expected.max(first.len() + data.len()));
                several.extend_from_slice(&first);
                several.extend_from_slice(&data);
                Self::Several(several)
            }
            Self::Several(mut several) => {
                several.extend_from_slice(&data);
                Self::Several(several)
            }
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::One(data) => data.len(),
            Self::Several(data) => data.len(),
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            Self::Nothing => Bytes::new(),
            Self::One(data) => data,
            Self::Several(data) => data.freeze(),
        }
    }
}

fn decompress(body: Bytes, headers: &HeaderMap, bytes_max: usize) -> Result<Bytes> {
    let coding = headers.get(CONTENT_ENCODING).map(|coding| coding.as_bytes().to_ascii_lowercase());
    match coding.as_deref() {
        None | Some(b"" | b"identity") => Ok(body),
        Some(b"gzip" | b"x-gzip") => {
            inflate(flate2::read::MultiGzDecoder::new(&body[..]), bytes_max)
        }
        Some(b"br") => inflate(brotli_decompressor::Decompressor::new(&body[..], 4096), bytes_max),
        Some(b"zstd") => {
            let decoder = ruzstd::decoding::StreamingDecoder::new(&body[..]);
            inflate(decoder.map_err(|_| unreadable())?, bytes_max)
        }
        Some(_) => {
            let message = "that content-encoding is not known; gzip, br and zstd are";
            Err(Failure::client(FaultKind::BadRequest, message).with_status(415))
        }
    }
}

/// Reads no more than the limit, however much a small body would become.
fn inflate(decoder: impl Read, bytes_max: usize) -> Result<Bytes> {
    let mut body = Vec::new();
    let limit = bytes_max as u64 + 1;
    decoder.take(limit).read_to_end(&mut body).map_err(|_| unreadable())?;
    if body.len() > bytes_max {
        return Err(too_large(bytes_max));
    }
    Ok(body.into())
}

fn unreadable() -> Box<Failure> {
    let message = "the body is not compressed as its content-encoding says";
    Failure::client(FaultKind::BadRequest, message)
}

fn too_large(bytes_max: usize) -> Box<Failure> {
    let message =
        format!("the body is larger than {bytes_max} bytes; raise `max_body_size` in [limits]");
    Failure::client(FaultKind::TooLarge, message)
}
