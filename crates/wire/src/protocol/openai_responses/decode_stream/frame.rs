//! The fields of a frame, picked in one pass over it: the type may stand behind everything else.

use crate::error::Result;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::place::Place;
use crate::protocol::Event;

/// Takes the events of a stream.
pub(super) type Emit<'e, 'f> = &'e mut dyn FnMut(Event<'f>);

#[derive(Debug, Default)]
pub(super) struct Fields<'f> {
    /// Where the frame stands.
    pub(super) place: Place,
    pub(super) kind: Option<Text<'f>>,
    pub(super) output_index: usize,
    pub(super) content_index: usize,
    pub(super) summary_index: usize,
    /// What a part grows by.
    pub(super) delta: Option<Text<'f>>,
    /// What a part has grown to.
    pub(super) whole: Option<Text<'f>>,
    pub(super) logprobs: Option<Json<'f>>,
    pub(super) part: Option<Json<'f>>,
    pub(super) item: Option<Json<'f>>,
    pub(super) annotation: Option<Json<'f>>,
    pub(super) response: Option<Json<'f>>,
}

impl<'f> Fields<'f> {
    pub(super) fn read(data: &'f str, place: Place) -> Result<Self> {
        let mut fields = Self { place, ..Self::default() };
        let mut reader = Reader::new(data);
        if reader.kind()? != Kind::Object {
            // JSON that is no event says nothing.
            reader.skip()?;
            reader.finish()?;
            return Ok(fields);
        }
        reader.object(|key, reader| fields.member(&key, reader))?;
        reader.finish()?;
        Ok(fields)
    }

    fn member(&mut self, key: &str, reader: &mut Reader<'f>) -> Result<()> {
        match (key, reader.kind()?) {
            ("type", Kind::String) => self.kind = Some(reader.string()?),
            ("delta", Kind::String) => self.delta = Some(reader.string()?),
            ("text" | "refusal" | "arguments" | "input", Kind::String) => {
                self.whole = Some(reader.string()?);
            }
            // Some servers give the arguments as the object that they are.
            ("arguments", Kind::Object) => self.whole = Some(reader.raw()?.to_text().into_owned()),
            ("output_index", Kind::Number) => self.output_index = index(reader)?,
            ("content_index", Kind::Number) => self.content_index = index(reader)?,
            ("summary_index", Kind::Number) => self.summary_index = index(reader)?,
            ("logprobs", Kind::Array) => self.logprobs = Some(reader.raw()?),
            ("part", Kind::Object) => self.part = Some(reader.raw()?),
            ("item", Kind::Object) => self.item = Some(reader.raw()?),
            ("annotation", Kind::Object) => self.annotation = Some(reader.raw()?),
            ("response", Kind::Object) => self.response = Some(reader.raw()?),
            _ => reader.skip()?,
        }
        Ok(())
    }
}

fn index(reader: &mut Reader<'_>) -> Result<usize> {
    Ok(reader.number()?.as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or_default())
}
