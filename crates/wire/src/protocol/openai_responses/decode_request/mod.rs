//! Reading requests. Items and parts are read by files of their own, which whole answers and streams use too.

mod item;
mod part;
mod settings;
mod tools;

use crate::conversation::{Message, Part, Parts, Request, Role};
use crate::error::Result;
use crate::json::{Json, Kind, Reader};
use crate::place::{Place, Step};
use crate::protocol::codec::RequestAndSemantics;
use crate::protocol::object::{Members, messages_expected, read_object, set};
use crate::protocol::openai_responses::decode_request::item::{Decoded, decode_item};
use crate::protocol::openai_responses::types::{
    INCLUDE_LOGPROBS, INSTRUCTIONS, ResponsesSemantics,
};
use crate::protocol::semantics::{Extras, NodeSemantics, Semantics};

pub(super) use item::decode_output_item;
pub(super) use part::{citation, decode_part};

pub(in super::super) fn decode_request(mut reader: Reader<'_>) -> Result<RequestAndSemantics<'_>> {
    let mut decoding = Decoding::default();
    let mut extras = Extras::default();
    read_object(&mut reader, "", &mut extras, |key, reader| decoding.member(key, reader))?;
    reader.finish()?;
    let Decoding { mut request, mut semantics, instructions } = decoding;
    if let Some(instructions) = instructions {
        request.messages.insert(0, instructions);
    }
    semantics.extras_mut().update(extras);
    Ok((request, semantics))
}

/// A request in the reading. The instructions may stand behind the input, and go before it.
#[derive(Default)]
struct Decoding<'a> {
    request: Request<'a>,
    semantics: Semantics<'a>,
    instructions: Option<Message<'a>>,
}

impl<'a> Decoding<'a> {
    fn member(&mut self, key: &str, reader: &mut Members<'_, 'a>) -> Result<()> {
        match key {
            "model" => set(&mut self.request.model, reader.string()),
            "stream" => set(&mut self.request.stream, reader.boolean()),
            "input" => decode_input(reader, &mut self.request.messages),
            "instructions" => set(&mut self.instructions, instructions(reader)),
            "tools" => self.tools(reader),
            "tool_choice" => set(&mut self.request.tool_choice, tools::decode_choice(reader)),
            "text" => self.text(reader),
            "reasoning" => self.reasoning(reader),
            "include" => self.include(reader),
            "previous_response_id" => {
                set(&mut self.semantics.session_mut().previous_response_id, reader.string())
            }
            "conversation" => set(&mut self.semantics.session_mut().conversation, reader.raw()),
            _ => self.scalar(key, reader),
        }
    }

    fn scalar(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        let request = &mut self.request;
        match key {
            "parallel_tool_calls" => set(&mut request.parallel_tool_calls, reader.boolean()),
            "max_output_tokens" => set(&mut request.max_output_tokens, reader.number()),
            "temperature" => set(&mut request.sampling.temperature, reader.number()),
            "top_p" => set(&mut request.sampling.top_p, reader.number()),
            "top_logprobs" => set(&mut request.sampling.top_logprobs, reader.number()),
            "safety_identifier" => set(&mut request.safety_identifier, reader.string()),
            "user" => set(&mut request.user, reader.string()),
            "metadata" => set(&mut request.metadata, reader.raw()),
            "service_tier" => set(&mut request.service_tier, reader.string()),
            "store" => set(&mut request.store, reader.boolean()),
            "prompt_cache_key" => set(&mut request.cache.key, reader.string()),
            "prompt_cache_options" => set(&mut request.cache.options, reader.raw()),
            "prompt_cache_retention" => set(&mut request.cache.retention, reader.string()),
            _ => self.declared(key, reader),
        }
    }

    /// Takes a field of the namespace. A stated default is an extra instead, because leaving it out loses nothing.
    fn declared(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        if !ResponsesSemantics::DECLARED.iter().any(|declared| declared.path == key) {
            return Ok(());
        }
        let value = reader.checkpoint().raw()?;
        if matches!((key, value.as_str()), ("background", "false") | ("truncation", "\"disabled\""))
        {
            return Ok(());
        }
        reader.skip()?;
        // The path is declared, so it is taken.
        let _ = self.semantics.responses_mut().take(key, value);
        Ok(())
    }

    fn tools(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.request.tools = tools::decode_tools(reader, Place::default(), None)?;
        if self.request.tools.is_empty() {
            self.semantics.state_tools_empty();
        }
        Ok(())
    }

    fn include(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        let include = reader.raw()?;
        if lists(&include, INCLUDE_LOGPROBS) {
            self.request.sampling.logprobs = Some(true);
        }
        let _ = self.semantics.responses_mut().take("include", include);
        Ok(())
    }
}

fn instructions<'a>(reader: &mut Reader<'a>) -> Result<Message<'a>> {
    let place = Place::default().step(Step::Instructions);
    let part = Part::text(reader.string()?).with_semantics(NodeSemantics::at(place));
    let semantics = NodeSemantics::at(place).shaped(INSTRUCTIONS);
    Ok(Message::new(Role::System, part).with_semantics(semantics))
}

/// Reads `input`: a string, or items that become messages.
fn decode_input<'a>(reader: &mut Reader<'a>, messages: &mut Vec<Message<'a>>) -> Result<()> {
    if reader.kind()? == Kind::String {
        let place = Place::default().step(Step::Input);
        let part = Part::text(reader.string()?).with_semantics(NodeSemantics::at(place));
        let message = Message::new(Role::User, part);
        messages.push(message.with_semantics(NodeSemantics::at(place)));
        return Ok(());
    }
    messages.reserve(messages_expected(reader));
    reader.array(|index, reader| {
        let place = Place::default().element(Step::Input, index);
        match decode_item(reader, place)? {
            Decoded::Turn(message) => messages.push(message),
            Decoded::Assistant(parts) => join(messages, parts, place),
        }
        Ok(())
    })
}

/// Adds the parts of an item to the assistant's message, which the items in a row make together.
fn join<'a>(messages: &mut Vec<Message<'a>>, parts: Parts<'a>, place: Place) {
    match messages.last_mut() {
        Some(message) if message.role == Role::Assistant => message.parts.extend(parts),
        _ => {
            let message = Message::new(Role::Assistant, parts);
            messages.push(message.with_semantics(NodeSemantics::at(place)));
        }
    }
}

/// Whether a list of strings has one in it.
fn lists(list: &Json<'_>, wanted: &str) -> bool {
    let mut found = false;
    let read = list.reader().array(|_, reader| {
        match reader.kind()? {
            Kind::String => found |= reader.string()? == *wanted,
            _ => reader.skip()?,
        }
        Ok(())
    });
    found && read.is_ok()
}
