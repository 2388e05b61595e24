//! Writing what was built: messages as they were spelled where they did not change, and the trace.

use std::collections::{HashMap, HashSet};

use sabir_wire::conversation::{Content, Message, Part, Role, ToolResult};
use sabir_wire::json::{Json, Kind, Reader, Writer};
use sabir_wire::unified::UnifiedMessage;
use sabir_wire::{Protocol, Result};

use super::Given;
use super::spelling::{Spelled, Spelling};
use crate::builder::Built;
use crate::turn::{Origin, Source, Turn};

pub(super) fn built(built: &Built<'_>, given: &[Given<'_>]) -> String {
    let mut printer = Printer { given, spellings: HashMap::new() };
    let mut writer = Writer::default();
    writer.object(|object| {
        object.key("messages");
        object.array(|list| built.turns.iter().for_each(|turn| printer.turn(list, turn)));
        object.field("trace", built.trace.changes());
    });
    writer.into_string()
}

/// Prints messages as they were spelled.
struct Printer<'g> {
    given: &'g [Given<'g>],
    /// Of the messages that others have parts of, or that have lost some.
    spellings: HashMap<usize, Spelling<'g>>,
}

impl<'g> Printer<'g> {
    fn turn(&mut self, list: &mut Writer, turn: &Turn<'_>) {
        // A message of another history is not among those of this one.
        let given = turn.origin.index().and_then(|index| self.given.get(index));
        match (turn.origin, given) {
            (Origin::Given(_), Some(given)) => write_given(list, &turn.message, given),
            (Origin::Edited(index), Some(given)) => self.edited(list, turn, (index, given)),
            (_, None) | (Origin::Made, _) => self.made(list, turn),
        }
    }

    /// A message that lost parts or gained results keeps the spelling of the rest.
    fn edited(
        &mut self,
        list: &mut Writer,
        turn: &Turn<'_>,
        (index, given): (usize, &'g Given<'g>),
    ) {
        let sources = turn.sources();
        let own = sources.iter().flatten().filter(|(message, _)| *message == index);
        let own: HashSet<usize> = own.map(|(_, part)| *part).collect();
        list.object(|object| {
            object.field("role", &given.role);
            match &given.content {
                Some(content) if is_blocks(content) => {
                    object.key("content");
                    object.array(|list| self.blocks(list, turn, index, &own));
                }
                Some(content) => object.field("content", content),
                None => object.field("content", ""),
            }
            let calls = &self.spelling(index).calls;
            let calls: Vec<&Json<'_>> = spelled(calls, &own).collect();
            if !calls.is_empty() {
                object.field("toolCalls", calls.as_slice());
            }
            write_result_id(object, &turn.message);
        });
    }

    /// The blocks of a message in the order of its parts.
    fn blocks(&mut self, list: &mut Writer, turn: &Turn<'_>, index: usize, own: &HashSet<usize>) {
        let mut next = 0;
        for (part, source) in turn.message.parts.iter().zip(turn.sources()) {
            match source {
                Some((message, part)) if message == index => {
                    let spelling = self.spelling(index);
                    let end = spelling.indices_of(part).first().map_or(next, |at| next.max(at + 1));
                    spelled(&spelling.blocks[next..end], own).for_each(|block| list.value(block));
                    next = end;
                }
                _ => self.guest(list, part, source),
            }
        }
        let rest = &self.spelling(index).blocks[next..];
        spelled(rest, own).for_each(|block| list.value(block));
    }

    /// A result that comes from another message, or from nowhere.
    fn guest(&mut self, list: &mut Writer, part: &Part<'_>, source: Source) {
        let Content::ToolResult(result) = part.content() else { return };
        let (block, content) = match source {
            Some((message, part)) => self.spelled_result(message, part),
            None => (None, None),
        };
        if let Some(block) = block {
            return list.value(block);
        }
        list.object(|object| {
            object.field("type", "tool_result");
            object.optional("tool_use_id", result.call_id.as_ref());
            match content {
                Some(content) => object.field("content", content),
                None => object.field("content", &text_of(result)),
            }
            object.optional("is_error", result.is_error.as_ref());
        });
    }

    /// The block of a result, if it names its call; else the content of the message that is one.
    fn spelled_result(
        &mut self,
        message: usize,
        part: usize,
    ) -> (Option<&Json<'g>>, Option<&'g Json<'g>>) {
        let Some(given) = self.given.get(message) else { return (None, None) };
        let spelling = self.spelling(message);
        match spelling.blocks_of(part).as_slice() {
            [block] if names_call(block) => (Some(block), None),
            _ if spelling.is_single() => (None, given.content.as_ref()),
            _ => (None, None),
        }
    }

