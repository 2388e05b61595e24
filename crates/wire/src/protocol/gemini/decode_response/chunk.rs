//! Reading one response object: a whole answer, or one step of a stream.

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
use crate::protocol::object::{Member, read_object};
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
    pub(in super::super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self> {
        let mut chunk = Self::default();
        let mut extras = Extras::default();
        read_object(reader, "", &mut extras, |key, reader, _| chunk.member(key, reader, place))?;
        chunk.extras = extras;
        Ok(chunk)
    }

    fn member(&mut self, key: &str, reader: &mut Reader<'a>, place: Place) -> Result<Member> {
        match (key, reader.kind()?) {
            ("responseId", Kind::String) => self.id = Some(reader.string()?),
            ("modelVersion", Kind::String) => self.model = Some(reader.string()?),
            ("candidates", Kind::Array) => reader.array(|index, reader| {
                let place = place.element(Step::Candidates, index);
                self.candidates.push(CandidateDraft::read(reader, (place, index))?);
                Ok(())
            })?,
            ("usageMetadata", Kind::Object) => {
                self.usage = Some(USAGE.read(reader, place.step(Step::UsageMetadata))?);
            }
            ("promptFeedback", Kind::Object) => {
                self.blocked = reader.peek_tag("blockReason").unwrap_or_default();
                return Ok(Member::Unknown);
            }
            ("error", Kind::Object) => self.error = Some(reader.raw()?),
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    }
}

impl<'a> CandidateDraft<'a> {
    fn read(reader: &mut Reader<'a>, (place, position): (Place, usize)) -> Result<Self> {
        let mut draft = Self {
            index: u32::try_from(position).unwrap_or_default(),
            semantics: NodeSemantics::at(place),
            ..Self::default()
        };
        let mut extras = Extras::default();
        read_object(reader, "", &mut extras, |key, reader, extras| {
            match (key, reader.kind()?) {
                ("content", Kind::Object) => {
                    draft.has_content = true;
                    draft.content(reader, extras)?;
                }
                ("finishReason", Kind::String) => draft.finish = Some(reader.string()?),
                ("index", Kind::Number) => return Ok(draft.index(reader, position)),
                ("groundingMetadata", Kind::Object) => {
                    draft.grounding.read_grounding(&reader.checkpoint().raw()?);
                    read_object(reader, GROUNDING_SCOPE, extras, |_, _, _| Ok(Member::Unknown))?;
                }
                ("citationMetadata", Kind::Object) => {
                    draft.grounding.read_citations(&reader.checkpoint().raw()?);
                    draft.semantics.add_shape(CITED_APART);
                    return Ok(Member::Unknown);
                }
                (LOGPROBS, Kind::Object) => {
                    draft.logprobs = read_logprobs(&reader.checkpoint().raw()?);
                    if draft.logprobs.is_none() {
                        return Ok(Member::Unknown);
                    }
                    reader.skip()?;
                }
                _ => return Ok(Member::Unknown),
            }
            Ok(Member::Read)
        })?;
        draft.semantics.keep(extras);
        Ok(draft)
    }

    /// Where its sources stand.
    pub(in super::super) fn sources(&self) -> Place {
        let is_apart = self.semantics.has_shape(CITED_APART);
        let step = if is_apart { Step::CitationMetadata } else { Step::GroundingMetadata };
        self.semantics.place().step(step)
    }

    /// Reads the index. One that is not the position stays among the extras too.
    fn index(&mut self, reader: &mut Reader<'a>, position: usize) -> Member {
        let stated = reader.checkpoint().u64().ok().filter(|it| *it < CANDIDATES_MAX as u64);
        self.index = stated.map_or(self.index, |index| index as u32);
        let is_position = stated == Some(position as u64) && reader.skip().is_ok();
        if is_position { Member::Read } else { Member::Unknown }
    }

    fn content(&mut self, reader: &mut Reader<'a>, extras: &mut Extras<'a>) -> Result<()> {
        let place = self.semantics.place().step(Step::Content);
        read_object(reader, CONTENT_SCOPE, extras, |key, reader, _| {
            match (key, reader.kind()?) {
                ("role", Kind::String) if reader.checkpoint().string()? == "model" => {
                    reader.skip()?;
                }
                ("parts", Kind::Array) => reader.array(|index, reader| {
                    let place = place.element(Step::Parts, index);
                    self.parts.push(part(reader, place)?);
                    Ok(())
                })?,
                _ => return Ok(Member::Unknown),
            }
            Ok(Member::Read)
        })
    }
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
    Ok(PartOrPiece::Part(opaque_part(Text::default(), json, place)))
}
