//! Reading what a valid Messages request asks.

use serde_json::Value;

use super::count;
use super::shape::OLD_FORMAT;
use crate::sim::api::Unchecked;
use crate::sim::question::{
    Choice, Delivery, Format, HistoryItem, Media, Question, Thinking, Tool, ToolInput,
};

pub(super) fn question(asked: Unchecked<'_>) -> Question {
    let body = asked.body;
    let is_streamed = body["stream"] == true;
    let stops = body["stop_sequences"].as_array().into_iter().flatten();
    Question {
        api: "anthropic-messages",
        model: asked.model,
        seed: asked.seed,
        history: history(&body["messages"]),
        tools: tools(&body["tools"]),
        choice: choice(&body["tool_choice"]),
        may_call_several: body["tool_choice"]["disable_parallel_tool_use"] != true,
        thinking: thinking(&body["thinking"]),
        format: format(&body),
        output_tokens_max: body["max_tokens"].as_u64(),
        stops: stops.filter_map(Value::as_str).map(str::to_owned).collect(),
        candidates: 1,
        input: count::input(&body),
        body,
        delivery: if is_streamed { Delivery::Events } else { Delivery::Whole },
    }
}

fn history(messages: &Value) -> Vec<HistoryItem> {
    let mut out = Vec::new();
    for message in messages.as_array().into_iter().flatten() {
        match message["role"].as_str().unwrap_or_default() {
            "user" => user(&message["content"], &mut out),
            "assistant" => {
                let blocks = message["content"].as_array().into_iter().flatten();
                let calls = blocks.filter(|block| block["type"] == "tool_use").count();
                out.push(HistoryItem::Model { calls });
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
    for block in content.as_array().into_iter().flatten() {
        match block["type"].as_str().unwrap_or_default() {
            "text" => {
                out.push(HistoryItem::User(block["text"].as_str().unwrap_or_default().to_owned()))
            }
            "image" => out.push(HistoryItem::Media(Media::Image)),
            "tool_result" => result(&block["content"], out),
            _ => out.push(HistoryItem::Media(Media::File)),
        }
    }
}

fn result(content: &Value, out: &mut Vec<HistoryItem>) {
    let mut texts = Vec::from_iter(content.as_str());
    for block in content.as_array().into_iter().flatten() {
        match block["type"].as_str().unwrap_or_default() {
            "text" => texts.extend(block["text"].as_str()),
            "image" => out.push(HistoryItem::Media(Media::Image)),
            _ => out.push(HistoryItem::Media(Media::File)),
        }
    }
    out.push(HistoryItem::Result(texts.join("\n")));
}

/// The tools that the client runs; Anthropic's own run at its side, and are never called here.
fn tools(tools: &Value) -> Vec<Tool> {
    let tools = tools.as_array().into_iter().flatten();
    let ours = tools.filter(|tool| tool["input_schema"].is_object());
    ours.map(|tool| Tool {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        namespace: None,
        input: ToolInput::Schema(tool["input_schema"].clone()),
    })
    .collect()
}

fn choice(choice: &Value) -> Choice {
    match choice["type"].as_str() {
        Some("none") => Choice::Never,
        Some("any") => Choice::Must(Vec::new()),
        Some("tool") => {
            Choice::Must(choice["name"].as_str().map(str::to_owned).into_iter().collect())
        }
        _ => Choice::Auto,
    }
}

fn format(body: &Value) -> Format {
    let formats = [&body["output_config"]["format"], &body[OLD_FORMAT]];
    let schema = formats.into_iter().find_map(|it| it.get("schema"));
    schema.map_or(Format::Text, |schema| Format::Schema(schema.clone()))
}

fn thinking(thinking: &Value) -> Thinking {
    match (thinking["type"].as_str(), thinking["display"].as_str()) {
        (None | Some("disabled"), _) => Thinking::Off,
        (Some(_), Some("omitted")) => Thinking::Hidden,
        (Some(_), _) => Thinking::Shown,
    }
}
