//! Writing what was built: messages as they were spelled where they did not change, and the trace.

use sabir_wire::Protocol;
use sabir_wire::Result;
use sabir_wire::conversation::Content;
use sabir_wire::conversation::Message;
use sabir_wire::conversation::Part;
use sabir_wire::conversation::Role;
use sabir_wire::conversation::ToolResult;
use sabir_wire::json::Json;
use sabir_wire::json::Kind;
use sabir_wire::json::Reader;
use sabir_wire::json::Text;
use sabir_wire::json::Writer;
use sabir_wire::unified::UnifiedMessage;

use super::Given;
use super::call::call_id;
use crate::builder::Built;
use crate::turn::Origin;
use crate::turn::Turn;

pub(super) fn built(built: &Built<'_>, given: &[Given<'_>]) -> String {
    let mut writer = Writer::default();
    writer.object(|object| {
        object.key("messages");
        object.array(|list| built.turns.iter().for_each(|turn| write_turn(list, turn, given)));
        object.field("trace", built.trace.changes());
    });
    writer.into_string()
}

fn write_turn(list: &mut Writer, turn: &Turn<'_>, given: &[Given<'_>]) {
    let (index, write): (_, fn(&mut Writer, &Message<'_>, &Given<'_>)) = match turn.origin {
        Origin::Given(index) => (index, write_given),
        Origin::Edited(index) => (index, write_edited),
        Origin::Made => return write_made(list, &turn.message),
    };
    // A message of another history is not among those of this one.
    match given.get(index) {
        Some(given) => write(list, &turn.message, given),
        None => write_made(list, &turn.message),
    }
}

fn write_given(list: &mut Writer, message: &Message<'_>, given: &Given<'_>) {
    list.object(|object| {
        object.field("role", &given.role);
        match &given.content {
            Some(content) => object.field("content", content),
            None => object.field("content", ""),
        }
        if let Some(calls) = given.tool_calls.as_ref().filter(|calls| calls.compact() != "[]") {
            object.field("toolCalls", calls);
        }
        write_result_id(object, message);
    });
}

/// The call that a tool's message answers, whichever way it was told.
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

/// A message that lost parts or gained results keeps the spelling of the rest.
fn write_edited(list: &mut Writer, message: &Message<'_>, given: &Given<'_>) {
    let is_blocks = |content: &&Json<'_>| matches!(content.kind(), Kind::Array | Kind::Object);
    let blocks = given.content.as_ref().filter(is_blocks);
    list.object(|object| {
        object.field("role", &given.role);
        match (blocks, &given.content) {
            (Some(blocks), _) => {
                object.key("content");
                write_blocks(object, blocks, message);
            }
            (None, Some(content)) => object.field("content", content),
            (None, None) => object.field("content", ""),
        }
        if let Some(calls) = &given.tool_calls {
            write_calls(object, calls, message);
        }
        write_result_id(object, message);
    });
}

fn write_blocks(writer: &mut Writer, blocks: &Json<'_>, message: &Message<'_>) {
    let mut told: Vec<Text<'_>> = Vec::new();
    let mut kept: Vec<Json<'_>> = Vec::new();
    let mut results_end = 0;
    // The blocks were read before, so that reading them again cannot fail.
    let _ = each_block(blocks, |reader| {
        let answers = name_in(reader, "tool_use_id");
        let is_call = name_in(reader, "type").is_some_and(|tag| tag == "tool_use");
        let id = name_in(reader, "id");
        let block = reader.raw()?;
        let stays = match (&answers, is_call) {
            (Some(id), _) => results(message).any(|result| result.call_id.as_ref() == Some(id)),
            (None, true) => has_call(message, id.as_ref()),
            (None, false) => true,
        };
        if stays {
            kept.push(block);
            if answers.is_some() && results_end + 1 == kept.len() {
                results_end = kept.len();
            }
            told.extend(answers);
        }
        Ok(())
    });
    let is_new = |it: &&ToolResult<'_>| it.call_id.as_ref().is_some_and(|id| !told.contains(id));
    writer.array(|list| {
        kept[..results_end].iter().for_each(|block| list.value(block));
        results(message).filter(is_new).for_each(|result| write_result_block(list, result));
        kept[results_end..].iter().for_each(|block| list.value(block));
    });
}

