//! Agents as processes: what they are sent, what becomes of what they say, and that nothing of them is left.

use std::fs;
use std::future::poll_fn;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use sabir_testkit::agents::FakeAgent;
use sabir_wire::FaultKind;
use sabir_wire::conversation::{Content, Count, Part, Response};
use sabir_wire::protocol::{Event, Fold, Order};

use super::*;
use crate::Secret;

mod ends;
mod gemini;
mod login;
mod names;
mod suspend;
mod warm;
mod work;

const PATIENCE: Patience =
    Patience { first_event: Duration::from_secs(120), deadline: Duration::from_secs(240) };

fn folders(fake: &FakeAgent) -> PathBuf {
    fake.path("processes")
}

fn agent(kind: Kind, fake: &FakeAgent) -> Agent {
    patient(kind, fake, PATIENCE)
}

fn patient(kind: Kind, fake: &FakeAgent, patience: Patience) -> Agent {
    Agent::new(kind, program(fake), patience, WARMTH)
}

fn program(fake: &FakeAgent) -> Program {
    let variable = |name: &str| {
        let value = std::env::var(name).unwrap_or_default();
        (name.to_owned(), Secret::new(value))
    };
    Program {
        command: fake.command(),
        environment: vec![variable("PATH"), ("OWN".to_owned(), Secret::new("yes"))],
        login: None,
        folders: folders(fake),
        processes_max: 4,
        workplace: None,
    }
}

const WARMTH: Warmth = Warmth { processes: 1, idle: Duration::from_secs(240) };

/// All events of an answer, which must be in order, as the answer that they are.
async fn received(agent: &Agent, body: &str) -> Response<'static> {
    collected(agent.ask("m", Bytes::copy_from_slice(body.as_bytes()), "").await.unwrap()).await
}

async fn collected(mut answer: Answer) -> Response<'static> {
    let (mut fold, mut order) = (Fold::default(), Order::default());
    while let Some(events) = next(&mut answer).await {
        for event in events {
            order.step(&event).unwrap();
            fold.step(event);
        }
    }
    fold.finish()
}

/// The events that come next; none at the end.
async fn next(answer: &mut Answer) -> Option<Vec<Event<'static>>> {
    let mut events = Vec::new();
    poll_fn(|cx| answer.poll_events(cx, &mut |event| events.push(event))).await?;
    Some(events)
}

fn text(response: &Response<'_>) -> String {
    let parts = response.candidates.iter().flat_map(|it| it.message.parts.iter());
    parts
        .filter_map(|part| match part.content() {
            Content::Text(text) => Some(text.to_str().into_owned()),
            _ => None,
        })
        .collect()
}

async fn failed(kind: Kind, script: &str) -> FaultKind {
    let fake = FakeAgent::new(script);
    let response = received(&agent(kind, &fake), body_of(kind)).await;
    response.fault.unwrap().kind
}

#[tokio::test]
async fn a_program_gets_the_prompt_byte_for_byte_and_its_text_is_the_answer() {
    let fake = FakeAgent::printing("\u{1b}[1mHéllo\u{1b}[0m\n");
    for prompt in ["Your task:\nHi é\r\n\0\t".to_owned(), "€ä\n".repeat(120_000)] {
        let response = received(&agent(Kind::Plain, &fake), &prompt).await;
        assert_eq!(text(&response), "Héllo\n");
        assert!(response.fault.is_none());
        assert!(fake.noted("input") == prompt, "{} bytes differ", prompt.len());
    }
}

#[tokio::test]
async fn a_program_that_does_not_listen_may_answer() {
    let fake = FakeAgent::new("exec 0<&-; echo done");
    let response = received(&agent(Kind::Plain, &fake), &"x".repeat(1_000_000)).await;
    assert_eq!(text(&response), "done\n");
}

