//! What the response objects of a passing stream state.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::place::Place;
use crate::protocol::gemini::decode_request::partial::PartOrPiece;
use crate::protocol::gemini::decode_response::{Chunk, breaks_off};
use crate::protocol::gemini::usage::USAGE;
use crate::protocol::object::set;
use crate::protocol::semantics::Extras;
use crate::protocol::watch::{Progress, has_value};
use crate::sse::Frame;

pub(in super::super) fn watch(frame: &Frame<'_>, progress: &mut Progress) -> Result<()> {
    if has_calls(frame.data) {
        // A frame that cannot be read has none.
        let _ = read_chunks(frame.data, |reader| read_pieces(reader, progress));
    }
    if progress.candidates.first_has_begun() && is_plain(frame.data) {
        return Ok(());
    }
    read_chunks(frame.data, |reader| read(reader, progress))
}

/// Reads the response objects of a frame, of which there mostly is one.
fn read_chunks<'f>(
    data: &'f str,
    mut read: impl FnMut(&mut Reader<'f>) -> Result<()>,
) -> Result<()> {
    let mut reader = Reader::new(data);
    match reader.kind()? {
        Kind::Array => reader.array(|_, reader| read(reader)),
        _ => read(&mut reader),
    }
}

/// Whether a frame has calls, or pieces of some: these are read as the decoder does, since only then is it known whether any
/// are missing.
fn has_calls(data: &str) -> bool {
    let bytes = data.as_bytes();
    CALL_KEY.find_iter(bytes).any(|start| {
        let name = &bytes[start + CALL_KEY.needle().len()..];
        name.starts_with(b"Call\"") || name.starts_with(b"_call\"")
    })
}

fn read_pieces(reader: &mut Reader<'_>, progress: &mut Progress) -> Result<()> {
    let mut chunk = Chunk::default();
    chunk.read(reader, Place::default(), &mut Extras::default())?;
    for candidate in chunk.candidates {
        let joiner = progress.candidates.pieces(candidate.index.into());
        for part in candidate.parts {
            match part {
                PartOrPiece::Part(part) => joiner.pass(&part),
                PartOrPiece::Piece(it) => drop(joiner.add(it.into_parts().0)),
            }
        }
    }
    Ok(())
}

static USAGE_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"usageMetadata\""));
static ERROR_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"error\""));
static FINISH_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"finishReason\""));
static CALL_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"function"));
static INDEX_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"index\""));

/// Whether an object only goes on with the first candidate.
fn is_plain(data: &str) -> bool {
    !(has_value(&USAGE_KEY, data, |_| true)
        || has_value(&ERROR_KEY, data, |value| value.starts_with(b"{"))
        || has_value(&FINISH_KEY, data, |_| true)
        || has_value(&INDEX_KEY, data, |value| !value.starts_with(b"0")))
}

fn read(reader: &mut Reader<'_>, progress: &mut Progress) -> Result<()> {
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("candidates", Kind::Array) => {
            reader.array(|position, reader| read_candidate(reader, position as u64, progress))
        }
        ("usageMetadata", Kind::Object) => progress.count(&USAGE, reader),
        ("promptFeedback", Kind::Object) => {
            progress.candidates.are_blocked |= reader.peek_tag("blockReason")?.is_some();
            reader.skip()
        }
        ("error", Kind::Object) => {
            progress.has_failed = true;
            reader.skip()
        }
        _ => reader.skip(),
    })
}

fn read_candidate(reader: &mut Reader<'_>, position: u64, progress: &mut Progress) -> Result<()> {
    let (mut number, mut end) = (position, None);
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("index", Kind::Number) => {
            reader.number().map(|index| number = index.as_u64().unwrap_or(number))
        }
        ("finishReason", Kind::String) => {
            set(&mut end, reader.string().map(|reason| breaks_off(&reason.to_str())))
        }
        _ => reader.skip(),
    })?;
    progress.candidates.begin(number);
    if let Some(breaks_off) = end {
        progress.candidates.end(number);
        progress.candidates.set_broken_off(number, breaks_off);
    }
    Ok(())
}
