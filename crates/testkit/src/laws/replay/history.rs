//! How the SDKs of the vendors, used as their guides show it, turn an answer into the history of the next request.
//!
//! | Client | Sends back |
//! |---|---|
//! | Chat | `choices[0].message` whole; spoken answers by their id alone |
//! | Responses | the items of `output` as they are, `id` and `status` included |
//! | Messages | `content` block by block, as one assistant message |
//! | Gemini | `candidates[0].content`; of a stream the content of every chunk, as `chats` records it |

use sabir_wire::Protocol;
use sabir_wire::protocol::AnswerContext;
use serde_json::{Value, json};

use crate::translate;

/// The habits of one protocol's clients.
pub(super) struct Sdk {
    protocol: Protocol,
    /// The list of a request that holds the conversation.
    list: &'static str,
    opening: fn() -> Value,
    /// Whether the chunks of a stream are kept and not added up.
    keeps_chunks: bool,
    /// What follows the turn: a result for each call, and the user's next message.
    next: fn(&[Value]) -> Vec<Value>,
    /// The tools that were called.
    tools: fn(&[Value]) -> Vec<Value>,
    /// From a place in the turn, below the list, to its place in the answer.
    place: fn(usize, &str) -> Option<String>,
}

/// What every tool answers, and what the user says around the turn.
const RESULT: &str = "Done.";
const OPENING: &str = "Begin.";
const NEXT: &str = "Go on.";

impl Sdk {
    pub(super) fn of(protocol: Protocol) -> Self {
        match protocol {
            Protocol::OpenaiChat => Self {
                protocol,
                list: "messages",
                opening: || json!({"role": "user", "content": OPENING}),
                keeps_chunks: false,
                next: chat::next,
                tools: chat::tools,
                place: |number, rest| (number == 0).then(|| format!("/choices/0/message{rest}")),
            },
            Protocol::OpenaiResponses => Self {
                protocol,
                list: "input",
                opening: || json!({"role": "user", "content": OPENING}),
                keeps_chunks: false,
                next: responses::next,
                tools: responses::tools,
                place: |number, rest| Some(format!("/output/{number}{rest}")),
            },
            Protocol::AnthropicMessages => Self {
                protocol,
                list: "messages",
                opening: || json!({"role": "user", "content": OPENING}),
                keeps_chunks: false,
                next: messages::next,
                tools: messages::tools,
                place: |number, rest| (number == 0).then(|| rest.to_owned()),
            },
            Protocol::Gemini => Self {
                protocol,
                list: "contents",
                opening: || json!({"role": "user", "parts": [{"text": OPENING}]}),
                keeps_chunks: true,
                next: gemini::next,
                tools: gemini::tools,
                place: |number, rest| (number == 0).then(|| format!("/candidates/0/content{rest}")),
            },
        }
    }

    /// The turn that stands for a whole answer.
    pub(super) fn turn(&self, answer: &Value) -> Vec<Value> {
        let entries = self.protocol.answer_entries(&answer.to_string()).unwrap_or_default();
        entries.iter().map(|it| serde_json::from_str(&it.json).unwrap_or_default()).collect()
    }

    /// The turn that stands for a stream.
    pub(super) fn streamed_turn(&self, stream: &[u8]) -> Vec<Value> {
        let frames = translate::frames(stream);
        let frames = frames.iter().map(|it| serde_json::from_str(it).unwrap_or_default());
        let frames: Vec<Value> = frames.collect();
        let chunks = || frames.iter().flat_map(|frame| self.turn(frame)).collect::<Vec<Value>>();
        match self.keeps_chunks.then(chunks) {
            Some(chunks) if !gemini::cuts_calls(&chunks) => chunks,
            _ => self.turn(&self.whole(stream)),
        }
    }

    /// The answer that a stream adds up to.
    pub(super) fn whole(&self, stream: &[u8]) -> Value {
        let answer = translate::fold(self.protocol, stream);
        let encoded =
            self.protocol.encode_response(&answer, self.protocol, &AnswerContext::default());
        serde_json::from_str(&encoded.body).unwrap_or_default()
    }

    /// The request that follows the turn.
    pub(super) fn follow_up(&self, turn: Vec<Value>) -> Value {
        let (next, tools) = ((self.next)(&turn), (self.tools)(&turn));
        let mut list = vec![(self.opening)()];
        list.extend(turn);
        list.extend(next);
        let mut request = json!({self.list: list});
        if !tools.is_empty() {
            request["tools"] = Value::Array(tools);
        }
        request
    }

