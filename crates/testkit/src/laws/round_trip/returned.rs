//! Whether something came back that was reported as dropped.
//!
//! Places move: a list may have lost elements, or a node above may be reported as moved. There an element is known by
//! what it says, not by its number.

use sabir_wire::{Protocol, Report};
use serde_json::Value;

use crate::meaning;

/// The pointers of what `report` calls dropped and `after` says all the same.
pub(super) fn drops_that_came_back<'r>(
    protocol: Protocol,
    before: &Value,
    after: &Value,
    report: &'r Report,
) -> Vec<&'r str> {
    let drops = report.drops().map(|loss| loss.pointer.as_str());
    drops.filter(|pointer| came_back(protocol, before, after, (pointer, report))).collect()
}

fn came_back(
    protocol: Protocol,
    before: &Value,
    after: &Value,
    (pointer, report): (&str, &Report),
) -> bool {
    let Some(stated) = before.pointer(pointer) else { return false };
    if meaning::same(protocol, stated, &Value::Null) {
        return false;
    }
    match uncertain_element(before, after, (pointer, report)) {
        Some(element) => is_as_often(before, after, element),
        None => after.pointer(pointer) == Some(stated),
    }
}

/// The outermost element of a list on the way to a place whose number may have changed: the list has another length now,
/// an entry covers the element, or it is itself what was dropped.
fn uncertain_element<'p>(
    before: &Value,
    after: &Value,
    (pointer, report): (&'p str, &Report),
) -> Option<&'p str> {
    let ends = pointer.match_indices('/').map(|(end, _)| end).skip(1).chain([pointer.len()]);
    ends.map(|end| &pointer[..end]).find(|element| {
        let list = element.rsplit_once('/').map_or("", |(list, _)| list);
        let length = |body: &Value| body.pointer(list).and_then(Value::as_array).map(Vec::len);
        let Some(length_before) = length(before) else { return false };
        let is_reported = report.entries().iter().any(|loss| loss.pointer == *element);
        length(after) != Some(length_before) || is_reported
    })
}

/// Whether a list still has as many elements that say what this one said.
fn is_as_often(before: &Value, after: &Value, element: &str) -> bool {
    let list = element.rsplit_once('/').map_or("", |(list, _)| list);
    let Some(stated) = before.pointer(element) else { return false };
    let count = |body: &Value| {
        let elements = body.pointer(list).and_then(Value::as_array);
        elements.map_or(0, |elements| elements.iter().filter(|it| *it == stated).count())
    };
    count(after) >= count(before)
}

#[cfg(test)]
mod tests {
    use sabir_wire::LossKind;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(before: Value, after: Value, entries: &[(&str, LossKind)], expected: &[&str]) {
        let mut report = Report::default();
        for (pointer, kind) in entries {
            report.lose((*pointer).to_owned(), *kind, "a reason");
        }
        let found = drops_that_came_back(Protocol::OpenaiChat, &before, &after, &report);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_field_that_is_there_again_came_back() {
        let body = json!({"seed": 7, "user": "u"});
        check(body.clone(), body, &[("/seed", LossKind::Dropped)], &["/seed"]);
        let (before, after) = (json!({"seed": 7}), json!({"seed": 8}));
        check(before, after, &[("/seed", LossKind::Dropped)], &[]);
    }

    #[test]
    fn what_says_nothing_does_not_come_back() {
        let body = json!({"stop": [], "user": ""});
        let entries = [("/stop", LossKind::Dropped), ("/user", LossKind::Dropped)];
        check(body.clone(), body, &entries, &[]);
    }

    #[test]
    fn an_element_is_known_by_what_it_says() {
        let before = json!({"messages": [{"a": 1}, {"b": 2}, {"c": 3}]});
        let after = json!({"messages": [{"b": 2}, {"c": 3}]});
        let dropped = |at: &'static str| [(at, LossKind::Dropped)];
        check(before.clone(), after.clone(), &dropped("/messages/0"), &[]);
        check(before.clone(), after.clone(), &dropped("/messages/1"), &["/messages/1"]);
        check(before.clone(), after, &dropped("/messages/2/c"), &["/messages/2/c"]);
        let after = json!({"messages": [{"b": 2}, {"d": 4}]});
        check(before, after, &dropped("/messages/2/c"), &[]);
    }

    #[test]
    fn twins_do_not_stand_for_each_other() {
        let before = json!({"messages": [{"a": 1}, {"a": 1}]});
        let after = json!({"messages": [{"a": 1}]});
        check(before, after, &[("/messages/1", LossKind::Dropped)], &[]);
    }

    #[test]
    fn below_what_was_renamed_the_whole_element_tells() {
        let entries = [("/messages/0", LossKind::Renamed), ("/messages/0/name", LossKind::Dropped)];
        let before = json!({"messages": [{"name": "n", "a": 1}]});
        check(before.clone(), before.clone(), &entries, &["/messages/0/name"]);
        let after = json!({"messages": [{"name": "n", "a": 2}]});
        check(before, after, &entries, &[]);
    }
}
