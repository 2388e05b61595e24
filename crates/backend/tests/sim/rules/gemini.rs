//! What Gemini refuses, one broken rule at a time.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use super::{accepts, refuses, with};
use crate::support::{Mode, ask};

fn contents(contents: Value) -> Value {
    json!({"model": "sim", "contents": contents})
}

fn plain() -> Value {
    contents(json!([{"role": "user", "parts": [{"text": "hi"}]}]))
}

fn parameters(schema: Value) -> Value {
    with(
        plain(),
        json!({"tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parameters": schema}]}]}),
    )
}

#[test]
fn the_body_has_its_shape() {
    for (changes, words) in [
        (json!({"messages": []}), "Unknown name \"messages\": Cannot find field."),
        (json!({"contents": []}), "contents is not specified"),
        (
            json!({"contents": [{"role": "assistant", "parts": [{"text": "x"}]}]}),
            "valid role: user, model",
        ),
        (json!({"contents": [{"parts": []}]}), "must not be empty"),
        (json!({"contents": [{"parts": [{}]}]}), "must have one initialized field"),
        (
            json!({"contents": [{"parts": [{"text": "x", "inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}]}),
            "already set",
        ),
        (
            json!({"contents": [{"parts": [{"txt": "x"}]}]}),
            "Unknown name \"txt\" at 'contents[0].parts[0]': Cannot find field.",
        ),
        (
            json!({"contents": [{"parts": [{"inlineData": {"mimeType": "image/png", "data": "%%"}}]}]}),
            "Base64 decoding failed",
        ),
        (
            json!({"contents": [{"parts": [{"inlineData": {"mimeType": "image/gif", "data": "AAAA"}}]}]}),
            "Unsupported MIME type: image/gif",
        ),
        (
            json!({"generationConfig": {"stopSequences": ["1", "2", "3", "4", "5", "6"]}}),
            "must not exceed 5",
        ),
        (
            json!({"generationConfig": {"thinkingConfig": {"thinkingBudget": 1, "thinkingLevel": "LOW"}}}),
            "only one of thinking budget",
        ),
        (json!({"generationConfig": {"responseSchema": {"type": "STRING"}}}), "response_mime_type"),
        (
            json!({"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
            "without function_declarations",
        ),
        (
            json!({"model": "gemini-2.5-pro", "generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}}),
            "Thinking level is not supported",
        ),
        (
            json!({"model": "gemini-2.0-flash", "generationConfig": {"thinkingConfig": {"thinkingBudget": 5}}}),
            "Thinking is not enabled",
        ),
    ] {
        refuses(Protocol::Gemini, &with(plain(), changes), words);
    }
    accepts(
        Protocol::Gemini,
        &with(
            plain(),
            json!({"generation_config": {"max_output_tokens": 50, "stop_sequences": ["x"]}, "system_instruction": {"parts": [{"text": "s"}]}}),
        ),
    );
}

#[test]
fn schemas_are_of_the_known_part() {
    let inner = |schema: Value| parameters(json!({"type": "OBJECT", "properties": {"a": schema}}));
    accepts(
        Protocol::Gemini,
        &inner(json!({"type": "string", "nullable": true, "enum": ["a"], "format": "enum"})),
    );
    for (schema, words) in [
        (json!({"type": ["string", "null"]}), "cannot start list"),
        (json!({"$ref": "#/$defs/a"}), "Unknown name \"$ref\""),
        (json!({"type": "string", "const": "x"}), "Unknown name \"const\""),
        (json!({"type": "object", "properties": {}}), "should be non-empty for OBJECT type"),
        (json!({"type": "array"}), "items: missing field"),
        (json!({"type": "integer", "enum": [1]}), "TYPE_STRING"),
        (json!({"type": "string", "enum": [""]}), "cannot be empty"),
        (json!({"type": "string", "format": "uri"}), "only 'enum' and 'date-time'"),
        (
            json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": ["y"]}),
            "property is not defined",
        ),
    ] {
        refuses(Protocol::Gemini, &inner(schema), words);
    }
    let json_schema = json!({"tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": {"$schema": "x", "type": "object", "properties": {}, "additionalProperties": false}}]}]});
    accepts(Protocol::Gemini, &with(plain(), json_schema));
}

#[test]
fn calls_and_responses_belong_together() {
    let user = json!({"role": "user", "parts": [{"text": "hi"}]});
    let call = |name: &str| json!({"functionCall": {"name": name, "args": {}}});
    let response =
        |name: &str| json!({"functionResponse": {"name": name, "response": {"output": "r"}}});
    let calls = json!({"role": "model", "parts": [call("f"), call("g")]});
    let answers = |parts: Value| contents(json!([user, calls, {"role": "user", "parts": parts}]));
    accepts(Protocol::Gemini, &answers(json!([response("f"), response("g"), {"text": "and"}])));
    for (parts, words) in [
        (json!([response("f")]), "number of function response parts"),
        (json!([response("g"), response("f")]), "in the order of"),
        (json!([{"text": "and"}, response("f"), response("g")]), "come first"),
    ] {
        refuses(Protocol::Gemini, &answers(parts), words);
    }
    refuses(Protocol::Gemini, &contents(json!([calls])), "immediately after a user turn");
    refuses(
        Protocol::Gemini,
        &contents(json!([user, {"role": "user", "parts": [response("f")]}])),
        "immediately after a function call turn",
    );
}

#[test]
fn thoughts_come_back_as_they_went_out() {
    let declared = json!({"model": "gemini-3-pro", "tools": [{"functionDeclarations": [{"name": "f", "description": "d"}, {"name": "g", "description": "d"}]}]});
    let user = json!({"role": "user", "parts": [{"text": "use f and g"}]});
    let first = with(contents(json!([user])), declared.clone());
    let answered =
        ask(Protocol::Gemini, &first, Mode::Whole).json()["candidates"][0]["content"]["parts"]
            .clone();
    let results = json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}, {"functionResponse": {"name": "g", "response": {}}}]});
    let again = |parts: Value| {
        with(contents(json!([user, {"role": "model", "parts": parts}, results])), declared.clone())
    };
    accepts(Protocol::Gemini, &again(answered.clone()));
    let signed = |signature: &str| {
        json!([with(answered[0].clone(), json!({"thoughtSignature": signature})), answered[1]])
    };
    accepts(Protocol::Gemini, &again(signed("skip_thought_signature_validator")));
    refuses(Protocol::Gemini, &again(signed("Zm9yZWlnbg==")), "Corrupted thought signature");
    let moved = json!([
        with(answered[1].clone(), json!({"thoughtSignature": answered[0]["thoughtSignature"]})),
        answered[0]
    ]);
    refuses(Protocol::Gemini, &again(moved), "Corrupted thought signature");
    let bare = json!([{"functionCall": answered[0]["functionCall"]}, answered[1]]);
    refuses(Protocol::Gemini, &again(bare.clone()), "missing a thought_signature");
    accepts(Protocol::Gemini, &with(again(bare), json!({"model": "gemini-2.5-pro"})));
}
