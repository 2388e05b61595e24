//! The rules of Chat Completions that a shape cannot say.

use serde_json::Value;

use super::shape;
use crate::sim::problem::Problem;
use crate::sim::shape::check as check_shape;
use crate::sim::{media, openai, seal};

const CALL_ID_LETTERS_MAX: usize = 40;
const TOOLS_MAX: usize = 128;
const STOPS_MAX: usize = 4;

pub(super) fn check(body: &Value) -> Result<(), Problem> {
    check_shape(body, &shape::BODY).map_err(|it| openai::violation(&it))?;
    options(body)?;
    tools(body)?;
    format(body)?;
    model_rules(body)?;
    messages(&body["messages"])
}

fn refuse(message: impl Into<String>, param: &str) -> Result<(), Problem> {
    Err(Problem::invalid(message).at(param).coded("invalid_value"))
}

fn options(body: &Value) -> Result<(), Problem> {
    if body["messages"].as_array().is_some_and(Vec::is_empty) {
        let message = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.";
        return Err(Problem::invalid(message).at("messages").coded("empty_array"));
    }
    if !body["stream_options"].is_null() && body["stream"] != true {
        return refuse(
            "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
            "stream_options",
        );
    }
    if body["top_logprobs"].as_u64().is_some() && body["logprobs"] != true {
        return refuse(
            "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
            "top_logprobs",
        );
    }
    if !body["max_tokens"].is_null() && !body["max_completion_tokens"].is_null() {
        return refuse(
            "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
            "max_tokens",
        );
    }
    let stops = body["stop"].as_array().map_or(0, Vec::len);
    if stops > STOPS_MAX || body["stop"].as_array().is_some_and(Vec::is_empty) {
        return refuse("Invalid 'stop': expected an array with 1 to 4 elements.", "stop");
    }
    let wants_audio =
        body["modalities"].as_array().is_some_and(|it| it.iter().any(|it| it == "audio"));
    if wants_audio && body["audio"].is_null() {
        return refuse("Missing required parameter: 'audio'.", "audio");
    }
    metadata(&body["metadata"])
}

/// At most 16 pairs with names of 64 and values of 512 letters.
pub(crate) fn metadata(metadata: &Value) -> Result<(), Problem> {
    let pairs = metadata.as_object().into_iter().flatten();
    let is_long = |name: &str, value: &Value| {
        name.chars().count() > 64 || value.as_str().is_some_and(|it| it.chars().count() > 512)
    };
    let is_fine =
        pairs.clone().count() <= 16 && !pairs.into_iter().any(|(name, it)| is_long(name, it));
    if is_fine {
        Ok(())
    } else {
        refuse("Invalid 'metadata': too many or too long properties.", "metadata")
    }
}

fn tools(body: &Value) -> Result<(), Problem> {
    let Some(tools) = body["tools"].as_array() else {
        return without_tools(body);
    };
    if tools.is_empty() || tools.len() > TOOLS_MAX {
        let message = "Invalid 'tools': expected an array with length 1 to 128.";
        return Err(Problem::invalid(message).at("tools").coded("empty_array"));
    }
    let mut names: Vec<&str> = Vec::new();
    for (index, tool) in tools.iter().enumerate() {
        let kind = tool["type"].as_str().unwrap_or_default();
        let name = tool[kind]["name"].as_str().unwrap_or_default();
        let param = format!("tools[{index}].{kind}.name");
        check_name(name, &param)?;
        if names.contains(&name) {
            return refuse(
                format!("Duplicate tool name: '{name}'. Tool names must be unique."),
                &param,
            );
        }
        names.push(name);
        parameters(&tool["function"], index)?;
    }
    chosen(&body["tool_choice"], &names)
}

fn without_tools(body: &Value) -> Result<(), Problem> {
    if !body["tool_choice"].is_null() {
        return refuse("'tool_choice' is only allowed when 'tools' are specified.", "tool_choice");
    }
    if !body["parallel_tool_calls"].is_null() {
        return refuse(
            "'parallel_tool_calls' is only allowed when 'tools' are specified.",
            "parallel_tool_calls",
        );
    }
    Ok(())
}

