//! Reading what a valid Responses request asks.

use serde_json::{Value, json};

use super::count;
use crate::sim::api::Unchecked;
use crate::sim::question::{
    Choice, Delivery, Format, HistoryItem, Media, Question, Thinking, Tool, ToolInput,
};

/// Writes the `type` that messages and references may leave out, so that the rules need not guess it.
pub(super) fn spell_out(body: &mut Value) {
    for item in body.get_mut("input").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(item) = item.as_object_mut() else { continue };
        let is_untyped = item.get("type").is_none_or(Value::is_null);
        if is_untyped && item.contains_key("role") {
            item.insert("type".to_owned(), json!("message"));
        } else if is_untyped && item.len() <= 2 && item.contains_key("id") {
            item.insert("type".to_owned(), json!("item_reference"));
        }
    }
}

pub(super) fn question(asked: Unchecked<'_>) -> Question {
    let body = asked.body;
    let is_streamed = body["stream"] == true;
    Question {
        api: "openai-responses",
        model: asked.model,
        seed: asked.seed,
        history: history(&body["input"]),
        tools: all_tools(&body),
        choice: choice(&body["tool_choice"]),
        may_call_several: body["parallel_tool_calls"] != false,
        thinking: thinking(&body["reasoning"]),
        format: format(&body["text"]["format"]),
        output_tokens_max: body["max_output_tokens"].as_u64(),
        stops: Vec::new(),
        candidates: 1,
        input: count::input(&body),
        body,
        delivery: if is_streamed { Delivery::Events } else { Delivery::Whole },
    }
}

fn history(input: &Value) -> Vec<HistoryItem> {
    if let Some(text) = input.as_str() {
        return vec![HistoryItem::User(text.to_owned())];
    }
    let mut out = Vec::new();
    for item in input.as_array().into_iter().flatten() {
        match (item["type"].as_str().unwrap_or_default(), item["role"].as_str()) {
            ("message", Some("user")) => content(&item["content"], &mut out, HistoryItem::User),
            ("message", Some("assistant")) => out.push(HistoryItem::Model { calls: 0 }),
            ("function_call" | "custom_tool_call", _) => out.push(HistoryItem::Model { calls: 1 }),
            ("function_call_output" | "custom_tool_call_output", _) => {
                content(&item["output"], &mut out, HistoryItem::Result);
            }
            _ => {}
        }
    }
    out
}

fn content(content: &Value, out: &mut Vec<HistoryItem>, item_of: fn(String) -> HistoryItem) {
    if let Some(text) = content.as_str() {
        out.push(item_of(text.to_owned()));
    }
    for part in content.as_array().into_iter().flatten() {
        out.push(match part["type"].as_str().unwrap_or_default() {
            "input_image" => HistoryItem::Media(Media::Image),
            "input_file" => HistoryItem::Media(Media::File),
            _ => item_of(part["text"].as_str().unwrap_or_default().to_owned()),
        });
    }
}

/// The tools of the request, and those that were added on the way.
fn all_tools(body: &Value) -> Vec<Tool> {
    let mut out = Vec::new();
    tools(&body["tools"], None, &mut out);
    let items = body["input"].as_array().into_iter().flatten();
    for item in items.filter(|item| item["type"] == "additional_tools") {
        tools(&item["tools"], None, &mut out);
    }
    out
}

fn tools(list: &Value, namespace: Option<&str>, out: &mut Vec<Tool>) {
    for tool in list.as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        let input = match tool["type"].as_str() {
            Some("function") if tool["parameters"].is_null() => ToolInput::Schema(json!({})),
            Some("function") => ToolInput::Schema(tool["parameters"].clone()),
            Some("custom") => ToolInput::Freeform,
            Some("namespace") => {
                tools(&tool["tools"], Some(name), out);
                continue;
            }
            _ => continue,
        };
        out.push(Tool { name: name.to_owned(), namespace: namespace.map(str::to_owned), input });
    }
}

fn choice(choice: &Value) -> Choice {
    let named = |it: &Value| it["name"].as_str().map(str::to_owned);
    match choice.as_str().or(choice["type"].as_str()) {
        Some("none") => Choice::Never,
        Some("required") => Choice::Must(Vec::new()),
        Some("function" | "custom") => Choice::Must(named(choice).into_iter().collect()),
        Some("allowed_tools") => {
            let names = choice["tools"].as_array().into_iter().flatten().filter_map(named);
            let names = names.collect();
            if choice["mode"] == "required" { Choice::Must(names) } else { Choice::Among(names) }
        }
        _ => Choice::Auto,
    }
}

/// Asking for an effort or a summary makes it think; a summary is shown only where it was asked for.
fn thinking(reasoning: &Value) -> Thinking {
    let wants_summary =
        reasoning["summary"].is_string() || reasoning["generate_summary"].is_string();
    match reasoning["effort"].as_str() {
        Some("none") => Thinking::Off,
        _ if wants_summary => Thinking::Shown,
        Some(_) => Thinking::Hidden,
        None => Thinking::Off,
    }
}

fn format(format: &Value) -> Format {
    match format["type"].as_str() {
        Some("json_object") => Format::Object,
        Some("json_schema") => Format::Schema(format["schema"].clone()),
        _ => Format::Text,
    }
}
