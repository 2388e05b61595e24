//! The rules on tools, by example and as properties.

mod answers;
mod arguments;
mod properties;
mod requests;

use std::sync::Arc;

use sabir_wire::Protocol;
use sabir_wire::protocol::{AnswerContext, Delta, Event, Fold, Opening, Order, unfold};
use sabir_wire::target::Target;
use serde_json::{Value, json};

use super::{Governor, Offer, Pointers, RuleTable, Rules, plan};
use crate::Glob;

/// Where Chat has the settings that come with tools.
const POINTERS: Pointers<'_> =
    Pointers { choice: "/tool_choice", parallel: "/parallel_tool_calls" };

fn globs(patterns: &[&str]) -> Option<Vec<Glob>> {
    Some(patterns.iter().map(|pattern| Glob::new(pattern).unwrap()).collect())
}

fn rules(table: &RuleTable) -> Arc<Rules> {
    Arc::new(table.rules().unwrap_or_default())
}

/// A function of Chat.
fn function(name: &str, parameters: &Value) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": parameters}})
}

/// A function that takes a path and a number of lines.
fn read_file() -> Value {
    let properties = json!({"path": {"type": "string"}, "lines": {"type": "integer"}});
    function(
        "read_file",
        &json!({"type": "object", "properties": properties, "required": ["path"]}),
    )
}

fn request(tools: &Value) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": tools})
}

/// What an answer of Chat with these calls, each a name and its arguments, is to the client of a request.
struct Answered {
    /// Text and calls in their order.
    parts: Vec<(String, String)>,
    finish: String,
    code: Option<String>,
    losses: Vec<String>,
}

fn answer(request: &Value, rules: &Arc<Rules>, message: &Value) -> Answered {
    let body = request.to_string();
    let mut decoded = Protocol::OpenaiChat.decode_request_text(&body).unwrap();
    let plan = plan(decoded.request(), rules).unwrap();
    let governed = plan.apply(decoded.edit(), rules, POINTERS);
    let mut context = AnswerContext::by(&decoded, Protocol::OpenaiChat, &Target::default());
    let names = (&mut context, governed.renamed);
    let offer = Offer::new(decoded.request(), Protocol::OpenaiChat, names, rules);
    let mut governor = Governor::new(Arc::new(offer));
    let whole = json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]})
    .to_string();
    let response = Protocol::OpenaiChat.decode_response(whole.as_bytes()).unwrap();
    let (mut fold, mut order) = (Fold::default(), Order::default());
    let mut fault = None;
    unfold(response, &mut |event| {
        governor.event(event, &mut |event| {
            order.step(&event).unwrap();
            if let Event::Fault(it) = &event {
                fault = it.code.as_ref().map(|code| code.to_str().into_owned());
            }
            fold.step(event);
        });
    });
    let losses = governor.take_report().into_entries().into_iter().map(|it| it.kind.to_string());
    let losses = losses.collect();
    let encoded =
        Protocol::OpenaiChat.encode_response(&fold.finish(), Protocol::OpenaiChat, &context);
    let body: Value = serde_json::from_str(&encoded.body).unwrap_or_default();
    let choice = &body["choices"][0];
    let mut parts = Vec::new();
    if let Some(text) = choice["message"]["content"].as_str() {
        parts.push(("text".to_owned(), text.to_owned()));
    }
    for call in choice["message"]["tool_calls"].as_array().into_iter().flatten() {
        let word = |key: &str| call["function"][key].as_str().unwrap_or_default().to_owned();
        parts.push((word("name"), word("arguments")));
    }
    let finish = choice["finish_reason"].as_str().unwrap_or_default().to_owned();
    Answered { parts, finish, code: fault, losses }
}

fn calling(name: &str, arguments: &str) -> Value {
    json!({"role": "assistant", "content": null, "tool_calls": [{"id": "call_1", "type": "function",
        "function": {"name": name, "arguments": arguments}}]})
}
