//! One streamed answer in each protocol: text in small deltas, then a call whose arguments come in pieces.

use sabir_wire::Protocol;
use sabir_wire::json::{Json, Writer};

use crate::bodies::model;

/// How many deltas of text an answer has; those of the call come on top and make it a hundred.
const TEXT_DELTAS: usize = 90;

const PIECES: &[&str] = &[
    "The",
    " parser",
    " drops the last",
    " line",
    ".\n\n",
    "```rust\n",
    "let line = \"a\";",
    " größer",
    "、次に",
    " so",
];

const CALL_ID: &str = "call_9f8e7d6c5b4a39281706f5e4";
const TOOL: &str = "write_file";
const ARGUMENTS: [&str; 10] = [
    "{\"",
    "path",
    "\":\"",
    "src/",
    "lib.rs",
    "\",\"content",
    "\":\"",
    "fn main() {",
    "}\\n",
    "\"}",
];

/// A stream as it arrives.
#[derive(Debug)]
pub struct Stream {
    /// Frames with their framing; each arrives as a chunk of its own.
    pub frames: Vec<String>,
    /// The JSON of the frames that hold JSON.
    pub payloads: Vec<String>,
}

/// The answer as `protocol` streams it.
pub fn stream(protocol: Protocol) -> Stream {
    let mut stream = Stream { frames: Vec::new(), payloads: Vec::new() };
    match protocol {
        Protocol::OpenaiChat => chat(&mut stream),
        Protocol::OpenaiResponses => Responses { stream: &mut stream, sequence: 0 }.answer(),
        Protocol::AnthropicMessages => anthropic(&mut stream),
        Protocol::Gemini => gemini(&mut stream),
    }
    stream
}

impl Stream {
    fn data(&mut self, members: impl FnOnce(&mut Writer)) {
        self.add("", members);
    }

    fn event(&mut self, name: &str, members: impl FnOnce(&mut Writer)) {
        self.add(&format!("event: {name}\n"), |writer| {
            writer.field("type", name);
            members(writer);
        });
    }

    fn add(&mut self, head: &str, members: impl FnOnce(&mut Writer)) {
        let mut writer = Writer::default();
        writer.object(members);
        let json = writer.into_string();
        self.frames.push(format!("{head}data: {json}\n\n"));
        self.payloads.push(json);
    }
}

fn texts() -> impl Iterator<Item = &'static str> {
    PIECES.iter().copied().cycle().take(TEXT_DELTAS)
}

fn raw(writer: &mut Writer, key: &str, json: &'static str) {
    writer.field(key, &Json::literal(json));
}

