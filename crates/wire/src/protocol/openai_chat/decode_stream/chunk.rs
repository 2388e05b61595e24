//! What one chunk says of a choice, before anybody acts on it.

use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};

/// One element of a chunk's `choices`.
#[derive(Default)]
pub(in super::super) struct Chunk<'f> {
    pub(in super::super) index: Option<u64>,
    pub(in super::super) delta: Option<Reader<'f>>,
    pub(in super::super) finish: Option<Text<'f>>,
    pub(in super::super) logprobs: Option<Json<'f>>,
    pub(in super::super) others: Vec<(String, Json<'f>)>,
}

impl<'f> Chunk<'f> {
    pub(in super::super) fn read(reader: &mut Reader<'f>) -> Result<Self> {
        let mut chunk = Self::default();
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                (_, Kind::Null) => reader.skip()?,
                ("index", Kind::Number) => chunk.index = reader.number()?.as_u64(),
                ("delta", Kind::Object) => {
                    chunk.delta = Some(reader.checkpoint());
                    reader.skip()?;
                }
                // Some servers state it as an empty text until there is one.
                ("finish_reason", Kind::String) => {
                    chunk.finish = Some(reader.string()?).filter(|word| !word.is_empty());
                }
                ("logprobs", Kind::Object) => chunk.logprobs = Some(reader.raw()?),
                // Some servers repeat the whole message so far in every chunk.
                // Fixture `stream/hosted/perplexity-cumulative-message`.
                ("message", Kind::Object) => reader.skip()?,
                _ => chunk.others.push((key.into_owned(), reader.raw()?)),
            }
            Ok(())
        })?;
        Ok(chunk)
    }
}