/// Names of tools and of schemas.
fn check_name(name: &str, param: &str) -> Result<(), Problem> {
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if (1..=64).contains(&name.len()) && name.chars().all(is_legal) {
        return Ok(());
    }
    refuse(
        format!(
            "Invalid '{param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$' of at most 64 letters."
        ),
        param,
    )
}

fn parameters(function: &Value, index: usize) -> Result<(), Problem> {
    let schema = &function["parameters"];
    let name = function["name"].as_str().unwrap_or_default();
    openai::check_parameters(schema, name, format!("tools[{index}].function.parameters"))?;
    if function["strict"] == true && schema.is_object() {
        return openai::check_strict(schema, &format!("function '{name}'"));
    }
    Ok(())
}

fn chosen(choice: &Value, names: &[&str]) -> Result<(), Problem> {
    let named = |it: &Value| {
        let kind = it["type"].as_str().unwrap_or_default();
        it[kind]["name"].as_str().map(str::to_owned)
    };
    let allowed = choice["allowed_tools"]["tools"].as_array().into_iter().flatten();
    let mut chosen = allowed.chain([choice]).filter_map(named);
    match chosen.find(|name| !names.contains(&&**name)) {
        Some(name) => {
            refuse(format!("Tool choice '{name}' not found in 'tools' parameter."), "tool_choice")
        }
        None => Ok(()),
    }
}

fn format(body: &Value) -> Result<(), Problem> {
    let format = &body["response_format"];
    if format["type"] == "json_object"
        && !body["messages"].to_string().to_ascii_lowercase().contains("json")
    {
        return refuse(
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
            "messages",
        );
    }
    let schema = &format["json_schema"];
    if let Some(name) = schema["name"].as_str() {
        check_name(name, "response_format.json_schema.name")?;
        if schema["strict"] == true {
            openai::check_strict(&schema["schema"], &format!("response_format '{name}'"))?;
        }
    }
    Ok(())
}

/// What reasoning models refuse.
fn model_rules(body: &Value) -> Result<(), Problem> {
    let model = body["model"].as_str().unwrap_or_default();
    if !openai::reasons(model) {
        return Ok(());
    }
    let effort = body["reasoning_effort"].as_str();
    let minor = openai::minor_of_gpt_5(model);
    let unsupported = |name: &str| {
        let message = format!("Unsupported parameter: '{name}' is not supported with this model.");
        Err(Problem::invalid(message).at(name).coded("unsupported_parameter"))
    };
    if !body["max_tokens"].is_null() {
        let message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
        return Err(Problem::invalid(message).at("max_tokens").coded("unsupported_parameter"));
    }
    for name in ["logit_bias", "frequency_penalty", "presence_penalty"] {
        if !body[name].is_null() && body[name].as_f64() != Some(0.0) {
            return unsupported(name);
        }
    }
    let is_at_ease = effort == Some("none") && minor.is_some();
    for name in ["temperature", "top_p"] {
        if body[name].as_f64().is_some_and(|it| it != 1.0) && !is_at_ease {
            return unsupported(name);
        }
    }
    if (body["logprobs"] == true || !body["top_logprobs"].is_null()) && !is_at_ease {
        return unsupported("logprobs");
    }
    if !body["tools"].is_null() && minor.is_some_and(|it| it >= 4) {
        let is_thinking = effort.map_or(minor.is_some_and(|it| it >= 5), |it| it != "none");
        if is_thinking {
            let message = format!(
                "Function tools with reasoning_effort are not supported for {model} in /v1/chat/completions. Please use /v1/responses instead."
            );
            return Err(Problem::invalid(message).at("reasoning_effort"));
        }
    }
    Ok(())
}

