//! Names and where they lead, with and without a config file.

use std::path::Path;

use sabir_wire::Protocol;

use crate::config;
use crate::config::types::{Config, Strategy};
use crate::route::{Directory, Route, listing, resolve};

const FILE: &str = r#"
[[provider]]
name = "local"
protocol = "chat"
base_url = "http://localhost:8000/v1"
models = ["local-*", "*-shared", "claude-*"]

[[provider]]
name = "claude"
protocol = "messages"
base_url = "http://localhost:8001"
models = ["claude-*", "claude-opus-*", "exact-shared"]

[[model]]
name = "smart"
strategy = "weighted"
targets = [{ provider = "claude", model = "claude-opus-5", weight = 3 }, { provider = "local", model = "qwen" }]

[[model]]
name = "local/special"
targets = [{ provider = "claude", model = "from-exact" }]

[[model]]
name = "gpt-*"
targets = [{ provider = "local", model = "wide" }]

[[model]]
name = "gpt-5*"
targets = [{ provider = "local", model = "narrow" }]

[[model]]
name = "local/*"
targets = [{ provider = "claude", model = "never, the provider comes first" }]
"#;

fn from_file() -> Config {
    config::parse(FILE, Path::new("sabir.toml"), &|_| None).unwrap()
}

fn from_keys(keys: &'static [&'static str]) -> Config {
    config::zero_configuration(&move |name| keys.contains(&name).then(|| "key".to_owned()))
}

/// Resolves to `route: provider/model, …`, or to the message.
fn outcome(config: &Config, asked: &str, client: Protocol) -> String {
    match resolve(&Directory::new(config.clone(), ""), asked, client) {
        Err(error) => error.to_string(),
        Ok(found) => {
            let target =
                |it: &crate::route::Candidate| format!("{}/{}", it.provider.name, it.model);
            let targets: Vec<_> = found.targets.iter().map(target).collect();
            format!("{}: {}", found.route.label(), targets.join(", "))
        }
    }
}

#[track_caller]
fn check(config: &Config, cases: &[(&str, &str)]) {
    for (asked, expected) in cases {
        assert_eq!(outcome(config, asked, Protocol::Gemini), *expected, "{asked}");
    }
}

#[test]
fn names_are_resolved_in_their_order() {
    check(
        &from_file(),
        &[
            ("smart", "alias: claude/claude-opus-5, local/qwen"),
            ("local/special", "alias: claude/from-exact"),
            ("local/qwen", "direct: local/qwen"),
            ("local/a/b", "direct: local/a/b"),
            ("gpt-4", "alias: local/wide"),
            ("gpt-5.6", "alias: local/narrow"),
            ("local-7b", "claim: local/local-7b"),
            ("sim-chat/anything", "direct: sim-chat/anything"),
        ],
    );
}

#[test]
fn the_narrowest_claim_wins_and_the_first_of_equals() {
    check(
        &from_file(),
        &[
            ("claude-opus-5", "claim: claude/claude-opus-5"),
            ("claude-haiku", "claim: local/claude-haiku"),
            ("exact-shared", "claim: claude/exact-shared"),
            ("other-shared", "claim: local/other-shared"),
        ],
    );
}

#[test]
fn the_collection_of_gemini_clients_is_no_part_of_the_name() {
    check(
        &from_file(),
        &[
            ("models/smart", "alias: claude/claude-opus-5, local/qwen"),
            ("models/local/qwen", "direct: local/qwen"),
            ("models/gpt-5", "alias: local/narrow"),
        ],
    );
}

#[test]
fn weights_and_strategies_come_along() {
    let found = resolve(&Directory::new(from_file(), ""), "smart", Protocol::OpenaiChat).unwrap();
    assert_eq!(found.strategy, Strategy::Weighted);
    assert_eq!(found.targets.iter().map(|it| it.weight).collect::<Vec<_>>(), [3, 1]);
    assert_eq!(found.route, Route::Alias);
}

