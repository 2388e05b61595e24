//! The rules of Gemini that a shape cannot say: about settings and tools.

use serde_json::Value;

use super::schema::EmptyObjects;
use super::{fault, rules, schema};
use crate::sim::problem::Problem;
use crate::sim::shape::{Kind, check as check_shape};

const STOPS_MAX: usize = 5;

pub(super) fn check(body: &Value, model: &str, shape: &'static Kind) -> Result<(), Problem> {
    check_shape(body, shape).map_err(|it| fault::violation(&it))?;
    if body["cachedContent"].is_string() {
        return Err(Problem::new(403, "CachedContent not found (or permission denied)"));
    }
    settings(&body["generationConfig"], model)?;
    safety(&body["safetySettings"])?;
    tools(body, model)?;
    rules::contents(body, model)
}

pub(super) fn refuse(message: impl Into<String>) -> Result<(), Problem> {
    Err(Problem::invalid(message))
}

/// The generation of a model by its name: `gemini-2.5-flash` is 25. Other names take everything.
pub(super) fn generation(model: &str) -> Option<u32> {
    let name = model.rsplit('/').next().unwrap_or(model);
    let mut digits = name.strip_prefix("gemini-")?.split('-').next()?.split('.');
    let major: u32 = digits.next()?.parse().ok()?;
    let minor: u32 = digits.next().and_then(|it| it.parse().ok()).unwrap_or(0);
    Some(major * 10 + minor)
}

fn settings(config: &Value, model: &str) -> Result<(), Problem> {
    let stops = config["stopSequences"].as_array().map_or(0, Vec::len);
    if stops > STOPS_MAX {
        return refuse(format!(
            "* GenerateContentRequest.generation_config.stop_sequences: the number of stop sequences must not exceed {STOPS_MAX}, got {stops}\n"
        ));
    }
    thinking(&config["thinkingConfig"], model)?;
    let (old, new) = (&config["responseSchema"], &config["responseJsonSchema"]);
    if !old.is_null() && !new.is_null() {
        return refuse("Only one of response_schema and response_json_schema may be set.");
    }
    let media_type = config["responseMimeType"].as_str().unwrap_or("text/plain");
    if (!old.is_null() || !new.is_null()) && media_type == "text/plain" {
        return refuse(
            "Function calling config is set without function_declarations, or response_schema is set without response_mime_type: application/json.",
        );
    }
    if !old.is_null() {
        schema::check(old, empty_objects(model), "generation_config.response_schema")?;
    }
    if config["logprobs"].is_u64() && config["responseLogprobs"] != true {
        return refuse("logprobs is only valid if response_logprobs is true");
    }
    Ok(())
}

fn thinking(config: &Value, model: &str) -> Result<(), Problem> {
    let (budget, level) = (&config["thinkingBudget"], &config["thinkingLevel"]);
    if !budget.is_null() && !level.is_null() {
        return refuse("You can only set only one of thinking budget and thinking level.");
    }
    let generation = generation(model);
    if !level.is_null() && generation.is_some_and(|it| it < 30) {
        return refuse("Thinking level is not supported for this model.");
    }
    if generation.is_some_and(|it| it < 25) && config.as_object().is_some_and(|it| !it.is_empty()) {
        return refuse("Thinking is not enabled for this model.");
    }
    if generation == Some(25) && model.contains("pro") && budget == 0 {
        return refuse("Budget 0 is invalid. This model only works in thinking mode.");
    }
    Ok(())
}

fn safety(settings: &Value) -> Result<(), Problem> {
    let mut seen: Vec<&Value> = Vec::new();
    for setting in settings.as_array().into_iter().flatten() {
        if seen.contains(&&setting["category"]) {
            return refuse(
                "element predicate failed: $.category must be unique in safety_settings",
            );
        }
        seen.push(&setting["category"]);
    }
    Ok(())
}

fn tools(body: &Value, model: &str) -> Result<(), Problem> {
    let mut names: Vec<&str> = Vec::new();
    let mut has_hosted = false;
    for (index, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        has_hosted |= tool
            .as_object()
            .into_iter()
            .flatten()
            .any(|(name, it)| name != "functionDeclarations" && !it.is_null());
        for (number, declaration) in
            tool["functionDeclarations"].as_array().into_iter().flatten().enumerate()
        {
            let place = format!("tools[{index}].function_declarations[{number}]");
            self::declaration(declaration, empty_objects(model), &place)?;
            let name = declaration["name"].as_str().unwrap_or_default();
            if names.contains(&name) {
                return refuse(format!("Duplicate function declaration found: {name}"));
            }
            names.push(name);
        }
    }
    if has_hosted && !names.is_empty() {
        mixed(body, model)?;
    }
    choice(&body["toolConfig"]["functionCallingConfig"], &names)
}

/// Google's own tools beside functions: not before the third generation, and then only when asked for.
fn mixed(body: &Value, model: &str) -> Result<(), Problem> {
    if generation(model).is_some_and(|it| it < 30) {
        return refuse("Tool use with function calling is unsupported");
    }
    if generation(model).is_some() && body["toolConfig"]["includeServerSideToolInvocations"] != true
    {
        return refuse(
            "Please enable tool_config.include_server_side_tool_invocations to use Built-in tools with Function calling.",
        );
    }
    Ok(())
}

fn empty_objects(model: &str) -> EmptyObjects {
    match generation(model) {
        Some(25..) => EmptyObjects::Accepted,
        _ => EmptyObjects::Refused,
    }
}

fn declaration(declaration: &Value, empty: EmptyObjects, place: &str) -> Result<(), Problem> {
    let name = declaration["name"].as_str().unwrap_or_default();
    let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || "_.:-".contains(letter);
    if !name.starts_with(is_first) || !name.chars().all(is_legal) || name.len() > 128 {
        return refuse(format!(
            "* GenerateContentRequest.{place}.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n"
        ));
    }
    let (old, new) = (&declaration["parameters"], &declaration["parametersJsonSchema"]);
    if !old.is_null() && !new.is_null() {
        return refuse(format!(
            "* GenerateContentRequest.{place}: only one of parameters and parameters_json_schema may be set\n"
        ));
    }
    if !old.is_null() {
        schema::check(old, empty, &format!("{place}.parameters"))?;
    }
    if !new.is_null() && !new.is_object() {
        return refuse(format!(
            "* GenerateContentRequest.{place}.parameters_json_schema: schema must be an object\n"
        ));
    }
    Ok(())
}

fn choice(config: &Value, names: &[&str]) -> Result<(), Problem> {
    let mode = config["mode"].as_str().unwrap_or("AUTO");
    let allowed = config["allowedFunctionNames"].as_array();
    if allowed.is_some_and(|it| !it.is_empty()) && !matches!(mode, "ANY" | "VALIDATED") {
        return refuse(
            "Allowed function names should only be set when function calling mode is ANY.",
        );
    }
    if mode == "ANY" && names.is_empty() {
        return refuse("Function calling config is set without function_declarations.");
    }
    let unknown =
        allowed.into_iter().flatten().filter_map(Value::as_str).find(|it| !names.contains(it));
    match unknown {
        Some(name) => refuse(format!(
            "Allowed function name {name} is not declared in function_declarations."
        )),
        None => Ok(()),
    }
}