fn chat(stream: &mut Stream) {
    chat_delta(stream, |delta| {
        delta.field("role", "assistant");
        delta.field("content", "");
        raw(delta, "refusal", "null");
    });
    for text in texts() {
        chat_delta(stream, |delta| delta.field("content", text));
    }
    chat_call(stream, |call| {
        call.field("id", CALL_ID);
        call.field("type", "function");
        call.key("function");
        call.object(|function| {
            function.field("name", TOOL);
            function.field("arguments", "");
        });
    });
    for piece in ARGUMENTS {
        chat_call(stream, |call| {
            call.key("function");
            call.object(|function| function.field("arguments", piece));
        });
    }
    chat_chunk(stream, |writer| {
        raw(writer, "choices", r#"[{"index":0,"delta":{},"finish_reason":"tool_calls"}]"#);
    });
    chat_chunk(stream, |writer| {
        raw(writer, "choices", "[]");
        raw(writer, "usage", CHAT_USAGE);
    });
    stream.frames.push("data: [DONE]\n\n".to_owned());
}

const CHAT_USAGE: &str = r#"{"prompt_tokens":5120,"completion_tokens":140,"total_tokens":5260,"prompt_tokens_details":{"cached_tokens":4096,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}"#;

fn chat_chunk(stream: &mut Stream, members: impl FnOnce(&mut Writer)) {
    stream.data(|writer| {
        writer.field("id", "chatcmpl-Q7w8E9r0T1y2U3i4O5p6A7s8D9f0G");
        writer.field("object", "chat.completion.chunk");
        writer.field("created", &1_790_000_000_u64);
        writer.field("model", model(Protocol::OpenaiChat));
        writer.field("service_tier", "default");
        writer.field("system_fingerprint", "fp_1a2b3c4d5e");
        members(writer);
        writer.field("obfuscation", "k3Jx0aQz");
    });
}

fn chat_delta(stream: &mut Stream, members: impl FnOnce(&mut Writer)) {
    chat_chunk(stream, |writer| {
        writer.key("choices");
        writer.array(|writer| {
            writer.object(|choice| {
                choice.field("index", &0_u64);
                choice.key("delta");
                choice.object(members);
                raw(choice, "finish_reason", "null");
            });
        });
    });
}

fn chat_call(stream: &mut Stream, members: impl FnOnce(&mut Writer)) {
    chat_delta(stream, |delta| {
        delta.key("tool_calls");
        delta.array(|calls| {
            calls.object(|call| {
                call.field("index", &0_u64);
                members(call);
            });
        });
    });
}

fn anthropic(stream: &mut Stream) {
    stream.event("message_start", |writer| raw(writer, "message", ANTHROPIC_MESSAGE));
    stream.event("content_block_start", |writer| {
        writer.field("index", &0_u64);
        raw(writer, "content_block", r#"{"type":"text","text":""}"#);
    });
    for text in texts() {
        anthropic_delta(stream, 0, ["text_delta", "text", text]);
    }
    stream.event("content_block_stop", |writer| writer.field("index", &0_u64));
    stream.event("content_block_start", |writer| {
        writer.field("index", &1_u64);
        writer.key("content_block");
        writer.object(|block| {
            block.field("type", "tool_use");
            block.field("id", CALL_ID);
            block.field("name", TOOL);
            raw(block, "input", "{}");
        });
    });
    for piece in ARGUMENTS {
        anthropic_delta(stream, 1, ["input_json_delta", "partial_json", piece]);
    }
    stream.event("content_block_stop", |writer| writer.field("index", &1_u64));
    stream.event("message_delta", |writer| {
        raw(writer, "delta", r#"{"stop_reason":"tool_use","stop_sequence":null}"#);
        raw(writer, "usage", r#"{"input_tokens":1024,"cache_creation_input_tokens":0,"cache_read_input_tokens":4096,"output_tokens":140}"#);
    });
    stream.event("message_stop", |_| {});
}

const ANTHROPIC_MESSAGE: &str = r#"{"model":"claude-sonnet-4-5","id":"msg_01AbCdEfGhIjKlMnOpQrStUv","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1024,"cache_creation_input_tokens":0,"cache_read_input_tokens":4096,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":3,"service_tier":"standard"}}"#;

/// A delta by its type, the member that grows, and what it grows by.
fn anthropic_delta(stream: &mut Stream, index: u64, [kind, key, piece]: [&str; 3]) {
    stream.event("content_block_delta", |writer| {
        writer.field("index", &index);
        writer.key("delta");
        writer.object(|delta| {
            delta.field("type", kind);
            delta.field(key, piece);
        });
    });
}

fn gemini(stream: &mut Stream) {
    for text in texts() {
        gemini_chunk(stream, "", |part| part.field("text", text));
    }
    gemini_chunk(stream, "STOP", |part| {
        part.key("functionCall");
        part.object(|call| {
            call.field("name", TOOL);
            call.field("args", &Json::parse(ARGUMENTS.concat()).expect("the pieces make JSON"));
        });
    });
}

/// A chunk with one part; an empty `finish` says that more follows.
fn gemini_chunk(stream: &mut Stream, finish: &str, part: impl FnOnce(&mut Writer)) {
    stream.data(|writer| {
        writer.key("candidates");
        writer.array(|candidates| {
            candidates.object(|candidate| {
                candidate.key("content");
                candidate.object(|content| {
                    content.key("parts");
                    content.array(|parts| parts.object(part));
                    content.field("role", "model");
                });
                candidate.optional("finishReason", (!finish.is_empty()).then_some(finish));
                candidate.field("index", &0_u64);
            });
        });
        raw(writer, "usageMetadata", r#"{"promptTokenCount":5120,"candidatesTokenCount":70,"totalTokenCount":5190,"cachedContentTokenCount":4096,"promptTokensDetails":[{"modality":"TEXT","tokenCount":5120}]}"#);
        writer.field("modelVersion", model(Protocol::Gemini));
        writer.field("responseId", "aBcDeFgHiJkLmNoPqRsTuV0");
    });
}

/// Writes the events of Responses, which are numbered.
struct Responses<'s> {
    stream: &'s mut Stream,
    sequence: u64,
}

const MESSAGE_ID: &str = "msg_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f607182";
const CALL_ITEM_ID: &str = "fc_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f607183";

impl Responses<'_> {
    fn answer(mut self) {
        self.response("response.created", "in_progress");
        self.response("response.in_progress", "in_progress");
        self.message();
        self.call();
        self.response("response.completed", "completed");
    }

    fn event(&mut self, name: &str, members: impl FnOnce(&mut Writer)) {
        let sequence = self.sequence;
        self.stream.event(name, |writer| {
            members(writer);
            writer.field("sequence_number", &sequence);
        });
        self.sequence += 1;
    }

    fn response(&mut self, name: &str, status: &str) {
        self.event(name, |writer| {
            writer.key("response");
            writer.object(|response| response_members(response, status));
        });
    }

    fn item(&mut self, name: &str, index: u64, members: impl FnOnce(&mut Writer)) {
        self.event(name, |writer| {
            writer.key("item");
            writer.object(members);
            writer.field("output_index", &index);
        });
    }

    /// An event of the message's only content part.
    fn content(&mut self, name: &str, members: impl FnOnce(&mut Writer)) {
        self.event(name, |writer| {
            writer.field("content_index", &0_u64);
            members(writer);
            writer.field("item_id", MESSAGE_ID);
            writer.field("output_index", &0_u64);
        });
    }

    fn message(&mut self) {
        let text: String = texts().collect();
        self.item("response.output_item.added", 0, |item| message_item(item, "in_progress", None));
        self.content("response.content_part.added", |writer| {
            writer.key("part");
            text_part(writer, "");
        });
        for piece in texts() {
            self.content("response.output_text.delta", |writer| {
                writer.field("delta", piece);
                raw(writer, "logprobs", "[]");
                writer.field("obfuscation", "k3Jx0aQz");
            });
        }
        self.content("response.output_text.done", |writer| {
            writer.field("text", &text);
            raw(writer, "logprobs", "[]");
        });
        self.content("response.content_part.done", |writer| {
            writer.key("part");
            text_part(writer, &text);
        });
        let done = |item: &mut Writer| message_item(item, "completed", Some(&text));
        self.item("response.output_item.done", 0, done);
    }

    fn call(&mut self) {
        let arguments = ARGUMENTS.concat();
        self.item("response.output_item.added", 1, |item| call_item(item, "in_progress", ""));
        for piece in ARGUMENTS {
            self.event("response.function_call_arguments.delta", |writer| {
                writer.field("delta", piece);
                writer.field("item_id", CALL_ITEM_ID);
                writer.field("obfuscation", "k3Jx0aQz");
                writer.field("output_index", &1_u64);
            });
        }
        self.event("response.function_call_arguments.done", |writer| {
            writer.field("arguments", &arguments);
            writer.field("item_id", CALL_ITEM_ID);
            writer.field("output_index", &1_u64);
        });
        self.item("response.output_item.done", 1, |item| call_item(item, "completed", &arguments));
    }
}

fn response_members(response: &mut Writer, status: &str) {
    response.field("id", "resp_0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f607181");
    response.field("object", "response");
    response.field("created_at", &1_790_000_000_u64);
    response.field("status", status);
    for key in ["error", "incomplete_details", "instructions", "max_output_tokens"] {
        raw(response, key, "null");
    }
    response.field("model", model(Protocol::OpenaiResponses));
    response.key("output");
    response.array(|output| {
        if status == "completed" {
            let text: String = texts().collect();
            output.object(|item| message_item(item, status, Some(&text)));
            output.object(|item| call_item(item, status, &ARGUMENTS.concat()));
        }
    });
    response.field("parallel_tool_calls", &true);
    raw(response, "previous_response_id", "null");
    raw(response, "reasoning", r#"{"effort":null,"summary":null}"#);
    response.field("store", &false);
    response.field("temperature", &1_u64);
    raw(response, "text", r#"{"format":{"type":"text"},"verbosity":"medium"}"#);
    response.field("tool_choice", "auto");
    raw(response, "tools", "[]");
    response.field("top_p", &1_u64);
    response.field("truncation", "disabled");
    let is_done = status == "completed";
    raw(response, "usage", if is_done { RESPONSES_USAGE } else { "null" });
    raw(response, "metadata", "{}");
}

const RESPONSES_USAGE: &str = r#"{"input_tokens":5120,"input_tokens_details":{"cached_tokens":4096},"output_tokens":140,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":5260}"#;

fn message_item(item: &mut Writer, status: &str, text: Option<&str>) {
    item.field("id", MESSAGE_ID);
    item.field("type", "message");
    item.field("status", status);
    item.key("content");
    item.array(|content| {
        if let Some(text) = text {
            text_part(content, text);
        }
    });
    item.field("role", "assistant");
}

fn text_part(writer: &mut Writer, text: &str) {
    writer.object(|part| {
        part.field("type", "output_text");
        raw(part, "annotations", "[]");
        raw(part, "logprobs", "[]");
        part.field("text", text);
    });
}

fn call_item(item: &mut Writer, status: &str, arguments: &str) {
    item.field("id", CALL_ITEM_ID);
    item.field("type", "function_call");
    item.field("status", status);
    item.field("arguments", arguments);
    item.field("call_id", CALL_ID);
    item.field("name", TOOL);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_has_a_hundred_deltas_and_every_frame_is_json() {
        for (protocol, frames) in Protocol::ALL.into_iter().zip([105, 111, 107, 91]) {
            let stream = stream(protocol);
            assert_eq!(stream.frames.len(), frames, "{protocol:?}");
            for payload in &stream.payloads {
                serde_json::from_str::<serde_json::Value>(payload).unwrap();
            }
        }
        assert_eq!(TEXT_DELTAS + ARGUMENTS.len(), 100);
    }
}