    /// A message that the builder has made, of somebody's part or of its own.
    fn made(&mut self, list: &mut Writer, turn: &Turn<'_>) {
        if let [Some((message, part))] = turn.sources().as_slice()
            && self.given.get(*message).is_some()
        {
            let blocks = self.spelling(*message).blocks_of(*part);
            if !blocks.is_empty() {
                return list.object(|object| {
                    object.field("role", "tool");
                    object.field("content", blocks.as_slice());
                    write_result_id(object, &turn.message);
                });
            }
        }
        write_made(list, &turn.message);
    }

    fn spelling(&mut self, index: usize) -> &Spelling<'g> {
        self.spellings.entry(index).or_insert_with(|| {
            let given = &self.given[index];
            given.role().map(|role| Spelling::of(given, role)).unwrap_or_default()
        })
    }
}

fn names_call(block: &Json<'_>) -> bool {
    block.reader().peek_tag("tool_use_id").is_ok_and(|id| id.is_some())
}

fn is_blocks(content: &Json<'_>) -> bool {
    matches!(content.kind(), Kind::Array | Kind::Object)
}

/// What is left when a message keeps these parts.
fn spelled<'s, 'g>(
    spelled: &'s [Spelled<'g>],
    own: &HashSet<usize>,
) -> impl Iterator<Item = &'s Json<'g>> {
    let stays =
        |it: &&Spelled<'_>| it.parts.is_empty() || it.parts.clone().any(|part| own.contains(&part));
    spelled.iter().filter(stays).map(|it| &it.json)
}

fn write_given(list: &mut Writer, message: &Message<'_>, given: &Given<'_>) {
    list.object(|object| {
        object.field("role", &given.role);
        match &given.content {
            Some(content) => object.field("content", content),
            None => object.field("content", ""),
        }
        object.optional("toolCalls", given.tool_calls.as_ref());
        write_result_id(object, message);
    });
}

/// The call that a tool's message answers, whichever way it was written.
fn write_result_id(object: &mut Writer, message: &Message<'_>) {
    let id = message.parts.iter().find_map(result).and_then(|result| result.call_id.as_ref());
    if message.role == Role::Tool {
        object.optional("toolCallId", id);
    }
}

fn result<'p, 'a>(part: &'p Part<'a>) -> Option<&'p ToolResult<'a>> {
    match part.content() {
        Content::ToolResult(result) => Some(result),
        _ => None,
    }
}

fn text_of(result: &ToolResult<'_>) -> String {
    let texts = result.output.parts().iter().filter_map(|part| match part.content() {
        Content::Text(text) => Some(text.to_str()),
        _ => None,
    });
    texts.collect()
}

/// A message of plain text.
fn write_made(list: &mut Writer, message: &Message<'_>) {
    for unified in UnifiedMessage::of(message) {
        list.object(|object| {
            object.field("role", unified.role.as_str());
            object.field("content", &unified.content);
            object.optional("toolCallId", unified.tool_call_id.as_ref());
        });
    }
}

/// Cuts the body of a request down to its messages: `{"messages"}`, `{"input"}`, `{"system"?, "messages"}` or
/// `{"systemInstruction"?, "contents"}`.
pub fn messages_of(body: &str, protocol: Protocol) -> Result<String> {
    let facts = protocol.facts();
    let mut system: Option<Json<'_>> = None;
    let mut messages: Option<Json<'_>> = None;
    Reader::new(body).object(|key, reader| {
        match &*key {
            key if key == facts.messages() => messages = Some(reader.raw()?),
            key if facts.system == Some(key) => system = Some(reader.raw()?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    let mut writer = Writer::with_capacity(body.len());
    writer.object(|object| match facts.system {
        // Where system text may stand among the messages, one list holds both.
        Some(_) if facts.takes_late_system => {
            object.key(facts.messages());
            write_joined(object, system.as_ref(), messages.as_ref());
        }
        field => {
            if let Some(field) = field {
                object.optional(field, system.as_ref());
            }
            object.optional(facts.messages(), messages.as_ref());
        }
    });
    Ok(writer.into_string())
}

/// The list of a request's messages, with the system text as its first.
fn write_joined(writer: &mut Writer, instructions: Option<&Json<'_>>, input: Option<&Json<'_>>) {
    let item = |list: &mut Writer, role: &str, content: &Json<'_>| {
        list.object(|object| {
            object.field("role", role);
            object.field("content", content);
        });
    };
    writer.array(|list| {
        if let Some(instructions) = instructions {
            item(list, "system", instructions);
        }
        match input {
            Some(input) if input.kind() == Kind::Array => {
                // The body was written by an encoder, so that there is nothing to refuse.
                let _ = input.reader().array(|_, reader| {
                    list.value(&reader.raw()?);
                    Ok(())
                });
            }
            Some(input) => item(list, "user", input),
            None => {}
        }
    });
}
