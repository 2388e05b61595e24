//! Gemini CLI by its protocol for editors: sessions that are taken up, calls that are never run, and processes that wait.

use sabir_wire::conversation::Arguments;

use super::*;

const ANSWER: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"available_commands_update","availableCommands":[]}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"another","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"lost"}}}}
warning: no JSON
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"****\nLet"}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"**A plan**\nof two"}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello "}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"there"}}}}
{"jsonrpc":"2.0","id":@P,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":7,"output_tokens":2}}}}}
"#;

const RECORD: &str = r#"{"sessionId":"x","projectHash":"y","startTime":"t","lastUpdated":"t","kind":"main"}
{"id":"a","timestamp":"t","type":"gemini","content":"Hello there","tokens":{"input":7,"output":2,"cached":3,"thoughts":5,"tool":0,"total":14},"model":"m"}
{"$set":{"lastUpdated":"t"}}
"#;

const HISTORY: &str = r#"{"systemInstruction":{"parts":[{"text":"Be brief."},{"text":"Be kind."}]},"contents":[
    {"role":"user","parts":[{"text":"One"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]},
    {"role":"model","parts":[{"functionCall":{"id":"c1","name":"Bash","args":{"z":1.0}},"thoughtSignature":"c2ln"}]},
    {"role":"user","parts":[{"functionResponse":{"id":"c1","name":"Bash","response":{"output":"42"}}}]},
    {"role":"model","parts":[{"text":"Two"}]},
    {"role":"user","parts":[{"text":" \ufeff"}]},
    {"role":"user","parts":[{"text":"Three"},{"text":"Four"}]}]}"#;

#[tokio::test]
async fn a_session_is_taken_up_as_the_conversation_was() {
    let fake = FakeAgent::gemini(ANSWER, RECORD);
    let response = received(&agent(Kind::GoogleGemini, &fake), HISTORY).await;
    assert!(response.fault.is_none(), "{:?}", response.fault);
    assert_eq!(text(&response), "Hello there");
    let counts = response.usage.unwrap().counts;
    assert_eq!((counts[Count::Input], counts[Count::Output]), (Some(7), Some(7)));
    assert_eq!(fake.noted("system"), "Be brief.\n\nBe kind.");
    let record = fake.noted("record");
    let contents: Vec<&str> = record.lines().skip(1).collect();
    assert_eq!(
        contents,
        [
            r#"{"id":"0","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"text":"One"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}}]}"#,
            r#"{"id":"1","timestamp":"2026-01-01T00:00:00.000Z","type":"gemini","content":[{"functionCall":{"id":"c1","name":"mcp_sabir_Bash","args":{"z":1.0}},"thoughtSignature":"c2ln"}]}"#,
            r#"{"id":"2","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"functionResponse":{"id":"c1","name":"mcp_sabir_Bash","response":{"output":"42"}}}]}"#,
            r#"{"id":"3","timestamp":"2026-01-01T00:00:00.000Z","type":"gemini","content":[{"text":"Two"}]}"#,
            r#"{"id":"4","timestamp":"2026-01-01T00:00:00.000Z","type":"user","content":[{"text":"Three"}]}"#,
        ]
    );
    assert!(fake.noted("input").contains(r#""prompt":[{"type":"text","text":"Four"}]"#));
    let arguments = fake.noted("arguments");
    assert_eq!(arguments, "--acp\n--skip-trust\n--admin-policy=../home/policy.toml\n--model=m\n");
}

#[tokio::test]
async fn a_file_of_variables_above_its_folder_is_not_found() {
    let script = r#"cat ../.env > "$here/variables" && wc -c < ../.env > "$here/size"; exit 1"#;
    let fake = FakeAgent::new(script);
    received(&agent(Kind::GoogleGemini, &fake), body_of(Kind::GoogleGemini)).await;
    assert_eq!(fake.noted("size").trim(), "0");
}

#[tokio::test]
async fn it_says_whether_it_takes_up_sessions_and_then_waits_for_the_call() {
    let fake = FakeAgent::gemini(ANSWER, RECORD);
    let able = agent(Kind::GoogleGemini, &fake);
    assert!(able.probe("m").await.replays);
    assert_eq!(text(&received(&able, HISTORY).await), "Hello there");
    assert_eq!(started(&fake), 1);
    let script = r#"read -r line; printf '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}\n'; cat"#;
    let fake = FakeAgent::new(script);
    let unable = agent(Kind::GoogleGemini, &fake);
    assert!(!unable.probe("m").await.replays && !unable.abilities().replays);
    let fake = FakeAgent::new("exit 1");
    let broken = agent(Kind::GoogleGemini, &fake);
    assert!(broken.probe("m").await.replays, "it is asked, and fails");
}

#[tokio::test]
async fn codex_says_whether_it_can_be_told_items() {
    let fake = FakeAgent::codex(TURN);
    assert!(agent(Kind::OpenaiCodex, &fake).probe("m").await.replays);
    let script = r#"
while IFS= read -r line; do
    printf '%s\n' "$line" >> "$here/input"
    case $line in
    *'"method":"initialize"'*) printf '{"id":1,"result":{}}\n' ;;
    *'"method":"thread/inject_items"'*) printf '{"id":3,"error":{"code":-32600,"message":"Invalid request: unknown variant `thread/inject_items`"}}\n' ;;
    *'"method":"thread/start"'*) printf '{"id":2,"result":{"thread":{"id":"T"}}}\n' ;;
    *'"method":"turn/start"'*) printf '{"id":4,"result":{"turn":{"id":"U"}}}\n'; cat "$here/turn" ;;
    esac
