//! Reading what a valid Gemini request asks.

use serde_json::{Value, json};

use super::count;
use super::validate::generation;
use crate::sim::api::Unchecked;
use crate::sim::question::{
    Choice, Delivery, Format, HistoryItem, Media, Question, Thinking, Tool, ToolInput,
};

pub(super) fn question(asked: Unchecked<'_>) -> Question {
    let body = asked.body;
    let config = &body["generationConfig"];
    let stops = config["stopSequences"].as_array().into_iter().flatten();
    Question {
        api: "gemini",
        seed: asked.seed,
        history: history(&body["contents"]),
        tools: tools(&body["tools"]),
        choice: choice(&body["toolConfig"]["functionCallingConfig"]),
        may_call_several: true,
        thinking: thinking(&config["thinkingConfig"], &asked.model),
        format: format(config),
        output_tokens_max: config["maxOutputTokens"].as_u64(),
        stops: stops.filter_map(Value::as_str).map(str::to_owned).collect(),
        candidates: config["candidateCount"].as_u64().unwrap_or(1) as usize,
        input: count::input(&body),
        model: asked.model,
        delivery: asked.delivery.unwrap_or(Delivery::Whole),
        body,
    }
}

fn history(contents: &Value) -> Vec<HistoryItem> {
    let mut out = Vec::new();
    for content in contents.as_array().into_iter().flatten() {
        let parts = content["parts"].as_array().into_iter().flatten();
        if content["role"] == "model" {
            let calls = parts.filter(|part| !part["functionCall"].is_null()).count();
            out.push(HistoryItem::Model { calls });
        } else {
            parts.for_each(|part| user(part, &mut out));
        }
    }
    out
}

fn user(part: &Value, out: &mut Vec<HistoryItem>) {
    if let Some(text) = part["text"].as_str() {
        out.push(HistoryItem::User(text.to_owned()));
    }
    for blob in [&part["inlineData"], &part["fileData"]].into_iter().filter(|it| it.is_object()) {
        out.push(HistoryItem::Media(media(blob)));
    }
    let answer = &part["functionResponse"];
    if answer.is_object() {
        for inner in answer["parts"].as_array().into_iter().flatten() {
            user(inner, out);
        }
        out.push(HistoryItem::Result(result(&answer["response"])));
    }
}

fn media(blob: &Value) -> Media {
    match blob["mimeType"].as_str().and_then(|it| it.split('/').next()) {
        Some("image") => Media::Image,
        Some("audio") => Media::Audio,
        Some("video") => Media::Video,
        _ => Media::File,
    }
}

/// The text of a result, where it is the only thing in its object.
fn result(response: &Value) -> String {
    let members = response.as_object();
    let only = members.filter(|it| it.len() == 1).and_then(|it| it.values().next()?.as_str());
    only.map_or_else(|| response.to_string(), str::to_owned)
}

fn tools(tools: &Value) -> Vec<Tool> {
    let tools = tools.as_array().into_iter().flatten();
    let all = tools.flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten());
    all.map(|it| {
        let schemas = [&it["parametersJsonSchema"], &it["parameters"]];
        let schema = schemas.into_iter().find(|schema| schema.is_object());
        Tool {
            name: it["name"].as_str().unwrap_or_default().to_owned(),
            namespace: None,
            input: ToolInput::Schema(schema.cloned().unwrap_or_else(|| json!({}))),
        }
    })
    .collect()
}

fn choice(config: &Value) -> Choice {
    let names = config["allowedFunctionNames"].as_array().into_iter().flatten();
    let names: Vec<String> = names.filter_map(Value::as_str).map(str::to_owned).collect();
    match config["mode"].as_str() {
        Some("NONE") => Choice::Never,
        Some("ANY") => Choice::Must(names),
        Some("VALIDATED") if !names.is_empty() => Choice::Among(names),
        _ => Choice::Auto,
    }
}

/// Models from the third generation on always think.
fn thinking(config: &Value, model: &str) -> Thinking {
    let is_off = config["thinkingBudget"] == 0;
    let is_asked = !config["thinkingBudget"].is_null() || !config["thinkingLevel"].is_null();
    let always = generation(model).is_some_and(|it| it >= 30);
    match config["includeThoughts"] == true {
        _ if is_off => Thinking::Off,
        true => Thinking::Shown,
        false if is_asked || always => Thinking::Hidden,
        false => Thinking::Off,
    }
}

fn format(config: &Value) -> Format {
    let schemas = [&config["responseJsonSchema"], &config["responseSchema"]];
    let schema = schemas.into_iter().find(|it| it.is_object());
    match (config["responseMimeType"].as_str(), schema) {
        (Some("text/x.enum"), Some(schema)) => {
            let words = schema["enum"].as_array().into_iter().flatten();
            Format::Word(words.filter_map(Value::as_str).map(str::to_owned).collect())
        }
        (_, Some(schema)) => Format::Schema(schema.clone()),
        (Some("application/json"), None) => Format::Object,
        _ => Format::Text,
    }
}