#[tokio::test]
async fn a_process_has_an_empty_folder_and_a_bare_environment() {
    let fake = FakeAgent::new(r#"ls -a | wc -l > "$here/files"; cat > /dev/null; echo x > note"#);
    received(&agent(Kind::Plain, &fake), "hello").await;
    assert_eq!(fake.noted("files").trim(), "2");
    let environment = fake.noted("environment");
    let names: Vec<_> = environment.lines().filter_map(|it| it.split('=').next()).collect();
    assert!(names.contains(&"OWN") && names.contains(&"PATH"), "{names:?}");
    // A shell sets the others itself.
    let known = ["OWN", "PATH", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_"];
    assert!(names.iter().all(|name| known.contains(name)), "{names:?}");
    settle(Duration::from_secs(10));
    assert_eq!(fs::read_dir(folders(&fake)).unwrap().count(), 0);
}

/// One message, as the agent is asked.
fn body_of(kind: Kind) -> &'static str {
    match kind {
        Kind::ClaudeCode => r#"{"messages":[{"role":"user","content":"hello"}]}"#,
        Kind::OpenaiCodex => r#"{"input":"hello"}"#,
        Kind::GoogleGemini => r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#,
        Kind::Plain => "hello",
    }
}

#[tokio::test]
async fn what_breaks_is_told() {
    let kinds = [Kind::Plain, Kind::GoogleGemini, Kind::ClaudeCode, Kind::OpenaiCodex];
    for kind in kinds {
        let body = body_of(kind);
        for script in ["exit 3", "kill -9 $$", "echo garbage; echo '{\"x\"'; exit 1"] {
            let fake = FakeAgent::new(script);
            let fault = received(&agent(kind, &fake), body).await.fault.unwrap();
            assert_eq!(fault.kind, FaultKind::Truncated, "{kind:?} {script}");
        }
    }
}

#[tokio::test]
async fn a_kill_in_the_middle_of_an_answer_is_told_behind_what_was_said() {
    let fake = FakeAgent::new("echo some; kill -9 $$");
    let response = received(&agent(Kind::Plain, &fake), "hello").await;
    assert_eq!(text(&response), "some\n");
    assert_eq!(response.fault.unwrap().kind, FaultKind::Truncated);
    let fake = FakeAgent::printing("better");
    assert_eq!(text(&received(&agent(Kind::Plain, &fake), "hello").await), "better");
}

#[tokio::test]
async fn a_line_without_an_end_is_given_up() {
    let script = "head -c 1073741824 /dev/zero; sleep 1000";
    assert_eq!(failed(Kind::GoogleGemini, script).await, FaultKind::Truncated);
    assert_eq!(failed(Kind::Plain, script).await, FaultKind::Truncated);
}

#[tokio::test]
async fn a_flood_of_complaints_stops_nobody() {
    let fake = FakeAgent::new("head -c 10000000 /dev/zero >&2; cat > /dev/null; echo fine");
    assert_eq!(text(&received(&agent(Kind::Plain, &fake), "hello").await), "fine\n");
}

#[tokio::test]
async fn a_flood_that_says_nothing_comes_to_an_end() {
    let patience = Patience { first_event: Duration::from_millis(300), ..PATIENCE };
    for script in [r#"exec yes '{"type":"noise"}'"#, "exec yes noise >&2"] {
        for kind in [Kind::ClaudeCode, Kind::OpenaiCodex, Kind::GoogleGemini] {
            let fake = FakeAgent::new(script);
            let began = Instant::now();
            let fault = received(&patient(kind, &fake, patience), body_of(kind)).await.fault;
            assert_eq!(fault.unwrap().kind, FaultKind::Timeout, "{kind:?} {script}");
            assert!(began.elapsed() < Duration::from_secs(20), "{kind:?} {:?}", began.elapsed());
        }
    }
}

#[tokio::test]
async fn silence_comes_to_an_end() {
    let short = Duration::from_millis(200);
    let fake = FakeAgent::new("sleep 1000");
    let patience = Patience { first_event: short, ..PATIENCE };
    let fault = received(&patient(Kind::Plain, &fake, patience), "hello").await.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::Timeout);
    let fake = FakeAgent::new("echo some; sleep 1000");
    let patience = Patience { deadline: Duration::from_secs(2), ..PATIENCE };
    let response = received(&patient(Kind::Plain, &fake, patience), "hello").await;
    assert_eq!(text(&response), "some\n");
    assert_eq!(response.fault.unwrap().kind, FaultKind::Timeout);
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let fake = FakeAgent::new("");
    let mut agent = agent(Kind::Plain, &fake);
    let program = Program {
        command: vec!["no-such-agent".to_owned()],
        environment: Vec::new(),
        login: None,
        folders: folders(&fake),
        processes_max: 1,
        workplace: None,
    };
    agent.spawner = Arc::new(Spawner::new(program, WARMTH));
    for _ in 0..3 {
        let fault = agent.ask("m", Bytes::new(), "").await.unwrap_err();
        let words = fault.message.to_str().into_owned();
        assert_eq!(
            words,
            "the agent `no-such-agent` did not start: it is not installed, or not in PATH"
        );
    }
    assert_eq!(fs::read_dir(folders(&fake)).unwrap().count(), 0);
}

