//! Citations: where a text says it has its knowledge from.

use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::owned::into_owned;
use crate::place::Place;
use crate::protocol::Protocol;
use crate::protocol::object::{put, set};

/// One source of a text part.
#[derive(Clone, Debug)]
pub struct Citation<'a> {
    pub(in super::super) protocol: Protocol,
    pub(in super::super) json: Json<'a>,
    pub(in super::super) url: Option<Text<'a>>,
    pub(in super::super) title: Option<Text<'a>>,
    pub(in super::super) cited_text: Option<Text<'a>>,
    /// The stretch of the part's text that the source supports, in characters.
    pub(in super::super) span: Option<(u64, u64)>,
    /// Where a stream stated it; the root if the part has it.
    pub(in super::super) place: Place,
}

impl<'a> Citation<'a> {
    /// A citation as `protocol` spells it; the other fields say what of it others can understand.
    pub(in super::super) fn new(protocol: Protocol, json: Json<'a>) -> Self {
        let (url, title, cited_text, span) = (None, None, None, None);
        Self { protocol, json, url, title, cited_text, span, place: Place::default() }
    }

    /// The same in a frame of a stream, at `place`.
    pub(in super::super) fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// Where it stands, if its part does not have it.
    pub fn place(&self) -> Option<Place> {
        Some(self.place).filter(|place| !place.is_root())
    }

    /// Reads the members of an object that cites a page, as several protocols name them.
    pub(in super::super) fn read_page(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        let (mut start, mut end) = (None, None);
        reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("url", Kind::String) => set(&mut self.url, reader.string()),
            ("title", Kind::String) => set(&mut self.title, reader.string()),
            ("start_index", Kind::Number) => put(&mut start, reader.number().map(|it| it.as_u64())),
            ("end_index", Kind::Number) => put(&mut end, reader.number().map(|it| it.as_u64())),
            _ => reader.skip(),
        })?;
        self.span = start.zip(end);
        Ok(())
    }

    /// The protocol in which [`Citation::json`] is spelled.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub fn json(&self) -> &Json<'a> {
        &self.json
    }

    pub fn url(&self) -> Option<&Text<'a>> {
        self.url.as_ref()
    }

    pub fn title(&self) -> Option<&Text<'a>> {
        self.title.as_ref()
    }

    pub fn cited_text(&self) -> Option<&Text<'a>> {
        self.cited_text.as_ref()
    }

    pub fn span(&self) -> Option<(u64, u64)> {
        self.span
    }
}

into_owned! {
    pub struct Citation { protocol, json, url, title, cited_text, span, place }
}
