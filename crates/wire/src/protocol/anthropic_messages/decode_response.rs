//! Reading whole answers. What is not shaped as expected is kept as it is.

use std::borrow::Cow;

use super::decode_request::blocks;
use super::types::NO_CONTENT;
use super::types::NO_ROLE;
use super::types::NO_TYPE;
use crate::conversation::Candidate;
use crate::conversation::Content;
use crate::conversation::Finish;
use crate::conversation::FinishKind;
use crate::conversation::Message;
use crate::conversation::Part;
use crate::conversation::Response;
use crate::conversation::Role;
use crate::conversation::Usage;
use crate::error::Result;
use crate::json::Json;
use crate::json::Kind;
use crate::json::Reader;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::place::Place;
use crate::place::Step;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::losing::Losing;
use crate::protocol::object::Member;
use crate::protocol::object::read_object;
use crate::protocol::semantics::Extras;
use crate::protocol::semantics::NodeSemantics;

pub(in crate::protocol) fn decode_response(body: &str) -> Result<Response<'_>> {
    let mut reader = Reader::new(body);
    let mut message = Answer::default();
    message.read(&mut reader, Place::default())?;
    reader.finish()?;
    Ok(message.into_response())
}

/// A message of the assistant as the vendor states it, whole or as it begins.
#[derive(Default)]
pub(super) struct Answer<'a> {
    pub(super) id: Option<Text<'a>>,
    pub(super) model: Option<Text<'a>>,
    pub(super) usage: Option<Counts<'a>>,
    pub(super) semantics: NodeSemantics<'a>,
    pub(super) parts: Vec<Part<'a>>,
    pub(super) ending: Ending<'a>,
}

impl<'a> Answer<'a> {
    pub(super) fn read(&mut self, reader: &mut Reader<'a>, place: Place) -> Result<()> {
        let mut extras = Extras::default();
        let (mut has_type, mut has_role, mut has_content) = (false, false, false);
        self.semantics = NodeSemantics::at(place);
        read_object(reader, "", &mut extras, |key, reader, _| {
            let kind = reader.kind()?;
            match (key, kind) {
                ("id", Kind::String) => self.id = Some(reader.string()?),
                ("model", Kind::String) => self.model = Some(reader.string()?),
                ("type", Kind::String) if reader.checkpoint().string()? == "message" => {
                    has_type = true;
                    reader.skip()?;
                }
                ("role", Kind::String) if reader.checkpoint().string()? == "assistant" => {
                    has_role = true;
                    reader.skip()?;
                }
                ("content", Kind::Array) => {
                    has_content = true;
                    self.read_content(reader, place)?;
                }
                ("usage", Kind::Object) => {
                    let mut counts = Counts::default();
                    counts.read(reader, place.step(Step::Usage))?;
                    self.usage = Some(counts);
                }
                _ => return self.ending.member(key, reader),
            }
            Ok(Member::Read)
        })?;
        for (has, shape) in [(has_type, NO_TYPE), (has_role, NO_ROLE), (has_content, NO_CONTENT)] {
            if !has {
                self.semantics.add_shape(shape);
            }
        }
        self.ending.leave(&mut extras);
        self.semantics.keep(extras);
        Ok(())
    }

    fn read_content(&mut self, reader: &mut Reader<'a>, place: Place) -> Result<()> {
        reader.array(|index, reader| {
            let at = place.element(Step::Content, index);
            self.parts.push(blocks::read_any_block(reader, at)?);
            Ok(())
        })
    }

    fn into_response(self) -> Response<'a> {
        let place = self.semantics.place();
        let message =
            Message::new(Role::Assistant, self.parts).with_semantics(NodeSemantics::at(place));
        let mut candidate = Candidate::new(message);
        candidate.finish = self.ending.into_finish();
        let mut response = Response::default();
        *response.semantics_mut() = self.semantics;
        response.id = self.id;
        response.model = self.model;
        response.candidates.push(candidate);
        if let Some(counts) = self.usage {
            response.service_tier = counts.service_tier.clone();
            response.usage = Some(counts.into_usage());
        }
        response
    }
}

/// How an answer ended, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Ending<'a> {
    reason: Option<Text<'a>>,
    stop_sequence: Option<Text<'a>>,
    details: Option<Json<'a>>,
}

