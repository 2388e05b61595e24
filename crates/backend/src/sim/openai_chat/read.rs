//! Reading what a valid Chat request asks.

use serde_json::{Value, json};

use super::count;
use crate::sim::api::Unchecked;
use crate::sim::question::{
    Choice, Delivery, Format, HistoryItem, Media, Question, Thinking, Tool, ToolInput,
};

pub(super) fn question(asked: Unchecked<'_>) -> Question {
    let body = asked.body;
    let is_streamed = body["stream"] == true;
    Question {
        api: "openai-chat",
        model: asked.model,
        seed: asked.seed,
        history: history(&body["messages"]),
        tools: tools(&body),
        choice: choice(&body),
        may_call_several: body["parallel_tool_calls"] != false && body["functions"].is_null(),
        thinking: thinking(&body["reasoning_effort"]),
        format: format(&body["response_format"]),
        output_tokens_max: body["max_completion_tokens"].as_u64().or(body["max_tokens"].as_u64()),
        stops: texts(&body["stop"]),
        candidates: body["n"].as_u64().unwrap_or(1) as usize,
        input: count::input(&body),
        body,
        delivery: if is_streamed { Delivery::Events } else { Delivery::Whole },
    }
}

/// A string or a list of strings as a list.
fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn history(messages: &Value) -> Vec<HistoryItem> {
    let mut out = Vec::new();
    for message in messages.as_array().into_iter().flatten() {
        match message["role"].as_str().unwrap_or_default() {
            "user" => user(&message["content"], &mut out),
            "tool" | "function" => out.push(HistoryItem::Result(joined(&message["content"]))),
            "assistant" => {
                let calls = message["tool_calls"].as_array().map_or(0, Vec::len);
                let old = usize::from(!message["function_call"].is_null());
                out.push(HistoryItem::Model { calls: calls + old });
            }
            _ => {}
        }
    }
    out
}

fn user(content: &Value, out: &mut Vec<HistoryItem>) {
    if let Some(text) = content.as_str() {
        out.push(HistoryItem::User(text.to_owned()));
    }
    for part in content.as_array().into_iter().flatten() {
        out.push(match part["type"].as_str().unwrap_or_default() {
            "image_url" => HistoryItem::Media(Media::Image),
            "input_audio" => HistoryItem::Media(Media::Audio),
            "file" => HistoryItem::Media(Media::File),
            _ => HistoryItem::User(part["text"].as_str().unwrap_or_default().to_owned()),
        });
    }
}

fn joined(content: &Value) -> String {
    match content {
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => content.as_str().unwrap_or_default().to_owned(),
    }
}

fn tools(body: &Value) -> Vec<Tool> {
    let named = |name: &Value, input| Tool {
        name: name.as_str().unwrap_or_default().to_owned(),
        namespace: None,
        input,
    };
    let function = |it: &Value| {
        let schema = if it["parameters"].is_null() { json!({}) } else { it["parameters"].clone() };
        named(&it["name"], ToolInput::Schema(schema))
    };
    let list = |key: &str| body[key].as_array().into_iter().flatten();
    let new = list("tools").map(|tool| match tool["type"].as_str() {
        Some("custom") => named(&tool["custom"]["name"], ToolInput::Freeform),
        _ => function(&tool["function"]),
    });
    new.chain(list("functions").map(function)).collect()
}

fn choice(body: &Value) -> Choice {
    let choice = &body["tool_choice"];
    let name = |it: &Value| vec![it["name"].as_str().unwrap_or_default().to_owned()];
    match choice.as_str().or(choice["type"].as_str()) {
        Some("none") => Choice::Never,
        Some("required") => Choice::Must(Vec::new()),
        Some("function") => Choice::Must(name(&choice["function"])),
        Some("custom") => Choice::Must(name(&choice["custom"])),
        Some("allowed_tools") => allowed(&choice["allowed_tools"]),
        _ => match &body["function_call"] {
            Value::Object(_) => Choice::Must(name(&body["function_call"])),
            Value::String(word) if word == "none" => Choice::Never,
            _ => Choice::Auto,
        },
    }
}

fn allowed(choice: &Value) -> Choice {
    let tools = choice["tools"].as_array().into_iter().flatten();
    let names = tools.filter_map(|tool| {
        let name = tool["function"]["name"].as_str().or(tool["custom"]["name"].as_str());
        name.map(str::to_owned)
    });
    let names = names.collect();
    if choice["mode"] == "required" { Choice::Must(names) } else { Choice::Among(names) }
}

/// Chat never shows what was thought; it only counts.
fn thinking(effort: &Value) -> Thinking {
    match effort.as_str() {
        None | Some("none") => Thinking::Off,
        Some(_) => Thinking::Hidden,
    }
}

fn format(format: &Value) -> Format {
    match format["type"].as_str() {
        Some("json_object") => Format::Object,
        Some("json_schema") => match &format["json_schema"]["schema"] {
            Value::Null => Format::Object,
            schema => Format::Schema(schema.clone()),
        },
        _ => Format::Text,
    }
}
