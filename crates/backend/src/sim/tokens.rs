//! Tokens as the simulators count them: four bytes each, media by the piece. Wrong for any real model, and always the
//! same: whole answers, streams and the counting endpoints agree.

use serde_json::Value;

pub(super) const BYTES_PER_TOKEN: usize = 4;
const MEDIA_TOKENS: u64 = 64;

/// What a prompt counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) total: u64,
    /// As much of it as stands before the last cache marker.
    pub(super) marked: u64,
}

pub(super) fn of_text(text: &str) -> u64 {
    text.len().div_ceil(BYTES_PER_TOKEN) as u64
}

impl Count {
    /// Adds everything that a value says; `marker` names the member that marks a cached prefix.
    pub(super) fn add(&mut self, value: &Value, marker: &str) {
        match value {
            Value::String(text) if text.starts_with("data:") => self.total += MEDIA_TOKENS,
            Value::String(text) => self.total += of_text(text),
            Value::Number(_) | Value::Bool(_) => self.total += 1,
            Value::Null => {}
            Value::Array(elements) => elements.iter().for_each(|it| self.add(it, marker)),
            Value::Object(members) => {
                for (name, member) in members.iter().filter(|(name, _)| !is_plumbing(name)) {
                    match name.as_str() {
                        "data" | "file_data" => self.total += MEDIA_TOKENS,
                        _ => self.add(member, marker),
                    }
                }
                if members.get(marker).is_some_and(|it| !it.is_null()) {
                    self.marked = self.total;
                }
            }
        }
    }
}

/// Members that no model reads.
fn is_plumbing(name: &str) -> bool {
    matches!(
        name,
        "type"
            | "role"
            | "id"
            | "call_id"
            | "tool_call_id"
            | "tool_use_id"
            | "media_type"
            | "mimeType"
            | "cache_control"
            | "prompt_cache_breakpoint"
            | "signature"
            | "thoughtSignature"
            | "encrypted_content"
            | "status"
            | "strict"
    )
}
