//! Requests of other protocols, written in this one.

use super::*;
use crate::conversation::Part;
use crate::protocol::{DecodedRequest, Encoded};
use crate::target::{LateSystem, ModelPlace, Target};

fn from_chat(body: &str, target: &Target) -> Encoded {
    let decoded = Protocol::OpenaiChat.decode_request(body.as_bytes()).unwrap();
    decoded.encode(SELF, target).unwrap()
}

#[test]
fn a_call_whose_foreign_seal_was_taken_off_gets_it_too() {
    let body = r#"{"contents":[{"role":"user","parts":[{"text":"Q"}]},
        {"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}]}"#;
    let target = Target::for_model("gemini-3-pro-preview");
    let mut decoded = SELF.decode_request(body.as_bytes()).unwrap();
    let signature = |decoded: &DecodedRequest<'_>| {
        at(&decoded.encode(SELF, &target).unwrap().body, "/contents/1/parts/0/thoughtSignature")
    };
    assert!(signature(&decoded).is_null());
    let parts = &mut decoded.edit().messages[1].parts;
    *parts = std::mem::take(parts).into_iter().map(|part| Part::new(part.into_content())).collect();
    assert_eq!(signature(&decoded), "skip_thought_signature_validator");
}

#[test]
fn the_model_stands_in_the_body_only_when_asked() {
    let body = r#"{"model":"m","messages":[{"role":"user","content":"a"}]}"#;
    assert!(at(&from_chat(body, &Target::default()).body, "/model").is_null());
    let target = Target { gemini_model: ModelPlace::Body, ..Target::default() };
    assert_eq!(at(&from_chat(body, &target).body, "/model"), "models/m");
}

#[test]
fn late_instructions_are_lifted_or_marked() {
    let body = r#"{"messages":[{"role":"user","content":"a"},{"role":"system","content":"L"},
        {"role":"user","content":"b"}]}"#;
    let lifted = from_chat(body, &Target::default());
    assert_eq!(at(&lifted.body, "/systemInstruction/parts/0/text"), "L");
    assert!(listed(&lifted.report).contains(&"approximated /messages/1".to_owned()));
    let marked = from_chat(body, &Target::default().with_late_system(LateSystem::Inline));
    let texts = r#"[{"text":"a"},{"text":"[system]\nL"},{"text":"b"}]"#;
    assert_eq!(at(&marked.body, "/contents/0/parts"), value(texts));
}

#[test]
fn effort_is_a_budget_or_a_level_by_family() {
    let cases = [
        ("gemini-2.5-flash", "low", r#"{"thinkingBudget":1024,"includeThoughts":true}"#),
        ("gemini-2.5-flash", "none", r#"{"thinkingBudget":0}"#),
        ("gemini-2.5-pro", "none", r#"{"thinkingBudget":128}"#),
        ("gemini-3-pro-preview", "medium", r#"{"thinkingLevel":"HIGH","includeThoughts":true}"#),
        (
            "gemini-3-flash-preview",
            "minimal",
            r#"{"thinkingLevel":"MINIMAL","includeThoughts":true}"#,
        ),
    ];
    for (model, effort, expected) in cases {
        let body = format!(
            r#"{{"messages":[{{"role":"user","content":"a"}}],"reasoning_effort":"{effort}"}}"#
        );
        let encoded = from_chat(&body, &Target::for_model(model));
        let thinking = at(&encoded.body, "/generationConfig/thinkingConfig");
        assert_eq!(thinking, value(expected), "{model} {effort}");
    }
}

#[test]
fn schemas_are_spelled_as_the_model_takes_them() {
    let body = r#"{"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function","function":
        {"name":"f","parameters":{"type":"object","properties":{"a":{"type":["string","null"]}}}}}]}"#;
    let declaration = "/tools/0/functionDeclarations/0";
    let newer = from_chat(body, &Target::for_model("gemini-2.5-flash")).body;
    let kinds = at(&newer, &format!("{declaration}/parametersJsonSchema/properties/a/type"));
    assert_eq!(kinds, value(r#"["string","null"]"#));
    let older = from_chat(body, &Target::for_model("gemini-1.5-flash")).body;
    let property = at(&older, &format!("{declaration}/parameters/properties/a"));
    assert_eq!(property, value(r#"{"type":"STRING","nullable":true}"#));
}

#[test]
fn whole_numbers_with_a_fraction_arrive_as_integers() {
    let body = |top_k: &str| {
        format!(
            r#"{{"contents":[{{"parts":[{{"text":"a"}}]}}],"generationConfig":{{"topK":{top_k},"maxOutputTokens":9.0}}}}"#
        )
    };
    for (top_k, expected, reported) in
        [("3.0", "3", None), ("3", "3", None), ("2.6", "3", Some(()))]
    {
        let body = body(top_k);
        let decoded = SELF.decode_request(body.as_bytes()).unwrap();
        let encoded = decoded.encode(Protocol::AnthropicMessages, &Target::default()).unwrap();
        let (head, tail) = (r#"{"max_tokens":9,"#, format!(r#""top_k":{expected}}}"#));
        assert!(encoded.body.starts_with(head) && encoded.body.ends_with(&tail), "{top_k}");
        let is_reported = encoded.report.entries().iter().any(|it| it.pointer.ends_with("/topK"));
        assert_eq!(is_reported, reported.is_some(), "{top_k}");
    }
}
