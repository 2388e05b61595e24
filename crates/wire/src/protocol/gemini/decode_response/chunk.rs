//! Reading one response object: a whole answer, or one step of a stream.

use crate::conversation::BROKEN_CALL;
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::limit::CANDIDATES_MAX;
use crate::place::{Place, Step};
use crate::protocol::Logprobs;
use crate::protocol::gemini::decode_request::opaque_part;
use crate::protocol::gemini::decode_request::partial::{PartOrPiece, part_or_piece};
use crate::protocol::gemini::decode_response::citation::Grounding;
use crate::protocol::gemini::decode_response::logprobs::read_logprobs;
use crate::protocol::gemini::types::{CITED_APART, CONTENT_SCOPE, GROUNDING_SCOPE, LOGPROBS};
use crate::protocol::gemini::usage::USAGE;
use crate::protocol::object::{Members, read_object, set};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::usage::Report;

/// A response object, taken apart. What has an unexpected shape is kept among the extras.
#[derive(Default)]
pub(in super::super) struct Chunk<'a> {
    pub id: Option<Text<'a>>,
    pub model: Option<Text<'a>>,
    pub candidates: Vec<CandidateDraft<'a>>,
    pub usage: Option<Report<'a>>,
    /// Why the prompt was blocked.
    pub blocked: Option<Text<'a>>,
    pub error: Option<Json<'a>>,
    pub extras: Extras<'a>,
}

/// One candidate of a response object.
#[derive(Default)]
pub(in super::super) struct CandidateDraft<'a> {
    /// Which of the answers this is.
    pub index: u32,
    pub parts: Vec<PartOrPiece<'a>>,
    pub finish: Option<Text<'a>>,
    pub grounding: Grounding<'a>,
    pub logprobs: Option<Logprobs<'static>>,
    pub semantics: NodeSemantics<'a>,
    /// Whether it has content.
    pub has_content: bool,
}

impl<'a> Chunk<'a> {
    /// Reads a response object, without the details of its usage that are `known` from earlier ones of its stream.
    pub(in super::super) fn read(
        &mut self,
        reader: &mut Reader<'a>,
        place: Place,
        known: &mut Extras<'static>,
    ) -> Result<()> {
        let mut extras = Extras::default();
        read_object(reader, "", &mut extras, |key, reader| self.member(key, reader, place, known))?;
        self.extras = extras;
        Ok(())
    }

    fn member(
        &mut self,
        key: &str,
        reader: &mut Reader<'a>,
        place: Place,
        known: &mut Extras<'static>,
    ) -> Result<()> {
        match (key, reader.kind()?) {
            ("responseId", Kind::String) => set(&mut self.id, reader.string()),
            ("modelVersion", Kind::String) => set(&mut self.model, reader.string()),
            ("candidates", Kind::Array) => reader.array(|index, reader| {
                let place = place.element(Step::Candidates, index);
                self.candidates.push_mut(CandidateDraft::at(place)).read(reader, index)
            }),
            ("usageMetadata", Kind::Object) => {
                let report = self.usage.insert(Report::at(place.step(Step::UsageMetadata)));
                USAGE.read_later(reader, report, known)
            }
            ("promptFeedback", Kind::Object) => {
                self.blocked = reader.peek_tag("blockReason").unwrap_or_default();
                Ok(())
            }
            ("error", Kind::Object) => set(&mut self.error, reader.raw()),
            _ => Ok(()),
        }
    }
}

impl<'a> CandidateDraft<'a> {
    fn at(place: Place) -> Self {
        Self { semantics: NodeSemantics::at(place), ..Self::default() }
    }

    fn read(&mut self, reader: &mut Reader<'a>, position: usize) -> Result<()> {
        self.index = u32::try_from(position).unwrap_or_default();
        let mut extras = Extras::default();
        read_object(reader, "", &mut extras, |key, reader| match (key, reader.kind()?) {
            ("content", Kind::Object) => {
                self.has_content = true;
                self.content(reader)
            }
            ("finishReason", Kind::String) => set(&mut self.finish, reader.string()),
            ("index", Kind::Number) => self.index(reader, position),
            ("groundingMetadata", Kind::Object) => {
                self.grounding.read_grounding(&reader.checkpoint().raw()?);
                reader.inside(GROUNDING_SCOPE, |_, _| Ok(()))
            }
            ("citationMetadata", Kind::Object) => {
                self.grounding.read_citations(&reader.checkpoint().raw()?);
                self.semantics.add_shape(CITED_APART);
                Ok(())
            }
            (LOGPROBS, Kind::Object) => {
                self.logprobs = read_logprobs(&reader.checkpoint().raw()?);
                if self.logprobs.is_none() {
                    return Ok(());
                }
                reader.skip()
            }
            _ => Ok(()),
        })?;
        self.semantics.keep(extras);
        Ok(())
    }

    /// Where its sources stand.
    pub(in super::super) fn sources(&self) -> Place {
        let is_apart = self.semantics.has_shape(CITED_APART);
        let step = if is_apart { Step::CitationMetadata } else { Step::GroundingMetadata };
        self.semantics.place().step(step)
    }

    /// Reads the index. One that is not the position stays among the extras too.
    fn index(&mut self, reader: &mut Reader<'a>, position: usize) -> Result<()> {
        let mut ahead = reader.checkpoint();
        let stated = ahead.u64().ok().filter(|it| *it < CANDIDATES_MAX as u64);
        self.index = stated.map_or(self.index, |index| index as u32);
        if stated == Some(position as u64) {
            *reader = ahead;
        }
        Ok(())
    }

    fn content(&mut self, reader: &mut Members<'_, 'a>) -> Result<()> {
        let place = self.semantics.place().step(Step::Content);
        reader.inside(CONTENT_SCOPE, |key, reader| match (key, reader.kind()?) {
            ("role", Kind::String) => pass_role(reader),
            ("parts", Kind::Array) => reader.array(|index, reader| {
                let place = place.element(Step::Parts, index);
                self.parts.push(part(reader, place)?);
                Ok(())
            }),
            _ => Ok(()),
        })
    }
}

/// Passes the role that answers have; any other stays.
fn pass_role(reader: &mut Reader<'_>) -> Result<()> {
    let mut ahead = reader.checkpoint();
    if ahead.string()? == "model" {
        *reader = ahead;
    }
    Ok(())
}

/// Reads a part; one of an unexpected shape is kept whole.
fn part<'a>(reader: &mut Reader<'a>, place: Place) -> Result<PartOrPiece<'a>> {
    let mut start = reader.checkpoint();
    let read = part_or_piece(reader, place);
    if read.is_ok() {
        return read;
    }
    let json = start.raw()?;
    *reader = start;
    let is_call = |key: &str| matches!(key, "functionCall" | "function_call");
    let kind = if has_member(&json, is_call) { BROKEN_CALL } else { "" };
    Ok(PartOrPiece::Part(opaque_part(Text::literal(kind), json, place)))
}

fn has_member(json: &Json<'_>, is_meant: impl Fn(&str) -> bool) -> bool {
    let mut has_any = false;
    let read = json.reader().object(|key, reader| {
        has_any |= is_meant(&key);
        reader.skip()
    });
    read.is_ok() && has_any
}
