//! The rules of Gemini on the conversation: roles, parts, calls and their answers, thought signatures.

use serde_json::Value;

use super::shape::DATA;
use super::validate::{generation, refuse};
use crate::sim::problem::Problem;
use crate::sim::seal;

pub(super) const THOUGHT_SEAL: &str = "gemini thought";
/// Documented words in place of a signature, for calls that come from elsewhere.
const SENTINELS: [&str; 2] =
    ["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

const MEDIA_TYPES: [&str; 4] = ["image/", "audio/", "video/", "text/"];

pub(super) fn contents(body: &Value, model: &str) -> Result<(), Problem> {
    system(&body["systemInstruction"])?;
    let contents = body["contents"].as_array().map(Vec::as_slice).unwrap_or_default();
    if contents.is_empty() {
        return refuse("* GenerateContentRequest.contents: contents is not specified\n");
    }
    for (index, content) in contents.iter().enumerate() {
        self::content(content, index)?;
    }
    pairing(contents)?;
    if generation(model).is_some_and(|it| it >= 30) {
        signatures(contents)?;
    }
    Ok(())
}

fn parts(content: &Value) -> impl Iterator<Item = &Value> {
    content["parts"].as_array().into_iter().flatten()
}

fn is_model(content: &Value) -> bool {
    content["role"] == "model"
}

fn system(instruction: &Value) -> Result<(), Problem> {
    if instruction.is_object() && parts(instruction).any(|part| !part["text"].is_string()) {
        return refuse("System instruction only supports text parts.");
    }
    Ok(())
}

fn content(content: &Value, index: usize) -> Result<(), Problem> {
    let role = content["role"].as_str().unwrap_or("user");
    if !matches!(role, "user" | "model" | "function") {
        return refuse("Please use a valid role: user, model.");
    }
    // An answer that was cut before its first word has no parts, and may come back so.
    if parts(content).next().is_none() && role != "model" {
        return refuse(format!(
            "* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.\n"
        ));
    }
    for (number, part) in parts(content).enumerate() {
        self::part(part, &format!("contents[{index}].parts[{number}]"))?;
        let wrong = if role == "model" { "functionResponse" } else { "functionCall" };
        if !part[wrong].is_null() {
            return refuse(format!(
                "Please ensure that {wrong} parts have the right role, at contents[{index}]."
            ));
        }
    }
    Ok(())
}

fn part(part: &Value, place: &str) -> Result<(), Problem> {
    let data: Vec<&str> = DATA.into_iter().filter(|name| !part[*name].is_null()).collect();
    match data.as_slice() {
        [] => {
            return refuse(format!(
                "* GenerateContentRequest.{place}.data: required oneof field 'data' must have one initialized field\n"
            ));
        }
        [_] => {}
        [_, second, ..] => {
            return refuse(format!(
                "Invalid value at '{place}' (oneof), oneof field 'data' is already set. Cannot set '{second}'"
            ));
        }
    }
    blob(&part["inlineData"], place)?;
    for inner in part["functionResponse"]["parts"].as_array().into_iter().flatten() {
        blob(&inner["inlineData"], place)?;
    }
    if part["fileData"].is_object()
        && part["fileData"]["fileUri"].as_str().is_none_or(str::is_empty)
    {
        return refuse(format!(
            "* GenerateContentRequest.{place}.file_data.file_uri: missing field.\n"
        ));
    }
    for name in ["functionCall", "functionResponse"] {
        if part[name].is_object() && part[name]["name"].as_str().is_none_or(str::is_empty) {
            return refuse(format!(
                "* GenerateContentRequest.{place}.{name}.name: [REQUIRED_FIELD_MISSING]\n"
            ));
        }
    }
    if part["functionResponse"].is_object() && !part["functionResponse"]["response"].is_object() {
        return refuse(format!(
            "* GenerateContentRequest.{place}.function_response.response: [REQUIRED_FIELD_MISSING]\n"
        ));
    }
    signature(part)
}

fn blob(blob: &Value, place: &str) -> Result<(), Problem> {
    if !blob.is_object() {
        return Ok(());
    }
    let data = blob["data"].as_str().unwrap_or_default();
    if data.is_empty() || seal::decode_base64(data).is_none() {
        return refuse(format!(
            "Invalid value at '{place}.inline_data.data' (TYPE_BYTES), Base64 decoding failed for \"{}\"",
            data.chars().take(16).collect::<String>()
        ));
    }
    let media_type = blob["mimeType"].as_str().unwrap_or_default();
    let is_known = MEDIA_TYPES.iter().any(|it| media_type.starts_with(it))
        || matches!(media_type, "application/pdf" | "application/json");
    if !is_known || media_type == "image/gif" {
        return refuse(format!("Unsupported MIME type: {media_type}"));
    }
    Ok(())
}

/// A signature, where there is one, is ours and on the part that it came with.
fn signature(part: &Value) -> Result<(), Problem> {
    let Some(signature) = part["thoughtSignature"].as_str() else { return Ok(()) };
    let Some(bytes) = seal::decode_base64(signature) else {
        return if SENTINELS.contains(&signature) {
            Ok(())
        } else {
            refuse("Invalid value at 'thought_signature' (TYPE_BYTES), Base64 decoding failed")
        };
    };
    let is_sentinel =
        SENTINELS.iter().any(|it| it.as_bytes() == bytes) || SENTINELS.contains(&signature);
    if is_sentinel || seal::holds(THOUGHT_SEAL, signature, &bound(part)) {
        return Ok(());
    }
    refuse("Corrupted thought signature.")
}

/// What a part's signature is bound to: the call, where there is one. Texts are joined and cut by clients.
pub(super) fn bound(part: &Value) -> String {
    match &part["functionCall"] {
        Value::Null => String::new(),
        call => format!("{} {}", call["name"], sorted(&call["args"])),
    }
}

/// JSON with its keys in order, since a client may keep them in any.
fn sorted(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let mut pairs: Vec<String> =
                members.iter().map(|(name, it)| format!("{name:?}:{}", sorted(it))).collect();
            pairs.sort();
            format!("{{{}}}", pairs.join(","))
        }
        Value::Array(elements) => {
            format!("[{}]", elements.iter().map(sorted).collect::<Vec<_>>().join(","))
        }
        Value::Null => "{}".to_owned(),
        other => other.to_string(),
    }
}

