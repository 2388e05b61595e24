//! Errors, in the shapes of all protocols at once: each reads its own and passes over the others'.

use super::Row;

pub(super) const ROWS: &[Row] = &[
    (
        "error-unknown-keys",
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"m",<<"key_§":1>>}}"#,
    ),
    (
        "error-unknown-keys-beside",
        r#"{"type":"error","error":{"code":400,"type":"x","message":"m","status":"INVALID_ARGUMENT"},<<"key_§":1>>}"#,
    ),
    (
        "error-details",
        r#"{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT","details":[<<{"@type":"type.googleapis.com/google.rpc.BadRequest","reason":"r§","fieldViolations":[{"field":"f","description":"d"}]}>>]}}"#,
    ),
    ("error-list", r#"[<<{"error":{"code":400,"message":"m§","status":"INVALID_ARGUMENT"}}>>]"#),
    ("error-words", r#"<<no JSON at all § >>"#),
    (
        "error-message-escapes",
        r#"{"error":{"message":"<<a\n\"\u00e9\ud83d\ude00>>","type":"x","code":"y"}}"#,
    ),
    ("error-same-keys", r#"{"error":{<<"message":"m§">>,"type":"x"}}"#),
    ("error-nested-message", r#"{"error":{"message":"{\"error\":{<<\"key_§\":1>>}}","code":400}}"#),
];
