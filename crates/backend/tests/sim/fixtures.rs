//! Every fixture, sent as it is to its own API and translated to every other, for models of several families.
//! What is refused is listed with its reason; a refusal that is not listed fails, and so does a listed one that is gone.

use std::collections::BTreeSet;
use std::path::Path;

use sabir_testkit::sample::{Kind, Sample};
use sabir_testkit::{sample, translate};
use sabir_wire::Protocol;
use serde_json::Value;

use crate::support::{Mode, ask};

/// A case whose request is refused, with words of the refusal: the fixture means to be wrong, or holds what only its
/// real provider can know.
const REFUSED_AT_HOME: &[(&str, &str)] = &[
    // Bytes that stay as they came: what servers say of them is theirs to say.
    ("base64-in-lines/openai-chat", "expected a base64-encoded data URL"),
    ("base64-with-percent-signs/openai-chat", "Invalid base64 image_url"),
    ("base64-with-percent-signs/openai-responses", "Invalid base64 image_url"),
    ("data-that-is-no-base64/anthropic-messages", "not valid base64"),
    ("data-that-is-no-base64/gemini", "Base64 decoding failed"),
    ("data-that-is-no-base64/openai-chat", "Invalid base64 image_url"),
    ("data-that-is-no-base64/openai-responses", "Invalid base64 image_url"),
    ("documents-without-words/anthropic-messages", "must define tools"),
    ("file-of-an-orphan-result-that-moves/openai-responses", "No tool call found"),
    // Wrong on purpose: translations repair or report these.
    ("adaptive-with-an-effort-that-no-model-has/anthropic-messages", "output_config.effort"),
    ("alternatives-without-log-probabilities/gemini", "logprobs is only valid"),
    ("budgets-with-an-exponent/gemini", "expected integer"),
    ("data-url-with-a-stray-percent-sign/openai-chat", "expected a base64-encoded data URL"),
    ("gemini-repeated-results/gemini", "number of function response parts"),
    ("images-of-repeated-results-before-a-stray-one/gemini", "number of function response parts"),
    ("gemini-result-of-an-earlier-turn/gemini", "in the order of the function call parts"),
    (
        "result-behind-words-and-an-empty-answer/openai-chat",
        "did not have response messages: call_2",
    ),
    (
        "late-function-messages-after-calls-of-one-id/openai-chat",
        "did not have response messages: call_1",
    ),
    ("more-results-than-calls-of-an-id/gemini", "number of function response parts"),
    (
        "chat-result-told-twice-beside-a-call-without-id/openai-chat",
        "must be a response to a preceeding message",
    ),
    (
        "chat-repeated-result-before-a-call-without-id/openai-chat",
        "did not have response messages: c1",
    ),
    ("chat-result-with-the-id-of-a-later-call/openai-chat", "messages[2].name"),
    ("function-message-of-no-call-beside-reasoning-details/openai-chat", "messages[1].reasoning"),
    ("call-without-a-result/openai-chat", "did not have response messages: call_2"),
    ("lifted-instructions-between-results/openai-chat", "did not have response messages: call_2"),
    (
        "late-results-of-calls-that-share-an-id/openai-chat",
        "must be a response to a preceeding message",
    ),
    ("late-results-of-calls-of-three-rounds/openai-chat", "did not have response messages: call_1"),
    ("document-of-white-space-beside-text/anthropic-messages", "non-whitespace text"),
    ("gemini-calls-in-pieces/gemini", "willContinue"),
    ("result-name-outside-the-alphabet/gemini", "immediately after a function call turn"),
    ("gemini-text-between-pieces/gemini", "functionCall"),
    ("gemini-arguments-stated-twice/gemini", "willContinue"),
    ("gemini-pieces-of-calls-by-turns/gemini", "partialArgs"),
    ("gemini-string-that-never-ends/gemini", "partialArgs"),
    ("documents-without-words-vanish/anthropic-messages", "must be last or be followed"),
    ("effort-words-that-no-model-has/openai-chat", "'default'"),
    ("effort-words-that-no-model-has/openai-responses", "'turbo'"),
    ("efforts-that-gemini-cannot-tell/openai-chat", "'galactic'"),
    ("results-without-ids-answer-the-last-round/gemini", "number of function response parts"),
    ("empty-tool-arrays-are-left-out/openai-chat", "Invalid 'tools'"),
    ("illegal-call-ids-are-aliased/openai-chat", "string too long"),
    ("image-type-alias/openai-chat", "image/jpg"),
    ("orphan-tool-result/anthropic-messages", "must define tools"),
    ("orphan-tool-result/openai-chat", "must be a response to a preceeding message"),
    ("marker-in-a-search-result-without-text/anthropic-messages", "must be non-empty"),
    ("request-of-nothing-but-unsendable-media/anthropic-messages", "must be non-empty"),
    ("root-anyof-in-a-tool/openai-chat", "type: \"object\""),
    ("forced-tool-with-a-thinking-budget/anthropic-messages", "forces tool use"),
    ("sampling-beside-thinking/anthropic-messages", "may only be set to 1"),
    ("system-message-in-an-illegal-place/anthropic-messages", "must use the \"user\" role"),
    ("system-messages-among-turns-that-join/anthropic-messages", "must be last or be followed by"),
    ("text-before-results-moves-behind/anthropic-messages", "must come first"),
    ("text-before-results-moves-behind/gemini", "come first in their turn"),
    ("thinking-budget-not-below-the-limit/anthropic-messages", "must be greater than"),
    ("service-tier-in-capitals/openai-chat", "'PRIORITY'"),
    ("tool-names-outside-the-alphabet/openai-chat", "does not match pattern"),
    ("tool-without-a-name/openai-chat", "does not match pattern"),
    ("unusual-data-urls/openai-chat", "Expected a valid URL"),
    ("hosted-tools-without-a-counterpart/gemini", "Tool use with function calling"),
    ("fields-of-each-protocol-come-home/anthropic-messages", "must not come after a ttl='5m'"),
    ("array-without-items/openai-chat", "array schema missing items"),
    ("choice-goes-with-the-last-tool/gemini", "without function_declarations"),
    ("choice-of-a-tool-that-is-left-out/gemini", "is not declared"),
    ("choice-of-a-tool-that-is-left-out/openai-chat", "'gone' not found"),
    ("choice-of-a-tool-that-is-left-out/openai-responses", "'gone' not found"),
    ("tools-without-properties-towards-openai/openai-chat", "object schema missing properties"),
    (
        "tools-without-properties-towards-openai/openai-responses",
        "object schema missing properties",
    ),
    ("images-wait-until-all-results-are-written/anthropic-messages", "must define tools"),
    ("words-between-calls-and-results/anthropic-messages", "must define tools"),
    ("no-alternatives-of-log-probabilities/openai-chat", "empty array"),
    (
        "no-alternatives-of-log-probabilities/openai-responses",
        "not supported with reasoning models",
    ),
    ("json-mode-beside-instructions-and-a-result/gemini", "function response turn"),
    ("json-mode-of-a-history-opened-by-a-result/gemini", "function response turn"),
    ("json-mode-of-a-history-opened-by-the-model/gemini", "immediately after a user turn"),
    // A spelling that the real API takes and nobody should rely on.
    ("numbers-written-as-strings/gemini", "expected number"),
    ("gemini-one-object-for-a-list/gemini", "expected array"),
    ("gemini-one-object-for-the-media-of-a-result/gemini", "expected array"),
    ("gemini-schema-types-as-numbers/gemini", "expected string"),
    ("gemini-nullable-choice-of-numbered-types/gemini", "cannot start list"),
    // What the real API does not know; other servers of the same protocol do.
    ("bare-base64-in-place-of-an-address/openai-chat", "expected an object"),
    ("bare-base64-in-place-of-an-address/openai-responses", "Expected a valid URL"),
    ("cache-control-of-chat-clients/openai-chat", "cache_control"),
    ("chat-tools-without-a-type/openai-chat", "'tools[0].type'"),
    ("files-by-address-in-file-data/openai-chat", "expected a base64-encoded data URL"),
    ("files-by-address-in-file-data/openai-responses", "expected a base64-encoded data URL"),
    ("sound-as-a-data-url-or-by-address/openai-chat", "input_audio.format"),
    ("fields-of-each-protocol-come-home/openai-chat", "Unknown parameter: 'custom_field'"),
    ("fields-of-one-protocol-only/openai-chat", "Unknown parameter: 'messages[0].x_trace'"),
    ("reasoning-text-of-chat-servers-is-not-thinking/openai-chat", "reasoning_content"),
    ("thinking-blocks-in-chat-history/openai-chat", "thinking_blocks"),
    ("unknown-fields-beside-a-gemini-call/gemini", "partNote"),
    ("unknown-parts-are-kept-at-home/anthropic-messages", "content.1.type"),
    ("unknown-parts-are-kept-at-home/gemini", "touchData"),
    ("unknown-parts-are-kept-at-home/openai-chat", "input_touch"),
    ("unknown-parts-are-kept-at-home/openai-responses", "touch_call"),
    ("both-spellings-of-one-chat-option/openai-chat", "tool_choice.function.x"),
    ("chat-fields-in-any-order/openai-chat", "reasoning_content"),
    ("every-shape-of-a-setting/openai-responses", "'future'"),
    ("every-shape-of-an-item/openai-responses", "'surprise'"),
    ("every-spelling-of-a-chat-message/openai-chat", "'critic'"),
    ("every-spelling-of-a-chat-option/openai-chat", "'new'"),
    ("every-spelling-of-a-chat-part/openai-chat", "image_url.x"),
    ("odd-shapes-of-messages/anthropic-messages", "source.x"),
    ("older-spellings-of-chat-options/openai-chat", "'grammar'"),
    ("settings-of-messages-with-unknown-members/anthropic-messages", "tool_choice.x"),
    ("output-format-of-the-beta/anthropic-messages", "output_format.x"),
    ("unknown-thinking-mode/anthropic-messages", "thinking.x_p"),
    ("budget-beyond-the-limit/openai-chat", "max_completion_tokens"),
    // State that no simulator has.
    ("conversation-needs-its-server/openai-responses", "Conversation not found"),
    ("dropped-item-between-results/openai-responses", "Item with id"),
    ("fields-of-each-protocol-come-home/openai-responses", "Previous response"),
    ("item-references-need-their-store/openai-responses", "Item with id"),
    ("previous-response-needs-its-server/openai-responses", "Previous response"),
    // Artefacts that this simulator did not issue.
    (
        "encrypted-reasoning-is-withheld-from-other-vendors/openai-responses",
        "could not be verified",
    ),
    ("turn-of-a-responses-agent/openai-responses", "could not be verified"),
    ("prefix-of-preserved-thinking-is-not-normalised/anthropic-messages", "Invalid `signature`"),
    ("thinking-blocks-survive-untouched/anthropic-messages", "Invalid `signature`"),
    ("turn-of-a-messages-agent/anthropic-messages", "Invalid `signature`"),
    ("turns-parted-by-silence-stay-apart/anthropic-messages", "Invalid `signature`"),
    ("gemini-signatures-come-back-on-their-calls/anthropic-messages", "Invalid `signature`"),
    ("gemini-signatures-come-back-on-their-calls/openai-chat", "extra_content"),
    ("gemini-signatures-come-back-on-their-calls/openai-responses", "could not be verified"),
    ("gemini-thought-signature-in-snake-case/gemini", "Corrupted thought signature"),
    ("image-in-a-tool-result/gemini", "Corrupted thought signature"),
    ("signature-on-an-empty-text-part/gemini", "Corrupted thought signature"),
    ("signed-parts-are-never-merged/gemini", "Corrupted thought signature"),
    ("thought-signatures-stay-on-their-part/gemini", "Corrupted thought signature"),
    ("turn-of-a-gemini-agent/gemini", "Corrupted thought signature"),
];

