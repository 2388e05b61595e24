//! Names as protobuf's JSON takes them: `snake_case` for `camelCase`, wherever a field is known.

use serde_json::{Map, Value};

use crate::sim::shape::{Field, Kind};

/// Rewrites the names of known fields to camel case; user data is left alone.
pub(super) fn camel(value: &mut Value, kind: &'static Kind) {
    match (kind, value) {
        (Kind::Object(fields), Value::Object(members)) => object(members, fields),
        (Kind::List(inner), Value::Array(elements)) => {
            elements.iter_mut().for_each(|it| camel(it, inner));
        }
        (Kind::Map(inner), Value::Object(members)) => {
            members.values_mut().for_each(|it| camel(it, inner));
        }
        _ => {}
    }
}

fn object(members: &mut Map<String, Value>, fields: &'static [Field]) {
    let old = std::mem::take(members);
    for (name, mut value) in old {
        let known = fields.iter().find(|field| field.name == name || snake(field.name) == name);
        if let Some(field) = known {
            camel(&mut value, &field.kind);
        }
        members.insert(known.map_or(name, |field| field.name.to_owned()), value);
    }
}

fn snake(camel: &str) -> String {
    let mut out = String::new();
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}
