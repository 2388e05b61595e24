//! Comparing meaning, not shape: what differs between two bodies of one protocol that should say the same.
//!
//! Null, empty, absent and a protocol's stated defaults are equal; a string is its one text part; JSON text equals the
//! same JSON; ids and indices that a protocol mints do not count.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sabir_wire::{LossKind, Protocol, Report};
use serde_json::{Map, Value, json};

mod default;
mod gemini;
mod responses;

/// The pointers of `before` at which `after` says something else and no entry of `report` covers it.
pub fn unreported(
    protocol: Protocol,
    before: &Value,
    after: &Value,
    report: &Report,
) -> Vec<String> {
    let covered = report.entries().iter().map(|loss| loss.pointer.as_str()).collect();
    let gone = (report.entries().iter())
        .filter(|loss| {
            matches!(loss.kind, LossKind::Dropped | LossKind::Withheld | LossKind::Implied)
        })
        .map(|loss| loss.pointer.as_str())
        .collect();
    let mut comparison = Comparison { protocol, covered, gone, moved: BTreeSet::new() };
    comparison.moved = comparison.moved_from(before, report);
    let mut differences = Vec::new();
    let after = &comparison.instructed(before, after);
    let [before, after] = [before, after].map(|body| comparison.canonical(body));
    comparison.values("", None, &before, &after, &mut differences);
    differences
}

/// How many instructions stand before everything else.
fn leading(input: &[Value]) -> usize {
    input.iter().take_while(|item| is_instruction(item)).count()
}

fn is_instruction(item: &Value) -> bool {
    matches!(item["role"].as_str(), Some("system" | "developer"))
}

/// Whether two values say the same in their protocol.
pub fn same(protocol: Protocol, before: &Value, after: &Value) -> bool {
    unreported(protocol, before, after, &Report::default()).is_empty()
}

struct Comparison<'r> {
    protocol: Protocol,
    covered: Vec<&'r str>,
    /// Those of the covered that say that nothing arrived.
    gone: Vec<&'r str>,
    /// What stood at places that are reported and may have moved from there.
    moved: BTreeSet<String>,
}

