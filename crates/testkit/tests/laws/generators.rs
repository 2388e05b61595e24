//! The generators themselves: they reach everything, and what they cut can be put together again.

use std::collections::BTreeSet;

use proptest::prelude::Strategy;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sabir_testkit::generate;
use sabir_testkit::generate::Spelling;
use sabir_wire::Protocol;
use serde_json::Value;

/// How many bodies are looked at for all the kinds to show.
const BODIES: usize = 400;

/// Every `type` and `role`, and every member name, in some generated bodies.
fn words(bodies: impl Strategy<Value = Value>) -> BTreeSet<String> {
    let mut runner = TestRunner::deterministic();
    let mut words = BTreeSet::new();
    for _ in 0..BODIES {
        let body = bodies.new_tree(&mut runner).expect("nothing is filtered").current();
        collect(&body, &mut words);
    }
    words
}

fn collect(value: &Value, words: &mut BTreeSet<String>) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                words.insert(key.clone());
                if let ("type" | "role", Some(word)) = (key.as_str(), value.as_str()) {
                    words.insert(word.to_owned());
                }
                collect(value, words);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| collect(value, words)),
        _ => {}
    }
}

fn check(bodies: impl Strategy<Value = Value>, wanted: &[&str]) {
    let words = words(bodies);
    let missing: Vec<_> = wanted.iter().filter(|word| !words.contains(**word)).collect();
    assert!(missing.is_empty(), "never generated: {missing:?}");
}

#[test]
fn chat_bodies_have_everything() {
    check(
        generate::request(Protocol::OpenaiChat),
        &[
            "system",
            "developer",
            "user",
            "assistant",
            "tool",
            "function",
            "text",
            "image_url",
            "input_audio",
            "file",
            "file_id",
            "file_data",
            "refusal",
            "reasoning_content",
            "custom",
            "reasoning_details",
            "prompt_cache_breakpoint",
            "allowed_tools",
            "json_schema",
            "hologram",
        ],
    );
    check(
        generate::response(Protocol::OpenaiChat),
        &[
            "tool_calls",
            "url_citation",
            "audio",
            "logprobs",
            "refusal",
            "completion_tokens_details",
        ],
    );
}

#[test]
fn responses_bodies_have_everything() {
    check(
        generate::request(Protocol::OpenaiResponses),
        &[
            "system",
            "developer",
            "user",
            "assistant",
            "message",
            "input_text",
            "input_image",
            "input_file",
            "file_url",
            "output_text",
            "refusal",
            "reasoning",
            "encrypted_content",
            "function_call",
            "function_call_output",
            "custom_tool_call",
            "custom_tool_call_output",
            "namespace",
            "web_search",
            "mcp",
            "item_reference",
            "json_schema",
            "web_search_call",
        ],
    );
    check(
        generate::response(Protocol::OpenaiResponses),
        &[
            "summary_text",
            "reasoning_text",
            "url_citation",
            "file_citation",
            "logprobs",
            "compaction",
        ],
    );
}

#[test]
fn anthropic_bodies_have_everything() {
    check(
        generate::request(Protocol::AnthropicMessages),
        &[
            "system",
            "user",
            "assistant",
            "text",
            "image",
            "document",
            "search_result",
            "base64",
            "url",
            "tool_use",
            "tool_result",
            "is_error",
            "thinking",
            "redacted_thinking",
            "content",
            "cache_control",
            "server_tool_use",
            "web_search_20250305",
            "adaptive",
            "json_schema",
        ],
    );
    check(
        generate::response(Protocol::AnthropicMessages),
        &[
            "char_location",
            "page_location",
            "web_search_result_location",
            "stop_details",
            "signature",
        ],
    );
}

#[test]
fn gemini_bodies_have_everything() {
    check(
        generate::request(Protocol::Gemini),
        &[
            "model",
            "user",
            "function",
            "inlineData",
            "fileData",
            "functionCall",
            "functionResponse",
            "thought",
            "thoughtSignature",
            "executableCode",
            "googleSearch",
            "parametersJsonSchema",
            "responseSchema",
            "thinkingLevel",
            "thinkingBudget",
            "safetySettings",
            "videoMetadata",
        ],
    );
    check(
        generate::response(Protocol::Gemini),
        &["promptFeedback", "citationMetadata", "groundingMetadata", "logprobsResult"],
    );
}

#[test]
fn every_spelling_of_a_body_means_the_same() {
    let mut runner = TestRunner::deterministic();
    for protocol in Protocol::ALL {
        let requests = generate::request(protocol);
        for spelling in [Spelling::Compact, Spelling::Pretty, Spelling::Escaped] {
            let body = requests.new_tree(&mut runner).unwrap().current();
            let again: Value = serde_json::from_slice(&spelling.bytes(&body)).unwrap();
            assert_eq!(again, body, "{spelling:?}");
        }
    }
}

#[test]
fn without_extras_nothing_unknown_is_left() {
    let mut runner = TestRunner::deterministic();
    for protocol in Protocol::ALL {
        for _ in 0..50 {
            let mut body = generate::response(protocol).new_tree(&mut runner).unwrap().current();
            generate::without_extras(&mut body);
            let mut words = BTreeSet::new();
            collect(&body, &mut words);
            assert!(!words.iter().any(|word| word.starts_with(generate::EXTRA_PREFIX)));
        }
    }
}
