//! Answers and errors of Gemini generateContent.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use proptest::sample::select;
use serde_json::{Value, json};

use super::part::{call, model_part};
use crate::generate::object::{list, object};
use crate::generate::text::{count, id_value, signed, text, url, word};

pub(crate) fn response() -> BoxedStrategy<Value> {
    prop_oneof![15 => answered(), 1 => blocked()].boxed()
}

fn answered() -> BoxedStrategy<Value> {
    object()
        .with("candidates", candidates())
        .with("usageMetadata", usage())
        .with("modelVersion", word(&["gemini-3.1-pro", "gemini-2.5-flash"]))
        .maybe("responseId", id_value(""))
        .open()
}

/// A prompt that was refused: no candidates.
fn blocked() -> BoxedStrategy<Value> {
    let feedback = object()
        .with("blockReason", word(&["SAFETY", "OTHER", "PROHIBITED_CONTENT"]))
        .maybe("safetyRatings", list(safety_rating(), 0..2))
        .open();
    object()
        .with("promptFeedback", feedback)
        .with("usageMetadata", usage())
        .with("modelVersion", Just(json!("gemini-3.1-pro")))
        .open()
}

fn candidates() -> BoxedStrategy<Value> {
    prop_oneof![8 => vec(candidate(), 1..2), 1 => vec(candidate(), 2..4)]
        .prop_map(|mut candidates| {
            for (index, candidate) in candidates.iter_mut().enumerate() {
                candidate["index"] = json!(index);
            }
            Value::Array(candidates)
        })
        .boxed()
}

fn candidate() -> BoxedStrategy<Value> {
    let part = prop_oneof![3 => model_part(), 1 => call()];
    let content = object().with("parts", list(part, 1..4)).is("role", "model").open();
    let finish = word(&["STOP", "MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL", "OTHER"]);
    object()
        .with("content", content)
        .with("finishReason", finish)
        .rarely("finishMessage", text())
        .rarely("safetyRatings", list(safety_rating(), 0..2))
        .rarely("citationMetadata", citations())
        .rarely("groundingMetadata", grounding())
        .rarely("avgLogprobs", signed())
        .maybe("logprobsResult", logprobs())
        .open()
}

fn safety_rating() -> BoxedStrategy<Value> {
    object().is("category", "HARM_CATEGORY_HARASSMENT").is("probability", "NEGLIGIBLE").open()
}

fn citations() -> BoxedStrategy<Value> {
    let source = object()
        .maybe("startIndex", count())
        .with("endIndex", count())
        .maybe("uri", url())
        .rarely("license", text())
        .open();
    object().with("citationSources", list(source, 0..3)).open()
}

fn grounding() -> BoxedStrategy<Value> {
    let web = object().with("uri", url()).with("title", text()).open();
    let segment =
        object().maybe("startIndex", count()).with("endIndex", count()).with("text", text()).open();
    let support = object()
        .with("segment", segment)
        .with("groundingChunkIndices", Just(json!([0])))
        .maybe("confidenceScores", Just(json!([0.9])))
        .open();
    object()
        .maybe("webSearchQueries", list(text(), 0..2))
        .with("groundingChunks", list(object().with("web", web).open(), 1..3))
        .with("groundingSupports", list(support, 0..3))
        .open()
}

fn logprobs() -> BoxedStrategy<Value> {
    let token = || {
        object()
            .with("token", text())
            .rarely("tokenId", count())
            .with("logProbability", signed())
            .closed()
    };
    let top = object().with("candidates", list(token(), 0..3)).closed();
    object()
        .with("chosenCandidates", list(token(), 0..3))
        .maybe("topCandidates", list(top, 0..3))
        .rarely("logProbabilitySum", signed())
        .open()
}

fn usage() -> BoxedStrategy<Value> {
    let detail =
        object().with("modality", word(&["TEXT", "IMAGE", "AUDIO"])).with("tokenCount", count());
    object()
        .with("promptTokenCount", count())
        .maybe("candidatesTokenCount", count())
        .with("totalTokenCount", count())
        .maybe("thoughtsTokenCount", count())
        .rarely("cachedContentTokenCount", count())
        .rarely("toolUsePromptTokenCount", count())
        .maybe("promptTokensDetails", list(detail.open(), 1..3))
        .open()
}

const ERRORS: &[(u16, &str)] = &[
    (400, "INVALID_ARGUMENT"),
    (400, "FAILED_PRECONDITION"),
    (401, "UNAUTHENTICATED"),
    (403, "PERMISSION_DENIED"),
    (404, "NOT_FOUND"),
    (409, "ABORTED"),
    (429, "RESOURCE_EXHAUSTED"),
    (499, "CANCELLED"),
    (500, "INTERNAL"),
    (503, "UNAVAILABLE"),
    (504, "DEADLINE_EXCEEDED"),
];

pub(crate) fn error() -> BoxedStrategy<(u16, Value)> {
    let retry = json!({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.4s"});
    let reason =
        json!({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"});
    let details = select(vec![json!([retry]), json!([reason]), json!([])]);
    select(ERRORS)
        .prop_flat_map(move |(status, word)| {
            let error = object()
                .with("code", Just(json!(status)))
                .with("message", text())
                .is("status", word)
                .maybe("details", details.clone())
                .open();
            (Just(status), object().with("error", error).open())
        })
        .prop_flat_map(|(status, body)| {
            let wrapped = json!([body.clone()]);
            (Just(status), prop_oneof![4 => Just(body), 1 => Just(wrapped)])
        })
        .boxed()
}