impl<'a> Ending<'a> {
    pub(super) fn member(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<Member> {
        match (key, reader.kind()?) {
            ("stop_reason", Kind::String) => self.reason = Some(reader.string()?),
            ("stop_sequence", Kind::String) => self.stop_sequence = Some(reader.string()?),
            ("stop_details", Kind::Object) => self.details = Some(reader.raw()?),
            _ => return Ok(Member::Unknown),
        }
        Ok(Member::Read)
    }

    /// Whether it says why the answer ended.
    pub(super) fn has_reason(&self) -> bool {
        self.reason.is_some()
    }

    /// Leaves what was said of an end that has no reason among the extras.
    pub(super) fn leave(&mut self, extras: &mut Extras<'a>) {
        if self.reason.is_some() {
            return;
        }
        if let Some(text) = self.stop_sequence.take() {
            let mut writer = Writer::default();
            writer.value(&text);
            let json = Json::trusted(writer.into_string().into());
            extras.keep("", Cow::Borrowed("stop_sequence"), json);
        }
        if let Some(details) = self.details.take() {
            extras.keep("", Cow::Borrowed("stop_details"), details);
        }
    }

    pub(super) fn into_finish(self) -> Option<Finish<'a>> {
        let reason = self.reason?;
        Some(Finish {
            kind: finish_kind(&reason.to_str()),
            raw: Some(reason),
            stop_sequence: self.stop_sequence,
            details: self.details,
        })
    }

    pub(super) fn into_owned(self) -> Ending<'static> {
        Ending {
            reason: self.reason.map(Text::into_owned),
            stop_sequence: self.stop_sequence.map(Text::into_owned),
            details: self.details.map(Json::into_owned),
        }
    }
}

fn finish_kind(word: &str) -> FinishKind {
    match word {
        "end_turn" => FinishKind::Stop,
        "stop_sequence" => FinishKind::StopSequence,
        "tool_use" => FinishKind::ToolCalls,
        "max_tokens" => FinishKind::Length,
        "model_context_window_exceeded" => FinishKind::ContextFull,
        "refusal" => FinishKind::Refusal,
        "pause_turn" => FinishKind::Pause,
        _ => FinishKind::Other,
    }
}

/// Reports what comes back otherwise from other protocols, although it arrives there: texts among cited ones, which Gemini
/// tells apart by their sources alone, and words behind calls, which Chat tells first.
pub(in crate::protocol) fn lose_answer_on_return(
    response: &Response<'_>,
    target: Protocol,
    losing: &mut Losing<'_>,
) {
    for candidate in &response.candidates {
        lose_reason(candidate, losing);
        let parts = &candidate.message.parts;
        let is_cited = parts.iter().any(|part| !part.semantics().citations().is_empty());
        let is_text = |part: &&Part<'_>| matches!(part.content(), Content::Text(_));
        if is_cited && target == Protocol::Gemini {
            let reason = "texts are told apart by their sources alone";
            for text in parts.iter().filter(is_text) {
                losing.node(text.semantics().place(), LossKind::Renamed, reason);
            }
        }
        let mut behind = parts.iter().skip_while(|part| !is_call(part)).filter(is_text);
        if target == Protocol::OpenaiChat && behind.next().is_some() {
            let (place, reason) = (candidate.semantics().place(), "words come before calls");
            losing.below(place, "/content", LossKind::Renamed, reason);
        }
    }
}

fn is_call(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::ToolCall(_))
}

/// Whether an answer calls is told by its calls elsewhere.
fn lose_reason(candidate: &Candidate<'_>, losing: &mut Losing<'_>) {
    let calls = candidate.message.parts.iter().any(is_call);
    let is_told = match candidate.finish.as_ref().map(|finish| finish.kind) {
        Some(FinishKind::ToolCalls) => !calls,
        Some(FinishKind::Length | FinishKind::ContentFilter) | None => false,
        Some(_) => calls,
    };
    if is_told {
        let place = candidate.semantics().place();
        let reason = "calls make the reason";
        losing.field(place, Field::FinishReason, LossKind::Renamed, reason);
    }
}

/// The counts of a usage report as the vendor states them: the input without what the cache had to do with.
#[derive(Debug, Default)]
pub(super) struct Counts<'a> {
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    cache_write_5m: Option<u64>,
    cache_write_1h: Option<u64>,
    output: Option<u64>,
    reasoning: Option<u64>,
    pub(super) service_tier: Option<Text<'a>>,
    place: Place,
    extras: Extras<'a>,
}

