//! The rules of Responses that a shape cannot say: about the body, the tools and the model.

use serde_json::Value;

use super::rules;
use crate::sim::openai;
use crate::sim::problem::Problem;
use crate::sim::shape::{Kind, check as check_shape};

pub(super) fn check(body: &Value, body_shape: &'static Kind) -> Result<(), Problem> {
    check_shape(body, body_shape).map_err(|it| openai::violation(&it))?;
    state(body)?;
    tools(body)?;
    format(body)?;
    model_rules(body)?;
    rules::items(&body["input"])
}

pub(super) fn refuse(message: impl Into<String>, param: &str) -> Result<(), Problem> {
    Err(Problem::invalid(message).at(param).coded("invalid_value"))
}

/// What is kept has been put into the input by now: an id that still stands here is unknown.
fn state(body: &Value) -> Result<(), Problem> {
    let previous = body["previous_response_id"].as_str();
    if previous.is_some() && !body["conversation"].is_null() {
        let message = "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of these.";
        return Err(Problem::invalid(message)
            .at("previous_response_id")
            .coded("mutually_exclusive_parameters"));
    }
    if let Some(id) = previous {
        let message = format!("Previous response with id '{id}' not found.");
        return Err(Problem::invalid(message)
            .at("previous_response_id")
            .coded("previous_response_not_found"));
    }
    if !body["conversation"].is_null() {
        return Err(Problem::new(404, "Conversation not found.").at("conversation"));
    }
    if body["background"] == true && body["store"] == false {
        return refuse("Background mode requires 'store' to be true.", "background");
    }
    if body["input"].is_null() && body["prompt"].is_null() {
        let message = "One of \"input\" or \"previous_response_id\" or \"prompt\" or \"conversation\" must be provided.";
        return Err(Problem::invalid(message).at("input").coded("missing_required_parameter"));
    }
    let pairs = body["metadata"].as_object().into_iter().flatten();
    let is_long = |(name, value): (&String, &Value)| {
        name.chars().count() > 64 || value.as_str().is_some_and(|it| it.chars().count() > 512)
    };
    if pairs.clone().count() > 16 || pairs.into_iter().any(is_long) {
        return refuse("Invalid 'metadata': too many or too long properties.", "metadata");
    }
    Ok(())
}

fn tools(body: &Value) -> Result<(), Problem> {
    let mut names: Vec<&str> = Vec::new();
    for (index, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        let Some(name) = tool["name"].as_str() else { continue };
        let param = format!("tools[{index}].name");
        let is_legal =
            |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if !(1..=128).contains(&name.len()) || !name.chars().all(is_legal) {
            return refuse(
                format!(
                    "Invalid '{param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
                ),
                &param,
            );
        }
        if names.contains(&name) {
            return refuse(
                format!("Duplicate tool name: '{name}'. Tool names must be unique."),
                &param,
            );
        }
        names.push(name);
        function(tool, name, index)?;
    }
    chosen(body, &names)
}

fn function(tool: &Value, name: &str, index: usize) -> Result<(), Problem> {
    let schema = &tool["parameters"];
    if tool["type"] != "function" || schema.is_null() {
        return Ok(());
    }
    openai::check_parameters(schema, name, format!("tools[{index}].parameters"))?;
    if tool["strict"] == true {
        return openai::check_strict(schema, &format!("function '{name}'"));
    }
    Ok(())
}

fn chosen(body: &Value, names: &[&str]) -> Result<(), Problem> {
    let choice = &body["tool_choice"];
    let has_tools = body["tools"].as_array().is_some_and(|it| !it.is_empty());
    let is_forced =
        choice == "required" || matches!(choice["type"].as_str(), Some("function" | "custom"));
    if is_forced && !has_tools {
        return refuse(
            "Tool choice 'required' must be specified with 'tools' parameter.",
            "tool_choice",
        );
    }
    let allowed = choice["tools"].as_array().into_iter().flatten();
    let mut chosen =
        allowed.chain(is_forced.then_some(choice)).filter_map(|it| it["name"].as_str());
    match chosen.find(|name| !names.contains(name)) {
        Some(name) => {
            refuse(format!("Tool choice '{name}' not found in 'tools' parameter."), "tool_choice")
        }
        None => Ok(()),
    }
}

fn format(body: &Value) -> Result<(), Problem> {
    let format = &body["text"]["format"];
    let prompt = format!("{}{}", body["input"], body["instructions"]).to_ascii_lowercase();
    if format["type"] == "json_object" && !prompt.contains("json") {
        return refuse(
            "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
            "input",
        );
    }
    match format["name"].as_str() {
        Some(name) if format["strict"] == true => {
            openai::check_strict(&format["schema"], &format!("response_format '{name}'"))
        }
        _ => Ok(()),
    }
}

/// What reasoning models refuse.
fn model_rules(body: &Value) -> Result<(), Problem> {
    let model = body["model"].as_str().unwrap_or_default();
    let effort = body["reasoning"]["effort"].as_str();
    let is_at_ease = effort == Some("none") && openai::minor_of_gpt_5(model).is_some();
    if !openai::reasons(model) || is_at_ease {
        return Ok(());
    }
    for name in ["temperature", "top_p"] {
        if body[name].as_f64().is_some_and(|it| it != 1.0) {
            let message =
                format!("Unsupported parameter: '{name}' is not supported with this model.");
            return Err(Problem::invalid(message).at(name).coded("unsupported_parameter"));
        }
    }
    let includes = body["include"].as_array().into_iter().flatten();
    let wants_logprobs = !body["top_logprobs"].is_null()
        || includes.into_iter().any(|it| it == "message.output_text.logprobs");
    if wants_logprobs {
        let message = "logprobs are not supported with reasoning models.";
        return Err(Problem::invalid(message).at("include").coded("unsupported_parameter"));
    }
    Ok(())
}
