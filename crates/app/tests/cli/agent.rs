//! `run` and `env`, with shell scripts in the place of the agent CLIs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::folder::Folder;
use crate::serving::Serving;

/// An address that nobody listens at: the lowest port is nobody's on a machine for tests.
const NOBODY: &str = "listen = \"127.0.0.1:1\"\nenv_providers = false\n";

const BASH: &str = "#!/usr/bin/env bash\n";

/// A folder with a config file and a program of that name.
fn folder(test: &str, program: &str, script: &str) -> Folder {
    let folder = Folder::new(test).with("sabir.toml", NOBODY).with(program, script);
    let file = folder.path().join(program);
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// The variables of a user whose home and programs are in the folder.
fn variables(folder: &Folder) -> [(String, String); 3] {
    let here = folder.path().display().to_string();
    let path = format!("{here}:{}", std::env::var("PATH").unwrap());
    [
        ("HOME".to_owned(), here),
        ("PATH".to_owned(), path),
        ("ANTHROPIC_API_KEY".to_owned(), "the user's own".to_owned()),
    ]
}

#[track_caller]
fn run(folder: &Folder, arguments: &str, code: i32) -> String {
    let variables = variables(folder);
    let variables: Vec<_> =
        variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    folder.sabir(arguments, &variables).exits(code).stdout
}

#[test]
fn an_agent_that_is_not_installed_is_named_with_its_package() {
    let folder = Folder::new("run-missing").with("sabir.toml", NOBODY);
    for (agent, package) in [
        ("claude", "@anthropic-ai/claude-code"),
        ("openai-codex", "@openai/codex"),
        ("gemini", "@google/gemini-cli"),
    ] {
        let run = folder.sabir(&format!("run {agent}"), &[("PATH", "/nowhere")]).exits(127);
        assert!(run.stderr.contains(&format!("npm install -g {package}")), "{}", run.stderr);
    }
}

#[test]
fn an_agent_gets_a_gateway_its_arguments_and_no_other_key() {
    let script = format!(
        "{BASH}echo \"$@\"\necho \"$ANTHROPIC_MODEL $ANTHROPIC_AUTH_TOKEN ${{ANTHROPIC_API_KEY-none}}\"\n\
         address=${{ANTHROPIC_BASE_URL#http://}}\nexec 3<>/dev/tcp/${{address/://}}\n\
         printf 'GET /healthz HTTP/1.1\\r\\nhost: %s\\r\\nconnection: close\\r\\n\\r\\n' \"$address\" >&3\n\
         cat <&3\nexit 7\n"
    );
    let folder = folder("run-hosted", "claude", &script);
    let printed = run(&folder, "run claude --model sim-chat/x -- --continue -p hello", 7);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines[0].starts_with("--settings ") && lines[0].ends_with(" --continue -p hello"));
    assert_eq!(lines[1], "sim-chat/x sabir none");
    assert!(lines[2].starts_with("HTTP/1.1 200") && printed.ends_with("ok\n"), "{printed}");
    assert!(!folder.path().join(".claude").exists());
    let settings = lines[0].split(' ').nth(1).unwrap();
    assert!(!fs::exists(settings).unwrap(), "{settings} was for a gateway that is gone");
}

#[test]
fn what_an_agent_asked_last_is_written_before_the_end() {
    let script = format!(
        "{BASH}address=${{ANTHROPIC_BASE_URL#http://}}\nexec 3<>/dev/tcp/${{address/://}}\n\
         body='{{\"model\":\"sim-chat/asked-last\",\"messages\":[{{\"role\":\"user\",\"content\":\"hello\"}}]}}'\n\
         printf 'POST /v1/chat/completions HTTP/1.0\\r\\nhost: localhost\\r\\ncontent-length: %s\\r\\n\\r\\n%s' \
         \"${{#body}}\" \"$body\" >&3\ncat <&3\n"
    );
    let folder = folder("run-rows", "claude", &script);
    let printed = run(&folder, "run claude", 0);
    assert!(printed.starts_with("HTTP/1.0 200"), "{printed}");
    let files = ["sabir.db", "sabir.db-wal"].map(|it| fs::read(folder.path().join(it)));
    let model = b"asked-last";
    let is_in = |bytes: &Vec<u8>| bytes.windows(model.len()).any(|it| it == model);
    assert!(files.iter().flatten().any(is_in), "the call has no row");
}

