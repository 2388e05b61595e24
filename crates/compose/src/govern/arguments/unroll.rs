//! Schemas that refer to themselves, made finite: every reference is replaced by what it refers to, as many levels deep as there is
//! room for, and what lies deeper may be anything. How long a value takes then depends on it and on the limit alone.

use serde_json::{Map, Value, json};

use super::schema::{DEPTH_MAX, NODES_MAX, local, patterns};

/// How many references may be followed one inside the other, the most first.
const LEVELS: [usize; 6] = [32, 16, 8, 4, 2, 1];

/// Values of these are no schemas.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// Members of these are schemas under names that the client gives: a property may be called `definitions`.
const BY_NAME: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];

/// What nothing refers to any more once all references are replaced.
const NAMED: [&str; 4] = ["$defs", "definitions", "$id", "$anchor"];

/// The schema without references, cut where it would not end; none if one leads elsewhere.
pub(super) fn unrolled(schema: &Value) -> Option<Value> {
    LEVELS.into_iter().find_map(|levels| {
        let mut copy = Copy { root: schema, nodes_left: NODES_MAX };
        copy.of(schema, levels, DEPTH_MAX)
    })
}

struct Copy<'v> {
    root: &'v Value,
    nodes_left: usize,
}

impl Copy<'_> {
    fn of(&mut self, schema: &Value, levels: usize, depth: usize) -> Option<Value> {
        self.nodes_left = self.nodes_left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        match schema {
            Value::Array(list) => {
                let copies = list.iter().map(|it| self.of(it, levels, depth));
                copies.collect::<Option<_>>().map(Value::Array)
            }
            Value::Object(members) => self.of_object(members, levels, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Some(schema.clone())
            }
        }
    }

    fn of_object(
        &mut self,
        members: &Map<String, Value>,
        levels: usize,
        depth: usize,
    ) -> Option<Value> {
        let mut copy = Map::new();
        let mut referred = None;
        for (key, below) in members {
            self.nodes_left = self.nodes_left.checked_sub(patterns(key, below))?;
            match (key.as_str(), below) {
                ("$ref", Value::String(reference)) => {
                    referred = Some(self.referred(reference, levels, depth)?);
                }
                ("$dynamicRef" | "$recursiveRef", _) => return None,
                (name, Value::Object(below)) if BY_NAME.contains(&name) => {
                    drop(copy.insert(key.clone(), self.of_each(below, levels, depth)?));
                }
                (name, _) if NAMED.contains(&name) => {}
                (name, _) if DATA.contains(&name) => drop(copy.insert(key.clone(), below.clone())),
                _ => drop(copy.insert(key.clone(), self.of(below, levels, depth)?)),
            }
        }
        Some(match referred {
            None => Value::Object(copy),
            Some(referred) if copy.is_empty() => referred,
            Some(referred) => json!({"allOf": [referred, Value::Object(copy)]}),
        })
    }

    /// Copies schemas that stand under names of the client's, which are no words of the language.
    fn of_each(
        &mut self,
        schemas: &Map<String, Value>,
        levels: usize,
        depth: usize,
    ) -> Option<Value> {
        self.nodes_left = self.nodes_left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let copies =
            schemas.iter().map(|(name, it)| Some((name.clone(), self.of(it, levels, depth)?)));
        copies.collect::<Option<Map<_, _>>>().map(Value::Object)
    }

    fn referred(&mut self, reference: &str, levels: usize, depth: usize) -> Option<Value> {
        let target = local(reference, self.root)?;
        match levels.checked_sub(1) {
            Some(levels) => self.of(target, levels, depth),
            None => Some(Value::Bool(true)),
        }
    }
}
