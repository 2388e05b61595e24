//! An entry of a report stands at a place of the input.
//!
//! Somebody who reads a report looks its pointers up in what they sent; a key that is not there sends them astray.

use sabir_wire::{Loss, LossKind, Protocol, Report};
use serde_json::Value;

use crate::laws::{Law, Violation, violation};

/// The entries that name what the input has not. A stream is the list of its frames.
pub(super) fn check(target: Protocol, input: &Value, report: &Report) -> Vec<Violation> {
    let astray = report.entries().iter().filter(|loss| !resolves(input, loss));
    astray.map(|loss| violation(Law::PointsIntoInput, target, described(loss))).collect()
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

fn described(Loss { pointer, kind, reason }: &Loss) -> String {
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
    fn an_entry_names_the_frame_that_held_it() {
        let frames = json!([{"delta": {"text": "a"}}, {"delta": {"signature": "b"}}]);
        let is_sound = |pointer: &str| {
            let mut report = Report::default();
            report.lose(pointer, LossKind::Withheld, "a reason");
            check(Protocol::Gemini, &frames, &report).is_empty()
        };
        assert!(is_sound("/1/delta/signature"));
        assert!(!is_sound("/0/delta/signature"));
    }

    #[test]
    fn what_is_made_up_could_be_put_into_the_input() {
        check_entry("/messages/0/content", LossKind::Synthesised, true);
        check_entry("/thinking/budget_tokens", LossKind::Synthesised, true);
        check_entry("/messages/0/role/name", LossKind::Synthesised, false);
    }
}
