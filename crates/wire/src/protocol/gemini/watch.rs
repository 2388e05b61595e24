//! What the response objects of a passing stream state.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::protocol::gemini::usage::USAGE;
use crate::protocol::watch::{Progress, has_value};
use crate::sse::Frame;

pub(in super::super) fn watch(frame: &Frame<'_>, progress: &mut Progress) -> Result<()> {
    let candidates = &mut progress.candidates;
    if has_value(&CALL_KEY, frame.data, |_| true) {
        candidates.are_calling = has_value(&PIECE_KEY, frame.data, |it| it.starts_with(b"true"));
    }
    if candidates.first_has_begun() && is_plain(frame.data) {
        return Ok(());
    }
    let mut reader = Reader::new(frame.data);
    match reader.kind()? {
        Kind::Array => reader.array(|_, reader| read(reader, progress)),
        _ => read(&mut reader, progress),
    }
}

static USAGE_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"usageMetadata\""));
static ERROR_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"error\""));
static FINISH_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"finishReason\""));
static CALL_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"functionCall\""));
static PIECE_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"willContinue\""));
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
    let (mut number, mut has_ended) = (position, false);
    reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("index", Kind::Number) => {
                number = reader.number()?.as_u64().unwrap_or(number);
                return Ok(());
            }
            ("finishReason", Kind::String) => has_ended = true,
            _ => {}
        }
        reader.skip()
    })?;
    progress.candidates.begin(number);
    if has_ended {
        progress.candidates.end(number);
    }
    Ok(())
}