/// A translation that is refused: a case, where it went, words of the refusal.
const REFUSED_ABROAD: &[(&str, Protocol, &str)] = &[
    // A history that is broken.
    (
        "file-of-an-orphan-result-that-moves/openai-responses",
        Protocol::OpenaiChat,
        "preceeding message",
    ),
    (
        "file-of-an-orphan-result-that-moves/openai-responses",
        Protocol::AnthropicMessages,
        "must use the \"user\" role",
    ),
    (
        "file-of-an-orphan-result-that-moves/openai-responses",
        Protocol::Gemini,
        "function call turn comes immediately after",
    ),
    // Histories that are repaired before they are sent, not by the encoders.
    (
        "assistant-speaks-first/openai-chat",
        Protocol::AnthropicMessages,
        "must use the \"user\" role",
    ),
    ("more-results-than-calls-of-an-id/gemini", Protocol::OpenaiResponses, "No tool call found"),
    (
        "more-results-than-calls-of-an-id/gemini",
        Protocol::AnthropicMessages,
        "must have a single result",
    ),
    (
        "chat-result-told-twice-beside-a-call-without-id/openai-chat",
        Protocol::OpenaiResponses,
        "No tool call found",
    ),
    (
        "chat-result-told-twice-beside-a-call-without-id/openai-chat",
        Protocol::AnthropicMessages,
        "must use the \"user\" role",
    ),
    (
        "chat-result-told-twice-beside-a-call-without-id/openai-chat",
        Protocol::Gemini,
        "immediately after a user turn",
    ),
    (
        "chat-repeated-result-before-a-call-without-id/openai-chat",
        Protocol::OpenaiResponses,
        "No tool call found",
    ),
    (
        "chat-repeated-result-before-a-call-without-id/openai-chat",
        Protocol::AnthropicMessages,
        "must have a corresponding `tool_use` block",
    ),
    (
        "function-message-of-no-call-beside-reasoning-details/openai-chat",
        Protocol::OpenaiResponses,
        "input[0].call_id",
    ),
    (
        "function-message-of-no-call-beside-reasoning-details/openai-chat",
        Protocol::AnthropicMessages,
        "must define tools",
    ),
    (
        "function-message-of-no-call-beside-reasoning-details/openai-chat",
        Protocol::Gemini,
        "immediately after a function call turn",
    ),
    ("call-without-a-result/openai-chat", Protocol::AnthropicMessages, "without `tool_result`"),
    ("call-without-a-result/openai-chat", Protocol::Gemini, "number of function response parts"),
    ("call-without-a-result/openai-chat", Protocol::OpenaiResponses, "No tool output found"),
    (
        "late-results-of-calls-that-share-an-id/openai-chat",
        Protocol::AnthropicMessages,
        "without `tool_result`",
    ),
    (
        "late-results-of-calls-that-share-an-id/openai-chat",
        Protocol::Gemini,
        "number of function response parts",
    ),
    (
        "late-results-of-calls-of-three-rounds/openai-chat",
        Protocol::AnthropicMessages,
        "without `tool_result`",
    ),
    (
        "late-results-of-calls-of-three-rounds/openai-chat",
        Protocol::Gemini,
        "number of function response parts",
    ),
    (
        "late-results-of-calls-of-three-rounds/openai-chat",
        Protocol::OpenaiResponses,
        "No tool output found",
    ),
    ("only-system-messages/openai-chat", Protocol::AnthropicMessages, "at least one message"),
    ("only-system-messages/openai-chat", Protocol::Gemini, "contents is not specified"),
    ("one-system-message-alone/openai-chat", Protocol::AnthropicMessages, "at least one message"),
    ("one-system-message-alone/openai-chat", Protocol::Gemini, "contents is not specified"),
    (
        "late-function-messages-after-calls-of-one-id/openai-chat",
        Protocol::AnthropicMessages,
        "without `tool_result` blocks",
    ),
    (
        "late-function-messages-after-calls-of-one-id/openai-chat",
        Protocol::Gemini,
        "number of function response parts",
    ),
    ("result-name-outside-the-alphabet/gemini", Protocol::OpenaiChat, "preceeding message"),
    ("result-name-outside-the-alphabet/gemini", Protocol::OpenaiResponses, "call_id"),
    ("result-name-outside-the-alphabet/gemini", Protocol::AnthropicMessages, "tool"),
    ("orphan-tool-result/anthropic-messages", Protocol::Gemini, "function response turn"),
    ("orphan-tool-result/anthropic-messages", Protocol::OpenaiChat, "preceeding message"),
    ("orphan-tool-result/anthropic-messages", Protocol::OpenaiResponses, "No tool call found"),
    ("orphan-tool-result/openai-chat", Protocol::AnthropicMessages, "must define tools"),
    ("orphan-tool-result/openai-chat", Protocol::Gemini, "function response turn"),
    ("orphan-tool-result/openai-chat", Protocol::OpenaiResponses, "No tool call found"),
    (
        "results-without-ids-answer-the-last-round/gemini",
        Protocol::OpenaiChat,
        "did not have response messages",
    ),
    (
        "results-without-ids-answer-the-last-round/gemini",
        Protocol::OpenaiResponses,
        "No tool output found",
    ),
    (
        "results-without-ids-answer-the-last-round/gemini",
        Protocol::AnthropicMessages,
        "without `tool_result`",
    ),
    ("two-results-for-one-call/openai-chat", Protocol::AnthropicMessages, "single result"),
    ("two-results-for-one-call/openai-chat", Protocol::Gemini, "number of function response parts"),
    ("two-results-for-one-call/openai-chat", Protocol::OpenaiResponses, "No tool call found"),
    (
        "every-shape-of-a-setting/openai-responses",
        Protocol::AnthropicMessages,
        "'additionalProperties'",
    ),
    ("odd-shapes-of-messages/anthropic-messages", Protocol::OpenaiChat, "preceeding message"),
    ("odd-shapes-of-messages/anthropic-messages", Protocol::OpenaiResponses, "No tool call found"),
    ("odd-shapes-of-messages/anthropic-messages", Protocol::Gemini, "right role"),
    ("unusual-data-urls/openai-chat", Protocol::OpenaiResponses, "image/svg+xml"),
    (
        "no-alternatives-of-log-probabilities/openai-chat",
        Protocol::OpenaiResponses,
        "must be provided",
    ),
    (
        "no-alternatives-of-log-probabilities/openai-chat",
        Protocol::AnthropicMessages,
        "at least one message",
    ),
    (
        "no-alternatives-of-log-probabilities/openai-chat",
        Protocol::Gemini,
        "contents is not specified",
    ),
    (
        "json-mode-beside-instructions-and-a-result/gemini",
        Protocol::OpenaiChat,
        "preceeding message",
    ),
    (
        "json-mode-beside-instructions-and-a-result/gemini",
        Protocol::OpenaiResponses,
        "No tool call found",
    ),
    (
        "json-mode-beside-instructions-and-a-result/gemini",
        Protocol::AnthropicMessages,
        "unexpected `tool_use_id`",
    ),
    (
        "json-mode-of-a-history-opened-by-a-result/gemini",
        Protocol::OpenaiChat,
        "preceeding message",
    ),
    (
        "json-mode-of-a-history-opened-by-a-result/gemini",
        Protocol::OpenaiResponses,
        "No tool call found",
    ),
    (
        "json-mode-of-a-history-opened-by-a-result/gemini",
        Protocol::AnthropicMessages,
        "unexpected `tool_use_id`",
    ),
    (
        "json-mode-of-a-history-opened-by-the-model/gemini",
        Protocol::AnthropicMessages,
        "must use the \"user\" role",
    ),
    // Artefacts that this simulator did not issue.
    (
        "gemini-signatures-come-back-on-their-calls/anthropic-messages",
        Protocol::Gemini,
        "Corrupted thought signature",
    ),
    (
        "gemini-signatures-come-back-on-their-calls/openai-chat",
        Protocol::Gemini,
        "Corrupted thought signature",
    ),
    (
        "gemini-signatures-come-back-on-their-calls/openai-responses",
        Protocol::Gemini,
        "Corrupted thought signature",
    ),
    // Histories that are broken: what repairs them comes before a translation.
    ("gemini-repeated-results/gemini", Protocol::OpenaiChat, "must be a response to"),
    ("gemini-repeated-results/gemini", Protocol::OpenaiResponses, "call_id"),
    ("gemini-repeated-results/gemini", Protocol::AnthropicMessages, "unexpected `tool_use_id`"),
    (
        "images-of-repeated-results-before-a-stray-one/gemini",
        Protocol::OpenaiChat,
        "must be a response to",
    ),
    ("images-of-repeated-results-before-a-stray-one/gemini", Protocol::OpenaiResponses, "call_id"),
    (
        "images-of-repeated-results-before-a-stray-one/gemini",
        Protocol::AnthropicMessages,
        "unexpected `tool_use_id`",
    ),
    ("gemini-result-of-an-earlier-turn/gemini", Protocol::OpenaiChat, "must be a response to"),
    ("gemini-result-of-an-earlier-turn/gemini", Protocol::OpenaiResponses, "No tool call found"),
    (
        "gemini-result-of-an-earlier-turn/gemini",
        Protocol::AnthropicMessages,
        "unexpected `tool_use_id`",
    ),
    (
        "result-behind-an-empty-answer/openai-responses",
        Protocol::OpenaiChat,
        "did not have response messages: call_1",
    ),
    ("result-behind-an-empty-answer/openai-responses", Protocol::Gemini, "in the order of"),
    (
        "result-behind-words-and-an-empty-answer/openai-chat",
        Protocol::AnthropicMessages,
        "must come first",
    ),
    (
        "result-behind-words-and-an-empty-answer/openai-chat",
        Protocol::Gemini,
        "come first in their turn",
    ),
    // What both OpenAI APIs refuse goes from one to the other as it is.
    ("root-anyof-in-a-tool/openai-chat", Protocol::OpenaiResponses, "type: \"object\""),
];

