//! `run` and `env`, with shell scripts in the place of the agent CLIs.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::folder::Folder;
use crate::serving::Serving;
use crate::waiting::wait_for;

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
fn sessions_of_an_agent_that_never_ran_before_stay_the_users() {
    let script = format!(
        "{BASH}mkdir -p \"$GEMINI_CLI_HOME/.gemini/tmp/w/chats\"\n\
         echo said > \"$GEMINI_CLI_HOME/.gemini/tmp/w/chats/session.jsonl\"\n"
    );
    let folder = folder("run-first", "gemini", &script);
    run(&folder, "run gemini", 0);
    let session = folder.path().join(".gemini/tmp/w/chats/session.jsonl");
    assert_eq!(fs::read_to_string(session).unwrap(), "said\n");
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

#[test]
fn an_agent_that_hears_no_signal_ends_with_all_that_it_started() {
    let script = format!(
        "{BASH}trap '' HUP TERM\n(trap '' HUP; echo $BASHPID; while :; do sleep 0.05; done)\n\
         while :; do sleep 0.05; done\n"
    );
    let folder = folder("run-deaf", "gemini", &script);
    let mut command = folder.command("run gemini", &[]);
    command.envs(variables(&folder)).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut started = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut started).unwrap();
    let signalled = |signal: &str, process: &str| {
        let kill = format!("kill -s {signal} {process}");
        let mut kill =
            Command::new("sh").args(["-c", &kill]).stderr(Stdio::null()).spawn().unwrap();
        kill.wait().unwrap().success()
    };
    assert!(signalled("HUP", &child.id().to_string()));
    assert_eq!(child.wait().unwrap().code(), Some(128 + 9));
    wait_for("what the agent started goes on", || (!signalled("0", started.trim())).then_some(()));
}

#[test]
fn what_a_killed_run_left_goes_with_the_next() {
    let script =
        format!("{BASH}cat \"$2\"; while [ \"$1\" ] && kill -0 $PPID; do sleep 0.05; done\n");
    let folder = folder("run-killed", "gemini", &script);
    remember(&folder, "six");
    let handed = folder.path().join("agents/handed");
    let runs = || {
        let entries = fs::read_dir(&handed).unwrap().flatten();
        entries.filter(|entry| entry.path().is_dir()).count()
    };
    let begin = || {
        let mut command = folder.command("run gemini --continue six", &[]);
        command.envs(variables(&folder)).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut handed = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut handed).unwrap();
        assert!(handed.contains("sessionId"), "{handed}");
        child
    };
    let (mut killed, mut alive) = (begin(), begin());
    assert_eq!(runs(), 2);
    killed.kill().unwrap();
    killed.wait().unwrap();
    run(&folder, "run gemini", 0);
    assert_eq!(runs(), 1, "a run that goes on keeps its files");
    let terminate = format!("kill -s TERM {}", alive.id());
    assert!(Command::new("sh").args(["-c", &terminate]).status().unwrap().success());
    alive.wait().unwrap();
    assert_eq!(runs(), 0);
}

