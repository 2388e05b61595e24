//! The conversation as a request body in each protocol, spelled and ordered as the vendors' own clients do it.

use sabir_wire::Protocol;
use sabir_wire::json::{Json, Writer};

use crate::conversation::{ToolOutput, Call, Conversation, Tool, Turn};

/// The sizes of bodies that are measured.
pub const SIZES: [usize; 4] = [1_000, 20_000, 200_000, 2_000_000];

/// The name of a size, as tables show it.
pub fn size_name(bytes: usize) -> String {
    match bytes {
        0..1_000_000 => format!("{} KB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// A model of the vendor whose protocol it is, with no rules that would change the conversation.
pub fn model(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::OpenaiChat | Protocol::OpenaiResponses => "gpt-4.1",
        Protocol::AnthropicMessages => "claude-sonnet-4-5",
        Protocol::Gemini => "gemini-2.5-flash",
    }
}

/// A request of about `bytes` bytes.
pub fn request(protocol: Protocol, bytes: usize) -> String {
    body(protocol, &Conversation::of(bytes))
}

/// A request of about `bytes` bytes with tools whose schemas not every protocol takes.
pub fn request_with_rich_schemas(protocol: Protocol, bytes: usize) -> String {
    body(protocol, &Conversation::with_rich_schemas(bytes))
}

/// A conversation as a request.
pub fn body(protocol: Protocol, conversation: &Conversation) -> String {
    let mut writer = Writer::default();
    writer.object(|writer| match protocol {
        Protocol::OpenaiChat => chat(writer, conversation),
        Protocol::OpenaiResponses => responses(writer, conversation),
        Protocol::AnthropicMessages => anthropic(writer, conversation),
        Protocol::Gemini => gemini(writer, conversation),
    });
    writer.into_string()
}

fn json(text: &str) -> Json<'_> {
    Json::parse(text).expect("the conversation holds checked JSON")
}

/// Writes a list under `key`, one object for each item.
fn objects<T>(writer: &mut Writer, key: &str, items: &[T], object: impl Fn(&mut Writer, &T)) {
    writer.key(key);
    writer
        .array(|writer| items.iter().for_each(|item| writer.object(|writer| object(writer, item))));
}

fn text_block(writer: &mut Writer, kind: &str, text: &str) {
    writer.object(|writer| {
        writer.field("type", kind);
        writer.field("text", text);
    });
}

fn chat(writer: &mut Writer, conversation: &Conversation) {
    writer.field("model", model(Protocol::OpenaiChat));
    writer.key("messages");
    writer.array(|writer| {
        writer.object(|writer| {
            writer.field("role", "system");
            writer.field("content", &conversation.system);
        });
        for turn in &conversation.turns {
            writer.object(|writer| chat_message(writer, turn));
        }
    });
    objects(writer, "tools", &conversation.tools, |writer, tool| {
        writer.field("type", "function");
        writer.key("function");
        writer.object(|writer| chat_function(writer, tool));
    });
    writer.field("max_completion_tokens", &4_096_u64);
    writer.field("stream", &true);
}

fn chat_function(writer: &mut Writer, tool: &Tool) {
    writer.field("name", tool.name);
    writer.field("description", tool.description);
    writer.field("parameters", &json(tool.parameters));
}

fn chat_message(writer: &mut Writer, turn: &Turn) {
    match turn {
        Turn::User(text) => {
            writer.field("role", "user");
            writer.field("content", text);
        }
        Turn::Assistant { text, call } => {
            writer.field("role", "assistant");
            writer.field("content", text);
            if let Some(call) = call {
                objects(writer, "tool_calls", std::slice::from_ref(call), chat_call);
            }
        }
        Turn::Result(ToolOutput { call_id, output, .. }) => {
            writer.field("role", "tool");
            writer.field("tool_call_id", call_id);
            writer.field("content", output);
        }
    }
}

fn chat_call(writer: &mut Writer, call: &Call) {
    writer.field("id", &call.id);
    writer.field("type", "function");
    writer.key("function");
    writer.object(|writer| {
        writer.field("name", call.name);
        writer.field("arguments", &call.arguments);
    });
}

fn responses(writer: &mut Writer, conversation: &Conversation) {
    writer.field("model", model(Protocol::OpenaiResponses));
    writer.field("instructions", &conversation.system);
    writer.key("input");
    writer.array(|writer| conversation.turns.iter().for_each(|turn| responses_items(writer, turn)));
    objects(writer, "tools", &conversation.tools, |writer, tool| {
        writer.field("type", "function");
        chat_function(writer, tool);
        writer.field("strict", &false);
    });
    writer.field("max_output_tokens", &4_096_u64);
    writer.field("store", &false);
    writer.field("stream", &true);
}

fn responses_items(writer: &mut Writer, turn: &Turn) {
    match turn {
        Turn::User(text) => responses_message(writer, "user", "input_text", text),
        Turn::Assistant { text, call } => {
            responses_message(writer, "assistant", "output_text", text);
            if let Some(call) = call {
                writer.object(|writer| {
                    writer.field("type", "function_call");
                    writer.field("call_id", &call.id);
                    writer.field("name", call.name);
                    writer.field("arguments", &call.arguments);
                });
            }
        }
        Turn::Result(ToolOutput { call_id, output, .. }) => writer.object(|writer| {
            writer.field("type", "function_call_output");
            writer.field("call_id", call_id);
            writer.field("output", output);
        }),
    }
}

fn responses_message(writer: &mut Writer, role: &str, kind: &str, text: &str) {
    writer.object(|writer| {
        writer.field("type", "message");
        writer.field("role", role);
        writer.key("content");
        writer.array(|writer| text_block(writer, kind, text));
    });
}

fn anthropic(writer: &mut Writer, conversation: &Conversation) {
    writer.field("model", model(Protocol::AnthropicMessages));
    writer.field("max_tokens", &4_096_u64);
    writer.field("system", &conversation.system);
    sided_turns(writer, "messages", &conversation.turns, |writer, side, turns| {
        writer.field("role", if side == Side::User { "user" } else { "assistant" });
        writer.key("content");
        writer.array(|writer| turns.iter().for_each(|turn| anthropic_blocks(writer, turn)));
    });
    objects(writer, "tools", &conversation.tools, |writer, tool| {
        writer.field("name", tool.name);
        writer.field("description", tool.description);
        writer.field("input_schema", &json(tool.parameters));
    });
    writer.field("stream", &true);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    User,
    Model,
}

impl Turn {
    fn side(&self) -> Side {
        match self {
            Self::User(_) | Self::Result(_) => Side::User,
            Self::Assistant { .. } => Side::Model,
        }
    }
}

/// Writes one message for each run of turns of the same side.
fn sided_turns(
    writer: &mut Writer,
    key: &str,
    turns: &[Turn],
    message: impl Fn(&mut Writer, Side, &[Turn]),
) {
    writer.key(key);
    writer.array(|writer| {
        for turns in turns.chunk_by(|one, two| one.side() == two.side()) {
            writer.object(|writer| message(writer, turns[0].side(), turns));
        }
    });
}

fn anthropic_blocks(writer: &mut Writer, turn: &Turn) {
    match turn {
        Turn::User(text) => text_block(writer, "text", text),
        Turn::Assistant { text, call } => {
            text_block(writer, "text", text);
            if let Some(call) = call {
                writer.object(|writer| {
                    writer.field("type", "tool_use");
                    writer.field("id", &call.id);
                    writer.field("name", call.name);
                    writer.field("input", &json(&call.arguments));
                });
            }
        }
        Turn::Result(ToolOutput { call_id, output, .. }) => writer.object(|writer| {
            writer.field("type", "tool_result");
            writer.field("tool_use_id", call_id);
            writer.field("content", output);
        }),
    }
}

fn gemini(writer: &mut Writer, conversation: &Conversation) {
    writer.field("model", model(Protocol::Gemini));
    writer.key("systemInstruction");
    writer.object(|writer| {
        writer.key("parts");
        writer.array(|writer| writer.object(|writer| writer.field("text", &conversation.system)));
    });
    sided_turns(writer, "contents", &conversation.turns, |writer, side, turns| {
        writer.field("role", if side == Side::User { "user" } else { "model" });
        writer.key("parts");
        writer.array(|writer| turns.iter().for_each(|turn| gemini_parts(writer, turn)));
    });
    writer.key("tools");
    writer.array(|writer| {
        writer.object(|writer| {
            objects(writer, "functionDeclarations", &conversation.tools, chat_function);
        });
    });
    writer.key("generationConfig");
    writer.object(|writer| writer.field("maxOutputTokens", &4_096_u64));
}

fn gemini_parts(writer: &mut Writer, turn: &Turn) {
    match turn {
        Turn::User(text) => writer.object(|writer| writer.field("text", text)),
        Turn::Assistant { text, call } => {
            writer.object(|writer| writer.field("text", text));
            if let Some(call) = call {
                gemini_part(writer, "functionCall", |writer| {
                    writer.field("name", call.name);
                    writer.field("args", &json(&call.arguments));
                });
            }
        }
        Turn::Result(ToolOutput { name, output, .. }) => {
            gemini_part(writer, "functionResponse", |writer| {
                writer.field("name", *name);
                writer.key("response");
                writer.object(|writer| writer.field("output", output));
            })
        }
    }
}

fn gemini_part(writer: &mut Writer, key: &str, members: impl FnOnce(&mut Writer)) {
    writer.object(|writer| {
        writer.key(key);
        writer.object(members);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_have_about_the_size_that_was_asked_for() {
        for protocol in Protocol::ALL {
            for size in SIZES {
                let bytes = request(protocol, size).len();
                assert!(
                    bytes > size * 8 / 10 && bytes < size * 14 / 10,
                    "{protocol:?} {size}: {bytes}"
                );
            }
        }
    }
}
