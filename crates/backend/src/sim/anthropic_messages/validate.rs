//! The rules of Messages that a shape cannot say: about the body, the tools and the model.

use serde_json::Value;

use super::{fault, rules, schema, shape};
use crate::sim::api::Unchecked;
use crate::sim::problem::Problem;
use crate::sim::shape::{Kind, Step, Violation, check as check_shape};

const CACHE_MARKERS_MAX: usize = 4;

pub(super) fn check(asked: &Unchecked<'_>, body_shape: &'static Kind) -> Result<(), Problem> {
    let body = &asked.body;
    check_shape(body, body_shape).map_err(|it| fault::violation(&it))?;
    if body["messages"].as_array().is_some_and(Vec::is_empty) {
        return refuse("messages: at least one message is required");
    }
    beta(asked, shape::OLD_FORMAT, "structured-outputs")?;
    beta(asked, shape::THREAD, "message-threads")?;
    thread(body)?;
    sampling(asked)?;
    let names = tools(body)?;
    tool_choice(body, &names)?;
    thinking(body, Claude::of(&asked.model))?;
    stop_sequences(body)?;
    cache_markers(body)?;
    if let Some(schema) = body["output_config"]["format"].get("schema") {
        schema::check(schema, "output_config.format.schema")?;
    }
    rules::messages(body, Claude::of(&asked.model))
}

pub(super) fn refuse(message: impl Into<String>) -> Result<(), Problem> {
    Err(Problem::invalid(message))
}

/// What the name of a model tells of its generation; `None` for names of no known family, which take everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Claude {
    /// `4.6` is 46.
    generation: Option<u32>,
}

impl Claude {
    /// Reads `claude-opus-4-6`, `claude-3-7-sonnet-20250219` and their kind.
    pub(super) fn of(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        if !name.starts_with("claude") {
            return Self { generation: None };
        }
        let mut numbers = name
            .split(['-', '.', '@'])
            .filter_map(|part| part.parse::<u32>().ok().filter(|number| *number < 100));
        let major = numbers.next();
        let minor = numbers.next().unwrap_or(0);
        Self { generation: major.map(|major| major * 10 + minor) }
    }

    pub(super) fn is_after(self, generation: u32) -> bool {
        self.generation.is_some_and(|it| it > generation)
    }

    pub(super) fn is_before(self, generation: u32) -> bool {
        self.generation.is_some_and(|it| it < generation)
    }
}

/// A member that is unknown without the header of its beta.
fn beta(asked: &Unchecked<'_>, member: &str, name: &str) -> Result<(), Problem> {
    let betas = asked.headers.get("anthropic-beta").and_then(|it| it.to_str().ok());
    if !asked.body[member].is_null() && !betas.is_some_and(|it| it.contains(name)) {
        return refuse(format!("{member}: Extra inputs are not permitted"));
    }
    Ok(())
}

/// Nothing is stored, so that no thread goes on.
fn thread(body: &Value) -> Result<(), Problem> {
    match body[shape::THREAD]["previous_message_id"].as_str() {
        Some(id) => {
            let message = format!("thread: no thread was found for message '{id}'");
            Err(Problem::new(404, message).coded(fault::THREAD_NOT_FOUND))
        }
        None => Ok(()),
    }
}

/// The newer version of the API knows no sampling; older ones know little of it on newer models.
fn sampling(asked: &Unchecked<'_>) -> Result<(), Problem> {
    let body = &asked.body;
    let model = Claude::of(&asked.model);
    let version = asked.headers.get("anthropic-version").and_then(|it| it.to_str().ok());
    let given = ["temperature", "top_p", "top_k"].into_iter().filter(|it| !body[*it].is_null());
    for name in given.clone() {
        if version == Some("2026-10-21") {
            return refuse(format!("{name}: Extra inputs are not permitted"));
        }
        let is_default = match name {
            "temperature" => body[name].as_f64() == Some(1.0),
            "top_p" => body[name].as_f64().is_some_and(|it| it >= 0.99),
            _ => false,
        };
        if model.is_after(46) && !is_default {
            return refuse(format!("`{name}` is deprecated for this model."));
        }
    }
    let is_double = !body["temperature"].is_null() && !body["top_p"].is_null();
    if is_double && model.is_after(39) {
        return refuse(
            "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
        );
    }
    Ok(())
}

fn tools(body: &Value) -> Result<Vec<&str>, Problem> {
    let mut names: Vec<&str> = Vec::new();
    for (index, tool) in body["tools"].as_array().into_iter().flatten().enumerate() {
        let kind = tool["type"].as_str().unwrap_or("custom");
        let is_defined = shape::DEFINED_TOOLS.iter().any(|it| kind.starts_with(it));
        if !is_defined {
            client_tool(tool, index)?;
        }
        if !tool["allowed_domains"].is_null() && !tool["blocked_domains"].is_null() {
            return Err(Problem::invalid(format!(
                "tools.{index}.{kind}: Cannot specify both allowed_domains and blocked_domains"
            )));
        }
        let name = tool["name"].as_str().unwrap_or_default();
        if names.contains(&name) && !name.is_empty() {
            return Err(Problem::invalid("tools: Tool names must be unique."));
        }
        names.push(name);
    }
    Ok(names)
}

