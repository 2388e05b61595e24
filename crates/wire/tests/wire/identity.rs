//! What a request meant survives copying, recording and editing around it.

use sabir_wire::conversation::{Message, Part, Role};
use sabir_wire::protocol::Record;
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

#[test]
fn a_request_comes_back_whole_from_a_record() {
    for (protocol, body) in REQUESTS {
        let exchange = protocol.decode_request(body.as_bytes()).unwrap();
        let record = Record::of(&exchange).unwrap();
        assert_eq!(value(&record.body), value(body));
        let restored = record.restore().unwrap();
        assert_eq!(value(&Record::of(&restored).unwrap().body), value(body));
    }
}

#[test]
fn a_record_of_a_later_version_is_refused() {
    let record = Record { version: 2, protocol: Protocol::OpenaiChat, body: "{}".to_owned() };
    assert!(record.restore().is_err());
}

#[test]
fn editing_a_copy_changes_no_other() {
    for (protocol, body) in REQUESTS {
        let exchange = protocol.decode_request(body.as_bytes()).unwrap();
        let mut copy = exchange.clone().into_owned();
        copy.edit().messages.push(Message::new(Role::User, vec![Part::text("more")]));
        copy.edit().tools.clear();
        assert_eq!(value(&Record::of(&exchange).unwrap().body), value(body));
        assert_ne!(value(&Record::of(&copy).unwrap().body), value(body));
    }
}

#[test]
fn diagnostics_can_be_thrown_away() {
    for (protocol, body) in REQUESTS {
        let exchange = protocol.decode_request(body.as_bytes()).unwrap();
        drop(Diagnostics::of(&exchange));
        let encoded = exchange.encode(protocol, &Target::default()).unwrap();
        assert_eq!(value(&encoded.body), value(body));
    }
}

#[test]
fn a_signature_falls_away_with_the_words_it_was_given_for() {
    let (protocol, body) = REQUESTS[2];
    let mut exchange = protocol.decode_request(body.as_bytes()).unwrap();
    let edited = Part::text("other words");
    exchange.edit().messages[2].parts[0] = edited;
    let encoded = exchange.encode(protocol, &Target::default()).unwrap();
    assert!(!encoded.body.contains("c2ln"), "{}", encoded.body);
    assert!(encoded.body.contains("other words"));
}

#[test]
fn strict_translation_refuses_what_would_be_dropped() {
    let (protocol, body) = REQUESTS[0];
    let exchange = protocol.decode_request(body.as_bytes()).unwrap();
    let encoded = exchange.encode(Protocol::AnthropicMessages, &Target::default()).unwrap();
    let refusal = encoded.strict().unwrap_err();
    assert!(refusal.message().contains("/logit_bias"), "{refusal}");
    assert!(refusal.message().contains("/custom_field"), "{refusal}");
}