#[test]
fn fixtures_are_accepted_by_their_own_api() {
    let mut refused = BTreeSet::new();
    let mut unlisted = Vec::new();
    for sample in requests() {
        let body: Value = serde_json::from_slice(&sample.body).expect("a fixture is JSON");
        let answer = ask(sample.protocol, &body, Mode::Whole);
        if answer.status == 200 {
            continue;
        }
        let (case, message) = (case(&sample), answer.message());
        let expected = REFUSED_AT_HOME.iter().find(|it| it.0 == case);
        let is_listed = expected.is_some_and(|it| message.contains(it.1));
        if !is_listed {
            unlisted.push(format!("{case} is refused: {message}"));
        }
        refused.insert(case);
    }
    assert!(unlisted.is_empty(), "{}", unlisted.join("\n"));
    let gone = REFUSED_AT_HOME.iter().find(|it| !refused.contains(it.0));
    assert_eq!(gone, None, "listed as refused, and accepted");
}

#[test]
fn translated_fixtures_are_accepted_by_the_other_apis() {
    let mut refused = BTreeSet::new();
    let mut unlisted = Vec::new();
    for sample in requests() {
        for to in Protocol::ALL.into_iter().filter(|to| *to != sample.protocol) {
            for model in models(to) {
                if let Some(message) = refusal(&sample, to, model) {
                    let case = case(&sample);
                    let expected = REFUSED_ABROAD.iter().find(|it| it.0 == case && it.1 == to);
                    let is_listed = expected.is_some_and(|it| message.contains(it.2));
                    if !is_listed {
                        unlisted.push(format!("{case} as {to:?} for {model}: {message}"));
                    }
                    refused.insert((case, to.as_str()));
                }
            }
        }
    }
    assert!(unlisted.is_empty(), "{}", unlisted.join("\n"));
    let is_gone =
        |it: &&(&str, Protocol, &str)| !refused.contains(&(it.0.to_owned(), it.1.as_str()));
    assert_eq!(REFUSED_ABROAD.iter().find(is_gone), None, "listed as refused, and accepted");
}

