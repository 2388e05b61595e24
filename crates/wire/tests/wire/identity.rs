//! What a request meant survives copying, keeping and editing around it.

use sabir_wire::conversation::{Message, Part, Role};
use sabir_wire::protocol::DecodedRequest;
use sabir_wire::target::Target;
use sabir_wire::{Diagnostics, Protocol};
use serde_json::Value;

/// Requests that say what only their own protocol can say.
const REQUESTS: [(Protocol, &str); 4] = [
    (
        Protocol::OpenaiChat,
        r#"{"model":"gpt-4o","messages":[{"role":"system","content":"S"},{"role":"user","content":"hi"}],
            "tools":[],"custom_field":{"b":1,"a":2.50},"logit_bias":{"50256":-100}}"#,
    ),
    (
        Protocol::OpenaiResponses,
        r#"{"model":"gpt-5","input":[{"role":"user","content":"hi"}],"previous_response_id":"resp_1",
            "include":["reasoning.encrypted_content"],"store":false,"truncation":"auto",
            "text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}}}"#,
    ),
    (
        Protocol::AnthropicMessages,
        r#"{"model":"claude-sonnet-4-5","max_tokens":64,
            "system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],
            "messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[
                {"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"yes"}]},
                {"role":"user","content":[{"type":"text","text":"go on"}]}],
            "tools":[{"name":"CallHTTP","input_schema":{"type":"object"}}],"container":"c_1"}"#,
    ),
    (
        Protocol::Gemini,
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],
            "systemInstruction":{"parts":[{"text":"S"}]},
            "safetySettings":[{"category":"HARM_CATEGORY_HARASSMENT","threshold":"BLOCK_NONE"}],
            "generationConfig":{"temperature":0.3,"maxOutputTokens":1024},
            "toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}"#,
    ),
];

fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("bodies of tests are JSON")
}

fn written(decoded: &DecodedRequest<'_>) -> Value {
    let encoded = decoded.encode(decoded.protocol(), &Target::default());
    value(&encoded.expect("every request can be written").body)
}

#[test]
fn a_history_comes_back_whole_from_what_was_kept_of_it() {
    for (protocol, body) in REQUESTS {
        let decoded = protocol.decode_request(body.as_bytes()).unwrap();
        let kept = decoded.entries().unwrap();
        let elements: Vec<&str> = kept.entries.iter().map(|entry| &*entry.json).collect();
        let mut restored = decoded.clone();
        restored.edit().messages.clear();
        restored.edit().tools.clear();
        let (system, tools) = protocol
            .restore_settings(kept.system.as_deref(), kept.tools.as_deref(), protocol)
            .unwrap();
        restored.edit().messages = system;
        restored.edit().tools = tools;
        let history = protocol.restore_messages(&elements.join(","), 7, protocol).unwrap();
        assert_eq!(history[0].semantics().place().to_string().get(..8), Some("/turns/7"));
        restored.recall(history);
        let mut expected = decoded.clone();
        expected.edit();
        assert_eq!(written(&restored), written(&expected));
    }
}

#[test]
fn editing_a_copy_changes_no_other() {
    for (protocol, body) in REQUESTS {
        let decoded = protocol.decode_request(body.as_bytes()).unwrap();
        let mut copy = decoded.clone().into_owned();
        copy.edit().messages.push(Message::new(Role::User, vec![Part::text("more")]));
        copy.edit().tools.clear();
        assert_eq!(written(&decoded), value(body));
        assert_ne!(written(&copy), value(body));
    }
}

#[test]
fn diagnostics_can_be_thrown_away() {
    for (protocol, body) in REQUESTS {
        let decoded = protocol.decode_request(body.as_bytes()).unwrap();
        drop(Diagnostics::of(&decoded));
        let encoded = decoded.encode(protocol, &Target::default()).unwrap();
        assert_eq!(value(&encoded.body), value(body));
    }
}

#[test]
fn a_signature_falls_away_with_the_words_it_was_given_for() {
    let (protocol, body) = REQUESTS[2];
    let mut decoded = protocol.decode_request(body.as_bytes()).unwrap();
    let edited = Part::text("other words");
    decoded.edit().messages[2].parts[0] = edited;
    let encoded = decoded.encode(protocol, &Target::default()).unwrap();
    assert!(!encoded.body.contains("c2ln"), "{}", encoded.body);
    assert!(encoded.body.contains("other words"));
}

#[test]
fn strict_translation_refuses_what_would_be_dropped() {
    let (protocol, body) = REQUESTS[0];
    let decoded = protocol.decode_request(body.as_bytes()).unwrap();
    let encoded = decoded.encode(Protocol::AnthropicMessages, &Target::default()).unwrap();
    let refusal = encoded.strict().unwrap_err();
    assert!(refusal.message().contains("/logit_bias"), "{refusal}");
    assert!(refusal.message().contains("/custom_field"), "{refusal}");
}