#[tokio::test]
async fn what_a_launcher_leaves_behind_is_ended_with_it() {
    let fake = FakeAgent::new(r#"sleep 1000 & echo $! > "$here/child"; echo hello"#);
    assert_eq!(text(&received(&agent(Kind::Plain, &fake), "hi").await), "hello\n");
    settle(Duration::from_secs(10));
    let child: u32 = fake.noted("child").trim().parse().unwrap();
    // It was sent its end; the kernel takes a moment.
    warm::until(|| {
        let state = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        state.is_empty() || state.contains(" Z ")
    })
    .await;
}

#[tokio::test]
async fn one_that_will_not_end_is_ended_within_a_second() {
    let fake = FakeAgent::new("trap '' TERM; echo begun; while :; do sleep 1000; done");
    let agent = agent(Kind::Plain, &fake);
    let mut answer = agent.ask("m", Bytes::new(), "").await.unwrap();
    assert!(next(&mut answer).await.is_some());
    let began = Instant::now();
    drop(answer);
    // As soon as there is a place again, the process is gone.
    let all = agent.spawner.all_places().await;
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    drop(all);
    assert_eq!(fake.running(), 0);
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[tokio::test]
async fn a_thousand_cancelled_calls_leave_nothing() {
    let fake = FakeAgent::new("sleep 1000 & echo begun; sleep 1000");
    let agent = agent(Kind::Plain, &fake);
    // Other tests have some of their own at the same time.
    let before = descriptors();
    for number in 0..1_000 {
        let mut answer = match number % 3 {
            // Given up while it starts.
            0 => {
                let asked = agent.ask("m", Bytes::from_static(b"hello"), "");
                let _ = tokio::time::timeout(Duration::from_micros(number), asked).await;
                continue;
            }
            _ => agent.ask("m", Bytes::from_static(b"hello"), "").await.unwrap(),
        };
        if number % 3 == 1 {
            let events = next(&mut answer).await.unwrap();
            assert!(matches!(events[..], [Event::Start(_), ..]));
        }
        assert!(fs::read_dir(folders(&fake)).unwrap().count() <= 4, "no more than its places");
    }
    drop(agent.spawner.all_places().await);
    assert_eq!(fake.running(), 0);
    assert_eq!(fs::read_dir(folders(&fake)).unwrap().count(), 0);
    assert!(descriptors() < before + 64, "{} descriptors, {before} before", descriptors());
}

const ANSWER: &str = r#"{"type":"system","subtype":"init","model":"claude-fake"}
not json
{"type":"stream_event","parent_tool_use_id":null,"event":{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-fake","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":1}}}}
{"type":"stream_event","parent_tool_use_id":"toolu_9","event":{"type":"message_stop"}}
{"event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"type":"stream_event"}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello there"}}}
{"type":"stream_event","event":{"type":"content_block_stop","index":0}}
{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}}
{"type":"stream_event","event":{"type":"message_stop"}}
{"type":"stream_event","event":{"type":"message_start","message":{}}}
"#;

#[tokio::test]
async fn claude_is_told_the_conversation_as_it_was() {
    let fake = FakeAgent::claude(ANSWER);
    let body = r#"{"model":"m","max_tokens":99,"system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],
        "thinking":{"type":"disabled"},"output_config":{"effort":"low"},
        "tools":[{"name":"Bash","description":"runs","input_schema":{"type":"object","properties":{"b":{},"a":{}}}},{"type":"web_search_20250305","name":"web_search"}],
        "messages":[{"role":"user","content":"One"},
        {"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"z":1.0}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}]}]}"#;
    let response = received(&agent(Kind::ClaudeCode, &fake), body).await;
    assert_eq!(text(&response), "Hello there");
    assert!(response.fault.is_none());
    let sent: Vec<String> = fake.noted("input").lines().map(str::to_owned).collect();
    let expected = [
        r#"{"type":"control_request","request_id":"1","request":{"subtype":"initialize","systemPrompt":["Be brief."],"sdkMcpServers":["sabir"]}}"#,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"a","response":{"mcp_response":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sabir","version":"0.1.0"}}}}}}"#,
        r#"{"type":"user","message":{"role":"user","content":"One"},"shouldQuery":false}"#,
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"b","response":{"mcp_response":{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"Bash","description":"runs","inputSchema":{"type":"object","properties":{"b":{},"a":{}}},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/maxResultSizeChars":500000}}]}}}}}"#,
        r#"{"type":"assistant","message":{"role":"assistant","model":"claude-fake","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"z":1.0}}]}}"#,
        r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"text","text":"x"}]}]}}"#,
    ];
    let mut sorted = (sent, expected.map(str::to_owned).to_vec());
    // The list of tools is asked for whenever the CLI likes to.
    sorted.0[2..4].sort();
    sorted.1[2..4].sort();
    assert_eq!(sorted.0, sorted.1);
    let arguments = fake.noted("arguments");
    for argument in ["--model=m", "--effort=low", "--thinking=disabled", "--strict-mcp-config"] {
        assert!(arguments.lines().any(|it| it == argument), "{argument}: {arguments}");
    }
    assert!(fake.noted("environment").contains("CLAUDE_CODE_MAX_OUTPUT_TOKENS=99\n"));
}

