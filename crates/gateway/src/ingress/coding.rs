//! Taking compression off a body: every coding that its head names, the last one first, and never more than the limit.

use std::io::Read;
use std::sync::Arc;

use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use sabir_wire::FaultKind;

use crate::failure::{Failure, Result};
use crate::held::Held;
use crate::ingress::body::too_large;
use crate::pool::Wanted;
use crate::state::Snapshot;

/// How many codings one body may have on top of each other.
const CODINGS_MAX: usize = 4;

/// How many times as long as it came a body may become, beyond what every body may. Requests of agents become 20 times as
/// long, and the most repetitive one on record 56 times.
const FACTOR_MAX: usize = 100;

/// What every body may become, however short it came.
const FREE_BYTES: usize = 1024 * 1024;

/// How much is unpacked before it is counted.
const STEP_BYTES: u64 = 256 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Coding {
    Gzip,
    Brotli,
    Zstd,
}

/// Takes compression off, on a thread of its own: a small body can become a large one, and others wait for this thread.
/// What it becomes is counted among the bodies that are held.
pub(crate) async fn unpack(
    snapshot: &Arc<Snapshot>,
    body: Vec<u8>,
    headers: &HeaderMap,
    bytes_max: usize,
) -> Result<(Vec<u8>, Option<Held>)> {
    let codings = codings(headers)?;
    if codings.is_empty() {
        return Ok((body, None));
    }
    let held = Held::nothing(snapshot);
    let unpacking = snapshot.shared.pool.run(move |wanted| {
        let mut unpacking = Unpacking { limit: Limit::of(body.len(), bytes_max), held, wanted };
        let unpack = |body: Vec<u8>, coding: &Coding| coding.unpack(&body, &mut unpacking);
        let body = codings.iter().rev().try_fold(body, unpack)?;
        Ok((body, Some(unpacking.held)))
    });
    unpacking.await
}

/// How long a body may become.
#[derive(Clone, Copy, Debug)]
struct Limit {
    bytes_max: usize,
    /// What a body of its length may become.
    factor_bytes_max: usize,
}

impl Limit {
    fn of(packed_bytes: usize, bytes_max: usize) -> Self {
        let factor_bytes_max = packed_bytes.saturating_mul(FACTOR_MAX).saturating_add(FREE_BYTES);
        Self { bytes_max, factor_bytes_max }
    }

    fn check(self, bytes: u64) -> Result<()> {
        if bytes > self.bytes_max as u64 {
            return Err(too_large(self.bytes_max));
        }
        match bytes > self.factor_bytes_max as u64 {
            true => Err(too_dense()),
            false => Ok(()),
        }
    }
}

/// A body on its way through its codings.
struct Unpacking<'w> {
    limit: Limit,
    /// Of the coding that is being taken off.
    held: Held,
    wanted: &'w Wanted,
}

impl Unpacking<'_> {
    /// Reads what a decoder has, and no more than the limit, however much a small body would become.
    fn read(&mut self, mut decoder: impl Read, unpacked: &mut Vec<u8>) -> Result<()> {
        loop {
            let step = decoder.by_ref().take(STEP_BYTES).read_to_end(unpacked);
            let came = step.map_err(|_| unreadable())?;
            if came == 0 {
                return Ok(());
            }
            self.limit.check(unpacked.len() as u64)?;
            self.held.grow(came)?;
            self.wanted.check()?;
        }
    }
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
    fn unpack(self, body: &[u8], unpacking: &mut Unpacking<'_>) -> Result<Vec<u8>> {
        unpacking.held.release();
        let mut unpacked = Vec::new();
        match self {
            Self::Gzip => {
                unpacking.read(flate2::read::MultiGzDecoder::new(body), &mut unpacked)?;
            }
            Self::Brotli => {
                let decoder = brotli_decompressor::Decompressor::new(body, 4096);
                unpacking.read(decoder, &mut unpacked)?;
            }
            Self::Zstd => unpack_frames(body, &mut unpacked, unpacking)?,
        }
        Ok(unpacked)
    }
}

/// Reads frames of zstd, of which a body may have several.
fn unpack_frames(
    mut body: &[u8],
    unpacked: &mut Vec<u8>,
    unpacking: &mut Unpacking<'_>,
) -> Result<()> {
    let mut decoder = FrameDecoder::new();
    loop {
        match Frame::at(body).ok_or_else(unreadable)? {
            Frame::Skipped(behind) => body = behind,
            Frame::Data { window } if window > WINDOW_BYTES_MAX => return Err(unreadable()),
            Frame::Data { .. } => {
                let frame = StreamingDecoder::new_with_decoder(&mut body, &mut decoder);
                let frame = frame.map_err(|_| unreadable())?;
                unpacking.limit.check(frame.decoder.content_size())?;
                unpacking.read(frame, unpacked)?;
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

/// What the beginning of a frame of zstd announces.
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

fn too_dense() -> Box<Failure> {
    let message =
        format!("the body becomes more than {FACTOR_MAX} times as long when it is unpacked");
    Failure::client(FaultKind::TooLarge, message)
}

fn unknown(message: &'static str) -> Box<Failure> {
    Failure::client(FaultKind::BadRequest, message).with_status(415)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::types::Config;

    /// What a body becomes that may have so many bytes, or why it may not.
    fn unpack(coding: Coding, body: &[u8], bytes_max: usize) -> Result<Vec<u8>, FaultKind> {
        let snapshot = Arc::new(Snapshot::new(Config::default()));
        let limit = Limit::of(body.len(), bytes_max);
        let (held, wanted) = (Held::nothing(&snapshot), Wanted::default());
        let unpacked = coding.unpack(body, &mut Unpacking { limit, held, wanted: &wanted });
        unpacked.map_err(|failure| failure.fault.kind)
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn a_body_becomes_a_hundred_times_as_long_and_no_more() {
        let same = gzip(&vec![b'x'; 30 << 20]);
        assert!(same.len() < 100_000, "{}", same.len());
        assert_eq!(unpack(Coding::Gzip, &same, 64 << 20), Err(FaultKind::TooLarge));
        let short = vec![b'x'; FREE_BYTES];
        assert_eq!(unpack(Coding::Gzip, &gzip(&short), 64 << 20), Ok(short), "a short one may");
        let text: Vec<u8> = (0..200_000_u32).flat_map(|it| it.to_string().into_bytes()).collect();
        assert_eq!(unpack(Coding::Gzip, &gzip(&text), 64 << 20), Ok(text));
    }

    #[test]
    fn a_frame_that_looks_back_too_far_is_not_begun() {
        // A window of a terabyte, and a block that repeats one byte 128 KiB times.
        let block = [2, 0, 16, b'x'];
        let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 30 << 3][..], &block.repeat(1_000)].concat();
        assert_eq!(Frame::at(&frame), Some(Frame::Data { window: 1 << 40 }));
        assert_eq!(unpack(Coding::Zstd, &frame, 1 << 20), Err(FaultKind::BadRequest));
        let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3][..], &block.repeat(1_000)].concat();
        assert_eq!(Frame::at(&frame), Some(Frame::Data { window: 8 << 20 }));
        assert_eq!(unpack(Coding::Zstd, &frame, 1 << 20), Err(FaultKind::TooLarge));
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