done"#;
    let fake = FakeAgent::new(script);
    fs::write(fake.path("turn"), TURN).unwrap();
    let mut old = agent(Kind::OpenaiCodex, &fake);
    let (shell, script) = (fake.path("sh").to_string_lossy().into_owned(), fake.command());
    let command = vec![shell, script[1].clone()];
    old.spawner = Arc::new(Spawner::new(Program { command, ..program(&fake) }, WARMTH));
    assert!(old.probe("m").await.replays, "it is not there");
    std::os::unix::fs::symlink("/bin/sh", fake.path("sh")).unwrap();
    assert!(!old.probe("m").await.replays, "it is asked once it is there");
    assert_eq!(text(&received(&old, r#"{"input":"[MESSAGE]\nhello"}"#).await), "Hello there");
    let noted = fake.noted("input");
    let asked = noted.lines().find(|line| line.contains("turn/start")).unwrap();
    assert!(asked.contains(r#""input":[{"type":"text","text":"[MESSAGE]\nhello"}]"#), "{asked}");
}

#[tokio::test]
async fn cancelled_calls_leave_nothing_and_long_prompts_arrive_whole() {
    let fake = FakeAgent::gemini("", "");
    let cancelled = agent(Kind::GoogleGemini, &fake);
    for _ in 0..100 {
        drop(cancelled.ask("m", Bytes::from_static(HISTORY.as_bytes()), "").await.unwrap());
    }
    drop(cancelled);
    let long = "0123456789 äöü €\\n".repeat(40_000);
    let turn =
        |text: &str, role: &str| format!(r#"{{"role":"{role}","parts":[{{"text":"{text}"}}]}}"#);
    let body = [turn(&long, "user"), turn("ok", "model"), turn(&long, "user")].join(",");
    let fake = FakeAgent::gemini(ANSWER, RECORD);
    let patient = agent(Kind::GoogleGemini, &fake);
    assert_eq!(
        text(&received(&patient, &format!(r#"{{"contents":[{body}]}}"#)).await),
        "Hello there"
    );
    assert!(long.len() > 700_000);
    assert!(
        fake.noted("record").contains(&format!(r#"[{{"text":"{long}"}}]"#)),
        "the history differs"
    );
    assert!(
        fake.noted("input").contains(&format!(r#"[{{"type":"text","text":"{long}"}}]"#)),
        "the prompt differs"
    );
    drop(patient);
    settle(Duration::from_secs(10));
    assert_eq!(fs::read_dir(folders(&fake)).unwrap().count(), 0);
}

#[tokio::test]
async fn thoughts_and_text_are_parts_of_their_own() {
    let fake = FakeAgent::gemini(ANSWER, RECORD);
    let response = received(&agent(Kind::GoogleGemini, &fake), body_of(Kind::GoogleGemini)).await;
    let parts = &response.candidates[0].message.parts;
    let Content::Reasoning(thought) = parts[0].content() else { panic!("{parts:?}") };
    let thought: String = thought.texts.iter().map(|piece| piece.to_str().into_owned()).collect();
    assert_eq!(thought, "Let **A plan**\nof two\n\n");
    assert_eq!((parts.len(), text(&response)), (2, "Hello there".to_owned()));
    assert_eq!(fake.noted("system"), "Answer what you are asked.");
}

fn spelled(arguments: &Arguments<'_>) -> String {
    match arguments {
        Arguments::Json(json) => json.as_str().to_owned(),
        Arguments::Text(text) => text.to_str().into_owned(),
    }
}

const ASKS: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I look."}}}}
{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"@S","options":[],"toolCall":{"toolCallId":"x","title":"Bash","content":[]}}}
"#;

const CALLED: &str = r#"{"id":"a","timestamp":"t","type":"gemini","content":"","tokens":{"input":263,"output":16,"cached":0,"thoughts":20,"tool":0,"total":299}}
{"id":"b","timestamp":"t","type":"gemini","content":"","toolCalls":[{"id":"k1","name":"mcp_sabir_Bash","args":{"city":"Oslo","n":1.0,"wait_for_previous":true},"status":"error"}]}
{"id":"b","timestamp":"t","type":"gemini","content":"","toolCalls":[{"id":"k1","name":"mcp_sabir_Bash","args":{"city":"Oslo","n":1.0,"wait_for_previous":true},"status":"error"},{"id":"k2","name":"mcp_sabir_a_name_of_which_there_is_more_than_the_c_@","args":{}}]}
"#;

#[tokio::test]
async fn calls_are_the_clients_under_its_own_names_and_nothing_runs() {
    let long = "a_name_of_which_there_is_more_than_the_cli_would_leave_whole";
    let body = format!(
        r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}}],"tools":[{{"functionDeclarations":[{{"name":"Bash","parametersJsonSchema":{{"type":"object"}}}},{{"name":"{long}"}}]}}]}}"#
    );
    let seen = super::super::gemini::seen(long);
    assert!(seen.len() < 64 && seen.starts_with("mcp_sabir_a_name"), "{seen}");
    let called = CALLED.replace("mcp_sabir_a_name_of_which_there_is_more_than_the_c_@", &seen);
    let fake = FakeAgent::gemini(ASKS, &called);
    let response = received(&agent(Kind::GoogleGemini, &fake), &body).await;
    assert!(response.fault.is_none(), "{:?}", response.fault);
    let parts = response.candidates[0].message.parts.iter();
    let calls: Vec<(String, String)> = parts
        .filter_map(|part| match part.content() {
            Content::ToolCall(call) => {
                Some((call.name.to_str().into_owned(), spelled(&call.arguments)))
            }
            _ => None,
        })
        .collect();
    let bash = ("Bash".to_owned(), r#"{"city":"Oslo","n":1.0}"#.to_owned());
    assert_eq!(calls, [bash, (long.to_owned(), "{}".to_owned())]);
    assert_eq!(text(&response), "I look.");
    assert_eq!(response.usage.unwrap().counts[Count::Output], Some(36));
    let input = fake.noted("input");
    let sent: Vec<&str> = input.lines().collect();
    assert!(
        sent[1].contains(r#""mcpServers":[{"type":"http","name":"sabir","url":"http://127.0.0.1:"#)
    );
    assert!(sent[3].contains("session/cancel"), "{}", sent[3]);
    assert_eq!(
        sent[4],
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"the client answers"}}"#
    );
}

#[tokio::test]
async fn results_stand_apart_from_what_is_asked() {
    let fake = FakeAgent::gemini(ANSWER, RECORD);
    let agent = agent(Kind::GoogleGemini, &fake);
    let body = |more: &str| {
        format!(
            r#"{{"contents":[{{"role":"user","parts":[{{"text":"go"}}]}},{{"role":"model","parts":[{{"functionCall":{{"name":"f","args":{{}}}}}}]}},{{"role":"user","parts":[{{"functionResponse":{{"name":"f","response":{{"output":"1"}}}}}}{more}]}}]}}"#
        )
    };
    for (more, behind, prompt) in [
        ("", "[{\"text\":\"\u{200b}\"}]", "\u{200b}"),
        (r#",{"text":"And?"}"#, "[{\"text\":\"\u{200b}\"}]", "And?"),
        (r#",{"text":"Well."},{"text":"And?"}"#, r#"[{"text":"Well."}]"#, "And?"),
    ] {
        assert_eq!(text(&received(&agent, &body(more)).await), "Hello there");
        let record = fake.noted("record");
        assert!(
            record.lines().last().unwrap().ends_with(&format!("\"content\":{behind}}}")),
            "{record}"
        );
        let asked = fake.noted("input").lines().last().unwrap().to_owned();
        assert!(asked.contains(&format!(r#"[{{"type":"text","text":"{prompt}"}}]"#)), "{asked}");
    }
}

#[tokio::test]
async fn its_faults_have_their_class() {
    let error = |code: i64, words: &str| {
        let words = words.replace('"', "\\\"");
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":@P,\"error\":{{\"code\":{code},\"message\":\"{words}\"}}}}\n"
        )
    };
    let ended = |reason: &str, tokens: u64| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":@P,\"result\":{{\"stopReason\":\"{reason}\",\"_meta\":{{\"quota\":{{\"token_count\":{{\"input_tokens\":0,\"output_tokens\":{tokens}}}}}}}}}}}\n"
        )
    };
    let overflow = r#"{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","status":"INVALID_ARGUMENT"}}"#;
    for (turn, kind) in [
        (error(-32000, "Authentication required"), FaultKind::Authentication),
        (error(401, "x"), FaultKind::Authentication),
        (error(429, "Rate limit exceeded. Try again later."), FaultKind::RateLimit),
        (error(400, overflow), FaultKind::ContextTooLong),
        (error(400, "API key not valid"), FaultKind::Authentication),
        (error(500, "terminated"), FaultKind::Truncated),
        (error(503, "x"), FaultKind::Overloaded),
        (ended("end_turn", 0), FaultKind::Truncated),
        (ended("max_tokens", 0), FaultKind::ContextTooLong),
        (ended("cancelled", 0), FaultKind::Truncated),
    ] {
        let fake = FakeAgent::gemini(&turn, "");
        let response =
            received(&agent(Kind::GoogleGemini, &fake), body_of(Kind::GoogleGemini)).await;
        let fault = response.fault.unwrap();
        assert_eq!(fault.kind, kind, "{turn}");
        let advises = fault.message.to_str().contains("log in");
        assert_eq!(advises, kind == FaultKind::Authentication, "{turn}");
    }
}

/// How often a process introduced itself.
fn started(fake: &FakeAgent) -> usize {
    fake.noted("input").matches("\"initialize\"").count()
}

#[tokio::test]
async fn a_process_waits_for_the_next_call_and_keeps_nothing_of_the_last() {
    let fake = FakeAgent::gemini(ANSWER, RECORD);
    let agent = agent(Kind::GoogleGemini, &fake);
    for _ in 0..3 {
        assert_eq!(text(&received(&agent, HISTORY).await), "Hello there");
        let home =
            fs::read_dir(folders(&fake)).unwrap().next().unwrap().unwrap().path().join("home");
        assert!(!home.join(".gemini/tmp/work/chats").exists(), "a record is left");
    }
    assert_eq!((started(&fake), fs::read_dir(folders(&fake)).unwrap().count()), (1, 1));
    // A call that is given up takes its process with it, and another model has one of its own.
    drop(agent.ask("m", Bytes::from_static(HISTORY.as_bytes()), "").await.unwrap());
    let mut answer = agent.ask("other", Bytes::from_static(HISTORY.as_bytes()), "").await.unwrap();
    while next(&mut answer).await.is_some() {}
    assert_eq!(started(&fake), 2);
    drop(agent);
    settle(Duration::from_secs(10));
    assert_eq!(fs::read_dir(folders(&fake)).unwrap().count(), 0);
}

#[tokio::test]
async fn one_that_waits_gives_way_and_does_not_wait_for_ever() {
    let fake = FakeAgent::gemini(ANSWER, RECORD);
    let mut agent = agent(Kind::GoogleGemini, &fake);
    agent.spawner = Spawner::new(Program { processes_max: 1, ..program(&fake) }, WARMTH).into();
    for model in ["a", "b", "a"] {
        let mut answer =
            agent.ask(model, Bytes::from_static(HISTORY.as_bytes()), "").await.unwrap();
        while next(&mut answer).await.is_some() {}
    }
    assert_eq!(started(&fake), 3);
    let warmth = Warmth { idle: Duration::from_millis(50), ..WARMTH };
    agent.spawner = Spawner::new(Program { processes_max: 1, ..program(&fake) }, warmth).into();
    assert_eq!(text(&received(&agent, HISTORY).await), "Hello there");
    // As soon as there is a place again, the process is gone.
    drop(agent.spawner.all_places().await);
    let warmth = Warmth { processes: 0, ..WARMTH };
    agent.spawner = Spawner::new(Program { processes_max: 1, ..program(&fake) }, warmth).into();
    assert_eq!(text(&received(&agent, HISTORY).await), "Hello there");
    drop(agent.spawner.all_places().await);
}

#[tokio::test]
async fn one_that_died_waiting_is_replaced() {
    let fake = FakeAgent::gemini(ANSWER, RECORD);
    let agent = agent(Kind::GoogleGemini, &fake);
    received(&agent, HISTORY).await;
    let process = fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let is_own =
            String::from_utf8_lossy(&line).contains(&*fake.path("agent").to_string_lossy());
        entry.file_name().to_str()?.parse::<i32>().ok().filter(|_| is_own)
    });
    let process = rustix::process::Pid::from_raw(process.unwrap()).unwrap();
    rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
    while fs::read_dir(folders(&fake)).unwrap().count() > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(text(&received(&agent, HISTORY).await), "Hello there");
}