#[tokio::test]
async fn claudes_faults_have_their_class() {
    let error = |error: &str, status: &str, kind: &str, words: &str| {
        format!(
            r#"{{"type":"assistant","message":{{"role":"assistant","content":[{{"type":"text","text":"{words}"}}]}},"error":"{error}","api_error_status":{status},"api_error_type":{kind}}}
{{"is_error":true,"num_turns":1,"type":"result","result":"{words}"}}
"#
        )
    };
    let reset = r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":99999999999}}
"#;
    let rows = [
        (
            error("authentication_failed", "null", "null", "Not logged in"),
            FaultKind::Authentication,
        ),
        (
            error("authentication_failed", "401", "\"authentication_error\"", "x"),
            FaultKind::Authentication,
        ),
        (error("rate_limit", "429", "\"rate_limit_error\"", "slow down"), FaultKind::RateLimit),
        (
            reset.to_owned() + &error("rate_limit", "429", "\"rate_limit_error\"", "limit"),
            FaultKind::RateLimit,
        ),
        (error("billing_error", "400", "\"invalid_request_error\"", "credit"), FaultKind::Billing),
        (error("server_error", "529", "\"overloaded_error\"", "busy"), FaultKind::Overloaded),
        (
            error(
                "invalid_request",
                "400",
                "\"invalid_request_error\"",
                "prompt is too long: 9 tokens > 8 maximum",
            ),
            FaultKind::ContextTooLong,
        ),
        (
            r#"{"is_error":true,"type":"result","terminal_reason":"prompt_too_long","result":"x"}"#
                .to_owned()
                + "\n",
            FaultKind::ContextTooLong,
        ),
    ];
    let body = r#"{"messages":[{"role":"user","content":"hello"}]}"#;
    for (answer, kind) in rows {
        let fake = FakeAgent::claude(&answer);
        let fault = received(&agent(Kind::ClaudeCode, &fake), body).await.fault.unwrap();
        assert_eq!(fault.kind, kind, "{answer}");
        assert_eq!(fault.retry_after_s.is_some(), answer.contains("resetsAt"), "{answer}");
        let advises = fault.message.to_str().contains("claude /login");
        assert_eq!(advises, kind == FaultKind::Authentication, "{answer}");
    }
}