/// Every call is answered right behind it, and every answer has its call.
fn messages(messages: &Value) -> Result<(), Problem> {
    let mut open: Vec<&str> = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for (index, message) in messages.as_array().into_iter().flatten().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if role == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if !known.contains(&id) {
                return refuse(
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
                    &format!("messages.[{index}].role"),
                );
            }
            open.retain(|it| *it != id);
            continue;
        }
        all_answered(&open, index)?;
        known.clear();
        match role {
            "assistant" => {
                assistant(message, index)?;
                known = ids(message);
                open.clone_from(&known);
            }
            "user" => user(&message["content"], index)?,
            _ => {}
        }
    }
    all_answered(&open, messages.as_array().map_or(0, Vec::len))
}

fn all_answered(open: &[&str], index: usize) -> Result<(), Problem> {
    if open.is_empty() {
        return Ok(());
    }
    let message = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        open.join(", ")
    );
    Err(Problem::invalid(message).at(format!("messages.[{index}].role")))
}

fn ids(message: &Value) -> Vec<&str> {
    let calls = message["tool_calls"].as_array().into_iter().flatten();
    calls.filter_map(|call| call["id"].as_str()).collect()
}

fn assistant(message: &Value, index: usize) -> Result<(), Problem> {
    let place = |name: &str| format!("messages.[{index}].{name}");
    if message["tool_calls"].as_array().is_some_and(Vec::is_empty) {
        let text = format!(
            "Invalid 'messages[{index}].tool_calls': empty array. Expected an array with minimum length 1, but got an empty array instead."
        );
        return Err(Problem::invalid(text).at(place("tool_calls")).coded("empty_array"));
    }
    let has_more = ["tool_calls", "function_call", "audio", "refusal"]
        .iter()
        .any(|it| !message[*it].is_null());
    if message["content"].is_null() && !has_more {
        return refuse(
            "Invalid value for 'content': expected a string, got null.",
            &place("content"),
        );
    }
    if message["content"].as_array().is_some_and(Vec::is_empty) {
        return refuse(
            "Invalid value for 'content': expected at least one part.",
            &place("content"),
        );
    }
    for id in ids(message) {
        if id.is_empty() || id.len() > CALL_ID_LETTERS_MAX {
            let text = format!(
                "Invalid 'messages[{index}].tool_calls[0].id': string too long. Expected a string with maximum length {CALL_ID_LETTERS_MAX}, but got a string with length {} instead.",
                id.len()
            );
            return Err(Problem::invalid(text)
                .at(place("tool_calls"))
                .coded("string_above_max_length"));
        }
    }
    Ok(())
}

fn user(content: &Value, index: usize) -> Result<(), Problem> {
    if content.as_array().is_some_and(Vec::is_empty) {
        return refuse(
            "Invalid value for 'content': expected at least one part.",
            &format!("messages.[{index}].content"),
        );
    }
    for (number, part) in content.as_array().into_iter().flatten().enumerate() {
        let place = format!("messages[{index}].content[{number}]");
        match part["type"].as_str().unwrap_or_default() {
            "image_url" => {
                let url = part["image_url"]["url"].as_str().unwrap_or_default();
                media::check_image_url(url, &format!("{place}.image_url.url"))?;
            }
            "input_audio"
                if !seal::is_standard_base64(
                    part["input_audio"]["data"].as_str().unwrap_or_default(),
                ) =>
            {
                return refuse(
                    "Invalid base64 in 'input_audio.data'.",
                    &format!("{place}.input_audio.data"),
                );
            }
            "file" => file(&part["file"], &place)?,
            _ => {}
        }
    }
    Ok(())
}

fn file(file: &Value, place: &str) -> Result<(), Problem> {
    match (file["file_id"].as_str(), file["file_data"].as_str()) {
        (Some(_), None) => Ok(()),
        (None, Some(data)) => media::check_file_data(data, &format!("{place}.file.file_data")),
        _ => refuse(
            "Missing required parameter: exactly one of 'file_id' and 'file_data'.",
            &format!("{place}.file"),
        ),
    }
}