/// Calls come behind a user's turn; the next turn answers each of them, in order, before anything else.
fn pairing(contents: &[Value]) -> Result<(), Problem> {
    let mut open: Vec<&str> = Vec::new();
    let mut is_first = true;
    for turn in contents.chunk_by(|one, other| is_model(one) == is_model(other)) {
        let all: Vec<&Value> = turn.iter().flat_map(parts).collect();
        if is_model(&turn[0]) {
            open = names(&all, "functionCall");
            if is_first && !open.is_empty() {
                return refuse(
                    "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
                );
            }
        } else {
            let given = names(&all, "functionResponse");
            answered(&open, &given)?;
            let leading = all.iter().take_while(|it| !it["functionResponse"].is_null()).count();
            if leading < given.len() {
                return refuse(
                    "Please ensure that function response parts come first in their turn.",
                );
            }
            open.clear();
        }
        is_first = false;
    }
    answered(&open, &[])
}

fn names<'a>(parts: &[&'a Value], member: &str) -> Vec<&'a str> {
    parts.iter().filter_map(|part| part[member]["name"].as_str()).collect()
}

fn answered(open: &[&str], given: &[&str]) -> Result<(), Problem> {
    if open.len() != given.len() {
        if open.is_empty() {
            return refuse(
                "Please ensure that function response turn comes immediately after a function call turn.",
            );
        }
        return refuse(
            "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        );
    }
    if open != given {
        return refuse(
            "Please ensure that function response parts are in the order of the function call parts and have their names.",
        );
    }
    Ok(())
}

/// Since the user's last words, the first call of each step carries its signature.
fn signatures(contents: &[Value]) -> Result<(), Problem> {
    let is_turn = |content: &Value| {
        !is_model(content) && parts(content).any(|part| part["functionResponse"].is_null())
    };
    let start = contents.iter().rposition(is_turn).map_or(0, |index| index + 1);
    for (index, content) in contents.iter().enumerate().skip(start).filter(|(_, it)| is_model(it)) {
        let first = parts(content).find(|part| !part["functionCall"].is_null());
        let Some(part) = first.filter(|part| part["thoughtSignature"].is_null()) else { continue };
        let name = part["functionCall"]["name"].as_str().unwrap_or_default();
        return refuse(format!(
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:{name}`, position {}.",
            index + 1
        ));
    }
    Ok(())
}
