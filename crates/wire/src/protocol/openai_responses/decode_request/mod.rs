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
use crate::protocol::object::{Member, messages_expected, read_object};
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
    read_object(&mut reader, "", &mut extras, |key, reader, extras| {
        decoding.member(key, reader, extras)
    })?;
    reader.finish()?;
    Ok(decoding.finish(extras))
}

/// A request in the reading. The instructions may stand behind the input, and go before it.
#[derive(Default)]
struct Decoding<'a> {
    request: Request<'a>,
    semantics: Semantics<'a>,
    instructions: Option<Message<'a>>,
}

impl<'a> Decoding<'a> {
    fn finish(self, extras: Extras<'a>) -> RequestAndSemantics<'a> {
        let Self { mut request, mut semantics, instructions } = self;
        if let Some(instructions) = instructions {
            request.messages.insert(0, instructions);
        }
        semantics.extras_mut().update(extras);
        (request, semantics)
    }

    fn member(
        &mut self,
        key: &str,
        reader: &mut Reader<'a>,
        extras: &mut Extras<'a>,
    ) -> Result<Member> {
        match key {
            "model" => self.request.model = Some(reader.string()?),
            "stream" => self.request.stream = Some(reader.boolean()?),
            "input" => decode_input(reader, &mut self.request.messages)?,
            "instructions" => self.instructions = Some(instructions(reader)?),
            "tools" => self.tools(reader)?,
            "tool_choice" => self.request.tool_choice = Some(tools::decode_choice(reader)?),
            "text" => {
                settings::decode_text(reader, &mut self.request, extras)?;
            }
            "reasoning" => {
                settings::decode_reasoning(reader, &mut self.request, &mut self.semantics, extras)?;
            }
            "include" => self.include(reader)?,
            "previous_response_id" => {
                self.semantics.session_mut().previous_response_id = Some(reader.string()?);
            }
            "conversation" => self.semantics.session_mut().conversation = Some(reader.raw()?),
            _ => return self.scalar(key, reader),
        }
        Ok(Member::Read)
    }

    fn scalar(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<Member> {
        let request = &mut self.request;
        match key {
            "parallel_tool_calls" => request.parallel_tool_calls = Some(reader.boolean()?),
            "max_output_tokens" => request.max_output_tokens = Some(reader.number()?),
            "temperature" => request.sampling.temperature = Some(reader.number()?),
            "top_p" => request.sampling.top_p = Some(reader.number()?),
            "top_logprobs" => request.sampling.top_logprobs = Some(reader.number()?),
            "safety_identifier" => request.safety_identifier = Some(reader.string()?),
            "user" => request.user = Some(reader.string()?),
            "metadata" => request.metadata = Some(reader.raw()?),
            "service_tier" => request.service_tier = Some(reader.string()?),
            "store" => request.store = Some(reader.boolean()?),
            "prompt_cache_key" => request.cache.key = Some(reader.string()?),
            "prompt_cache_options" => request.cache.options = Some(reader.raw()?),
            "prompt_cache_retention" => request.cache.retention = Some(reader.string()?),
            _ => return self.declared(key, reader),
        }
        Ok(Member::Read)
    }

    /// Takes a field of the namespace. A stated default is an extra instead, because leaving it out loses nothing.
    fn declared(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<Member> {
        if !ResponsesSemantics::DECLARED.iter().any(|declared| declared.path == key) {
            return Ok(Member::Unknown);
        }
        let value = reader.checkpoint().raw()?;
        if matches!((key, value.as_str()), ("background", "false") | ("truncation", "\"disabled\""))
        {
            return Ok(Member::Unknown);
        }
        reader.skip()?;
        // The path is declared, so it is taken.
        let _ = self.semantics.responses_mut().take(key, value);
        Ok(Member::Read)
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
