//! The losses of an error that is written in another protocol.
//!
//! Errors are small and rare, so that they are found by a round trip: what does not come back did not arrive.

use crate::fault::Fault;
use crate::json::{Json, Kind, push_key};
use crate::loss::{LossKind, Report};
use crate::protocol::Protocol;

const ALWAYS_STATED: &str = "errors of the target always state it";

/// Compares an error as it came with what a client of `target` that received `body` could write of it.
pub(super) fn losses(fault: &Fault<'_>, target: Protocol, (status, body): (u16, &str)) -> Report {
    let mut report = Report::default();
    if let Some((source, before)) = fault.original.as_ref().filter(|(own, _)| *own != target) {
        let (_, after) = source.encode_fault(&target.decode_fault(status, body.as_bytes()));
        compare(before, &Json::trusted(after.into()), "", &mut report);
    }
    report
}

fn compare(before: &Json<'_>, after: &Json<'_>, pointer: &str, report: &mut Report) {
    match (before.kind(), after.kind()) {
        _ if before.same_value(after) || is_blank(before) && is_blank(after) => {}
        (Kind::Object, Kind::Object) => compare_members(before, after, pointer, report),
        _ if is_blank(before) => report.lose(pointer, LossKind::Synthesised, ALWAYS_STATED),
        (Kind::Array, Kind::Object) if pointer.is_empty() => unwrap(before, after, report),
        (_, Kind::Null) => {
            report.lose(pointer, LossKind::Dropped, "errors of the target have no place for it");
        }
        _ => report.lose(pointer, LossKind::Approximated, "mapped to the target's own values"),
    }
}

fn compare_members(before: &Json<'_>, after: &Json<'_>, pointer: &str, report: &mut Report) {
    let (stated, returned) = (members(before), members(after));
    for (key, value) in &stated {
        let at = join(pointer, key);
        match member(&returned, key) {
            Some(same) => compare(value, same, &at, report),
            None if is_inside(&returned, key, value) => {
                report.lose(at, LossKind::Renamed, "it is part of the error");
            }
            None => compare(value, &Json::literal("null"), &at, report),
        }
    }
    for (key, value) in &returned {
        if member(&stated, key).is_none() && !is_blank(value) {
            report.lose(join(pointer, key), LossKind::Synthesised, ALWAYS_STATED);
        }
    }
}

/// Whether a member of a body that is itself the error comes back inside its `error`.
fn is_inside(returned: &[(String, Json<'_>)], key: &str, value: &Json<'_>) -> bool {
    let inner = member(returned, "error").map(members).unwrap_or_default();
    member(&inner, key).is_some_and(|inside| inside.same_value(value))
}

fn join(pointer: &str, key: &str) -> String {
    let mut joined = pointer.to_owned();
    push_key(&mut joined, key);
    joined
}

/// Some servers wrap an error in a list, which no client needs.
fn unwrap(before: &Json<'_>, after: &Json<'_>, report: &mut Report) {
    // What was kept has been read before, so that it reads again.
    let _ = before.reader().array(|index, reader| {
        let element = reader.raw()?;
        match index {
            0 => compare(&element, after, "/0", report),
            _ => compare(&element, &Json::literal("null"), &format!("/{index}"), report),
        }
        Ok(())
    });
}

fn is_blank(json: &Json<'_>) -> bool {
    matches!(&*json.compact(), "null" | "\"\"" | "[]" | "{}")
}

/// The members of an object; what is no object has none.
fn members<'j>(json: &'j Json<'_>) -> Vec<(String, Json<'j>)> {
    let mut members = Vec::new();
    let _ = json.reader().object(|key, reader| {
        members.push((key.into_owned(), reader.raw()?));
        Ok(())
    });
    members
}

fn member<'m, 'j>(members: &'m [(String, Json<'j>)], key: &str) -> Option<&'m Json<'j>> {
    members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHAT: &str = r#"{"error":{"message":"bad","type":"invalid_request_error",
        "param":"messages/0","code":"odd","a/b":[1]}}"#;

    fn check(from: Protocol, to: Protocol, body: &str, expected: &[(&str, LossKind)]) {
        let (_, encoded) = to.translate_fault(&from.decode_fault(400, body.as_bytes()));
        let entries = encoded.report.entries().iter();
        let found: Vec<_> = entries.map(|loss| (loss.pointer.as_str(), loss.kind)).collect();
        assert_eq!(found, expected, "{from:?} to {to:?}: {}", encoded.body);
    }

    #[test]
    fn what_another_protocol_has_no_place_for_is_reported() {
        use LossKind::Dropped;
        let lost = [("/error/param", Dropped), ("/error/code", Dropped), ("/error/a~1b", Dropped)];
        check(Protocol::OpenaiChat, Protocol::AnthropicMessages, CHAT, &lost);
    }

    #[test]
    fn an_error_that_says_no_more_than_its_class_loses_nothing() {
        let plain = r#"{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}"#;
        for to in Protocol::ALL {
            check(Protocol::AnthropicMessages, to, plain, &[]);
        }
        check(Protocol::OpenaiChat, Protocol::OpenaiChat, CHAT, &[]);
    }

    #[test]
    fn an_error_in_a_list_is_reported_where_it_stands() {
        let body = r#"[{"error":{"code":400,"message":"bad","status":"INVALID_ARGUMENT",
            "details":[{"@type":"odd"}]}}]"#;
        let lost = [("/0/error/details", LossKind::Dropped)];
        check(Protocol::Gemini, Protocol::AnthropicMessages, body, &lost);
    }

    #[test]
    fn an_error_without_its_wrapper_is_told_in_one() {
        let body = r#"{"object":"error","message":"bad","type":"odd"}"#;
        let moved = [
            ("/object", LossKind::Dropped),
            ("/message", LossKind::Renamed),
            ("/type", LossKind::Dropped),
            ("/error", LossKind::Synthesised),
        ];
        check(Protocol::OpenaiChat, Protocol::AnthropicMessages, body, &moved);
    }

    #[test]
    fn a_text_that_is_no_json_arrives_whole() {
        check(Protocol::OpenaiChat, Protocol::Gemini, "<html>busy</html>", &[]);
    }
}