#[test]
fn what_nobody_serves_says_what_would_help() {
    let config = from_file();
    let cases: [(&str, &[&str]); 6] = [
        ("gemini-3-pro", &["GEMINI_API_KEY", "preset = \"gemini\"", "[[model]]"]),
        ("mistral/some", &["MISTRAL_API_KEY", "preset = \"mistral\""]),
        ("ollama/qwen", &["add a [[provider]] with preset = \"ollama\""]),
        ("somebody/some", &["OPENROUTER_API_KEY"]),
        ("mystery", &["`local/…`", "[[model]] named `mystery`"]),
        ("claude/", &["[[model]]"]),
    ];
    for (asked, words) in cases {
        let message = outcome(&config, asked, Protocol::OpenaiChat);
        for word in words.iter().chain(&["GET /v1/models"]) {
            assert!(message.contains(word), "{word} in {message}");
        }
    }
}

#[test]
fn a_name_is_quoted_short_and_harmless() {
    let message = outcome(&from_file(), &"\u{1b}[2J".repeat(500), Protocol::OpenaiChat);
    assert!(!message.contains('\u{1b}') && message.len() < 1_000, "{message}");
}

#[test]
fn the_simulated_model_is_never_in_the_clients_own_protocol() {
    for config in [from_keys(&[]), from_keys(&["OPENAI_API_KEY"]), from_file()] {
        for client in Protocol::ALL {
            let found = resolve(&Directory::new(config.clone(), ""), "sim", client).unwrap();
            let provider = found.targets[0].provider();
            assert!(provider.name.starts_with("sim-"), "{}", provider.name);
            assert_ne!(provider.endpoints[0].protocol, client);
            assert_eq!(found.route, Route::Alias);
        }
    }
}

#[test]
fn a_provider_with_a_simulators_name_takes_its_place_but_simulates_nothing() {
    let text = "[[provider]]\nname = \"sim-anthropic\"\nprotocol = \"messages\"\n\
                base_url = \"http://localhost:8001\"\n";
    let config = config::parse(text, Path::new("sabir.toml"), &|_| None).unwrap();
    assert_eq!(outcome(&config, "sim", Protocol::OpenaiChat), "alias: sim-gemini/sim");
    assert_eq!(
        outcome(&config, "sim-anthropic/a", Protocol::OpenaiChat),
        "direct: sim-anthropic/a"
    );
}

#[test]
fn without_a_file_and_without_keys_everything_is_simulated() {
    let config = from_keys(&[]);
    assert_eq!(outcome(&config, "gpt-5.6", Protocol::OpenaiChat), "substituted: sim-anthropic/sim");
    assert_eq!(
        outcome(&config, "a/b", Protocol::AnthropicMessages),
        "substituted: sim-responses/sim"
    );
}

#[test]
fn without_a_file_the_first_real_provider_takes_what_nobody_serves() {
    check(
        &from_keys(&["OPENAI_API_KEY", "XAI_API_KEY"]),
        &[
            ("claude-sonnet-5-1", "substituted: openai/gpt-5.6"),
            ("grok-4", "claim: xai/grok-4"),
            ("o3", "claim: openai/o3"),
            ("xai/grok-4", "direct: xai/grok-4"),
        ],
    );
    check(
        &from_keys(&["OPENROUTER_API_KEY", "ANTHROPIC_API_KEY"]),
        &[
            ("anthropic/claude-opus-5", "direct: anthropic/claude-opus-5"),
            ("meta/llama-4", "claim: openrouter/meta/llama-4"),
        ],
    );
}

#[test]
fn the_listing_has_a_row_for_every_way() {
    let config = from_keys(&["XAI_API_KEY"]);
    let rows = listing(&config);
    let line = |row: &crate::route::Row| format!("{} > {}", row.asked, row.targets.join(", "));
    let lines: Vec<_> = rows.iter().map(line).collect();
    assert_eq!(lines[0], "xai/* > xai/*");
    assert_eq!(lines[lines.len() - 2..], ["grok-* > xai/grok-*", "* > xai/grok-4.3"]);
    let lines: Vec<_> = listing(&from_file()).iter().map(line).collect();
    assert_eq!(lines[0], "smart > claude/claude-opus-5 (3), local/qwen (1)");
    assert!(!lines.iter().any(|line| line.starts_with("* >")), "{lines:?}");
}