#[test]
fn a_gateway_that_runs_is_used_with_its_key() {
    let script = format!("{BASH}echo \"$SABIR_AGENT_KEY $*\"\n");
    let folder = folder("run-found", "codex", &script);
    let (_serving, address) = Serving::start(&folder);
    let auth =
        "[auth]\nrequired = true\n[[auth.key]]\nname = \"a\"\nvalue = { value = \"sesame\" }\n";
    let folder = folder.with("sabir.toml", &format!("listen = \"{address}\"\n{auth}"));
    let printed = run(&folder, "run codex --model m -- exec", 0);
    assert!(printed.starts_with("sesame -c "), "{printed}");
    assert!(printed.contains(&format!("base_url=\"http://{address}/v1\"")), "{printed}");
    assert!(printed.ends_with("-c model=\"m\" exec\n"), "{printed}");
}

#[test]
fn the_users_own_settings_are_read_and_left_alone() {
    let script = format!(
        "{BASH}cat \"$GEMINI_CLI_HOME/.gemini/settings.json\" \"$GEMINI_CLI_HOME/.gemini/GEMINI.md\"\n"
    );
    let folder = folder("run-settings", "gemini", &script);
    let own = folder.path().join(".gemini");
    fs::create_dir_all(&own).unwrap();
    let settings = "{\"ui\": {\"theme\": \"dark\"}} // mine\n";
    fs::write(own.join("settings.json"), settings).unwrap();
    fs::write(own.join("GEMINI.md"), "my rules").unwrap();
    let printed = run(&folder, "run gemini", 0);
    let theme = r#"{"ui":{"theme":"dark"},"security":{"auth":{"selectedType":"gemini-api-key"}},"#;
    assert!(printed.starts_with(theme) && printed.ends_with("}}my rules"), "{printed}");
    // Every errand that the agent has a model of its own for goes to the one that it was started with.
    let overridden = printed.matches(r#"{"model":"sim-chat/sim"}"#).count();
    assert!(
        overridden > 10 && overridden == printed.matches("modelConfig\":").count(),
        "{printed}"
    );
    assert_eq!(fs::read_to_string(own.join("settings.json")).unwrap(), settings);
}

#[test]
fn what_env_prints_is_for_a_shell() {
    let folder = folder("env-shell", "claude", BASH).with(
        "check.sh",
        "eval \"$(\"$1\" env claude --model \"it's \\$HOME\")\"\n\
         echo \"$ANTHROPIC_BASE_URL|$ANTHROPIC_DEFAULT_HAIKU_MODEL|${ANTHROPIC_API_KEY-none}\"\n",
    );
    let mut shell = Command::new("sh");
    shell.args(["check.sh", env!("CARGO_BIN_EXE_sabir")]).current_dir(folder.path());
    let output = shell.env_clear().envs(variables(&folder)).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, "http://127.0.0.1:1|it's $HOME|none\n");
    let hints = String::from_utf8(output.stderr).unwrap();
    assert!(hints.starts_with("# then: claude --settings "), "{hints}");
    assert!(
        hints.ends_with("# no gateway answers at http://127.0.0.1:1 yet: sabir serve\n"),
        "{hints}"
    );
    assert!(run(&folder, "env codex", 0).contains("# then: codex -c "));
}

#[test]
fn a_signal_reaches_the_agent_whose_exit_code_counts() {
    let script = format!("{BASH}trap 'exit 9' TERM\necho ready\nwhile :; do sleep 0.05; done\n");
    let folder = folder("run-signal", "claude", &script);
    let mut command = Command::new(env!("CARGO_BIN_EXE_sabir"));
    command.args(["run", "claude"]).current_dir(folder.path());
    command.env_clear().envs(variables(&folder)).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    assert_eq!(ready, "ready\n");
    let kill = format!("kill -s TERM {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(9));
}
