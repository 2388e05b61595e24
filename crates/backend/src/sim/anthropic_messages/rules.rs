//! The rules of Messages on the conversation: turns, empty texts, tool pairing, thinking and its signatures.

use serde_json::Value;

use super::validate::{Claude, is_word, refuse};
use crate::sim::problem::Problem;
use crate::sim::{media, seal};

pub(super) const THINKING_SEAL: &str = "anthropic thinking";
pub(super) const REDACTED_SEAL: &str = "anthropic redacted";

pub(super) fn messages(body: &Value, model: Claude) -> Result<(), Problem> {
    system(&body["system"])?;
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let has_server_tool = blocks(&messages[0]).any(|it| kind(it) == "server_tool_use");
    if messages[0]["role"] != "user" && !has_server_tool {
        return refuse("messages: first message must use the \"user\" role");
    }
    let mut uses_tools = false;
    for (index, message) in messages.iter().enumerate() {
        contents(message, index, messages.len())?;
        system_message(messages, index, model)?;
        uses_tools |= blocks(message).any(|it| matches!(kind(it), "tool_use" | "tool_result"));
    }
    if uses_tools && body["tools"].as_array().is_none_or(Vec::is_empty) {
        return refuse(
            "Requests which include `tool_use` or `tool_result` blocks must define tools",
        );
    }
    pairing(messages)?;
    prefill(body, messages, model)?;
    thinking_first(body, messages)
}

fn kind(block: &Value) -> &str {
    block["type"].as_str().unwrap_or_default()
}

fn blocks(message: &Value) -> impl Iterator<Item = &Value> {
    message["content"].as_array().into_iter().flatten()
}

fn system(system: &Value) -> Result<(), Problem> {
    let texts = system.as_array().into_iter().flatten().filter_map(|it| it["text"].as_str());
    for text in texts {
        if text.trim().is_empty() {
            return refuse("system: text content blocks must be non-empty");
        }
    }
    Ok(())
}

fn contents(message: &Value, index: usize, count: usize) -> Result<(), Problem> {
    let is_final_assistant = index + 1 == count && message["role"] == "assistant";
    let is_empty = match &message["content"] {
        Value::String(text) => text.trim().is_empty(),
        content => content.as_array().is_none_or(Vec::is_empty),
    };
    if is_empty && !is_final_assistant {
        return refuse(format!(
            "messages.{index}: all messages must have non-empty content except for the optional final assistant message"
        ));
    }
    for (number, block) in blocks(message).enumerate() {
        let place = format!("messages.{index}.content.{number}");
        self::block(block, &place)?;
        for inner in block["content"].as_array().into_iter().flatten() {
            self::block(inner, &place)?;
        }
    }
    Ok(())
}

fn block(block: &Value, place: &str) -> Result<(), Problem> {
    match kind(block) {
        "text" => text(block),
        "image" | "document" => source(&block["source"], place),
        "thinking" => {
            let text = block["thinking"].as_str().unwrap_or_default();
            let signature = block["signature"].as_str().unwrap_or_default();
            if seal::holds(THINKING_SEAL, signature, text) {
                return Ok(());
            }
            refuse(format!("{place}: Invalid `signature` in `thinking` block"))
        }
        "redacted_thinking"
            if !seal::holds(REDACTED_SEAL, block["data"].as_str().unwrap_or_default(), "") =>
        {
            refuse(format!("{place}: Invalid `data` in `redacted_thinking` block"))
        }
        "tool_use" | "server_tool_use" if !is_word(block["id"].as_str().unwrap_or_default()) => {
            refuse(format!(
                "{place}.{}.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
                kind(block)
            ))
        }
        "tool_use" if !name_fits(block) => refuse(format!(
            "{place}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'"
        )),
        _ => Ok(()),
    }
}

fn name_fits(block: &Value) -> bool {
    let name = block["name"].as_str().unwrap_or_default();
    name.len() <= 200 && is_word(name)
}

fn text(block: &Value) -> Result<(), Problem> {
    let text = block["text"].as_str().unwrap_or_default();
    if text.is_empty() {
        return refuse("messages: text content blocks must be non-empty");
    }
    if text.trim().is_empty() {
        return refuse("messages: text content blocks must contain non-whitespace text");
    }
    Ok(())
}

fn source(source: &Value, place: &str) -> Result<(), Problem> {
    let field = |name: &str| source[name].as_str().unwrap_or_default();
    match kind(source) {
        "base64" => {
            if !seal::is_standard_base64(field("data")) {
                return refuse(format!(
                    "{place}.source.base64.data: The data provided is not valid base64"
                ));
            }
            match media::sniff(field("data")) {
                Some(found) if found != field("media_type") => refuse(format!(
                    "{place}.source.base64: The file was specified using the {} media type, but appears to be a {found} file",
                    field("media_type")
                )),
                _ => Ok(()),
            }
        }
        "url" if !field("url").starts_with("https://") && !field("url").starts_with("http://") => {
            refuse(format!("{place}.source.url: Only HTTPS URLs are supported."))
        }
        _ => Ok(()),
    }
}

