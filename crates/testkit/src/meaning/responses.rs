//! Spellings of Responses that say the same.

use serde_json::Value;

/// Whether two values of a field differ in their spelling alone.
pub(super) fn is_same(key: Option<&str>, before: &Value, after: &Value) -> bool {
    let (Value::String(before), Value::String(after)) = (before, after) else { return false };
    match key {
        // Who says a text tells its type, and servers refuse the other.
        Some("type") => is_text(before) && is_text(after),
        Some("image_url" | "file_data") => {
            let (kind_before, data_before) = split(before);
            let (kind_after, data_after) = split(after);
            // The vendor takes bare data as data of a type that it finds out by itself.
            let is_kind = kind_before == kind_after || kind_before.is_empty();
            is_kind && data_before == data_after && !kind_after.is_empty()
        }
        _ => false,
    }
}

/// A file whose address stands where its data would, with the address in the field for it.
pub(super) fn usual(value: &Value) -> Option<Value> {
    let address = value.get("file_data")?.as_str().filter(|data| data.starts_with("https://"))?;
    let mut file = value.clone();
    file["file_url"] = address.into();
    file["file_data"] = Value::Null;
    Some(file)
}

fn is_text(kind: &str) -> bool {
    matches!(kind, "input_text" | "output_text")
}

/// The media type of a data URL, in small letters and without parameters, and its data; bare data has no type.
fn split(url: &str) -> (String, &str) {
    match url.split_once(',') {
        Some((head, data)) => {
            let head = head.to_ascii_lowercase();
            (head.split(';').next().unwrap_or_default().to_owned(), data)
        }
        None => (String::new(), url),
    }
}
