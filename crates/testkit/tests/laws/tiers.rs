//! Service tiers, every word of every protocol towards every other: what is sent exists there, and each change is on record.

use sabir_testkit::translate;
use sabir_wire::{Protocol, Report};
use serde_json::{Value, json};

/// What a protocol calls the tiers in its requests and in its answers, and where they stand there.
struct Words {
    protocol: Protocol,
    request: &'static [&'static str],
    answer: &'static [&'static str],
    pointers: [&'static str; 2],
    /// A request and an answer, but for their tiers.
    bodies: [&'static str; 2],
}

const WORDS: [Words; 4] = [
    Words {
        protocol: Protocol::OpenaiChat,
        request: &["auto", "default", "flex", "scale", "priority", "fast"],
        answer: &["auto", "default", "flex", "scale", "priority", "fast"],
        pointers: ["/service_tier", "/service_tier"],
        bodies: [
            r#"{"messages":[{"role":"user","content":"Go on."}]}"#,
            r#"{"choices":[{"message":{"role":"assistant","content":"A"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#,
        ],
    },
    Words {
        protocol: Protocol::OpenaiResponses,
        request: &["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"],
        answer: &["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"],
        pointers: ["/service_tier", "/service_tier"],
        bodies: [
            r#"{"input":"Go on."}"#,
            r#"{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"A"}]}],"usage":{"input_tokens":1,"output_tokens":1,"total_tokens":2}}"#,
        ],
    },
    Words {
        protocol: Protocol::AnthropicMessages,
        request: &["auto", "standard_only"],
        answer: &["standard", "priority", "batch"],
        pointers: ["/service_tier", "/usage/service_tier"],
        bodies: [
            r#"{"max_tokens":9,"messages":[{"role":"user","content":"Go on."}]}"#,
            r#"{"content":[{"type":"text","text":"A"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
        ],
    },
    Words {
        protocol: Protocol::Gemini,
        request: &["unspecified", "standard", "flex", "priority"],
        answer: &["unspecified", "standard", "flex", "priority"],
        pointers: ["/serviceTier", "/usageMetadata/serviceTier"],
        bodies: [
            r#"{"contents":[{"parts":[{"text":"Go on."}]}]}"#,
            r#"{"candidates":[{"content":{"parts":[{"text":"A"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1}}"#,
        ],
    },
];

/// Words that no protocol has, or not in this spelling.
const ODD: [&str; 4] = ["PRIORITY", "Default", "platinum", ""];

/// What a word means, the same for all vendors. `auto` is a choice of each.
fn meaning(word: &str) -> &str {
    match word {
        "default" | "standard" | "standard_only" => "standard",
        word => word,
    }
}

#[test]
fn every_tier_asked_for_exists_at_its_target_or_is_reported() {
    check(
        0,
        |words| words.request,
        |from, to, body| {
            translate::request(from, to, body.to_string().as_bytes(), None)
                .unwrap_or_else(|error| panic!("{error}"))
        },
    );
}

#[test]
fn every_tier_of_an_answer_exists_at_its_target_or_is_reported() {
    check(
        1,
        |words| words.answer,
        |from, to, body| {
            translate::response(from, to, body.to_string().as_bytes())
                .unwrap_or_else(|error| panic!("{error}"))
        },
    );
}

fn check(
    side: usize,
    words: fn(&Words) -> &'static [&'static str],
    translated: fn(Protocol, Protocol, &Value) -> (String, Report),
) {
    for source in &WORDS {
        for target in WORDS.iter().filter(|it| it.protocol != source.protocol) {
            for word in words(source).iter().chain(&ODD) {
                let body = body(source, side, word);
                let (sent, report) = translated(source.protocol, target.protocol, &body);
                let sent: Value = serde_json::from_str(&sent).unwrap_or_default();
                let sent = sent.pointer(target.pointers[side]).and_then(Value::as_str);
                let at = source.pointers[side];
                let is_reported = report.entries().iter().any(|loss| loss.pointer == at);
                let (from, to) = (source.protocol.as_str(), target.protocol.as_str());
                let case = format!("`{word}` of {from} as {sent:?} of {to}");
                assert!(sent.is_none_or(|it| words(target).contains(&it)), "{case}: no such tier");
                let is_own = words(source).contains(word) && vendor(source) == vendor(target)
                    || meaning(word) != "auto";
                let is_same = is_own && sent.is_some_and(|it| meaning(it) == meaning(word));
                assert_eq!(is_reported, !is_same, "{case}");
            }
        }
    }
}

/// The two protocols of one vendor share their tiers.
fn vendor(words: &Words) -> &str {
    words.protocol.as_str().split('-').next().unwrap_or_default()
}

/// A body of a protocol with a tier.
fn body(words: &Words, side: usize, word: &str) -> Value {
    let mut body: Value = serde_json::from_str(words.bodies[side]).expect("bodies are JSON");
    let (object, key) = words.pointers[side].rsplit_once('/').expect("a pointer has a key");
    body.pointer_mut(object).expect("a body has the object")[key] = json!(word);
    body
}
