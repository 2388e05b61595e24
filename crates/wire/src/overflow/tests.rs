//! Every text of the table as its server writes it.

use super::*;
use crate::{FaultKind, Protocol};

/// What servers send, in the order of the table, with the counts that they tell.
const SENT: &[(&str, Option<u64>, Option<u64>)] = &[
    ("prompt is too long: 214562 tokens > 200000 maximum", Some(214_562), Some(200_000)),
    (
        "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again",
        Some(207_951),
        Some(200_000),
    ),
    (
        "The prompt is too long: 40177, model maximum context length: 32767",
        Some(40_177),
        Some(32_767),
    ),
    (
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 173172 tokens. Please reduce the length of the messages.",
        Some(173_172),
        Some(128_000),
    ),
    (
        "This model's maximum context length is 128000 tokens. However, you requested 65535 output tokens and your prompt contains at least 62466 input tokens, for a total of at least 128001 tokens.",
        Some(128_001),
        Some(128_000),
    ),
    (
        "This model's maximum context length is 16384 tokens. However, your request has 18225 input tokens. Please reduce the length of the input messages.",
        Some(18_225),
        Some(16_384),
    ),
    (
        "You passed 31745 input tokens and requested 1024 output tokens. However, the model's context length is only 32768 tokens, resulting in a maximum input length of 31744 tokens. Please reduce the length of the input prompt.",
        Some(32_769),
        Some(32_768),
    ),
    (
        "'max_tokens' or 'max_completion_tokens' is too large: 1000. This model's maximum context length is 1000 tokens and your request has 203 input tokens (1000 > 1000 - 203).",
        Some(1_203),
        Some(1_000),
    ),
    (
        "The decoder prompt (length 2136) is longer than the maximum model length of 2048. Make sure that `max_model_len` is no smaller than the number of text tokens.",
        Some(2_136),
        Some(2_048),
    ),
    (
        "This model's maximum context length is 8192 tokens. However, you requested 8204 tokens (12 in the messages, 8192 in the completion).",
        Some(8_204),
        Some(8_192),
    ),
    (
        "This model's maximum context length is 8191 tokens, however you requested 8238 tokens (8238 in your prompt; 0 for the completion).",
        Some(8_238),
        Some(8_191),
    ),
    (
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 138956 tokens (7884 of text input, 131072 in the output).",
        Some(138_956),
        Some(131_072),
    ),
    (
        "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens. Please reduce the length of the messages.",
        Some(289_650),
        Some(272_000),
    ),
    (
        "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).",
        Some(1_200_293),
        Some(1_048_576),
    ),
    (
        "Unable to submit request because the input token count is 1251952 but model only supports up to 1048576. Reduce the input token count and try again.",
        Some(1_251_952),
        Some(1_048_576),
    ),
    (
        "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
        Some(136_973),
        Some(131_072),
    ),
    (
        "Prompt contains 300000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
        Some(300_000),
        Some(131_072),
    ),
    (
        "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
        Some(42_328),
        Some(40_000),
    ),
    (
        "request (25837 tokens) exceeds the available context size (25088 tokens), try increasing it",
        Some(25_837),
        Some(25_088),
    ),
    (
        r#"{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}"#,
        Some(14_429),
        Some(8_192),
    ),
    ("Requested tokens (2138) exceed context window of 2048", Some(2_138), Some(2_048)),
    (
        "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
        Some(61_709),
        Some(40_960),
    ),
    (
        "Input length (160062 tokens) exceeds the maximum allowed length (59862 tokens).",
        Some(160_062),
        Some(59_862),
    ),
    (
        "Input length 301574 exceeds the maximum allowed input length of 262112 tokens.",
        Some(301_574),
        Some(262_112),
    ),
    (
        "Invalid request: Your request exceeded model token limit: 262144 (requested: 287431)",
        Some(287_431),
        Some(262_144),
    ),
    ("prompt token count of 146270 exceeds the limit of 128000", Some(146_270), Some(128_000)),
    (
        "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.",
        Some(111_490),
        Some(32_768),
    ),
    ("Cannot truncate prompt with n_keep (15028) >= n_ctx (7424)", Some(15_028), Some(7_424)),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 8420>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input.",
        Some(8_420),
        Some(4_096),
    ),
    (
        "Your input exceeds the context window of this model: 9 tokens > 5 maximum. (too much)",
        Some(9),
        Some(5),
    ),
    (
        "Input length (265,330) exceeds model's maximum context length (262,144).",
        Some(265_330),
        Some(262_144),
    ),
    (
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 1512. Given: 1000 `inputs` tokens and 1024 `max_new_tokens`",
        Some(2_024),
        Some(1_512),
    ),
    (
        "The input token count exceeds the maximum number of tokens allowed (1048576).",
        None,
        Some(1_048_576),
    ),
    (
        "The input token count exceeds the maximum number of tokens allowed 1048576.",
        None,
        Some(1_048_576),
    ),
    ("Requested tokens exceed context window of 512", None, Some(512)),
    (
        "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 204800]",
        None,
        Some(204_800),
    ),
    ("Request body too large for gpt-4o model. Max size: 8000 tokens.", None, Some(8_000)),
    (
        "Requested token count exceeds the model's maximum context length of 131072 tokens",
        None,
        Some(131_072),
    ),
    (
        "Reached context length of 4096 tokens with model (arch: qwen3) that does not currently support mid-generation context overflow.",
        None,
        Some(4_096),
    ),
    (
        "You passed 500001 input characters and requested 0 output tokens. However, the model's context length is only 4096 tokens, resulting in a maximum input length of 4096 tokens (at most 500000 characters). Please reduce the length of the input prompt.",
        None,
        Some(4_096),
    ),
    ("This model's maximum context length is 128000 tokens.", None, Some(128_000)),
    (
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        None,
        None,
    ),
    ("Prompt is too long", None, None),
    ("prompt too long; exceeded max context length by 15935 tokens (ref: 1)", None, None),
    ("the input length exceeds the context length", None, None),
    ("The input token count exceeds the maximum number of tokens allowed.", None, None),
    ("the request exceeds the available context size, try increasing it", None, None),
    ("Please reduce the length of the messages or completion.", None, None),
    ("The model returned the following errors: Input is too long for requested model.", None, None),
    (
        "ValidationException: The model returned the following errors: too many total text bytes",
        None,
        None,
    ),
    ("invalid params, context window exceeds limit (2013)", None, None),
    (
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        None,
        None,
    ),
    ("Context size has been exceeded.", None, None),
    ("litellm.ContextWindowExceededError: the request was refused", None, None),
    (r#"{"error":{"metadata":{"raw":{"code":"context_length_exceeded"}}}}"#, None, None),
];