/// A system message follows a user's turn and stands before the model's, or last.
fn system_message(messages: &[Value], index: usize, model: Claude) -> Result<(), Problem> {
    if messages[index]["role"] != "system" {
        return Ok(());
    }
    if model.is_before(48) {
        return refuse("role 'system' is not supported on this model");
    }
    let before = &messages[index - 1];
    let follows_server_tool = blocks(before).any(|it| kind(it) == "server_tool_use");
    if before["role"] == "assistant" && !follows_server_tool {
        return refuse(format!(
            "messages.{index}: a system message must directly follow a user message"
        ));
    }
    match messages.get(index + 1) {
        Some(after) if after["role"] == "user" => refuse(format!(
            "messages.{index}: a system message must be last or be followed by an assistant message"
        )),
        _ => Ok(()),
    }
}

/// Turns as the server sees them: neighbours of one role are one turn, system messages are none.
fn turns(messages: &[Value]) -> Vec<(&str, Vec<&Value>)> {
    let mut turns: Vec<(&str, Vec<&Value>)> = Vec::new();
    for message in messages {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "system" {
            continue;
        }
        match turns.last_mut() {
            Some((last, blocks_of)) if *last == role => blocks_of.extend(blocks(message)),
            _ => turns.push((role, blocks(message).collect())),
        }
    }
    turns
}

/// Every call is answered once, first thing in the next turn; every answer has its call.
fn pairing(messages: &[Value]) -> Result<(), Problem> {
    let mut open: Vec<&str> = Vec::new();
    for (index, (role, blocks)) in turns(messages).into_iter().enumerate() {
        if role == "assistant" {
            open = ids(&blocks, "tool_use", "id");
            if let Some(id) = first_double(&open) {
                return refuse(format!("messages.{index}: `tool_use` ids must be unique: {id}"));
            }
            continue;
        }
        let given = ids(&blocks, "tool_result", "tool_use_id");
        if let Some(id) = given.iter().find(|id| !open.contains(id)) {
            return refuse(format!(
                "messages.{index}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            ));
        }
        if let Some(id) = first_double(&given) {
            return refuse(format!(
                "messages.{index}.content: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}"
            ));
        }
        unanswered(&open, &given, index)?;
        let results = blocks.iter().take_while(|block| kind(block) == "tool_result").count();
        if results != given.len() {
            return refuse(format!(
                "messages.{index}: `tool_result` blocks must come first in the content of a message"
            ));
        }
        open.clear();
    }
    unanswered(&open, &[], messages.len())
}

fn ids<'a>(blocks: &[&'a Value], wanted: &str, member: &str) -> Vec<&'a str> {
    let found = blocks.iter().filter(|block| kind(block) == wanted);
    found.map(|block| block[member].as_str().unwrap_or_default()).collect()
}

fn first_double<'a>(ids: &[&'a str]) -> Option<&'a str> {
    ids.iter().enumerate().find(|(index, id)| ids[..*index].contains(id)).map(|(_, id)| *id)
}

fn unanswered(open: &[&str], given: &[&str], index: usize) -> Result<(), Problem> {
    let missing: Vec<&str> = open.iter().filter(|id| !given.contains(id)).copied().collect();
    if missing.is_empty() {
        return Ok(());
    }
    refuse(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` block must have a corresponding `tool_result` block in the next message.",
        index.saturating_sub(1),
        missing.join(", ")
    ))
}

fn prefill(body: &Value, messages: &[Value], model: Claude) -> Result<(), Problem> {
    let Some(last) = messages.last().filter(|last| last["role"] == "assistant") else {
        return Ok(());
    };
    let thinks = matches!(body["thinking"]["type"].as_str(), Some("enabled" | "adaptive"));
    if model.is_after(45) || thinks {
        return refuse(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        );
    }
    if !body["output_config"]["format"].is_null() {
        return refuse(
            "Prefilling the assistant's message is not supported with `output_config.format`",
        );
    }
    let text = last["content"].as_str().or_else(|| blocks(last).last()?["text"].as_str());
    if text.is_some_and(|text| text.ends_with(char::is_whitespace)) {
        return refuse("messages: final assistant content cannot end with trailing whitespace");
    }
    Ok(())
}

/// With a budget for thinking, the model's turn of a running tool loop begins with what it thought. Adaptive thinking
/// does without: there a turn may hold none.
fn thinking_first(body: &Value, messages: &[Value]) -> Result<(), Problem> {
    if body["thinking"]["type"] != "enabled" {
        return Ok(());
    }
    let turns = turns(messages);
    let [.., (_, called), (_, answers)] = turns.as_slice() else { return Ok(()) };
    let is_in_loop = answers.iter().any(|block| kind(block) == "tool_result");
    let first = called.first().map(|block| kind(block)).unwrap_or_default();
    if !is_in_loop || matches!(first, "thinking" | "redacted_thinking") {
        return Ok(());
    }
    let index = messages.iter().rposition(|it| it["role"] == "assistant").unwrap_or(0);
    refuse(format!(
        "messages.{index}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `{first}`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks)."
    ))
}
