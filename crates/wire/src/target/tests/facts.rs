//! What each family accepts, refuses and needs, as tables.

use crate::target::Effort::{Low, Minimal};
use crate::target::{
    Accepts, Effort, Family, ForcedToolChoice, GeminiSchema, SystemRole, Target, TokenLimit,
};

#[test]
fn reasoning_models_of_openai_want_developer_and_their_own_limit_field() {
    let new = (SystemRole::Developer, TokenLimit::MaxCompletionTokens);
    let old = (SystemRole::System, TokenLimit::MaxTokens);
    let cases = [
        ("gpt-3.5-turbo", old),
        ("gpt-4o", old),
        ("gpt-4.1", old),
        ("o1", new),
        ("o4-mini", new),
        ("gpt-5-chat-latest", new),
        ("gpt-5.6", new),
        ("gpt-oss-120b", old),
        ("claude-opus-5", old),
        ("nobody", old),
    ];
    for (model, expected) in cases {
        let target = Target::for_model(model);
        assert_eq!((target.system_role(), target.token_limit()), expected, "{model}");
    }
}

/// Which of temperature 0.2, temperature 1, top_p 0.5, top_k, penalties and stop a request of
/// that effort may carry, as one letter each.
fn accepted(model: &str, effort: Option<Effort>) -> String {
    let family = Family::of(model);
    let sampling = family.sampling_for(effort);
    let checks = [
        ('t', sampling.temperature.admits(0.2)),
        ('1', sampling.temperature.admits(1.0)),
        ('p', sampling.top_p.admits(0.5)),
        ('k', sampling.top_k.admits(40.0)),
        ('n', sampling.penalties.admits(0.5)),
        ('s', sampling.stop.admits(1.0)),
    ];
    checks.iter().filter(|(_, admitted)| *admitted).map(|(letter, _)| *letter).collect()
}

#[test]
fn sampling_is_accepted_as_each_family_does() {
    let cases = [
        ("nobody", None, "t1pkns"),
        ("gpt-4o", None, "t1pns"),
        ("o1", None, "1s"),
        ("o3", None, "1"),
        ("gpt-5-nano", None, "1"),
        ("gpt-5-nano", Some(Minimal), "1"),
        ("gpt-5-chat-latest", None, "t1pns"),
        ("gpt-5.1", None, "t1pn"),
        ("gpt-5.1", Some(Low), "1"),
        ("gpt-5.5", None, "1"),
        ("gpt-5.5", Some(Effort::None), "t1pn"),
        ("claude-3-opus", None, "t1pks"),
        ("claude-sonnet-4-6", None, "t1pks"),
        ("claude-sonnet-4-6", Some(Low), "1s"),
        ("claude-opus-4-7", None, "1s"),
        ("claude-fable-5", None, "1s"),
        ("gemini-2.0-flash", None, "t1pkns"),
        ("gemini-2.5-flash", None, "t1pks"),
        ("gemini-3-pro", None, "t1pks"),
        ("grok-4", None, "t1pk"),
    ];
    for (model, effort, expected) in cases {
        assert_eq!(accepted(model, effort), expected, "{model} at {effort:?}");
    }
}

#[test]
fn claude_narrows_temperature_and_top_p() {
    let cases = [("claude-3-7-sonnet", true), ("claude-sonnet-4", false), ("gpt-4o", true)];
    for (model, together) in cases {
        assert_eq!(Family::of(model).sampling.temperature_with_top_p, together, "{model}");
    }
    let temperature = Family::of("claude-sonnet-4").sampling.temperature;
    assert_eq!([temperature.fit(0.3), temperature.fit(1.7)], [Some(0.3), Some(1.0)]);
    let top_p = Family::of("claude-opus-5").sampling.top_p;
    assert_eq!([top_p.fit(0.995), top_p.fit(0.9)], [Some(0.995), None]);
    assert_eq!(Accepts::Only(1.0).fit(2.0), None);
}

#[test]
fn claude_turns_and_choices_follow_the_generation() {
    use ForcedToolChoice::{Always, Never, WithoutThinking};
    // Model, prefill, system among turns, schema output, bound thinking, forced choice, name length.
    let cases = [
        ("claude-3-haiku", true, false, false, false, Always, 64),
        ("claude-sonnet-4", true, false, false, false, WithoutThinking, 128),
        ("claude-haiku-4-5", true, false, true, false, WithoutThinking, 128),
        ("claude-sonnet-4-6", false, false, true, false, WithoutThinking, 128),
        ("claude-opus-4-7", false, false, true, false, WithoutThinking, 128),
        ("claude-opus-4-8", false, true, true, false, WithoutThinking, 128),
        ("claude-opus-5", false, true, true, false, WithoutThinking, 128),
        ("claude-fable-5", false, true, true, false, WithoutThinking, 128),
        ("claude-fable-5-1", false, true, true, true, Never, 128),
        ("claude-sonnet-5-5", false, true, true, true, WithoutThinking, 128),
        ("claude-opus-5-5", false, true, true, true, Never, 128),
    ];
    for (model, prefill, system, schema, bound, forced, len) in cases {
        let family = Family::of(model);
        let found = (
            family.prefill,
            family.system_among_turns,
            family.schema_output,
            family.thinking_bound_to_prefix,
            family.forced_tool_choice,
            family.tool_name_len_max,
        );
        assert_eq!(found, (prefill, system, schema, bound, forced, len), "{model}");
    }
}

#[test]
fn gemini_grows_with_the_generation() {
    // Model, JSON Schema, schema with tools, remote files, media in results, ids, signatures.
    let cases = [
        ("gemini-1.5-flash", false, false, false, false, false, false),
        ("gemini-2.0-flash", true, false, false, false, false, false),
        ("gemini-2.5-pro", true, false, true, false, true, false),
        ("gemini-3-flash", true, true, true, true, true, true),
        ("gemini-5-pro", true, true, true, true, true, true),
        ("gemini-of-tomorrow", true, true, true, true, true, true),
        ("a-name-of-ours", true, true, true, true, true, true),
    ];
    for (model, json_schema, with_tools, remote, media, ids, signature) in cases {
        let family = Family::of(model);
        let found = (
            family.gemini_schema == GeminiSchema::Either,
            family.schema_output_with_tools,
            family.remote_files,
            family.media_in_results,
            family.call_ids,
            family.needs_thought_signature,
        );
        let expected = (json_schema, with_tools, remote, media, ids, signature);
        assert_eq!(found, expected, "{model}");
        assert_eq!(family.hosted_with_function_tools, signature, "{model}");
    }
}

#[test]
fn chat_refuses_tools_beside_reasoning_from_gpt_5_4_on() {
    let cases = [
        ("gpt-5-nano", true),
        ("gpt-5.2", true),
        ("gpt-5.4-mini", false),
        ("gpt-5.5", false),
        ("gpt-5.6-terra", false),
        ("gpt-5.8", false),
        ("nobody", true),
    ];
    for (model, expected) in cases {
        assert_eq!(Family::of(model).chat_tools_while_reasoning, expected, "{model}");
    }
}
