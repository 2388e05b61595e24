//! Law 10: an entry of a report stands at a place of the input.
//!
//! Somebody who reads a report looks its pointers up in what they sent; a key that is not there sends them astray.

use sabir_wire::Loss;
use sabir_wire::LossKind;
use sabir_wire::Protocol;
use sabir_wire::Report;
use serde_json::Value;

use crate::laws::Law;
use crate::laws::Violation;
use crate::laws::violation;

/// The entries that name what the input has not.
pub(super) fn check(target: Protocol, input: &Value, report: &Report) -> Vec<Violation> {
    let astray = report.entries().iter().filter(|loss| !resolves(input, loss));
    astray.map(|loss| violation(Law::PointsIntoInput, target, told(loss))).collect()
}

/// The same for a stream, which is the list of its frames. An entry names the frame in which its node begins, although a
/// field of it may come in a later one.
pub(super) fn check_stream(target: Protocol, frames: &Value, report: &Report) -> Vec<Violation> {
    let node = |loss: &Loss| Loss { pointer: node_of(&loss.pointer).to_owned(), ..loss.clone() };
    let is_astray = |loss: &&Loss| !resolves(frames, loss) && !resolves(frames, &node(loss));
    let astray = report.entries().iter().filter(is_astray);
    astray.map(|loss| violation(Law::PointsIntoInput, target, told(loss))).collect()
}

/// The frame of a pointer and the first name in it, without the fields of what stands there.
fn node_of(pointer: &str) -> &str {
    let end = pointer.match_indices('/').nth(2).map_or(pointer.len(), |(end, _)| end);
    match pointer[..end].rsplit_once('/') {
        // A field that stands directly in its frame belongs to the frame.
        Some((frame, _)) if end == pointer.len() => frame,
        _ => &pointer[..end],
    }
}

/// What is synthesised is not in the input, but could be put there: whatever the pointer passes on the way is an object
/// or a list, or is not there either.
fn resolves(input: &Value, Loss { pointer, kind, .. }: &Loss) -> bool {
    if *kind != LossKind::Synthesised {
        return input.pointer(pointer).is_some();
    }
    let ends = pointer.match_indices('/').map(|(end, _)| end);
    let passed = ends.map_while(|end| input.pointer(&pointer[..end]));
    passed.into_iter().all(|value| value.is_object() || value.is_array() || value.is_null())
}

fn told(Loss { pointer, kind, reason }: &Loss) -> String {
    format!("the input has no {pointer} ({kind}: {reason})")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check_entry(pointer: &str, kind: LossKind, is_sound: bool) {
        let mut report = Report::default();
        report.lose(pointer, kind, "a reason");
        let input = json!({"messages": [{"role": "user", "na/me": null}]});
        assert_eq!(check(Protocol::Gemini, &input, &report).is_empty(), is_sound, "{pointer}");
    }

    #[test]
    fn an_entry_names_what_is_there() {
        check_entry("/messages/0/role", LossKind::Dropped, true);
        check_entry("/messages/0/na~1me", LossKind::Implied, true);
        check_entry("/messages/0/content", LossKind::Dropped, false);
        check_entry("/messages/1", LossKind::Renamed, false);
    }

    #[test]
    fn a_stream_has_at_least_the_node_of_an_entry() {
        assert_eq!(node_of("/3/item/content/0/logprobs"), "/3/item");
        assert_eq!(node_of("/3/item_id"), "/3");
        assert_eq!(node_of("/3"), "");
    }

    #[test]
    fn what_is_made_up_could_be_put_into_the_input() {
        check_entry("/messages/0/content", LossKind::Synthesised, true);
        check_entry("/thinking/budget_tokens", LossKind::Synthesised, true);
        check_entry("/messages/0/role/name", LossKind::Synthesised, false);
    }
}
