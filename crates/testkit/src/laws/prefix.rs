//! Law 9: after appending turns, every earlier translated message stands at the same place, equal as JSON.

use sabir_wire::Protocol;
use serde_json::Value;

use crate::laws::{Law, Violation, violation};
use crate::sample::Sample;
use crate::translate;

/// How many cuts of one conversation are tried; the last turns are where clients append.
const CUTS_MAX: usize = 4;

pub(super) fn check(sample: &Sample) -> Vec<Violation> {
    let Ok(body) = serde_json::from_slice::<Value>(&sample.body) else { return Vec::new() };
    let Some(list) = body[sample.protocol.facts().messages()].as_array() else { return Vec::new() };
    let targets = Protocol::ALL.into_iter().filter(|target| *target != sample.protocol);
    targets
        .flat_map(|target| {
            let full = translated(sample, target, &body);
            turn_borders(sample.protocol, list)
                .into_iter()
                .rev()
                .take(CUTS_MAX)
                .filter_map(|cut| {
                    let mut shorter = body.clone();
                    shorter[sample.protocol.facts().messages()].as_array_mut()?.truncate(cut);
                    let earlier = translated(sample, target, &shorter)?;
                    changed(&earlier, full.as_ref()?)
                        .map(|at| format!("cut at {cut}: element {at} of the translation changed"))
                })
                .map(|detail| violation(Law::PrefixStable, target, detail))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Where the assistant is about to speak: a client sends the conversation up to here, then appends.
fn turn_borders(protocol: Protocol, list: &[Value]) -> Vec<usize> {
    (1..list.len())
        .filter(|&index| {
            is_assistant(protocol, &list[index]) && !is_assistant(protocol, &list[index - 1])
        })
        .collect()
}

fn is_assistant(protocol: Protocol, element: &Value) -> bool {
    let role = element["role"].as_str();
    match (protocol, element["type"].as_str()) {
        // What the client asks of the server between turns.
        (Protocol::OpenaiResponses, Some("compaction_trigger" | "configuration_update")) => false,
        (Protocol::OpenaiResponses, Some(kind)) if kind != "message" => !kind.ends_with("_output"),
        // A reference to an item, which may leave out that it is one, names what the assistant said.
        (Protocol::OpenaiResponses, None) if role.is_none() => true,
        _ => matches!(role, Some("assistant" | "model")),
    }
}

fn translated(sample: &Sample, target: Protocol, body: &Value) -> Option<Vec<Value>> {
    let body = body.to_string();
    let model = sample.model.as_deref();
    let (there, _) = translate::request(sample.protocol, target, body.as_bytes(), model).ok()?;
    let mut there: Value = serde_json::from_str(&there).ok()?;
    without_markers(&mut there);
    there[target.facts().messages()].as_array().cloned()
}

/// The first element of the shorter list that is not the same in the longer one.
fn changed(earlier: &[Value], later: &[Value]) -> Option<usize> {
    (0..earlier.len()).find(|&index| match later.get(index) {
        // The last words of an assistant lose the white space at their end, which providers refuse, and it may go on.
        Some(later) if index + 1 == earlier.len() => {
            trimmed(later) != trimmed(&earlier[index]) && !goes_on(&earlier[index], later)
        }
        later => later != Some(&earlier[index]),
    })
}

/// Whether a turn of the assistant, or a round of results, begins as it was and has more behind that.
fn goes_on(earlier: &Value, later: &Value) -> bool {
    let list = |turn: &Value, key: &str| turn[key].as_array().cloned().unwrap_or_default();
    let is_assistant = matches!(earlier["role"].as_str(), Some("assistant" | "model"));
    let begins = |key: &str| {
        let (earlier, later) = (list(earlier, key), list(later, key));
        let Some((last, before)) = earlier.split_last() else { return true };
        let is_last = |block: &Value| match is_assistant {
            true => unspaced(block) == unspaced(last),
            false => block == last,
        };
        later.starts_with(before) && later.get(before.len()).is_some_and(is_last)
    };
    let is_round = ["content", "parts"]
        .into_iter()
        .any(|key| list(later, key).get(list(earlier, key).len()).is_some_and(is_result));
    (is_assistant || is_round) && ["content", "parts", "tool_calls"].into_iter().all(begins)
}

fn is_result(part: &Value) -> bool {
    part["type"] == "tool_result" || part.get("functionResponse").is_some()
}

/// An assistant's message without white space at its end.
fn trimmed(message: &Value) -> Value {
    let mut message = message.clone();
    if message["role"] != "assistant" {
        return message;
    }
    match &mut message["content"] {
        Value::Array(blocks) => {
            if let Some(last) = blocks.last_mut() {
                *last = unspaced(last);
            }
        }
        Value::String(text) => text.truncate(text.trim_end().len()),
        _ => {}
    }
    message
}

/// A block without white space at the end of its text.
fn unspaced(block: &Value) -> Value {
    let mut block = block.clone();
    if let Some(Value::String(text)) = block.get_mut("text") {
        text.truncate(text.trim_end().len());
    }
    block
}

/// Takes out cache markers, which are meant to move.
fn without_markers(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.remove("cache_control");
            object.remove("prompt_cache_breakpoint");
            object.values_mut().for_each(without_markers);
        }
        Value::Array(list) => list.iter_mut().for_each(without_markers),
        _ => {}
    }
}