#[tokio::test]
async fn the_documents_own_call_is_understood() {
    let lines = r#"{"type":"message","role":"user","content":"Instructions:\nYou are Carol..."}
{"type":"message","role":"assistant","content":"我理解了任务需求...","delta":true}
{"type":"result","success":true}
"#;
    let fake = FakeAgent::printing(lines);
    let agent = headless(&fake);
    let prompt = "Your task:\nWhat do you suggest?";
    assert_eq!(text(&received(&agent, prompt).await), "我理解了任务需求...");
    assert_eq!(fake.noted("input"), prompt);
    assert_eq!(fake.noted("arguments"), "--output-format\njsonl\n");
    assert!(fake.noted("environment").contains("GEMINI_CLI_TRUST_WORKSPACE=true"));
}

/// Gemini CLI by a command that names an output format.
fn headless(fake: &FakeAgent) -> Agent {
    let mut agent = agent(Kind::GoogleGemini, fake);
    let mut program = program(fake);
    program.command.extend(["--output-format".to_owned(), "jsonl".to_owned()]);
    agent.spawner = Arc::new(Spawner::new(program, WARMTH));
    agent
}

const TURN: &str = r#"{"method":"rawResponseItem/completed","params":{"turnId":"auto-compact-0","item":{"type":"message","id":"m0","role":"user","content":[]}}}
{"method":"turn/started","params":{"threadId":"T","turn":{"id":"U"}}}
{"id":77,"method":"item/commandExecution/requestApproval","params":{"turnId":"U"}}
{"method":"item/started","params":{"turnId":"U","item":{"type":"reasoning","id":"rs_1","summary":[],"content":[]}}}
{"method":"item/reasoning/summaryPartAdded","params":{"turnId":"U","itemId":"rs_1","summaryIndex":0}}
{"method":"item/reasoning/summaryTextDelta","params":{"turnId":"U","itemId":"rs_1","delta":"Let me see.","summaryIndex":0}}
{"method":"rawResponseItem/completed","params":{"turnId":"U","item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Let me see."}],"content":null,"encrypted_content":"c2VhbGVk","internal_chat_message_metadata_passthrough":{"turn_id":"U"}}}}
{"method":"item/started","params":{"turnId":"U","item":{"type":"agentMessage","id":"msg_1","text":""}}}
{"method":"item/agentMessage/delta","params":{"turnId":"U","itemId":"msg_1","delta":"Hello "}}
{"method":"item/agentMessage/delta","params":{"turnId":"U","itemId":"msg_1","delta":"there"}}
{"method":"rawResponseItem/completed","params":{"turnId":"U","item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hello there","annotations":[]}]}}}
{"method":"rawResponseItem/completed","params":{"turnId":"U","item":{"type":"function_call","id":"fc_1","name":"Bash","arguments":"{\"cmd\":\"ls\"}","call_id":"call_1"}}}
{"method":"item/tool/call","id":0,"params":{"turnId":"U","callId":"call_1","tool":"Bash","arguments":{"cmd":"ls"}}}
{"method":"error","params":{"turnId":"U","willRetry":true,"error":{"message":"Reconnecting"}}}
{"method":"rawResponse/completed","params":{"turnId":"U","responseId":"resp_1","usage":{"totalTokens":40,"inputTokens":20,"cachedInputTokens":4,"outputTokens":20,"reasoningOutputTokens":16}}}
"#;

/// A turn that says hello and calls nothing.
fn greeting() -> String {
    TURN.lines().filter(|line| !line.contains("call_1")).map(|line| format!("{line}\n")).collect()
}

