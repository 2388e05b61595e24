//! Reading whole answers. What is not as expected is kept as it is, never refused.

use crate::conversation::{Candidate, Content, Finish, FinishKind, Message, Response, Role};
use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text};
use crate::place::{Place, Step};
use crate::protocol::object::{Members, read_object, set};
use crate::protocol::openai_chat::decode_request::message::Fields;
use crate::protocol::openai_chat::fault::fault_within;
use crate::protocol::openai_chat::types::SELF;
use crate::protocol::openai_chat::usage::USAGE;
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::{Citation, Logprobs};

pub(in super::super) fn decode_response(body: &str) -> Result<Response<'_>> {
    let mut reader = Reader::new(body);
    let mut response = Response::default();
    let mut extras = Extras::default();
    read_object(&mut reader, "", &mut extras, |key, reader| match (key, reader.kind()?) {
        ("object", Kind::String) if reader.checkpoint().string()? == OBJECT => reader.skip(),
        ("choices", Kind::Array) => {
            reader.list(read_choice).map(|choices| response.candidates.extend(choices))
        }
        ("usage", Kind::Object) => {
            set(&mut response.usage, USAGE.decode(reader, Place::default().step(Step::Usage)))
        }
        ("error", Kind::Object) => {
            set(&mut response.fault, reader.checkpoint().raw().map(|error| fault_within(&error)))
        }
        ("id", Kind::String) => set(&mut response.id, reader.string()),
        ("model", Kind::String) => set(&mut response.model, reader.string()),
        ("created", Kind::Number) => set(&mut response.created, reader.number()),
        ("service_tier", Kind::String) => set(&mut response.service_tier, reader.string()),
        _ => Ok(()),
    })?;
    reader.finish()?;
    response.semantics_mut().keep(extras);
    Ok(response)
}

const OBJECT: &str = "chat.completion";

fn read_choice<'a>(position: usize, reader: &mut Reader<'a>) -> Result<Candidate<'a>> {
    let place = Place::default().element(Step::Choices, position);
    let mut finish = None;
    let mut fields = Fields::at(place.step(Step::Message));
    let mut logprobs = None;
    let mut extras = Extras::default();
    read_object(reader, "", &mut extras, |key, reader| match (key, reader.kind()?) {
        ("index", Kind::Number)
            if reader.checkpoint().u64().is_ok_and(|it| it == position as u64) =>
        {
            reader.skip()
        }
        ("finish_reason", Kind::String) => set(&mut finish, reader.string().map(finish_of)),
        ("message", Kind::Object) => read_message(reader, &mut fields),
        ("logprobs", Kind::Object) => set(&mut logprobs, reader.raw()),
        _ => Ok(()),
    })?;
    if let Some(json) = logprobs {
        read_logprobs(&json, &mut fields, &mut extras)?;
    }
    let message = Message::new(Role::Assistant, fields.into_parts());
    Ok(Candidate { message, finish, semantics: NodeSemantics::at(place).keeping(extras) })
}

/// Reads the message of a choice. Its extras are the choice's, because streams have no other place for them.
fn read_message<'a>(reader: &mut Members<'_, 'a>, fields: &mut Fields<'a>) -> Result<()> {
    let mut annotations = None;
    reader.inside("message", |key, reader| match (key, reader.kind()?) {
        ("role", Kind::String) if reader.checkpoint().string()? == "assistant" => reader.skip(),
        ("annotations", Kind::Array) => set(&mut annotations, reader.raw()),
        ("content", kind) if is_odd(kind, reader) => {
            fields.json_content(&reader.raw()?);
            Ok(())
        }
        _ => {
            // A value of another shape stays unread, so that it is kept as it is.
            let mut ahead = reader.checkpoint();
            if fields.member(key, &mut ahead).is_ok() {
                *reader.reader = ahead;
            }
            Ok(())
        }
    })?;
    let Some(json) = annotations else { return Ok(()) };
    let Some(mut list) = json.input_reader() else { return Ok(()) };
    let citations = list.list(|_, reader| reader.raw().map(citation_of))?;
    match fields.find_mut(is_text) {
        Some(text) => citations.into_iter().for_each(|it| text.semantics_mut().add_citation(it)),
        None if !citations.is_empty() => reader.extras.keep("message", "annotations".into(), json),
        None => {}
    }
    Ok(())
}

/// Whether content is neither a text nor a list of parts.
fn is_odd(kind: Kind, reader: &Reader<'_>) -> bool {
    match kind {
        Kind::Object | Kind::Number | Kind::Boolean => true,
        Kind::Null | Kind::String => false,
        Kind::Array => {
            let (mut has_parts, mut is_empty) = (false, true);
            let read = reader.checkpoint().array(|_, reader| {
                is_empty = false;
                has_parts |= reader.kind()? == Kind::Object && reader.peek_tag("type")?.is_some();
                reader.skip()
            });
            read.is_ok() && !is_empty && !has_parts
        }
    }
}

fn is_text(content: &Content<'_>) -> bool {
    matches!(content, Content::Text(_))
}

/// A citation with what of it other protocols understand.
pub(super) fn citation_of(json: Json<'_>) -> Citation<'_> {
    let mut citation = Citation::new(SELF, json.clone());
    let Some(mut reader) = json.input_reader() else { return citation };
    // An annotation of another shape is kept whole all the same.
    let _ = reader.member("url_citation", Kind::Object, |reader| citation.read_page(reader));
    citation
}

/// Gives each list of log probabilities to the part that it belongs to.
fn read_logprobs<'a>(
    json: &Json<'a>,
    fields: &mut Fields<'a>,
    extras: &mut Extras<'a>,
) -> Result<()> {
    let Some(mut reader) = json.input_reader() else { return Ok(()) };
    read_object(&mut reader, "logprobs", extras, |key, reader| {
        let list = reader.kind()? == Kind::Array;
        let part = match key {
            "content" => fields.find_mut(is_text),
            "refusal" => fields.find_mut(|content| matches!(content, Content::Refusal(_))),
            _ => None,
        };
        if let Some(part) = part.filter(|_| list) {
            part.semantics_mut().set_logprobs(Logprobs::new(reader.raw()?));
        }
        Ok(())
    })
}

pub(super) fn finish_of(word: Text<'_>) -> Finish<'_> {
    let kind = match &*word.to_str() {
        "stop" => FinishKind::Stop,
        "length" | "model_length" => FinishKind::Length,
        "tool_calls" | "function_call" => FinishKind::ToolCalls,
        "content_filter" => FinishKind::ContentFilter,
        "error" => FinishKind::Failed,
        _ => FinishKind::Other,
    };
    Finish { raw: Some(word), ..Finish::new(kind) }
}
