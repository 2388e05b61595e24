//! A schema to hold arguments against, as far as that can be done in bounded time: schemas come from clients.

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::unroll::unrolled;

/// The most nodes that a schema may have once every reference is replaced by what it refers to.
pub(super) const NODES_MAX: usize = 10_000;

/// How many of them a pattern counts for, which has to be compiled.
pub(super) const PATTERN_NODES: usize = 100;

/// How much memory a compiled pattern may take.
const PATTERN_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A value may meet every node of its schema at every node of its own: for more pairs than these nobody waits.
const PAIRS_MAX: usize = 20_000_000;

/// How deep they may stand.
pub(super) const DEPTH_MAX: usize = 256;

/// A schema, or the lack of one.
#[derive(Debug)]
pub(in crate::govern) struct Schema {
    json: Value,
    /// None if any object will do: there is no schema, or none that can be used.
    validator: Option<Validator>,
    /// How many nodes the validator goes by.
    nodes: usize,
}

impl Schema {
    pub(in crate::govern) fn of(text: Option<&str>) -> Self {
        let json: Value = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
        let (validator, nodes) = match nodes(&json, &json, (NODES_MAX, DEPTH_MAX)) {
            Some(nodes) => (validator(&json), nodes),
            None => (unrolled(&json).and_then(|finite| validator(&finite)), NODES_MAX),
        };
        Self { json, validator, nodes }
    }

    pub(super) fn json(&self) -> &Value {
        &self.json
    }

    /// Whether a value is what the schema says; if not, where and why, without quoting it.
    pub(super) fn validate(&self, value: &Value) -> Result<(), String> {
        let is_short = |_: &&Validator| has_nodes_at_most(value, PAIRS_MAX / self.nodes.max(1));
        let Some(validator) = self.validator.as_ref().filter(is_short) else {
            return match value.is_object() {
                true => Ok(()),
                false => Err("they are no object".to_owned()),
            };
        };
        validator.validate(value).map_err(|error| match error.instance_path().as_str() {
            "" => error.masked_with("the object").to_string(),
            path => error.masked_with(path.to_owned()).to_string(),
        })
    }
}

fn validator(schema: &Value) -> Option<Validator> {
    if !schema.is_object() {
        return None;
    }
    let options = jsonschema::options()
        // Its time grows with the text alone, whatever the pattern.
        .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_BYTES_MAX))
        .should_validate_formats(false);
    options.build(schema).ok()
}

fn has_nodes_at_most(value: &Value, most: usize) -> bool {
    fn count(value: &Value, left: usize) -> Option<usize> {
        let left = left.checked_sub(1)?;
        match value {
            Value::Array(list) => list.iter().try_fold(left, |left, it| count(it, left)),
            Value::Object(members) => members.values().try_fold(left, |left, it| count(it, left)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(left),
        }
    }
    count(value, most).is_some()
}

/// What the member of a schema takes beside its nodes: for the patterns in it.
pub(super) fn patterns(key: &str, below: &Value) -> usize {
    let several = match (key, below) {
        ("pattern", Value::String(_)) => 1,
        ("patternProperties", Value::Object(members)) => members.len(),
        _ => 0,
    };
    several.saturating_mul(PATTERN_NODES)
}

/// How many nodes a schema has with its references replaced, if that is at most `left`, none deeper than `depth`. A
/// reference that leads round in a circle has no end of them, and one that leads elsewhere cannot be followed.
fn nodes(schema: &Value, root: &Value, (left, depth): (usize, usize)) -> Option<usize> {
    let depth = depth.checked_sub(1)?;
    let (mut taken, mut taken_by_patterns) = (1, 0);
    let mut add = |below: &Value| -> Option<()> {
        taken += nodes(below, root, (left.checked_sub(taken)?, depth))?;
        Some(())
    };
    match schema {
        Value::Array(list) => list.iter().try_for_each(&mut add)?,
        Value::Object(members) => {
            for (key, below) in members {
                taken_by_patterns += patterns(key, below);
                match (key.as_str(), below) {
                    ("$ref", Value::String(reference)) => add(local(reference, root)?)?,
                    ("$dynamicRef" | "$recursiveRef", _) => return None,
                    _ => add(below)?,
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    taken += taken_by_patterns;
    (taken <= left).then_some(taken)
}

/// What a reference into the same schema refers to.
pub(super) fn local<'v>(reference: &str, root: &'v Value) -> Option<&'v Value> {
    root.pointer(reference.strip_prefix('#')?)
}
