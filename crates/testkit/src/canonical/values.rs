//! Values by what is in them: their strings, and the places at which two differ.

use serde_json::Value;

use super::normal;

/// Whether a value has strings, and a text holds them all. White space stands in nearly every text: it is a piece of blanks,
/// and of a text in which it is a paragraph, as a blank thought is among thoughts that were joined.
pub(super) fn is_within(value: &Value, text: &str) -> bool {
    let strings = strings(value);
    let whole = strings.concat();
    let is_blank = |text: &str| text.trim().is_empty();
    match is_blank(&whole) && !is_blank(text) {
        true => !whole.is_empty() && has_paragraph(text, &whole),
        false => !whole.is_empty() && strings.iter().all(|it| text.contains(it)),
    }
}

fn has_paragraph(text: &str, paragraph: &str) -> bool {
    let apart = |text: &str| format!("\n\n{text}\n\n");
    apart(text).contains(&apart(paragraph))
}

/// All strings in a value.
pub(super) fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(list) => list.iter().flat_map(strings).collect(),
        Value::Object(object) => object.values().flat_map(strings).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// The innermost places at which two values differ.
pub(super) fn leaves(
    before: &Value,
    after: &Value,
    pointer: &str,
    found: &mut Vec<(String, Value, Value)>,
) {
    if normal::same(before, after) {
        return;
    }
    let below = |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
    match (before, after) {
        (Value::Object(one), Value::Object(other)) => {
            let added = other.keys().filter(|key| !one.contains_key(*key));
            for key in one.keys().chain(added) {
                let [one, other] = [one, other].map(|it| it.get(key).unwrap_or(&Value::Null));
                leaves(one, other, &below(key), found);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                leaves(one, other, &below(&index.to_string()), found);
            }
        }
        _ => found.push((pointer.to_owned(), before.clone(), after.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_a_piece_of_blanks_and_of_joined_thoughts() {
        let is_piece = |piece: &str, text: &str| is_within(&Value::from(piece), text);
        assert!(is_piece("low", "low, then high"));
        assert!(is_piece(" ", "  "));
        assert!(is_piece(" ", " \n\nlow, then high"));
        assert!(is_piece("\n\n", "\n\n\n\nlow, then high"));
        assert!(!is_piece(" ", "low, then high"));
        assert!(!is_piece("\n\n", "low\n\nhigh"));
        assert!(!is_piece("", "low"));
    }
}