/// Calls back for each block of a list, or for the one that stands alone.
fn each_block<'j>(
    blocks: &'j Json<'_>,
    mut block: impl FnMut(&mut Reader<'j>) -> Result<()>,
) -> Result<()> {
    let mut reader = blocks.reader();
    match blocks.kind() {
        Kind::Array => reader.array(|_, reader| block(reader)),
        _ => block(&mut reader),
    }
}

fn results<'p, 'a>(message: &'p Message<'a>) -> impl Iterator<Item = &'p ToolResult<'a>> {
    message.parts.iter().filter_map(result)
}

fn has_call(message: &Message<'_>, id: Option<&Text<'_>>) -> bool {
    message.parts.iter().filter_map(call_id).any(|own| Some(own) == id)
}

fn write_result_block(list: &mut Writer, result: &ToolResult<'_>) {
    list.object(|object| {
        object.field("type", "tool_result");
        object.optional("tool_use_id", result.call_id.as_ref());
        object.field("content", &text_of(result));
        object.optional("is_error", result.is_error.as_ref());
    });
}

fn text_of(result: &ToolResult<'_>) -> String {
    let texts = result.output.parts().iter().filter_map(|part| match part.content() {
        Content::Text(text) => Some(text.to_str()),
        _ => None,
    });
    texts.collect()
}

fn write_calls(object: &mut Writer, calls: &Json<'_>, message: &Message<'_>) {
    let mut kept: Vec<Json<'_>> = Vec::new();
    // The list was read before, so that reading it again cannot fail.
    let _ = calls.reader().array(|_, reader| {
        let id = name_in(reader, "id");
        let call = reader.raw()?;
        if has_call(message, id.as_ref()) {
            kept.push(call);
        }
        Ok(())
    });
    if !kept.is_empty() {
        object.field("toolCalls", kept.as_slice());
    }
}

/// A string in the object that comes next, if it is one.
fn name_in<'j>(reader: &Reader<'j>, key: &str) -> Option<Text<'j>> {
    reader.peek_tag(key).ok().flatten()
}

/// A message that the builder has made.
fn write_made(list: &mut Writer, message: &Message<'_>) {
    for unified in UnifiedMessage::of(message) {
        list.object(|object| {
            object.field("role", unified.role.as_str());
            object.field("content", &unified.content);
            object.optional("toolCallId", unified.tool_call_id.as_ref());
        });
    }
}

/// Cuts a request down to its messages.
pub(super) fn messages_of(body: &str, protocol: Protocol) -> Result<String> {
    let taken: &[&str] = match protocol {
        Protocol::OpenaiChat => &["messages"],
        Protocol::OpenaiResponses => &["instructions", "input"],
        Protocol::AnthropicMessages => &["system", "messages"],
        Protocol::Gemini => &["systemInstruction", "contents"],
    };
    let mut values: Vec<Option<Json<'_>>> = vec![None; taken.len()];
    Reader::new(body).object(|key, reader| {
        match taken.iter().position(|name| *name == key) {
            Some(index) => values[index] = Some(reader.raw()?),
            None => reader.skip()?,
        }
        Ok(())
    })?;
    let mut writer = Writer::with_capacity(body.len());
    writer.object(|object| match (protocol, values.as_slice()) {
        (Protocol::OpenaiResponses, [instructions, input]) => {
            object.key("input");
            write_input(object, instructions.as_ref(), input.as_ref());
        }
        _ => taken.iter().zip(&values).for_each(|(name, value)| {
            object.optional(name, value.as_ref());
        }),
    });
    Ok(writer.into_string())
}

/// The list of a Responses request, with the instructions as its first item.
fn write_input(writer: &mut Writer, instructions: Option<&Json<'_>>, input: Option<&Json<'_>>) {
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