fn requests() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let samples = sample::below(&folder).expect("the fixtures can be read");
    samples.into_iter().filter(|it| it.kind == Kind::Request).collect()
}

/// `case/protocol` of a sample.
fn case(sample: &Sample) -> String {
    let folders: Vec<&str> = sample.name.split('/').rev().skip(1).take(2).collect();
    format!("{}/{}", folders[1], folders[0])
}

/// Models of the families whose rules differ.
fn models(protocol: Protocol) -> &'static [&'static str] {
    match protocol {
        Protocol::OpenaiChat | Protocol::OpenaiResponses => &["gpt-4.1", "gpt-5.6", "o3"],
        Protocol::AnthropicMessages => &[
            "claude-3-5-sonnet-20241022",
            "claude-haiku-4-5",
            "claude-opus-4-6",
            "claude-sonnet-5-1",
        ],
        Protocol::Gemini => &["gemini-2.0-flash", "gemini-2.5-pro", "gemini-3-pro-preview"],
    }
}

/// What a simulator has against a translation; a request that our own translation refuses never gets there.
fn refusal(sample: &Sample, to: Protocol, model: &str) -> Option<String> {
    let translated = translate::request(sample.protocol, to, &sample.body, Some(model));
    let (body, _) = translated.ok()?;
    let body: Value = serde_json::from_str(&body).expect("a translation is JSON");
    let answer = ask(to, &body, Mode::Whole);
    (answer.status != 200).then(|| answer.message())
}