    /// Where the answer has what stands at this place of the follow-up; none for what is not of the turn.
    pub(super) fn in_answer(&self, pointer: &str) -> Option<String> {
        let rest = pointer.strip_prefix('/')?.strip_prefix(self.list)?.strip_prefix('/')?;
        let (number, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        (self.place)(number.parse::<usize>().ok()?.checked_sub(1)?, rest)
    }

    /// The conversation that a request holds.
    pub(super) fn conversation<'v>(&self, request: &'v Value) -> &'v Value {
        &request[self.list]
    }

    pub(super) fn list(&self) -> &'static str {
        self.list
    }
}

/// The values without repetitions, in their order.
fn distinct(values: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut found = Vec::new();
    for value in values {
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

mod chat {
    use super::*;

    fn calls(turn: &[Value]) -> impl Iterator<Item = &Value> {
        turn.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten())
    }

    pub(super) fn next(turn: &[Value]) -> Vec<Value> {
        let result =
            |call: &Value| json!({"role": "tool", "tool_call_id": call["id"], "content": RESULT});
        let mut next: Vec<Value> = calls(turn).map(result).collect();
        let old = turn.iter().map(|message| &message["function_call"]["name"]);
        next.extend(
            old.filter(|name| name.is_string())
                .map(|name| json!({"role": "function", "name": name, "content": RESULT})),
        );
        next.push(json!({"role": "user", "content": NEXT}));
        next
    }

    pub(super) fn tools(turn: &[Value]) -> Vec<Value> {
        let tool = |call: &Value| match call["custom"]["name"].as_str() {
            Some(name) => json!({"type": "custom", "custom": {"name": name}}),
            None => {
                json!({"type": "function", "function": {"name": call["function"]["name"]}})
            }
        };
        distinct(calls(turn).map(tool))
    }
}

mod responses {
    use super::*;

    pub(super) fn next(turn: &[Value]) -> Vec<Value> {
        let result = |item: &Value| {
            let kind = match item["type"].as_str()? {
                "function_call" => "function_call_output",
                "custom_tool_call" => "custom_tool_call_output",
                _ => return None,
            };
            Some(json!({"type": kind, "call_id": item["call_id"], "output": RESULT}))
        };
        let mut next: Vec<Value> = turn.iter().filter_map(result).collect();
        next.push(json!({"role": "user", "content": NEXT}));
        next
    }

    pub(super) fn tools(turn: &[Value]) -> Vec<Value> {
        let tool = |item: &Value| match item["type"].as_str()? {
            "function_call" => Some(json!({"type": "function", "name": item["name"]})),
            "custom_tool_call" => Some(json!({"type": "custom", "name": item["name"]})),
            _ => None,
        };
        distinct(turn.iter().filter_map(tool))
    }
}

mod messages {
    use super::*;

    fn calls(turn: &[Value]) -> impl Iterator<Item = &Value> {
        let blocks = turn.iter().flat_map(|it| it["content"].as_array().into_iter().flatten());
        blocks.filter(|block| block["type"] == "tool_use")
    }

    pub(super) fn next(turn: &[Value]) -> Vec<Value> {
        let result = |block: &Value| json!({"type": "tool_result", "tool_use_id": block["id"], "content": RESULT});
        let mut content: Vec<Value> = calls(turn).map(result).collect();
        content.push(json!({"type": "text", "text": NEXT}));
        vec![json!({"role": "user", "content": content})]
    }

    pub(super) fn tools(turn: &[Value]) -> Vec<Value> {
        let schema = json!({"type": "object"});
        distinct(calls(turn).map(|it| json!({"name": it["name"], "input_schema": schema})))
    }
}

mod gemini {
    use super::*;

    fn calls(turn: &[Value]) -> impl Iterator<Item = &Value> {
        let parts = turn.iter().flat_map(|it| it["parts"].as_array().into_iter().flatten());
        parts.filter_map(|part| part.get("functionCall"))
    }

    /// Whether arguments come in pieces: clients that ask for that add them up themselves.
    pub(super) fn cuts_calls(turn: &[Value]) -> bool {
        let is_cut = |call: &Value| call["name"].is_null() || call["willContinue"] == true;
        calls(turn).any(is_cut)
    }

    pub(super) fn next(turn: &[Value]) -> Vec<Value> {
        let result = |call: &Value| {
            let mut result = json!({"name": call["name"], "response": {"output": RESULT}});
            if call["id"].is_string() {
                result["id"] = call["id"].clone();
            }
            json!({"functionResponse": result})
        };
        let mut parts: Vec<Value> = calls(turn).map(result).collect();
        parts.push(json!({"text": NEXT}));
        vec![json!({"role": "user", "parts": parts})]
    }

    pub(super) fn tools(turn: &[Value]) -> Vec<Value> {
        let declared = distinct(calls(turn).map(|call| json!({"name": call["name"]})));
        let declared = Some(declared).filter(|it| !it.is_empty());
        declared.map(|it| json!({"functionDeclarations": it})).into_iter().collect()
    }
}
