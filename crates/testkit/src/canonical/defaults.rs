//! What a protocol does when a request does not say it, by its vendor's documentation.

use sabir_wire::Protocol;
use serde_json::Value;

/// Whether stating `value` changes nothing in `protocol`, for the fact of this name.
pub(super) fn is_default(protocol: Protocol, name: &str, value: &Value) -> bool {
    let of_all = [
        ("stream", "false"),
        ("tool choice", "\"auto\""),
        ("parallel tool calls", "true"),
        ("number of answers", "1"),
        ("presence penalty", "0"),
        ("frequency penalty", "0"),
        ("log probabilities", "false"),
        ("top log probabilities", "0"),
        ("strict", "false"),
        ("output schema: strict", "false"),
        ("error", "false"),
        ("detail", "\"auto\""),
        ("verbosity", "\"medium\""),
    ];
    let of_one: &[(&str, &str)] = match protocol {
        // Only the vendor whose answers are objects of their own keeps them unless told otherwise.
        Protocol::OpenaiResponses => &[("store", "true")],
        _ => &[("store", "false")],
    };
    let stated = |json: &str| serde_json::from_str::<Value>(json).unwrap_or_default();
    (of_all.iter().chain(of_one))
        .any(|(field, json)| *field == name && super::normal::same(&stated(json), value))
}
