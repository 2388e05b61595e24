//! Taking compression off a body: every coding that its head names, the last one first, and never more than the limit.

use std::io::Read;

use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::StreamingDecoder;
use sabir_wire::FaultKind;
use tokio::sync::Semaphore;

use crate::failure::Failure;
use crate::failure::Result;
use crate::ingress::body::too_large;

/// How many codings one body may have on top of each other.
const CODINGS_MAX: usize = 4;

/// How many bodies are unpacked at once, so that they leave the other threads some of the machine.
static PLACES: Semaphore = Semaphore::const_new(4);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Brotli,
    Zstd,
}

/// Takes compression off, on a thread of its own: a small body can become a large one, and others wait for this thread.
pub(crate) async fn unpack(
    body: Vec<u8>,
    headers: &HeaderMap,
    bytes_max: usize,
) -> Result<Vec<u8>> {
    let codings = codings(headers)?;
    if codings.is_empty() {
        return Ok(body);
    }
    let place = PLACES.acquire().await.map_err(|_| unreadable())?;
    let unpacking = tokio::task::spawn_blocking(move || {
        let _place = place;
        codings.iter().rev().try_fold(body, |body, coding| coding.unpack(&body, bytes_max))
    });
    unpacking.await.unwrap_or_else(|_| Err(unreadable()))
}

/// The codings in the order in which they were put on.
fn codings(headers: &HeaderMap) -> Result<Vec<Coding>> {
    let mut codings = Vec::new();
    for header in headers.get_all(CONTENT_ENCODING) {
        for name in header.as_bytes().split(|byte| *byte == b',') {
            match name.trim_ascii().to_ascii_lowercase().as_slice() {
                b"" | b"identity" => {}
                b"gzip" | b"x-gzip" => codings.push(Coding::Gzip),
                b"br" => codings.push(Coding::Brotli),
                b"zstd" => codings.push(Coding::Zstd),
                _ => {
                    return Err(unknown(
                        "that content-encoding is not known; gzip, br and zstd are",
                    ));
                }
            }
        }
    }
    match codings.len() {
        0..=CODINGS_MAX => Ok(codings),
        _ => Err(unknown("the body has more content-encodings than anybody needs")),
    }
}

impl Coding {
    fn unpack(self, body: &[u8], bytes_max: usize) -> Result<Vec<u8>> {
        let mut unpacked = Vec::new();
        match self {
            Self::Gzip => {
                read(flate2::read::MultiGzDecoder::new(body), &mut unpacked, bytes_max)?;
            }
            Self::Brotli => {
                let decoder = brotli_decompressor::Decompressor::new(body, 4096);
                read(decoder, &mut unpacked, bytes_max)?;
            }
            Self::Zstd => unpack_frames(body, &mut unpacked, bytes_max)?,
        }
        Ok(unpacked)
    }
}

/// Reads no more than the limit, however much a small body would become.
fn read(decoder: impl Read, unpacked: &mut Vec<u8>, bytes_max: usize) -> Result<()> {
    let left = (bytes_max - unpacked.len()) as u64 + 1;
    decoder.take(left).read_to_end(unpacked).map_err(|_| unreadable())?;
    match unpacked.len() > bytes_max {
        true => Err(too_large(bytes_max)),
        false => Ok(()),
    }
}

/// Reads frames of zstd, of which a body may have several.
fn unpack_frames(mut body: &[u8], unpacked: &mut Vec<u8>, bytes_max: usize) -> Result<()> {
    let mut decoder = FrameDecoder::new();
    loop {
        match Frame::at(body).ok_or_else(unreadable)? {
            Frame::Skipped(behind) => body = behind,
            Frame::Data { window } if window > WINDOW_BYTES_MAX => return Err(unreadable()),
            Frame::Data { .. } => {
                let frame = StreamingDecoder::new_with_decoder(&mut body, &mut decoder);
                let frame = frame.map_err(|_| unreadable())?;
                if frame.decoder.content_size() > bytes_max as u64 {
                    return Err(too_large(bytes_max));
                }
                read(frame, unpacked, bytes_max)?;
            }
        }
        if body.is_empty() {
            return Ok(());
        }
    }
}

/// What a frame may look back to, which the decoder keeps in memory before it hands anything out. Senders over HTTP may not
/// use more.
const WINDOW_BYTES_MAX: u64 = 8 << 20;

/// What the beginning of a frame of zstd says.
#[derive(Debug, PartialEq, Eq)]
enum Frame<'b> {
    /// Holds nothing of the body; what stands behind it.
    Skipped(&'b [u8]),
    Data {
        /// None is stated where it is as long as the content.
        window: u64,
    },
}

impl<'b> Frame<'b> {
    fn at(body: &'b [u8]) -> Option<Self> {
        let (magic, rest) = body.split_first_chunk()?;
        if (0x184d_2a50..=0x184d_2a5f).contains(&u32::from_le_bytes(*magic)) {
            let (length, rest) = rest.split_first_chunk()?;
            let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
            return rest.get(length..).map(Self::Skipped);
        }
        let (descriptor, rest) = rest.split_first()?;
        let is_single_segment = descriptor & 0x20 != 0;
        let window = match is_single_segment {
            true => 0,
            false => {
                let window = rest.first()?;
                let base = 1_u64 << (10 + (window >> 3));
                base + base / 8 * u64::from(window & 7)
            }
        };
        Some(Self::Data { window })
    }
}

fn unreadable() -> Box<Failure> {
    let message = "the body is not compressed as its content-encoding says";
    Failure::client(FaultKind::BadRequest, message)
}

fn unknown(message: &'static str) -> Box<Failure> {
    Failure::client(FaultKind::BadRequest, message).with_status(415)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_that_looks_back_too_far_is_not_begun() {
        // A window of a terabyte, and a block that repeats one byte 128 KiB times.
        let block = [2, 0, 16, b'x'];
        let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 30 << 3][..], &block.repeat(1_000)].concat();
        assert_eq!(Frame::at(&frame), Some(Frame::Data { window: 1 << 40 }));
        let failure = Coding::Zstd.unpack(&frame, 1 << 20).unwrap_err();
        assert_eq!(failure.fault.kind, FaultKind::BadRequest);
        let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3][..], &block.repeat(1_000)].concat();
        assert_eq!(Frame::at(&frame), Some(Frame::Data { window: 8 << 20 }));
        let failure = Coding::Zstd.unpack(&frame, 1 << 20).unwrap_err();
        assert_eq!(failure.fault.kind, FaultKind::TooLarge);
    }

    #[test]
    fn codings_are_read_as_lists() {
        let read = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(CONTENT_ENCODING, http::HeaderValue::from_static(line));
            }
            codings(&headers).ok()
        };
        assert_eq!(read(&[]), Some(vec![]));
        assert_eq!(
            read(&["identity, GZIP", "br ,zstd"]),
            Some(vec![Coding::Gzip, Coding::Brotli, Coding::Zstd])
        );
        assert_eq!(read(&["deflate"]), None);
        assert_eq!(read(&["gzip,gzip,gzip", "gzip,gzip"]), None);
    }
}
