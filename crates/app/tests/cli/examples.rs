//! The example in the help of every command, run as it stands there.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::folder::Folder;

/// Commands that run until they are ended.
const SERVERS: [&str; 2] = ["serve", "sim"];

/// A folder with all that the examples name. A gateway with a config file has no name `sim` of its own.
fn folder(test: &str) -> Folder {
    let config = "listen = \"127.0.0.1:1\"\nenv_providers = false\n[[model]]\nname = \"sim\"\n\
                  targets = [{ provider = \"sim-chat\", model = \"sim\" }]\n[[model]]\nname = \"smart\"\n\
                  targets = [{ provider = \"sim-gemini\", model = \"m\" }]\n";
    let folder = Folder::new(test)
        .with("sabir.toml", config)
        .with("tour.json", r#"[{"role":"user","content":"pears","timestamp":1}]"#)
        .with(
            "request.json",
            r#"{"model":"sim","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}"#,
        )
        .with(
            "answer.json",
            r#"{"id":"resp_1","object":"response","status":"completed","output":[]}"#,
        )
        .with("input.json", r#"{"contextMessages":[],"currentMessage":"hello"}"#)
        .with("history.json", r#"{"messages":[{"role":"user","content":"hello"}]}"#)
        .with("review.toml", "[[member]]\nname = \"ann\"\nmodel = \"sim\"\n")
        .with("claude", "#!/bin/sh\nexit 0\n");
    let program = folder.path().join("claude");
    std::fs::set_permissions(program, PermissionsExt::from_mode(0o700)).unwrap();
    folder
}

/// The commands that a help lists.
fn commands(folder: &Folder, of: &str) -> Vec<String> {
    let help = folder.sabir(&format!("{of} --help"), &[]).exits(0).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty()).filter(|line| line.starts_with("  "));
    listed.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// The examples in the help of a command.
fn examples(folder: &Folder, command: &str) -> Vec<String> {
    let help = folder.sabir(&format!("{command} --help"), &[]).exits(0).stdout;
    let examples = help.lines().skip_while(|line| *line != "Example:").skip(1);
    examples.take_while(|line| !line.is_empty()).map(|line| line.trim().to_owned()).collect()
}

fn shell(folder: &Folder, line: &str) -> Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_sabir")).parent().unwrap();
    let path = format!("{}:{}:/usr/bin:/bin", folder.path().display(), programs.display());
    let mut shell = Command::new("bash");
    shell.args(["-c", line]).current_dir(folder.path()).env_clear().env("PATH", path);
    shell.env("HOME", folder.path()).env("SABIR_DATA_DIR", folder.path());
    shell
}

/// Runs an example to its end, or until it says that it listens.
fn check(folder: &Folder, command: &str, example: &str) {
    let mut shell = shell(folder, &format!("exec {example}"));
    if SERVERS.contains(&command) {
        let mut server = shell.stdout(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut first).unwrap();
        server.kill().unwrap();
        server.wait().unwrap();
        assert!(first.contains("http://127.0.0.1:"), "{example}: {first}");
        return;
    }
    let input = folder.path().join("request.json");
    let run = shell.stdin(std::fs::File::open(input).unwrap()).output().unwrap();
    assert!(run.status.success(), "{example}: {}", String::from_utf8_lossy(&run.stderr));
}

#[test]
fn the_example_of_every_help_runs() {
    let folder = folder("examples");
    let mut all = commands(&folder, "");
    assert!(all.len() >= 14, "{all:?}");
    let nested = commands(&folder, "conversations");
    all.extend(nested.iter().map(|command| format!("conversations {command}")));
    folder.sabir("conversations import tour.json --id tour", &[]).exits(0);
    for command in all {
        let examples = examples(&folder, &command);
        assert!(!examples.is_empty(), "{command} shows no example");
        for example in examples {
            assert!(example.starts_with(&format!("sabir {command}")), "{command}: {example}");
            check(&folder, &command, &example);
        }
    }
}

#[test]
fn the_examples_of_the_whole_run() {
    let folder = folder("all-examples");
    let help = folder.sabir("--help", &[]).exits(0).stdout;
    let examples = help.lines().skip_while(|line| *line != "Examples:").skip(1).map(str::trim);
    folder.sabir("conversations import tour.json --id tour", &[]).exits(0);
    let mut run = 0;
    for example in examples {
        // Those that serve at a port of their own are held by the help of their commands, and nobody streams here.
        if example == "sabir" || example.starts_with("sabir serve") || example.contains('…') {
            continue;
        }
        check(&folder, "", example);
        run += 1;
    }
    assert!(run >= 10, "{help}");
}