impl<'a> Counts<'a> {
    pub(super) fn read(&mut self, reader: &mut Reader<'a>, place: Place) -> Result<()> {
        self.place = place;
        let mut extras = Extras::default();
        read_object(reader, "", &mut extras, |key, reader, extras| match key {
            "input_tokens" => read_count(reader, &mut self.input),
            "cache_read_input_tokens" => read_count(reader, &mut self.cache_read),
            "cache_creation_input_tokens" => read_count(reader, &mut self.cache_write),
            "output_tokens" => read_count(reader, &mut self.output),
            "service_tier" if reader.kind()? == Kind::String => {
                self.service_tier = Some(reader.string()?);
                Ok(Member::Read)
            }
            "cache_creation" => self.read_writes(reader, extras),
            "output_tokens_details" => self.read_details(reader, extras),
            _ => Ok(Member::Unknown),
        })?;
        self.extras = extras;
        Ok(())
    }

    fn read_writes(&mut self, reader: &mut Reader<'a>, extras: &mut Extras<'a>) -> Result<Member> {
        let before = (self.cache_write_5m, self.cache_write_1h);
        let member = read_inner(reader, "cache_creation", extras, |key, reader| match key {
            "ephemeral_5m_input_tokens" => read_count(reader, &mut self.cache_write_5m),
            "ephemeral_1h_input_tokens" => read_count(reader, &mut self.cache_write_1h),
            _ => Ok(Member::Unknown),
        });
        if !matches!(member, Ok(Member::Read)) {
            (self.cache_write_5m, self.cache_write_1h) = before;
        }
        member
    }

    fn read_details(&mut self, reader: &mut Reader<'a>, extras: &mut Extras<'a>) -> Result<Member> {
        read_inner(reader, "output_tokens_details", extras, |key, reader| match key {
            "thinking_tokens" => read_count(reader, &mut self.reasoning),
            _ => Ok(Member::Unknown),
        })
    }

    /// The report in counts that mean the same for every vendor.
    pub(super) fn into_usage(self) -> Usage<'a> {
        let sum = self.sum_of_input();
        let mut extras = self.extras;
        if let (Some(input), None) = (self.input, sum) {
            // A sum beyond counting stays as the vendor states it.
            let json = Json::trusted(input.to_string().into());
            extras.keep("", Cow::Borrowed("input_tokens"), json);
        }
        let mut usage = Usage::default();
        *usage.semantics_mut() = NodeSemantics::at(self.place);
        usage.semantics_mut().keep(extras);
        usage.input = sum;
        usage.cache_read = self.cache_read;
        usage.cache_write = self.cache_write;
        usage.cache_write_5m = self.cache_write_5m;
        usage.cache_write_1h = self.cache_write_1h;
        usage.output = self.output;
        usage.reasoning = self.reasoning;
        usage
    }

    /// The input with what the cache had to do with.
    fn sum_of_input(&self) -> Option<u64> {
        let cached = self.cache_read.unwrap_or(0).checked_add(self.cache_write.unwrap_or(0))?;
        self.input?.checked_add(cached)
    }

    /// Fills in from an earlier report what this one does not repeat, so that the sum of the input is right.
    pub(super) fn complete(&mut self, earlier: &Counts<'_>) {
        self.input = self.input.or(earlier.input);
        self.cache_read = self.cache_read.or(earlier.cache_read);
        self.cache_write = self.cache_write.or(earlier.cache_write);
    }

    /// The counts alone.
    pub(super) fn bare(&self) -> Counts<'static> {
        Counts {
            input: self.input,
            cache_read: self.cache_read,
            cache_write: self.cache_write,
            ..Counts::default()
        }
    }
}

/// Reads a whole number; anything else is left for the extras.
fn read_count(reader: &mut Reader<'_>, count: &mut Option<u64>) -> Result<Member> {
    let mut ahead = reader.checkpoint();
    let Ok(value) = ahead.u64() else { return Ok(Member::Unknown) };
    *reader = ahead;
    *count = Some(value);
    Ok(Member::Read)
}

/// Reads an object inside the usage; one that holds nothing we know is left for the extras, whole.
fn read_inner<'a>(
    reader: &mut Reader<'a>,
    scope: &'static str,
    extras: &mut Extras<'a>,
    mut member: impl FnMut(&str, &mut Reader<'a>) -> Result<Member>,
) -> Result<Member> {
    if reader.kind()? != Kind::Object {
        return Ok(Member::Unknown);
    }
    let mut ahead = reader.checkpoint();
    let mut inner = Extras::default();
    let mut has_known = false;
    read_object(&mut ahead, scope, &mut inner, |key, reader, _| {
        let read = member(key, reader)?;
        has_known |= read == Member::Read;
        Ok(read)
    })?;
    if !has_known {
        return Ok(Member::Unknown);
    }
    *reader = ahead;
    extras.update(inner);
    Ok(Member::Read)
}
