//! What the chunks of a passing stream state.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::place::Place;
use crate::protocol::openai_chat::decode_stream::{Chunk, DONE, read_groq_usage};
use crate::protocol::openai_chat::usage::USAGE;
use crate::protocol::watch::{Progress, has_value};
use crate::sse::Frame;

pub(in super::super) fn watch(frame: &Frame<'_>, progress: &mut Progress) -> Result<()> {
    let data = frame.data.trim_ascii();
    if data == DONE {
        if progress.candidates.have_begun() {
            progress.candidates.end_all();
            progress.is_over = true;
        }
        return Ok(());
    }
    match progress.candidates.first_has_begun() && is_plain(data) {
        true => Ok(()),
        false => read(data, progress),
    }
}

static USAGE_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"usage\""));
static ERROR_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"error\""));
static FINISH_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"finish_reason\""));
static INDEX_KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("\"index\""));

/// Whether a chunk only goes on with the first choice. The second of several calls looks like a second choice.
fn is_plain(data: &str) -> bool {
    !(has_value(&USAGE_KEY, data, |value| value.starts_with(b"{"))
        || has_value(&ERROR_KEY, data, |value| !value.starts_with(b"null"))
        || has_value(&FINISH_KEY, data, |value| value.starts_with(b"\""))
        || has_value(&INDEX_KEY, data, |value| !value.starts_with(b"0")))
}

fn read(data: &str, progress: &mut Progress) -> Result<()> {
    Reader::new(data).object(|key, reader| match (&*key, reader.kind()?) {
        (_, Kind::Null) => reader.skip(),
        ("error", _) => {
            progress.has_failed = true;
            reader.skip()
        }
        ("choices", Kind::Array) => reader.array(|_, reader| read_choice(reader, progress)),
        ("usage", Kind::Object) => progress.count(&USAGE, reader),
        ("x_groq", Kind::Object) => {
            let usage = read_groq_usage(reader, Place::default())?;
            progress.aside = usage.map(|usage| usage.counts).or(progress.aside.take());
            Ok(())
        }
        _ => reader.skip(),
    })
}

fn read_choice(reader: &mut Reader<'_>, progress: &mut Progress) -> Result<()> {
    let chunk = Chunk::read(reader)?;
    let number = chunk.index.unwrap_or_default();
    progress.candidates.begin(number);
    if chunk.finish.is_some() {
        progress.candidates.end(number);
    }
    Ok(())
}