impl Comparison<'_> {
    /// The body with the names and values of its protocol in one spelling.
    fn canonical<'v>(&self, body: &'v Value) -> Cow<'v, Value> {
        match self.protocol {
            Protocol::Gemini => Cow::Owned(gemini::canonical(None, body)),
            _ => Cow::Borrowed(body),
        }
    }

    /// The request `after` with its instructions where `before` has them: `instructions` of Responses are documented as
    /// a system or developer message that is inserted before all others.
    fn instructed<'v>(&self, before: &Value, after: &'v Value) -> Cow<'v, Value> {
        let (is_slot, was_slot) =
            (after["instructions"].is_string(), before["instructions"].is_string());
        // Instructions that are reported may come to the slot, where they may be too many for it.
        let may_be_slot = was_slot || self.is_covered("/instructions");
        if is_slot == may_be_slot {
            return Cow::Borrowed(after);
        }
        let mut moved = after.clone();
        match (moved["instructions"].take(), moved["input"].as_array_mut()) {
            (Value::String(text), Some(input)) => {
                input.insert(0, json!({"role": "system", "content": text}));
            }
            (Value::Null, Some(input)) => {
                let surplus = leading(input).saturating_sub(self.leading_items(before));
                let contents = input.drain(..surplus).map(|mut item| item["content"].take());
                moved["instructions"] = match contents.collect::<Vec<_>>() {
                    mut one if one.len() == 1 => one.remove(0),
                    several => several.into(),
                };
            }
            _ => return Cow::Borrowed(after),
        }
        Cow::Owned(moved)
    }

    /// How many instructions stand before everything else that arrived.
    fn leading_items(&self, request: &Value) -> usize {
        let items = request["input"].as_array().into_iter().flatten().enumerate();
        items
            .filter(|(index, _)| !self.gone.contains(&format!("/input/{index}").as_str()))
            .take_while(|(_, item)| is_instruction(item))
            .count()
    }

    /// All that is said at or below the places which the report covers.
    fn moved_from(&self, before: &Value, report: &Report) -> BTreeSet<String> {
        let mut moved = BTreeSet::new();
        for loss in report.entries().iter().filter(|loss| !loss.pointer.is_empty()) {
            if let Some(value) = before.pointer(&loss.pointer) {
                self.leaves(value, &mut moved);
            }
        }
        moved
    }

    /// What a value says, whatever the names are under which it does.
    fn leaves(&self, value: &Value, leaves: &mut BTreeSet<String>) {
        match value {
            // Limits may be raised and switches be stated on the way.
            Value::Null | Value::Bool(_) => {}
            Value::Number(_) => {
                leaves.insert("a number".to_owned());
            }
            Value::String(text) => {
                leaves.insert(text.to_lowercase());
                parsed(text).iter().for_each(|json| self.leaves(json, leaves));
            }
            Value::Array(list) => list.iter().for_each(|value| self.leaves(value, leaves)),
            Value::Object(object) => {
                let stated = object.iter().filter(|(key, _)| *key != "type" && *key != "role");
                stated.for_each(|(_, value)| self.leaves(value, leaves));
            }
        }
    }

    /// Whether what `before` has not stood at another place, of which the report says so.
    fn is_moved(&self, before: &Value, after: &Value) -> bool {
        let mut leaves = BTreeSet::new();
        self.leaves(after, &mut leaves);
        before.is_null() && !leaves.is_empty() && leaves.is_subset(&self.moved)
    }

    /// Whether what stands at a place of which `before` says nothing is stated there by another field, which is reported.
    fn has_reported_twin(&self, pointer: &str) -> bool {
        let is_element = |(_, name): &(&str, &str)| name.bytes().all(|byte| byte.is_ascii_digit());
        let list = pointer.rsplit_once('/').filter(is_element).map(|(list, _)| list);
        let field = list.unwrap_or(pointer);
        let Some((parent, name)) = field.rsplit_once('/') else { return false };
        default::twins_of(self.protocol, name).any(|twin| self.is_touched(parent, twin))
    }

    /// Whether an entry covers a field or something in it.
    fn is_touched(&self, parent: &str, field: &str) -> bool {
        let below = self.covered.iter().filter_map(|entry| entry.strip_prefix(parent));
        let mut inner = below.filter_map(|entry| entry.strip_prefix('/')?.strip_prefix(field));
        inner.any(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether a text has nothing more behind it than what stood in a reported field beside it: the refusal of a message
    /// of Chat, or what names the media of a result of Gemini or
    /// states where they are.
    fn is_joined(&self, pointer: &str, before: &Value, after: &Value) -> bool {
        let (Value::String(before), Value::String(after)) = (before, after) else { return false };
        let Some(more) = after.strip_prefix(before.as_str()) else { return false };
        match self.protocol {
            Protocol::OpenaiChat => pointer.rsplit_once("/content").is_some_and(|(message, _)| {
                self.is_touched(message, "refusal") && self.moved.contains(&more.to_lowercase())
            }),
            Protocol::Gemini => pointer.rsplit_once("/response/").is_some_and(|(result, _)| {
                let names = |line: &str| line.starts_with('[') && line.ends_with(" omitted]");
                let is_reported =
                    |line: &str| names(line) || self.moved.contains(&line.to_lowercase());
                self.is_touched(result, "parts") && more.trim_start().lines().all(is_reported)
            }),
            _ => false,
        }
    }

    /// Whether a part has no text, and nothing else that is not reported.
    fn is_wordless(&self, pointer: &str, value: &Value) -> bool {
        let Some(object) = value.as_object() else { return false };
        let mut others = object.iter().filter(|(key, _)| *key != "type" && *key != "text");
        object.get("text").is_some_and(is_empty)
            && others.all(|(key, it)| is_empty(it) || self.is_covered(&format!("{pointer}/{key}")))
    }

    /// Whether an entry covers this place or one above it. The root pointer covers nothing.
    fn is_covered(&self, pointer: &str) -> bool {
        self.covered.iter().any(|entry| {
            !entry.is_empty()
                && pointer
                    .strip_prefix(entry)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }

    fn values(
        &self,
        pointer: &str,
        key: Option<&str>,
        before: &Value,
        after: &Value,
        differences: &mut Vec<String>,
    ) {
        if self.is_covered(pointer) || key.is_some_and(is_minted) {
            return;
        }
        let (raw_before, raw_after) = (before, after);
        let before = &self.normal(key, before);
        let after = &self.normal(key, after);
        match (before, after) {
            // A default beside an object that says more than it: what both say is no difference.
            (Value::Object(before), Value::Null) if raw_after.is_object() => {
                self.objects(pointer, before, &as_object(raw_after), differences);
            }
            (Value::Null, Value::Object(after)) if raw_before.is_object() => {
                self.objects(pointer, &as_object(raw_before), after, differences);
            }
            (Value::Object(before), Value::Object(after)) => {
                self.objects(pointer, before, after, differences);
            }
            (Value::Array(before), Value::Array(after)) => {
                self.arrays(pointer, before, after, differences);
            }
            _ if self.is_void(key, before) && self.is_void(key, after) => {}
            _ if self.is_wordless(pointer, before) && self.is_void(key, after) => {}
            _ if same_leaf(before, after) => {}
            _ if self.protocol == Protocol::OpenaiResponses
                && responses::is_same(key, raw_before, raw_after) => {}
            _ if self.is_moved(raw_before, raw_after) => {}
            _ if self.is_joined(pointer, raw_before, raw_after) => {}
            _ if raw_before.is_null() && self.has_reported_twin(pointer) => {}
            // Whatever is translated into Responses asks not to be stored.
            _ if pointer == "/store"
                && raw_before.is_null()
                && *raw_after == Value::Bool(false) => {}
            _ => self.differ(pointer, before, after, differences),
        }
    }

    /// Notes every leaf that is on one side only, unless it is covered by itself.
    fn differ(&self, pointer: &str, before: &Value, after: &Value, differences: &mut Vec<String>) {
        let sides = [before, after];
        let Some(nested) = sides.into_iter().find(|side| side.is_object() || side.is_array())
        else {
            differences.push(pointer.to_owned());
            return;
        };
        let empty = match nested {
            Value::Object(_) => Value::Object(Map::new()),
            _ => Value::Array(Vec::new()),
        };
        let other = if std::ptr::eq(nested, before) { after } else { before };
        match other {
            Value::Null => self.values(pointer, None, nested, &empty, differences),
            _ => differences.push(pointer.to_owned()),
        }
    }

    fn objects(
        &self,
        pointer: &str,
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        differences: &mut Vec<String>,
    ) {
        let added = after.keys().filter(|key| !before.contains_key(*key));
        for key in before.keys().chain(added) {
            let below = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            let implied = default::implied(self.protocol, key, before);
            let before = before.get(key).unwrap_or(&implied);
            let after = after.get(key).unwrap_or(&Value::Null);
            self.values(&below, Some(key), before, after, differences);
        }
    }

    /// Aligns two lists so that the fewest leaves differ; elements that were reported may be missing.
    fn arrays(
        &self,
        pointer: &str,
        before: &[Value],
        after: &[Value],
        differences: &mut Vec<String>,
    ) {
        let head = (before.iter().zip(after))
            .enumerate()
            .take_while(|(index, (before, after))| {
                let at = format!("{pointer}/{index}");
                !self.is_covered(&at) && self.cost(&at, before, after) == 0
            })
            .count();
        let (rest_before, rest_after) = (&before[head..], &after[head..]);
        let tail = (rest_before.iter().rev().zip(rest_after.iter().rev()))
            .enumerate()
            .take_while(|(from_end, (element, after))| {
                let at = format!("{pointer}/{}", before.len() - 1 - from_end);
                !self.is_covered(&at) && self.cost(&at, element, after) == 0
            })
            .count();
        let rest_before = &rest_before[..rest_before.len() - tail];
        let rest_after = &rest_after[..rest_after.len() - tail];
        self.align(pointer, head, rest_before, rest_after, differences);
    }

    fn align(
        &self,
        pointer: &str,
        first: usize,
        before: &[Value],
        after: &[Value],
        differences: &mut Vec<String>,
    ) {
        let at = |index: usize| format!("{pointer}/{}", first + index);
        let lone = |index: usize| self.cost(&at(index), &before[index], &Value::Null);
        // What is added stands behind the element before it, which may be reported as what became several.
        let is_part = |index: usize| index > 0 && self.is_covered(&at(index - 1));
        let extra = |index: usize, added: usize| match is_part(index) {
            true => 0,
            false => self.cost(&at(index), &Value::Null, &after[added]),
        };
        let (rows, columns) = (before.len(), after.len());
        // costs[i][j]: the least number of differences between before[i..] and after[j..].
        let mut costs = vec![vec![0_usize; columns + 1]; rows + 1];
        for i in (0..rows).rev() {
            costs[i][columns] = costs[i + 1][columns] + lone(i);
        }
        for j in (0..columns).rev() {
            costs[rows][j] = costs[rows][j + 1] + extra(rows, j);
        }
        let mut pairs = vec![vec![0_usize; columns]; rows];
        for i in (0..rows).rev() {
            for j in (0..columns).rev() {
                pairs[i][j] = self.cost(&at(i), &before[i], &after[j]);
                costs[i][j] = (costs[i + 1][j + 1] + pairs[i][j])
                    .min(costs[i + 1][j] + lone(i))
                    .min(costs[i][j + 1] + extra(i, j));
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < rows || j < columns {
            if i < rows && j < columns && costs[i][j] == costs[i + 1][j + 1] + pairs[i][j] {
                self.values(&at(i), None, &before[i], &after[j], differences);
                (i, j) = (i + 1, j + 1);
            } else if i < rows && costs[i][j] == costs[i + 1][j] + lone(i) {
                self.values(&at(i), None, &before[i], &Value::Null, differences);
                i += 1;
            } else {
                if !is_part(i) {
                    self.values(&at(i), None, &Value::Null, &after[j], differences);
                }
                j += 1;
            }
        }
    }

    fn cost(&self, pointer: &str, before: &Value, after: &Value) -> usize {
        let mut differences = Vec::new();
        self.values(pointer, None, before, after, &mut differences);
        differences.len()
    }

    fn is_void(&self, key: Option<&str>, value: &Value) -> bool {
        is_empty(value) || key.is_some_and(|key| default::is_default(self.protocol, key, value))
    }

    /// The one spelling of a value that has several.
    fn normal(&self, key: Option<&str>, value: &Value) -> Value {
        if key.is_some_and(|key| default::is_default(self.protocol, key, value)) {
            return Value::Null;
        }
        if let (Protocol::OpenaiResponses, Some(usual)) = (self.protocol, responses::usual(value)) {
            return usual;
        }
        match (key, value) {
            (Some("input"), Value::String(_)) if self.protocol == Protocol::OpenaiResponses => {
                json!([{"role": "user", "content": value}])
            }
            (Some(_), Value::String(text)) if text.is_empty() => Value::Null,
            (Some(key), value) if let Some(usual) = default::usual(self.protocol, key, value) => {
                usual
            }
            (Some("model"), Value::String(text)) => {
                Value::from(text.strip_prefix("models/").unwrap_or(text))
            }
            (Some(key), Value::String(text)) => default::parts_of(self.protocol, key, text)
                .unwrap_or_else(|| parsed(text).unwrap_or_else(|| value.clone())),
            (_, Value::String(text)) => parsed(text).unwrap_or_else(|| value.clone()),
            _ => value.clone(),
        }
    }
}

fn as_object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// The JSON object or list that a string holds.
fn parsed(text: &str) -> Option<Value> {
    let json = text.trim_start();
    if !json.starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(json).ok()
}

fn same_leaf(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Number(before), Value::Number(after)) => {
            before == after || before.as_f64() == after.as_f64()
        }
        _ => before == after,
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.iter().all(is_empty),
        // A part without text says nothing, though it says that it is text.
        Value::Object(object) if object.get("text").is_some_and(is_empty) => {
            object.iter().all(|(key, value)| key == "type" || is_empty(value))
        }
        Value::Object(object) => object.values().all(is_empty),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Names of fields whose values a protocol makes up.
fn is_minted(key: &str) -> bool {
    matches!(
        key,
        "id" | "index"
            | "call_id"
            | "tool_call_id"
            | "tool_use_id"
            | "responseId"
            | "item_id"
            | "output_index"
            | "content_index"
            | "sequence_number"
    )
}