fn client_tool(tool: &Value, index: usize) -> Result<(), Problem> {
    let place = |violation: Violation| {
        let head =
            [Step::Key("tools".to_owned()), Step::Index(index), Step::Key("custom".to_owned())];
        let path = head.into_iter().chain(violation.path).collect();
        fault::violation(&Violation { path, what: violation.what })
    };
    check_shape(tool, &shape::CLIENT_TOOL).map_err(place)?;
    let name = tool["name"].as_str().unwrap_or_default();
    if !(1..=128).contains(&name.len()) || !is_word(name) {
        return refuse(format!(
            "tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
        ));
    }
    let schema = &tool["input_schema"];
    match &schema["type"] {
        Value::Null => {
            return refuse(format!("tools.{index}.custom.input_schema.type: Field required"));
        }
        Value::String(kind) if kind == "object" => {}
        _ => {
            return refuse(format!(
                "tools.{index}.custom.input_schema.type: Input should be 'object'"
            ));
        }
    }
    if ["anyOf", "oneOf", "allOf"].iter().any(|key| schema.get(key).is_some()) {
        return refuse(format!(
            "tools.{index}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
        ));
    }
    if tool["strict"] == true {
        schema::check(schema, &format!("tools.{index}.custom"))?;
    }
    Ok(())
}

pub(super) fn is_word(text: &str) -> bool {
    let is_legal = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    !text.is_empty() && text.chars().all(is_legal)
}

fn tool_choice(body: &Value, names: &[&str]) -> Result<(), Problem> {
    let choice = &body["tool_choice"];
    if choice.is_null() {
        return Ok(());
    }
    if names.is_empty() {
        return refuse("tool_choice: tool_choice may only be specified while providing tools");
    }
    match choice["name"].as_str() {
        Some(name) if !names.contains(&name) => {
            refuse(format!("Tool '{name}' not found in provided tools"))
        }
        _ => Ok(()),
    }
}

fn thinking(body: &Value, model: Claude) -> Result<(), Problem> {
    let kind = body["thinking"]["type"].as_str().unwrap_or("disabled");
    let budget = body["thinking"]["budget_tokens"].as_u64();
    if budget.zip(body["max_tokens"].as_u64()).is_some_and(|(budget, most)| budget >= most) {
        return refuse(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#max-tokens-and-context-window-size",
        );
    }
    if kind == "enabled" && model.is_after(46) {
        return refuse(
            "thinking.type: \"enabled\" is not supported on this model. Use \"adaptive\" with output_config.effort instead.",
        );
    }
    if kind == "enabled" && model.is_before(37) {
        return refuse("thinking: this model does not support thinking");
    }
    if kind == "adaptive" && model.is_before(46) {
        return refuse("thinking.type: adaptive thinking is not supported on this model");
    }
    if !matches!(kind, "enabled" | "adaptive") {
        return Ok(());
    }
    if matches!(body["tool_choice"]["type"].as_str(), Some("any" | "tool")) {
        return refuse("Thinking may not be enabled when tool_choice forces tool use.");
    }
    if body["temperature"].as_f64().is_some_and(|it| it != 1.0) {
        return refuse(
            "`temperature` may only be set to 1 when thinking is enabled. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking#important-considerations-when-using-extended-thinking",
        );
    }
    if !body["top_k"].is_null() {
        return refuse("`top_k` must be unset when thinking is enabled.");
    }
    if body["top_p"].as_f64().is_some_and(|it| it < 0.95) {
        return refuse(
            "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
        );
    }
    Ok(())
}

fn stop_sequences(body: &Value) -> Result<(), Problem> {
    let stops = body["stop_sequences"].as_array().into_iter().flatten();
    match stops.into_iter().position(|stop| stop.as_str().is_some_and(|it| it.trim().is_empty())) {
        Some(index) => refuse(format!(
            "stop_sequences.{index}: each stop sequence must contain non-whitespace"
        )),
        None => Ok(()),
    }
}

/// At most four markers, and the long ones before the short ones.
fn cache_markers(body: &Value) -> Result<(), Problem> {
    let mut lifetimes = Vec::new();
    for key in ["tools", "system", "messages"] {
        markers(&body[key], &mut lifetimes);
    }
    if let Some(ttl) = body.get("cache_control").filter(|it| !it.is_null()) {
        lifetimes.push(ttl["ttl"].as_str().unwrap_or("5m"));
    }
    if lifetimes.len() > CACHE_MARKERS_MAX {
        return refuse(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {}.",
            lifetimes.len()
        ));
    }
    let short = lifetimes.iter().position(|it| *it == "5m");
    if short.is_some_and(|short| lifetimes[short..].contains(&"1h")) {
        return refuse(
            "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.",
        );
    }
    Ok(())
}

fn markers<'a>(value: &'a Value, out: &mut Vec<&'a str>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|it| markers(it, out)),
        Value::Object(members) => {
            if let Some(marker) = members.get("cache_control").filter(|it| !it.is_null()) {
                out.push(marker["ttl"].as_str().unwrap_or("5m"));
            }
            markers(members.get("content").unwrap_or(&Value::Null), out);
        }
        _ => {}
    }
}
