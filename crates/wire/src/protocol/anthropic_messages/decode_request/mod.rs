//! Reading requests, those to count tokens included.

pub(super) mod blocks;
mod settings;
mod tools;

use crate::conversation::{Message, Part, Parts, Request, Role};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Kind, Reader};
use crate::place::{Place, Step};
use crate::protocol::anthropic_messages::types::OUTPUT_FORMAT;
use crate::protocol::codec::RequestAndSemantics;
use crate::protocol::object::{Members, messages_expected, put, read_first, read_object};
use crate::protocol::semantics::{Extras, NodeSemantics, Semantics};

pub(in super::super) fn decode_request(mut reader: Reader<'_>) -> Result<RequestAndSemantics<'_>> {
    let mut decoding = Decoding::default();
    let mut extras = Extras::default();
    read_object(&mut reader, "", &mut extras, |key, reader| decoding.member(key, reader))?;
    reader.finish()?;
    if !decoding.has_messages {
        return Err(Error::new(ErrorKind::Missing, "expected `messages`, found none"));
    }
    decoding.semantics.extras_mut().update(extras);
    if let Some(system) = decoding.system {
        decoding.request.messages.insert(0, system);
    }
    Ok((decoding.request, decoding.semantics))
}

/// A request in the making.
#[derive(Default)]
struct Decoding<'a> {
    request: Request<'a>,
    semantics: Semantics<'a>,
    /// The system slot, which leads the messages wherever it stands in the body.
    system: Option<Message<'a>>,
    has_messages: bool,
}

impl<'a> Decoding<'a> {
    fn member(&mut self, key: &str, reader: &mut Members<'_, 'a>) -> Result<()> {
        let request = &mut self.request;
        match key {
            "model" => request.model = Some(reader.string()?),
            "stream" => request.stream = Some(reader.boolean()?),
            "max_tokens" => request.max_output_tokens = Some(reader.number()?),
            "temperature" => request.sampling.temperature = Some(reader.number()?),
            "top_p" => request.sampling.top_p = Some(reader.number()?),
            "top_k" => request.sampling.top_k = Some(reader.number()?),
            "service_tier" => request.service_tier = Some(reader.string()?),
            "messages" => self.messages(reader)?,
            "system" => self.system = Some(read_system(reader)?),
            "stop_sequences" => request.stop.extend(reader.list(|_, reader| reader.string())?),
            "tools" => self.tools(reader)?,
            "tool_choice" => settings::tool_choice(request, reader)?,
            "thinking" => settings::thinking(request, reader)?,
            "metadata" => settings::metadata(request, reader)?,
            "output_config" => {
                settings::output_config(request, self.semantics.anthropic_mut(), reader)?;
            }
            // There it stood in beta.
            "output_format" => {
                if settings::is_schema(reader) {
                    request.output = settings::read_format(reader, "output_format")?;
                }
                self.semantics.add_shape(OUTPUT_FORMAT);
            }
            _ => return self.declared(key, reader),
        }
        Ok(())
    }

    /// Takes a field of the namespace.
    fn declared(&mut self, key: &str, reader: &mut Reader<'a>) -> Result<()> {
        let mut ahead = reader.checkpoint();
        let json = ahead.raw()?;
        if self.semantics.anthropic_mut().take(key, json).is_err() {
            return Ok(());
        }
        *reader = ahead;
        Ok(())
    }

    fn messages(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.has_messages = true;
        self.request.messages.reserve(messages_expected(reader));
        reader.array(|index, reader| {
            let place = Place::default().element(Step::Messages, index);
            self.request.messages.push(read_message(reader, place)?);
            Ok(())
        })
    }

    fn tools(&mut self, reader: &mut Reader<'a>) -> Result<()> {
        self.request.tools.extend(reader.list(|index, reader| {
            tools::read_tool(reader, Place::default().element(Step::Tools, index))
        })?);
        if self.request.tools.is_empty() {
            self.semantics.state_tools_empty();
        }
        Ok(())
    }
}

/// Reads the system slot, a string or a list of blocks.
fn read_system<'a>(reader: &mut Reader<'a>) -> Result<Message<'a>> {
    let place = Place::default().step(Step::System);
    let parts = read_content(reader, place, |index| Place::default().element(Step::System, index))?;
    Ok(Message::new(Role::System, parts).with_semantics(NodeSemantics::at(place)))
}

/// Reads a message. A role that nobody knows stays among the extras.
fn read_message<'a>(reader: &mut Reader<'a>, place: Place) -> Result<Message<'a>> {
    let (mut role, unread) = read_first(reader, "role", known_role);
    let (mut parts, mut extras) = (Parts::default(), Extras::default());
    unread.read(reader, "", &mut extras, |key, reader| match key {
        "role" => {
            let mut ahead = reader.checkpoint();
            if let Some(known) = known_role(&ahead.string()?.to_str()) {
                *reader.reader = ahead;
                role = Some(known);
            }
            Ok(())
        }
        "content" => {
            let element = |index| place.element(Step::Content, index);
            put(&mut parts, read_content(reader, place.step(Step::Content), element))
        }
        _ => Ok(()),
    })?;
    let semantics = NodeSemantics::at(place).keeping(extras);
    Ok(Message::new(role.unwrap_or_default(), parts).with_semantics(semantics))
}

fn known_role(word: &str) -> Option<Role> {
    match word {
        "user" => Some(Role::User),
        "assistant" => Some(Role::Assistant),
        "system" => Some(Role::System),
        _ => None,
    }
}

/// Reads the content of a message, the system slot or a tool result that stands at `place`, its blocks where `element`
/// says.
fn read_content<'a>(
    reader: &mut Reader<'a>,
    place: Place,
    element: impl Fn(usize) -> Place,
) -> Result<Parts<'a>> {
    let mut parts = Parts::default();
    if reader.kind()? == Kind::String {
        parts.push(Part::text(reader.string()?).with_semantics(NodeSemantics::at(place)));
        return Ok(parts);
    }
    reader.array(|index, reader| {
        parts.push(blocks::read_block(reader, element(index))?);
        Ok(())
    })?;
    Ok(parts)
}