#[test]
fn every_text_of_the_table_is_read_with_its_counts() {
    assert_eq!(SENT.len(), templates().count());
    for ((sent, tokens, window), template) in SENT.iter().zip(templates()) {
        let expected = Some(Overflow { tokens: *tokens, window: *window });
        assert_eq!(read(template, &sent.to_ascii_lowercase()), expected, "{template}");
        assert_eq!(find(sent), expected, "{sent}");
    }
}

#[test]
fn what_speaks_of_something_else_is_no_overflow() {
    for text in [
        "",
        "max_tokens is too large",
        "Rate limit reached on tokens per min (TPM): Limit 30000, Requested 40000.",
        "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 10000",
        "Too many tokens, please wait before trying again.",
        "string too long: expected at most 64 characters",
        "prompt is",
        "maximum context length is many tokens",
    ] {
        assert_eq!(find(text), None, "{text}");
    }
}

#[test]
fn numbers_that_are_none_leave_what_the_text_says_without_them() {
    let huge = "maximum context length is 99999999999999999999999 tokens. prompt is too long";
    assert_eq!(find(huge), Some(Overflow::default()));
    assert_eq!(find("prompt is too long: ,,, tokens > 5 maximum"), Some(Overflow::default()));
    let most = format!("exceed context limit: {0} + {0} > 5", u64::MAX);
    assert_eq!(find(&most).and_then(|found| found.tokens), Some(u64::MAX));
}

#[test]
fn a_long_text_is_not_searched_to_its_end() {
    let (before, behind) = ("é".repeat(100), "é".repeat(TEXT_BYTES_MAX));
    assert!(find(&format!("{before} prompt is too long")).is_some());
    assert_eq!(find(&format!("{behind} prompt is too long")), None);
}

const CLIENTS: [Protocol; 4] = [
    Protocol::OpenaiChat,
    Protocol::OpenaiResponses,
    Protocol::AnthropicMessages,
    Protocol::Gemini,
];

/// The words by which clients of each of them know a full context.
fn words(protocol: Protocol, (tokens, window): (u64, u64)) -> String {
    match protocol {
        Protocol::OpenaiChat => format!(
            "This model's maximum context length is {window} tokens. However, your messages resulted in {tokens} tokens."
        ),
        Protocol::OpenaiResponses => format!(
            "Your input exceeds the context window of this model: {tokens} tokens > {window} maximum."
        ),
        Protocol::AnthropicMessages => {
            format!("prompt is too long: {tokens} tokens > {window} maximum")
        }
        _ => format!(
            "The input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})."
        ),
    }
}

#[test]
fn every_text_reaches_every_client_in_its_own_words() {
    for (sent, tokens, window) in SENT {
        let fault = crate::Fault::new(FaultKind::BadRequest, *sent).refined();
        for client in CLIENTS {
            let (status, body) = client.encode_fault(&fault);
            let again = client.decode_fault(status, body.as_bytes());
            assert_eq!((status, again.kind), (400, FaultKind::ContextTooLong), "{sent}");
            assert!(again.message.to_str().contains(sent), "{body}");
            if let Some(counts) = tokens.zip(*window) {
                let stated = again.message.to_str();
                assert!(stated.contains(&words(client, counts)), "{client:?}: {stated}");
                assert_eq!(again.overflow.counts(), Some(counts), "{client:?}: {stated}");
            }
        }
    }
}
