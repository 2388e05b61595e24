//! Reading whole answers, and the response objects that streams begin and end with.

use crate::conversation::{
    Candidate, Content, Finish, FinishKind, Message, Part, Response, Role, Usage,
};
use crate::error::Result;
use crate::fault::Fault;
use crate::json::{Json, Kind, Number, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::arguments::sole_member;
use crate::protocol::object::{read_object, set};
use crate::protocol::openai_responses::decode_request::decode_output_item;
use crate::protocol::openai_responses::fault::fault_of_error;
use crate::protocol::openai_responses::usage::USAGE;
use crate::protocol::semantics::{Extras, NodeSemantics};

pub(in super::super) fn decode_response(body: &str) -> Result<Response<'_>> {
    let mut reader = Reader::new(body);
    let answer = ResponseObject::read(&mut reader, Place::default())?;
    reader.finish()?;
    answer.into_response()
}

/// A response object, its output still unread.
#[derive(Debug, Default)]
pub(super) struct ResponseObject<'a> {
    pub(super) id: Option<Text<'a>>,
    pub(super) model: Option<Text<'a>>,
    pub(super) created: Option<Number<'a>>,
    pub(super) service_tier: Option<Text<'a>>,
    pub(super) usage: Option<Usage<'a>>,
    pub(super) output: Option<Json<'a>>,
    pub(super) extras: Extras<'a>,
    status: Option<Text<'a>>,
    incomplete: Option<Json<'a>>,
    error: Option<Json<'a>>,
}

impl<'a> ResponseObject<'a> {
    pub(super) fn read(reader: &mut Reader<'a>, place: Place) -> Result<Self> {
        let mut answer = Self::default();
        let mut extras = Extras::default();
        read_object(reader, "", &mut extras, |key, reader| match (key, reader.kind()?) {
            ("object", Kind::String) => reader.skip(),
            ("id", Kind::String) => set(&mut answer.id, reader.string()),
            ("model", Kind::String) => set(&mut answer.model, reader.string()),
            ("created_at", Kind::Number) => set(&mut answer.created, reader.number()),
            ("service_tier", Kind::String) => set(&mut answer.service_tier, reader.string()),
            ("status", Kind::String) => set(&mut answer.status, reader.string()),
            ("incomplete_details", Kind::Object) => set(&mut answer.incomplete, reader.raw()),
            ("error", Kind::Object) => set(&mut answer.error, reader.raw()),
            ("output", Kind::Array) => set(&mut answer.output, reader.raw()),
            ("usage", Kind::Object) => {
                set(&mut answer.usage, USAGE.decode(reader, place.step(Step::Usage)))
            }
            _ => Ok(()),
        })?;
        answer.extras = extras;
        Ok(answer)
    }

    fn into_response(mut self) -> Result<Response<'a>> {
        let mut candidates = Vec::new();
        if let Some(output) = self.output.take() {
            let parts = decode_output(&output)?;
            let called = parts.iter().any(|part| matches!(part.content(), Content::ToolCall(_)));
            let candidate = Candidate::new(Message::new(Role::Assistant, parts));
            candidates.push(Candidate { finish: self.finish(called), ..candidate });
        }
        let fault = self.fault();
        self.keep_rest();
        let Self { id, model, created, service_tier, usage, extras, .. } = self;
        let semantics = NodeSemantics::default().keeping(extras);
        Ok(Response { id, model, created, candidates, usage, service_tier, fault, semantics })
    }

    /// Why the answer ended, if it has; `called` says that a tool was called. What is stated about it is taken.
    pub(super) fn finish(&mut self, called: bool) -> Option<Finish<'a>> {
        let status = self.status.take()?;
        let kind = match &*status.to_str() {
            "completed" if called => FinishKind::ToolCalls,
            "completed" => FinishKind::Stop,
            "incomplete" => return Some(self.incomplete(status)),
            "failed" | "cancelled" => FinishKind::Failed,
            "in_progress" | "queued" => {
                self.status = Some(status);
                return None;
            }
            _ => FinishKind::Other,
        };
        Some(Finish { raw: Some(status), ..Finish::new(kind) })
    }

    /// An end before the end. A reason that others know too is the vendor's word for it; any other stays in its
    /// shape.
    fn incomplete(&mut self, status: Text<'a>) -> Finish<'a> {
        let Some(details) = self.incomplete.take() else {
            return Finish { raw: Some(status), ..Finish::new(FinishKind::Other) };
        };
        let reason = details.reader().peek_tag("reason").ok().flatten().map(Text::into_owned);
        let kind = match reason.as_ref().map(Text::to_str).as_deref() {
            Some("max_output_tokens") => FinishKind::Length,
            Some("content_filter") => FinishKind::ContentFilter,
            _ => FinishKind::Other,
        };
        let is_plain = kind != FinishKind::Other && sole_member(&details).is_some();
        let details = (!is_plain).then_some(details);
        Finish { raw: reason.or(Some(status)), details, ..Finish::new(kind) }
    }

    /// The failure that the answer states, if it does.
    pub(super) fn fault(&mut self) -> Option<Fault<'a>> {
        self.error.take().map(fault_of_error)
    }

    /// Keeps what nobody took as it was.
    pub(super) fn keep_rest(&mut self) {
        let Self { status, incomplete, extras, .. } = self;
        if let Some(status) = status.take() {
            extras.keep("", "status".into(), Json::of_text(&status));
        }
        if let Some(incomplete) = incomplete.take() {
            extras.keep("", "incomplete_details".into(), incomplete);
        }
    }
}

/// Reads the items of an answer as the parts of one message.
fn decode_output<'a>(output: &Json<'a>) -> Result<Vec<Part<'a>>> {
    let mut parts = Vec::new();
    let Some(mut reader) = output.input_reader() else { return Ok(parts) };
    reader.array(|index, reader| {
        let place = Place::default().element(Step::Output, index);
        parts.extend(decode_output_item(reader, place)?);
        Ok(())
    })?;
    Ok(parts)
}
