//! What the response objects of a passing stream tell.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::error::Result;
use crate::json::Kind;
use crate::json::Reader;
use crate::place::Place;
use crate::protocol::gemini::decode_response::partial::call_piece;
use crate::protocol::gemini::types::WILL_CONTINUE;
use crate::protocol::gemini::usage::USAGE;
use crate::protocol::watch::Progress;
use crate::protocol::watch::has_value;
use crate::sse::Frame;

pub(in crate::protocol) fn watch(frame: &Frame<'_>, progress: &mut Progress) -> Result<()> {
    let candidates = &mut progress.candidates;
    candidates.have_pieces |= PIECE_KEY.find(frame.data.as_bytes()).is_some();
    if candidates.first_has_begun() && !candidates.have_pieces && says_little(frame.data) {
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
static PIECE_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"willContinue\""));
static INDEX_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"index\""));

/// Whether an object only goes on with the first candidate.
fn says_little(data: &str) -> bool {
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
        ("usageMetadata", Kind::Object) => {
            let report = USAGE.read(reader, Place::default())?;
            progress.count(&USAGE, report);
            Ok(())
        }
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
    let (mut number, mut has_ended, mut call) = (position, false, None);
    reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("index", Kind::Number) => {
                number = reader.number()?.as_u64().unwrap_or(number);
                return Ok(());
            }
            ("finishReason", Kind::String) => has_ended = true,
            ("content", Kind::Object) if progress.candidates.have_pieces => {
                return read_pieces(reader, &mut call);
            }
            _ => {}
        }
        reader.skip()
    })?;
    progress.candidates.begin(number);
    match call {
        Some(Call::GoesOn) => progress.candidates.begin_call(number),
        Some(Call::Ends) => progress.candidates.end_call(number),
        None => {}
    }
    if has_ended {
        progress.candidates.end(number);
    }
    Ok(())
}

/// What a piece of a call says of it.
enum Call {
    GoesOn,
    Ends,
}

/// Reads whether the last call of a content goes on, if there is one.
fn read_pieces(reader: &mut Reader<'_>, call: &mut Option<Call>) -> Result<()> {
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("parts", Kind::Array) => reader.array(|_, reader| {
            if let Ok(Some(piece)) = call_piece(&mut reader.checkpoint(), Place::default()) {
                *call = Some(match piece.semantics().has_shape(WILL_CONTINUE) {
                    true => Call::GoesOn,
                    false => Call::Ends,
                });
            }
            reader.skip()
        }),
        _ => reader.skip(),
    })
}
