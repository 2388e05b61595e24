//! The rules of Responses on input items: roles and parts, pairing, reasoning and what it belongs to.

use serde_json::Value;

use super::validate::refuse;
use crate::sim::problem::Problem;
use crate::sim::{media, seal};

pub(super) const REASONING_SEAL: &str = "responses reasoning";
/// What our item ids end in when the item followed a reasoning item.
pub(super) const REASONED: &str = "_rs";

pub(super) fn items(input: &Value) -> Result<(), Problem> {
    let items = input.as_array().map(Vec::as_slice).unwrap_or_default();
    if input.as_array().is_some_and(Vec::is_empty) {
        let message = "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.";
        return Err(Problem::invalid(message).at("input").coded("empty_array"));
    }
    for (index, item) in items.iter().enumerate() {
        match kind(item) {
            "message" => message(item, index)?,
            "function_call_output" | "custom_tool_call_output" => {
                parts(&item["output"], index, "output")?
            }
            "reasoning" => reasoning(item, items.get(index + 1), index)?,
            "item_reference" => {
                let id = item["id"].as_str().unwrap_or_default();
                return Err(Problem::new(404, format!("Item with id '{id}' not found. Items are not persisted when `store` is set to false.")).at("input"));
            }
            _ => {}
        }
        call_id(item, index)?;
        reasoned(items, index)?;
    }
    pairing(items)
}

fn kind(item: &Value) -> &str {
    item["type"].as_str().unwrap_or_default()
}

fn message(item: &Value, index: usize) -> Result<(), Problem> {
    let is_assistant = item["role"] == "assistant";
    for (number, part) in item["content"].as_array().into_iter().flatten().enumerate() {
        let is_output = matches!(kind(part), "output_text" | "refusal");
        if is_output != is_assistant {
            let legal = if is_assistant {
                "'output_text' and 'refusal'"
            } else {
                "'input_text', 'input_image', and 'input_file'"
            };
            return refuse(
                format!("Invalid value: '{}'. Supported values are: {legal}.", kind(part)),
                &format!("input[{index}].content[{number}]"),
            );
        }
    }
    parts(&item["content"], index, "content")
}

fn parts(content: &Value, index: usize, member: &str) -> Result<(), Problem> {
    for (number, part) in content.as_array().into_iter().flatten().enumerate() {
        let place = format!("input[{index}].{member}[{number}]");
        match kind(part) {
            "input_image" => image(part, &place)?,
            "input_file" => file(part, &place)?,
            _ => {}
        }
    }
    Ok(())
}

fn image(part: &Value, place: &str) -> Result<(), Problem> {
    match (part["image_url"].as_str(), part["file_id"].as_str()) {
        (Some(url), None) => media::check_image_url(url, &format!("{place}.image_url")),
        (None, Some(_)) => Ok(()),
        _ => refuse("Missing required parameter: exactly one of 'image_url' and 'file_id'.", place),
    }
}

fn file(part: &Value, place: &str) -> Result<(), Problem> {
    let given = ["file_id", "file_url", "file_data"].iter().filter(|it| part[**it].is_string());
    if given.count() != 1 {
        return refuse(
            "Missing required parameter: exactly one of 'file_id', 'file_url' and 'file_data'.",
            place,
        );
    }
    if part["filename"].is_string() && !part["file_data"].is_string() {
        let message = format!(
            "Mutually exclusive parameters: '{place}'. Ensure you are only providing one of: 'file_id' or 'filename'."
        );
        return Err(Problem::invalid(message).at(place).coded("mutually_exclusive_parameters"));
    }
    match part["file_data"].as_str() {
        Some(data) if seal::is_standard_base64(data) => Ok(()),
        Some(data) => media::check_file_data(data, &format!("{place}.file_data")),
        None => Ok(()),
    }
}

/// A seal of ours, and behind the item what it led to.
fn reasoning(item: &Value, next: Option<&Value>, index: usize) -> Result<(), Problem> {
    let id = item["id"].as_str().unwrap_or("rs_unknown");
    match item["encrypted_content"].as_str() {
        Some(sealed) if !seal::holds(REASONING_SEAL, sealed, "") => {
            let message = format!("The encrypted content for item {id} could not be verified.");
            return Err(Problem::invalid(message)
                .at(format!("input[{index}]"))
                .coded("invalid_encrypted_content"));
        }
        None => {
            let message = format!(
                "Item with id '{id}' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
            );
            return Err(Problem::new(404, message).at("input"));
        }
        Some(_) => {}
    }
    let follows = next.is_some_and(|next| match kind(next) {
        "message" => next["role"] == "assistant",
        other => other != "function_call_output" && other != "custom_tool_call_output",
    });
    if follows {
        return Ok(());
    }
    let message = format!(
        "Item '{id}' of type 'reasoning' was provided without its required following item."
    );
    Err(Problem::invalid(message).at("input"))
}

fn call_id(item: &Value, index: usize) -> Result<(), Problem> {
    match item["call_id"].as_str() {
        Some(id) if !(1..=64).contains(&id.chars().count()) => {
            let message = format!(
                "Invalid 'input[{index}].call_id': string too long. Expected a string with maximum length 64, but got a string with length {} instead.",
                id.len()
            );
            Err(Problem::invalid(message)
                .at(format!("input[{index}].call_id"))
                .coded("string_above_max_length"))
        }
        _ => Ok(()),
    }
}

/// An item of ours that followed a reasoning item needs it again.
fn reasoned(items: &[Value], index: usize) -> Result<(), Problem> {
    let item = &items[index];
    let Some(id) = item["id"].as_str().filter(|id| id.ends_with(REASONED)) else { return Ok(()) };
    if items[..index].iter().any(|before| kind(before) == "reasoning") {
        return Ok(());
    }
    let message = format!(
        "Item '{id}' of type '{}' was provided without its required 'reasoning' item.",
        kind(item)
    );
    Err(Problem::invalid(message).at("input"))
}

/// Every call has an output somewhere behind it, and every output its call before it.
fn pairing(items: &[Value]) -> Result<(), Problem> {
    for (call, output, word) in [
        ("function_call", "function_call_output", "function call"),
        ("custom_tool_call", "custom_tool_call_output", "custom tool call"),
    ] {
        let mut open: Vec<&str> = Vec::new();
        for item in items {
            let id = item["call_id"].as_str().unwrap_or_default();
            if kind(item) == call {
                open.push(id);
            }
            if kind(item) == output {
                let Some(place) = open.iter().position(|it| *it == id) else {
                    let message =
                        format!("No tool call found for {word} output with call_id {id}.");
                    return Err(Problem::invalid(message).at("input"));
                };
                open.remove(place);
            }
        }
        if let Some(id) = open.first() {
            let message = format!("No tool output found for {word} {id}.");
            return Err(Problem::invalid(message).at("input"));
        }
    }
    Ok(())
}
