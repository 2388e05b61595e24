//! Dialects of servers, and what a target makes of server and model together.

use crate::target::{
    AnthropicVersion, Dialect, ReasoningField, ReasoningReplay, SystemRole, Target, TokenLimit,
};

#[test]
fn dialects_are_found_by_name_and_differ_where_their_servers_do() {
    // Name, reasoning field, replay, developer role, stream options, schema output, unknown fields.
    use ReasoningField as Field;
    use ReasoningReplay as Replay;
    let cases = [
        ("openai", Field::Absent, Replay::Never, true, true, true, false),
        ("azure", Field::Absent, Replay::Never, true, true, true, false),
        ("deepseek", Field::ReasoningContent, Replay::WithToolCalls, false, true, false, true),
        ("mistral", Field::ContentChunks, Replay::Always, false, false, true, false),
        ("groq", Field::Reasoning, Replay::Never, false, true, true, false),
        ("OpenRouter", Field::ReasoningAndDetails, Replay::Always, true, true, true, true),
        ("xai", Field::ReasoningContent, Replay::Never, false, true, true, true),
        ("perplexity", Field::Absent, Replay::Never, false, false, true, true),
        ("ollama", Field::Reasoning, Replay::Never, false, true, true, true),
        ("vllm", Field::ReasoningContent, Replay::Never, false, true, true, true),
        ("llama.cpp", Field::ReasoningContent, Replay::Always, false, true, true, true),
        ("unknown", Field::ReasoningContent, Replay::Never, true, true, true, true),
    ];
    for (name, field, replay, developer, stream, schema, unknown) in cases {
        let dialect = Dialect::named(name).unwrap();
        let found = (
            dialect.reasoning_field,
            dialect.reasoning_replay,
            dialect.developer_role,
            dialect.stream_options,
            dialect.schema_output,
            dialect.tolerates_unknown_fields,
        );
        assert_eq!(found, (field, replay, developer, stream, schema, unknown), "{name}");
    }
    assert_eq!(Dialect::named("nobody"), None);
    assert!(Dialect::MISTRAL.call_ids.accepts("D681PevKs"));
    assert!(!Dialect::MISTRAL.call_ids.accepts("call_D681P"));
}

#[test]
fn the_server_overrules_the_family() {
    let target = Target::for_model("gpt-5").with_dialect(Dialect::GROQ);
    assert_eq!(target.system_role(), SystemRole::System);
    assert_eq!(target.token_limit(), TokenLimit::MaxTokens);
}

#[test]
fn a_demanded_limit_comes_from_the_operator_then_the_family() {
    let cases = [
        (Target::for_model("claude-opus-4"), 32_000),
        (Target { max_output_tokens: Some(500), ..Target::for_model("claude-opus-4") }, 500),
        (Target::for_model("nobody"), 4_096),
        (Target::default(), 4_096),
    ];
    for (target, expected) in cases {
        assert_eq!(target.required_output_tokens(), expected);
    }
}

#[test]
fn the_anthropic_version_is_the_newest_one_begun() {
    let cases = [
        ("2023-01-01", AnthropicVersion::V2023_06_01),
        ("2023-06-01", AnthropicVersion::V2023_06_01),
        ("2026-10-21", AnthropicVersion::V2026_10_21),
        ("2027-03-01", AnthropicVersion::V2026_10_21),
        ("", AnthropicVersion::V2023_06_01),
    ];
    for (header, expected) in cases {
        assert_eq!(AnthropicVersion::in_force(header), expected, "{header}");
    }
    assert!(AnthropicVersion::V2023_06_01.takes_sampling());
    assert!(!AnthropicVersion::V2026_10_21.takes_sampling());
}

#[test]
fn signatures_of_google_go_to_its_own_server_alone() {
    let gemini = Target::for_model("gemini-3-pro");
    let cases = [
        (gemini, true),
        (gemini.with_dialect(Dialect::GEMINI), true),
        (Target::for_model("nobody").with_dialect(Dialect::GEMINI), true),
        // A strict server refuses the field, whatever it calls its model.
        (gemini.with_dialect(Dialect::OPENAI), false),
        (gemini.with_dialect(Dialect::OPENROUTER), false),
        (Target::for_model("nobody"), false),
        (Target::for_model("gpt-5.6"), false),
    ];
    for (target, expected) in cases {
        assert_eq!(target.reads_google_signatures(), expected, "{target:?}");
    }
}
