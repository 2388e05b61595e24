//! Help, versions, completions and wrong usage.

use crate::folder::Folder;
use crate::run::sabir;

const COMMANDS: [&str; 14] = [
    "serve",
    "chat",
    "run",
    "env",
    "check",
    "models",
    "convert",
    "inspect",
    "assemble",
    "build",
    "conversations",
    "usage",
    "sim",
    "completions",
];

#[test]
fn help_names_every_command_and_protocol() {
    for arguments in ["--help", "-h"] {
        let run = sabir(arguments, "").exits(0);
        for command in COMMANDS {
            assert!(run.stdout.contains(&format!("  {command} ")), "{command} in {}", run.stdout);
        }
        assert_eq!(run.stderr, "");
    }
    let help = sabir("--help", "").stdout;
    for protocol in ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] {
        assert!(help.contains(protocol), "{protocol} in {help}");
    }
}

#[test]
fn commands_that_do_not_exist_are_not_pretended() {
    for command in ["keys", "tail"] {
        let run = sabir(command, "").exits(2);
        assert_eq!(run.stdout, "");
        assert!(run.stderr.contains(command), "{}", run.stderr);
    }
}

#[test]
fn help_of_convert_explains_options_and_exit_codes() {
    let help = sabir("convert --help", "").exits(0).stdout;
    for text in
        ["--from", "--to", "--kind", "--model", "--strict", "--report", "[FILE]", "3 refused"]
    {
        assert!(help.contains(text), "{text} in {help}");
    }
}

#[test]
fn version_is_that_of_the_package() {
    let run = sabir("--version", "").exits(0);
    assert_eq!(run.stdout, format!("sabir {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_know_commands_and_protocols() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = sabir(&format!("completions {shell}"), "").exits(0);
        for word in ["convert", "inspect", "anthropic-messages"] {
            // Elvish's generator completes options and commands but no values.
            let expected =
                shell != "elvish" && shell != "powershell" || word != "anthropic-messages";
            assert!(!expected || run.stdout.contains(word), "{word} for {shell}");
        }
    }
    sabir("completions tcsh", "").exits(2);
}

#[test]
fn completions_ask_for_ids_wherever_one_is_wanted() {
    // Four commands of `conversations`, `chat --conversation` and `run --continue`.
    let zsh = sabir("completions zsh", "").exits(0).stdout;
    assert_eq!(zsh.matches(":_sabir_ids'").count(), 6, "{zsh}");
    let fish = sabir("completions fish", "").exits(0).stdout;
    assert_eq!(fish.matches("(sabir conversations ids ").count(), 3, "{fish}");
}

#[test]
fn an_id_is_completed_behind_many_titles_that_have_its_letters() {
    let mut folder = Folder::new("completed-behind").with(
        "sabir.toml",
        "listen = \"127.0.0.1:1\"\nenv_providers = false\n[store]\nurl = \"files:data\"\n",
    );
    let ids = ["pear-tree".to_owned()].into_iter().chain((0..120).map(|it| format!("talk-{it}")));
    for id in ids {
        std::fs::create_dir_all(folder.path().join("data/sessions").join(&id)).unwrap();
        let about = r#"[{"role":"user","content":"About pears"}]"#;
        folder = folder.with(&format!("data/sessions/{id}/transcript.json"), about);
    }
    assert_eq!(folder.sabir("conversations ids pear", &[]).exits(0).stdout, "pear-tree\n");
}

#[test]
fn wrong_usage_is_told_apart_from_bad_input() {
    let wrong = [
        "convert",
        "convert --from chat",
        "convert --from chat --to cobol",
        "convert --from chat --to gemini --kind letter",
        "convert --from chat --to gemini --model=",
        "convert --from chat --to gemini --report xml",
        "convert --from chat --to gemini --status 404",
        "convert --from chat --to gemini --kind error --status 42",
        "inspect --from chat --strict",
        "inspect --from chat --status 404",
        "assemble",
        "assemble --agent cursor",
        "assemble --agent claude --max-bytes few",
        "assemble --agent claude --max-bytes -1",
        "build --to cobol",
        "completions",
        "serve --listen here",
        "serve --listen 4747",
        "sim --listen localhost",
        "run cursor",
        "env cursor",
    ];
    for arguments in wrong {
        let run = sabir(arguments, "{}").exits(2);
        assert_eq!(run.stdout, "", "{arguments}");
        assert!(run.stderr.contains("error:"), "{arguments}: {}", run.stderr);
    }
}

#[test]
fn an_unknown_protocol_gets_the_list_of_the_known() {
    let run = sabir("convert --from chat --to anthropic", "{}").exits(2);
    for protocol in ["openai-chat", "openai-responses", "anthropic-messages", "gemini"] {
        assert!(run.stderr.contains(protocol), "{}", run.stderr);
    }
}
