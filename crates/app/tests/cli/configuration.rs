//! `check` and `models`: problems with their places, and what a configuration comes to.

use std::fs;

use crate::folder::Folder;

const FINE: &str = r#"
[[provider]]
preset = "ollama"

[[model]]
name = "smart"
targets = [{ provider = "ollama", model = "qwen" }, { provider = "sim-chat", model = "sim" }]
"#;

#[test]
fn every_problem_is_printed_with_its_place() {
    let folder = Folder::new("check-problems")
        .with("sabir.toml", "listn = 1\n\n[[provider]]\npreset = \"openai\"\nretries = \"x\"\n");
    for arguments in ["check", "models", "check --config sabir.toml"] {
        let run = folder.sabir(arguments, &[]).exits(1);
        assert_eq!(run.stdout, "");
        let lines: Vec<&str> = run.stderr.lines().collect();
        assert_eq!(lines.len(), 3, "{}", run.stderr);
        assert!(lines[0].starts_with("sabir.toml:1:1: unknown key `listn`"), "{}", lines[0]);
        assert!(lines[1].starts_with("sabir.toml:4:10: "), "{}", lines[1]);
        assert!(lines[2].starts_with("sabir.toml:5:11: "), "{}", lines[2]);
    }
}

#[test]
fn a_file_that_is_not_there_is_a_problem_only_if_it_was_named() {
    let folder = Folder::new("check-missing");
    let run = folder.sabir("check --config no.toml", &[]).exits(1);
    assert_eq!(
        run.stderr,
        "no.toml: cannot be read: there is no such file; mend the path or the file\n"
    );
    folder.sabir("check", &[("SABIR_CONFIG", "no.toml")]).exits(1);
    let run = folder.sabir("check", &[("HOME", "nowhere")]).exits(0);
    assert!(run.stdout.contains("no config file"), "{}", run.stdout);
    assert!(run.stdout.contains("sim-gemini"), "{}", run.stdout);
}

#[cfg(unix)]
#[test]
fn a_file_without_an_end_is_a_problem() {
    let key = "[[provider]]\npreset = \"openai\"\napi_key = { file = \"/dev/zero\" }\n";
    let folder = Folder::new("check-endless").with("sabir.toml", key);
    let run = folder.sabir("check", &[]).exits(1);
    let message =
        "cannot read the key file /dev/zero: it is longer than 64 KiB; mend the path or the file";
    assert!(run.stderr.contains(message), "{}", run.stderr);
    let run = folder.sabir("check --config /dev/zero", &[]).exits(1);
    assert_eq!(
        run.stderr,
        "/dev/zero: cannot be read: it is longer than 4096 KiB; mend the path or the file\n"
    );
}

#[cfg(unix)]
#[test]
fn agents_say_which_versions_they_are() {
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'codex-cli 9.1.0'\n";
    let config = "env_providers = false\n[[provider]]\nname = \"a\"\nagent = \"claude-code\"\ncommand = [\"/bin/sh\", \"-c\", \"echo 1.2.3\"]\n\
        [[provider]]\nname = \"b\"\nagent = \"google-gemini\"\ncommand = \"no-such-agent\"\n";
    let folder = Folder::new("check-agents").with("sabir.toml", config).with("codex", script);
    let program = folder.path().join("codex");
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let printed = folder.sabir("check", &[("PATH", &path)]).exits(0).stdout;
    for text in [
        "(claude-code)  1.2.3\n",
        "does not start: entity not found\n",
        "`codex` (9.1.0, newer than 0.166.0, which Sabir is tested with) could answer too.",
        "agent = \"openai-codex\"\n",
    ] {
        assert!(printed.contains(text), "{text}: {printed}");
    }
}

#[test]
fn a_fine_file_is_summed_up() {
    let folder = Folder::new("check-fine").with("other.toml", FINE);
    let run = folder.sabir("check", &[("SABIR_CONFIG", "other.toml")]).exits(0);
    assert_eq!(run.stderr, "");
    for text in [
        "other.toml: fine",
        "listens on http://127.0.0.1:4747",
        "  ollama         openai-chat",
        "http://localhost:11434/v1",
        "  smart            ollama/qwen, then sim-chat/sim",
    ] {
        assert!(run.stdout.contains(text), "{text} in {}", run.stdout);
    }
}

#[test]
fn models_are_listed_with_where_they_go() {
    let folder = Folder::new("models").with("sabir.toml", FINE);
    let key = [("XAI_API_KEY", "sesame")];
    let run = folder.sabir("models", &key).exits(0);
    let rows: Vec<Vec<&str>> = run
        .stdout
        .lines()
        .map(|line| line.split("  ").filter(|it| !it.is_empty()).collect())
        .collect();
    let rows: Vec<Vec<&str>> =
        rows.into_iter().map(|row| row.into_iter().map(str::trim).collect()).collect();
    assert_eq!(rows[0], ["smart", "ollama/qwen, then sim-chat/sim", "alias"]);
    assert!(rows.contains(&vec!["xai/*", "xai/*", "direct"]), "{rows:?}");
    assert!(rows.contains(&vec!["grok-*", "xai/grok-*", "claim"]), "{rows:?}");
    assert!(!run.stdout.contains("substituted") && !run.stdout.contains("sesame"));
    fs::remove_file(folder.path().join("sabir.toml")).unwrap();
    let run = folder.sabir("models", &key).exits(0);
    assert!(run.stdout.contains("substituted"), "{}", run.stdout);
}

#[test]
fn what_is_known_of_models_is_listed_as_json() {
    let more = "\n[[model]]\nname = \"mine\"\ntargets = [{ provider = \"ollama\", model = \"my-model\" }]\n\
                [[family]]\nmatch = \"my-*\"\ncontext_window = 4096\ninputs = [\"image\"]\n";
    let folder = Folder::new("models-json").with("sabir.toml", &format!("{FINE}{more}"));
    let listed = folder.sabir("models --json", &[]).exits(0).json();
    let models = listed["models"].as_array().unwrap();
    let mine = models.iter().find(|it| it["name"] == "mine").unwrap();
    assert_eq!(mine["targets"], serde_json::json!(["ollama/my-model"]), "{mine}");
    assert_eq!(mine["capabilities"]["context_window"], 4_096, "{mine}");
    assert_eq!(mine["capabilities"]["inputs"], serde_json::json!(["image"]), "{mine}");
}