/// Keeps a conversation whose last word waits for an answer.
#[track_caller]
fn remember(folder: &Folder, id: &str) {
    let message =
        |role: &str, content: &str| format!(r#"{{"role":"{role}","content":"{content}"}}"#);
    let transcript = [
        message("system", "Be brief."),
        message("user", "My name is Ada."),
        r#"{"role":"assistant","content":"","tool_calls":[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\"at\":1}"}}]}"#.to_owned(),
        r#"{"role":"tool","tool_call_id":"c1","content":"plum"}"#.to_owned(),
        message("assistant", "It is a plum, Ada."),
        message("user", "What was it?"),
    ];
    fs::write(folder.path().join("kept.json"), format!("[{}]", transcript.join(","))).unwrap();
    folder.sabir(&format!("conversations import kept.json --id {id}"), &[]).exits(0);
}

/// What was said in [`remember`], as an agent that names addressees is shown it.
const CONTEXT: &str = "[CONTEXT]\n- user -> assistant: My name is Ada.\n- assistant -> user: (calls look with {\"at\":1})\n\
     - look -> assistant: plum\n- assistant -> user: It is a plum, Ada.\n\n[MESSAGE]\nWhat was it?";

#[test]
fn a_conversation_is_handed_to_claude_as_a_session_of_its_own() {
    let script = format!(
        "{BASH}echo \"$@\"\nwhile [ \"$1\" != --resume ]; do shift; done\ncat \"$2\"\ncat \"$5\"\n"
    );
    let folder = folder("run-handed-claude", "claude", &script);
    remember(&folder, "six");
    let printed = run(&folder, "run claude --continue six -- -p Now?", 0);
    let mut lines = printed.lines();
    let arguments: Vec<&str> = lines.next().unwrap().split(' ').collect();
    let at = arguments.iter().position(|it| *it == "--resume").unwrap();
    let expected = ["--fork-session", "--append-system-prompt-file"];
    assert_eq!(arguments[at + 2..at + 4], expected);
    assert_eq!(arguments[at + 5..], ["-p", "Now?"]);
    let session: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(session["message"]["content"], CONTEXT);
    assert!(
        arguments[at + 1].ends_with(&format!("/{}.jsonl", session["sessionId"].as_str().unwrap()))
    );
    assert_eq!(lines.next(), Some("Be brief."));
    for file in [arguments[at + 1], arguments[at + 4]] {
        assert!(!fs::exists(file).unwrap(), "{file} was for a process that has ended");
    }
}

#[test]
fn a_conversation_is_handed_to_codex_among_its_own_sessions() {
    let script = format!(
        "{BASH}echo \"$@\"\nwhile [ \"$1\" != resume ]; do shift; done\ncat \"$HOME\"/.codex/sessions/*/*/*/rollout-*-\"$2\".jsonl\n"
    );
    let folder = folder("run-handed-codex", "codex", &script);
    remember(&folder, "six");
    let printed = run(&folder, "run codex --continue six -- exec --json Now?", 0);
    let lines: Vec<&str> = printed.lines().collect();
    let meta: Value = serde_json::from_str(lines[1]).unwrap();
    let id = meta["payload"]["id"].as_str().unwrap();
    assert!(lines[0].ends_with(&format!(" exec resume {id} --json Now?")), "{}", lines[0]);
    let message: Value = serde_json::from_str(lines[2]).unwrap();
    let expected = format!("[SYSTEM]\nBe brief.\n\n{CONTEXT}");
    assert_eq!(message["payload"]["content"][0]["text"], expected.as_str());
}

#[test]
fn a_conversation_of_a_gateway_that_runs_is_handed_to_gemini() {
    let script = format!("{BASH}echo \"$@\"\ncat \"$2\"\n");
    let folder = folder("run-handed-gemini", "gemini", &script);
    remember(&folder, "six");
    let (_serving, address) = Serving::start(&folder);
    let folder = folder.with("sabir.toml", &format!("listen = \"{address}\"\n"));
    let printed = run(&folder, "run gemini --continue six -- -p Now?", 0);
    let lines: Vec<&str> = printed.lines().collect();
    let file = lines[0].strip_prefix("--session-file ").unwrap().strip_suffix(" -p Now?").unwrap();
    assert!(!fs::exists(file).unwrap(), "{file} was for a process that has ended");
    let message: Value = serde_json::from_str(lines[2]).unwrap();
    let prompt = message["content"][0]["text"].as_str().unwrap();
    assert!(
        prompt.starts_with(
            "Instructions:\nBe brief.\n\nConversation so far:\n- user: My name is Ada."
        ),
        "{prompt}"
    );
    assert!(
        prompt
            .ends_with("- look: plum\n- assistant: It is a plum, Ada.\n\nYour task:\nWhat was it?"),
        "{prompt}"
    );
}

#[test]
fn what_of_a_conversation_does_not_fit_is_said_and_what_is_not_kept_is_refused() {
    let script = format!("{BASH}cat \"$2\"\n");
    let folder = folder("run-handed-trimmed", "gemini", &script);
    remember(&folder, "six");
    let here = variables(&folder);
    let here: Vec<_> = here.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let handed = folder.sabir("run gemini --continue six --max-bytes 110", &here).exits(0);
    let note =
        "sabir: the 3 oldest messages are left out: the prompt may have 110 bytes (--max-bytes)\n";
    assert_eq!(handed.stderr, note);
    assert!(
        !handed.stdout.contains("My name is Ada") && handed.stdout.contains("It is a plum, Ada.")
    );
    let refused = folder.sabir("run gemini --continue six --max-bytes 5", &here).exits(1);
    assert!(
        refused.stderr.contains("bytes, 5 are allowed\n  try: allow more"),
        "{}",
        refused.stderr
    );
    let refused = folder.sabir("run gemini --continue unknown", &here).exits(1);
    assert!(refused.stderr.contains("try: sabir conversations list"), "{}", refused.stderr);
    let refused = folder.sabir("run gemini --max-bytes 5", &here).exits(2);
    assert!(refused.stderr.contains("--continue"), "{}", refused.stderr);
}
