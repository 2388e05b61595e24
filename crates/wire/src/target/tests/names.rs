//! Which family a model name belongs to, and the limits that come with it.

use crate::target::{Family, Inputs};

#[test]
fn families_are_recognised_by_name() {
    let cases = [
        ("claude-2.1", "claude-2"),
        ("anthropic.claude-v2:1", "claude-2"),
        ("claude-instant-1.2", "claude-2"),
        ("claude-3-opus-20240229", "claude-3"),
        ("claude-3-5-sonnet-latest", "claude-3.5"),
        ("claude-3.7-sonnet:thinking", "claude-3.7"),
        ("claude-sonnet-4-20250514", "claude-4"),
        ("claude-opus-4@20250514", "claude-4"),
        ("claude-opus-4-1-20250805", "claude-4"),
        ("anthropic/claude-haiku-4.5", "claude-4.5"),
        ("us.anthropic.claude-sonnet-4-5-v1:0", "claude-4.5"),
        ("claude-4.5-sonnet", "claude-4.5"),
        ("claude-sonnet-4-6", "claude-4.6"),
        ("claude-opus-4-6[1m]", "claude-4.6"),
        ("claude-opus-4-7", "claude-4.7"),
        ("claude-opus-4-8", "claude-4.8"),
        ("claude-opus-4-9", "claude-4.8"),
        ("claude-opus-5", "claude-5"),
        ("claude-sonnet-5-20260801", "claude-5"),
        ("claude-fable-5-1", "claude-5.1"),
        ("claude-mythos-5-2", "claude-5.1"),
        ("claude-sonnet-5-5", "claude-5.5"),
        ("claude-opus-6", "claude-5.5"),
        ("claude-nonexistent", "claude"),
        ("gpt-3.5-turbo-0125", "gpt-3.5"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-4-1106-preview", "gpt-4-turbo"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o"),
        ("chatgpt-4o-latest", "gpt-4o"),
        ("ft:gpt-4o-mini-2024-07-18:team::id", "gpt-4o"),
        ("gpt-4.1-nano", "gpt-4.1"),
        ("o1-2024-12-17", "o1"),
        ("o3-mini", "o3"),
        ("openai/o4-mini:online", "o3"),
        ("gpt-5-nano-2025-08-07", "gpt-5"),
        ("GPT-5", "gpt-5"),
        ("gpt-5.1", "gpt-5.1"),
        ("gpt-5.2-2025-12-11", "gpt-5.2"),
        ("gpt-5.3-codex", "gpt-5.3-codex"),
        ("gpt-5.4-mini-2026-03-17", "gpt-5.4"),
        ("gpt-5.5-2026-04-23", "gpt-5.5"),
        ("gpt-5.6-terra", "gpt-5.6"),
        ("gpt-5.9", "gpt-5.6"),
        ("gpt-6-mini", "gpt-5.6"),
        ("my-azure-gpt-5.1-deployment", "gpt-5.1"),
        ("models/gemini-1.5-pro-002", "gemini-1.5"),
        ("gemini-2.0-flash-001", "gemini-2.0"),
        ("google/gemini-2.5-flash", "gemini-2.5"),
        ("models/gemini-3-pro", "gemini-3"),
        ("gemini-3-flash-preview", "gemini-3"),
        ("gemini-3.1-pro-preview", "gemini-3.1"),
        ("gemini-3.5-flash-lite", "gemini-3"),
        ("gemini-3.7-flash", "gemini-3.7"),
        ("gemini-3.7-flash-lite", "gemini-3"),
        ("gemini-4-flash", "gemini-3.7"),
        ("gemini-flash-latest", "gemini-3.7"),
        ("gemini-exp-1206", "gemini"),
        ("deepseek-v4-flash", "deepseek"),
        ("deepseek/deepseek-r1-distill-llama-70b", "deepseek"),
        ("grok-4-0709", "grok"),
        ("mistral-small-latest", "mistral"),
        ("ministral-3b-latest", "mistral"),
        ("llama-3.3-70b-versatile", "llama"),
        ("meta.llama3-1-70b-instruct-v1:0", "llama"),
        ("Qwen3-1.7B-Q4_K_M", "qwen"),
        ("openai/gpt-oss-20b", "gpt-oss"),
        ("sonar-pro", "sonar"),
        ("accounts/x/models/y", "unknown"),
        ("gpt-5/custom", "unknown"),
        ("marco-o1", "unknown"),
        ("allam-2-7b", "unknown"),
        ("", "unknown"),
    ];
    for (model, expected) in cases {
        assert_eq!(Family::of(model).name, expected, "{model}");
    }
    assert_eq!(Family::of("somebody/something"), Family::UNKNOWN);
}

#[test]
fn limits_are_those_of_the_model_pages() {
    let cases = [
        ("claude-3-haiku-20240307", 200_000, 4_096),
        ("claude-3-5-haiku-latest", 200_000, 8_192),
        ("claude-opus-4-1", 200_000, 32_000),
        ("claude-sonnet-4", 200_000, 64_000),
        ("claude-opus-4-5", 200_000, 64_000),
        ("claude-opus-4-6", 1_000_000, 128_000),
        ("claude-haiku-5-5", 1_000_000, 128_000),
        ("gpt-4", 8_192, 8_192),
        ("gpt-4-32k-0613", 32_768, 8_192),
        ("gpt-4o", 128_000, 16_384),
        ("gpt-4.1", 1_047_576, 32_768),
        ("o3", 200_000, 100_000),
        ("gpt-5", 400_000, 128_000),
        ("gpt-5.6", 1_050_000, 128_000),
        ("gemini-1.5-pro", 2_097_152, 8_192),
        ("gemini-2.5-pro", 1_048_576, 65_536),
        ("gemini-3-pro", 1_048_576, 65_536),
    ];
    for (model, context, output) in cases {
        let family = Family::of(model);
        let found = (family.context_tokens, family.output_tokens_max);
        assert_eq!(found, (Some(context), Some(output)), "{model}");
    }
}

#[test]
fn the_widest_window_is_that_of_a_beta_where_there_is_one() {
    for (model, widest) in [
        ("claude-sonnet-4-5", Some(1_000_000)),
        ("claude-3-5-haiku", Some(200_000)),
        ("claude-opus-5", Some(1_000_000)),
        ("gpt-4o", Some(128_000)),
        ("somebody/something", None),
    ] {
        assert_eq!(Family::of(model).widest_context(), widest, "{model}");
    }
}

#[test]
fn inputs_beside_text_are_known() {
    let audio = Inputs { audio: true, ..Inputs::TEXT };
    let cases = [
        ("gpt-3.5-turbo", Inputs::TEXT),
        ("gpt-4-turbo", Inputs::IMAGE),
        ("gpt-5", Inputs::IMAGE_AND_PDF),
        ("gpt-4o-audio-preview", audio),
        ("o3-mini", Inputs::TEXT),
        ("claude-3-opus", Inputs::IMAGE),
        ("claude-opus-5", Inputs::IMAGE_AND_PDF),
        ("gemini-2.5-flash", Inputs::ALL),
        ("deepseek-v4-flash", Inputs::TEXT),
        ("nobody", Inputs::ALL),
    ];
    for (model, expected) in cases {
        assert_eq!(Family::of(model).inputs, expected, "{model}");
    }
}