#[tokio::test]
async fn codex_is_told_the_conversation_as_it_was() {
    let fake = FakeAgent::codex(TURN);
    let body = r#"{"model":"m","instructions":"Be brief.","reasoning":{"effort":"low"},
        "text":{"format":{"type":"json_schema","name":"n","schema":{"type":"object"}}},
        "tools":[{"type":"function","name":"Bash","description":"runs","parameters":{"type":"object","properties":{"b":{},"a":{}}},"strict":false},{"type":"web_search"}],
        "input":[{"role":"user","content":"One"},{"type":"reasoning","id":"rs_0","summary":[],"encrypted_content":"zzz"},
        {"type":"function_call","id":"fc_0","call_id":"call_0","name":"Bash","arguments":"{\"z\":1.0}","status":"completed"},
        {"type":"function_call_output","call_id":"call_0","output":"x"}]}"#;
    let response = received(&agent(Kind::OpenaiCodex, &fake), body).await;
    assert!(response.fault.is_none(), "{:?}", response.fault);
    assert_eq!(text(&response), "Hello there");
    let parts = &response.candidates[0].message.parts;
    assert!(
        matches!(parts[0].content(), Content::Reasoning(_))
            && parts[0].semantics().artefact().is_some()
    );
    assert!(matches!(parts[2].content(), Content::ToolCall(call) if call.name == *"Bash"));
    let sent: Vec<String> = fake.noted("input").lines().map(str::to_owned).collect();
    assert!(sent[0].contains(r#""method":"initialize""#));
    assert_eq!(sent[1], r#"{"method":"initialized"}"#);
    for part in [
        r#""model":"m""#,
        r#""environments":[]"#,
        r#""baseInstructions":"Be brief.""#,
        r#""dynamicTools":[{"type":"function","name":"Bash","description":"runs","inputSchema":{"type":"object","properties":{"b":{},"a":{}}}}]"#,
        r#""shell_tool":false"#,
    ] {
        assert!(sent[2].contains(part), "{part}: {}", sent[2]);
    }
    assert_eq!(
        sent[3],
        r#"{"id":3,"method":"thread/inject_items","params":{"threadId":"T","items":[{"role":"user","content":[{"type":"input_text","text":"One"}],"type":"message"},{"type":"reasoning","summary":[],"encrypted_content":"zzz"},{"type":"function_call","call_id":"call_0","name":"Bash","arguments":"{\"z\":1.0}"},{"type":"function_call_output","call_id":"call_0","output":"x"}]}}"#
    );
    assert_eq!(
        sent[4],
        r#"{"id":4,"method":"turn/start","params":{"threadId":"T","input":[],"effort":"low","summary":"auto","outputSchema":{"type":"object"}}}"#
    );
    assert!(fake.noted("environment").contains("CODEX_HOME="));
}

#[tokio::test]
async fn codex_knows_of_the_model_what_lets_it_call_the_clients_tools() {
    let fake = FakeAgent::codex(TURN);
    let agent = agent(Kind::OpenaiCodex, &fake);
    received(&agent, r#"{"input":"hello"}"#).await;
    let home = fake.noted("home");
    let expected = "model_catalog_json = \"catalog.json\"\n{\"models\":[{\"slug\":\"m\",";
    assert!(home.starts_with(expected), "{home}");
    assert!(home.contains(r#""input_modalities":["text","image"]"#) && !home.contains("tool_mode"));
    drop(agent.ask(OWN_CHOICE, Bytes::from_static(br#"{"input":"hello"}"#), "").await.unwrap());
    settle(Duration::from_secs(10));
}

#[tokio::test]
async fn codexs_faults_have_their_class() {
    let failed = |info: &str, words: &str| {
        format!(
            r#"{{"method":"turn/completed","params":{{"turn":{{"id":"U","status":"failed","error":{{"message":"{words}","codexErrorInfo":{info}}}}}}}}}
"#
        )
    };
    let rows = [
        (failed(r#""usageLimitExceeded""#, "try at noon"), FaultKind::RateLimit),
        (failed(r#""contextWindowExceeded""#, "x"), FaultKind::ContextTooLong),
        (failed(r#""unauthorized""#, "sign in"), FaultKind::Authentication),
        (failed(r#"{"httpConnectionFailed":{"httpStatusCode":401}}"#, "x"), FaultKind::Authentication),
        (failed(r#"{"responseTooManyFailedAttempts":{"httpStatusCode":429}}"#, "x"), FaultKind::RateLimit),
        (failed(r#""serverOverloaded""#, "x"), FaultKind::Overloaded),
        (failed(r#""modelNotFound""#, "x"), FaultKind::NotFound),
        (failed("null", "stream disconnected before completion"), FaultKind::Truncated),
        (r#"{"method":"turn/completed","params":{"turn":{"id":"U","status":"interrupted","error":null}}}"#.to_owned() + "\n", FaultKind::Truncated),
    ];
    for (turn, kind) in rows {
        let fake = FakeAgent::codex(&turn);
        let body = r#"{"input":"hello"}"#;
        let fault = received(&agent(Kind::OpenaiCodex, &fake), body).await.fault.unwrap();
        assert_eq!(fault.kind, kind, "{turn}");
        let advises = fault.message.to_str().contains("codex login");
        assert_eq!(advises, kind == FaultKind::Authentication, "{turn}");
    }
}

#[tokio::test]
async fn a_program_is_asked_for_its_version_and_not_for_long() {
    let short = Duration::from_millis(300);
    for (script, version) in [
        (r#"[ "$1" = --version ] && echo 'codex-cli 0.166.0'"#, Some("0.166.0")),
        ("cat; echo none", None),
        ("sleep 1000", None),
        ("head -c 1000000 /dev/zero; sleep 1000", None),
    ] {
        let fake = FakeAgent::new(script);
        let patience = if version.is_some() { PATIENCE.first_event } else { short };
        let stated = ask_version(program(&fake), patience).await.unwrap();
        assert_eq!(stated.as_deref(), version, "{script}");
        settle(Duration::from_secs(10));
        assert_eq!(fake.running(), 0, "{script}");
    }
    let missing =
        Program { command: vec!["no-such-agent".to_owned()], ..program(&FakeAgent::new("")) };
    assert!(ask_version(missing, short).await.is_err());
}

/// What the real CLIs printed, with simulators behind them.
#[tokio::test]
async fn what_the_real_ones_printed_is_understood() {
    let messages = r#"{"messages":[{"role":"user","content":"hello"}]}"#;
    let responses = r#"{"input":"hello"}"#;

    let fake = FakeAgent::claude(include_str!("tests/recorded/claude-call.jsonl"));
    let response = received(&agent(Kind::ClaudeCode, &fake), messages).await;
    assert!(response.fault.is_none(), "{:?}", response.fault);
    let parts = &response.candidates[0].message.parts;
    assert!(parts[0].semantics().artefact().is_some(), "thinking is signed");
    assert!(matches!(parts[1].content(), Content::ToolCall(call) if call.name == *"Bash"));

    let fake = FakeAgent::claude(include_str!("tests/recorded/claude-limit.jsonl"));
    let fault = received(&agent(Kind::ClaudeCode, &fake), messages).await.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::RateLimit);

    let fake = FakeAgent::codex(include_str!("tests/recorded/codex-text.jsonl"));
    let response = received(&agent(Kind::OpenaiCodex, &fake), responses).await;
    assert!(response.fault.is_none(), "{:?}", response.fault);
    let expected = "This is Sabir's openai-responses simulator, answering as `gpt-5.6`. You said: \"hello there\".";
    assert_eq!(text(&response), expected);
    assert!(response.candidates[0].message.parts[0].semantics().artefact().is_some());
    assert!(response.usage.is_some());

    let fake = FakeAgent::gemini(
        include_str!("tests/recorded/gemini-text.jsonl"),
        include_str!("tests/recorded/gemini-text-record.jsonl"),
    );
    let response = received(&agent(Kind::GoogleGemini, &fake), body_of(Kind::GoogleGemini)).await;
    assert!(response.fault.is_none(), "{:?}", response.fault);
    let expected = "This is Sabir's gemini simulator, answering as `gemini-2.5-flash`. You said: \"hello there\".";
    assert_eq!(text(&response), expected);
    assert!(response.usage.unwrap().counts[Count::Reasoning].is_some());

    let fake = FakeAgent::gemini(
        include_str!("tests/recorded/gemini-call.jsonl"),
        include_str!("tests/recorded/gemini-call-record.jsonl"),
    );
    let response = received(&agent(Kind::GoogleGemini, &fake), body_of(Kind::GoogleGemini)).await;
    assert!(response.fault.is_none(), "{:?}", response.fault);
    let parts = response.candidates[0].message.parts.iter();
    let is_call = |part: &&Part<'_>| matches!(part.content(), Content::ToolCall(call) if call.name == *"Bash");
    assert_eq!(parts.filter(is_call).count(), 2);

    let fake = FakeAgent::codex(include_str!("tests/recorded/codex-limit.jsonl"));
    let fault = received(&agent(Kind::OpenaiCodex, &fake), responses).await.fault.unwrap();
    assert_eq!(fault.kind, FaultKind::RateLimit);
}
