//! Reading whole answers. What is not shaped as expected is kept as it is.

use super::decode_request::blocks;
use super::fault::read_fault;
use super::usage::USAGE;
use crate::conversation::{Candidate, Finish, FinishKind, Message, Part, Response, Role};
use crate::error::Result;
use crate::fault::FaultKind;
use crate::json::{Json, Kind, Reader, Text};
use crate::owned::into_owned;
use crate::place::{Place, Step};
use crate::protocol::object::{read_object, set};
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::usage::Report;

pub(in super::super) fn decode_response(body: &str) -> Result<Response<'_>> {
    let mut reader = Reader::new(body);
    let mut message = MessageObject::default();
    message.read(&mut reader, Place::default())?;
    reader.finish()?;
    // Here an answer and an error have nothing in common.
    let is_error = message.has_error && !message.has_content;
    let mut response = message.into_response();
    if is_error {
        response.fault = Some(read_fault(FaultKind::UNSTATED, Json::parse(body)?));
    }
    Ok(response)
}

/// A message of the assistant as the vendor states it, whole or as it begins.
#[derive(Default)]
pub(super) struct MessageObject<'a> {
    pub(super) id: Option<Text<'a>>,
    pub(super) model: Option<Text<'a>>,
    pub(super) usage: Option<Report<'a>>,
    pub(super) semantics: NodeSemantics<'a>,
    pub(super) parts: Vec<Part<'a>>,
    pub(super) ending: StopFields<'a>,
    has_content: bool,
    has_error: bool,
}

impl<'a> MessageObject<'a> {
    pub(super) fn read(&mut self, reader: &mut Reader<'a>, place: Place) -> Result<()> {
        let mut extras = Extras::default();
        self.semantics = NodeSemantics::at(place);
        read_object(reader, "", &mut extras, |key, reader| match (key, reader.kind()?) {
            ("id", Kind::String) => set(&mut self.id, reader.string()),
            ("model", Kind::String) => set(&mut self.model, reader.string()),
            ("type", Kind::String) if reader.checkpoint().string()? == "message" => reader.skip(),
            ("role", Kind::String) if reader.checkpoint().string()? == "assistant" => reader.skip(),
            ("content", Kind::Array) => self.read_content(reader, place),
            ("usage", Kind::Object) => {
                set(&mut self.usage, USAGE.read(reader, place.step(Step::Usage)))
            }
            ("error", Kind::Object | Kind::String) => {
                self.has_error = true;
                Ok(())
            }
            _ => self.ending.member(key, reader),
        })?;
        self.ending.leave(&mut extras);
        self.semantics.keep(extras);
        Ok(())
    }

    fn read_content(&mut self, reader: &mut Reader<'a>, place: Place) -> Result<()> {
        self.has_content = true;
        reader.array(|index, reader| {
            let at = place.element(Step::Content, index);
            self.parts.push(blocks::read_any_block(reader, at)?);
            Ok(())
        })
    }

    fn into_response(self) -> Response<'a> {
        let Self { id, model, usage, semantics, parts, ending, .. } = self;
        let place = NodeSemantics::at(semantics.place());
        let message = Message::new(Role::Assistant, parts).with_semantics(place);
        let finish = ending.into_finish();
        let candidates = vec![Candidate { finish, ..Candidate::new(message) }];
        let service_tier = usage.as_ref().and_then(|report| report.service_tier.clone());
        let usage = usage.map(|report| USAGE.usage(report));
        let (created, fault) = (None, None);
        Response { id, model, created, candidates, usage, service_tier, fault, semantics }
    }
}

/// How an answer ended, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct StopFields<'a> {
    reason: Option<Text<'a>>,
    stop_sequence: Option<Text<'a>>,
    details: Option<Json<'a>>,
}

impl<'a> StopFields<'a> {
    pub(super) fn member(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        match (key, reader.kind()?) {
            ("stop_reason", Kind::String) => set(&mut self.reason, reader.string()),
            ("stop_sequence", Kind::String) => set(&mut self.stop_sequence, reader.string()),
            ("stop_details", Kind::Object) => set(&mut self.details, reader.raw()),
            _ => Ok(()),
        }
    }

    /// Whether it says why the answer ended.
    pub(super) fn has_reason(&self) -> bool {
        self.reason.is_some()
    }

    /// Leaves what was stated about an end that has no reason among the extras.
    pub(super) fn leave(&mut self, extras: &mut Extras<'a>) {
        if self.reason.is_some() {
            return;
        }
        if let Some(text) = self.stop_sequence.take() {
            extras.keep("", "stop_sequence".into(), Json::of_text(&text));
        }
        if let Some(details) = self.details.take() {
            extras.keep("", "stop_details".into(), details);
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
}

into_owned! {
    pub(super) struct StopFields { reason, stop_sequence, details }
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
