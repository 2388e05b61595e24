//! Agents at work: their own tools in a folder, told as thoughts, and sessions that a conversation takes up.

use super::*;

const CLAUDE: &str = r#"{"type":"system","subtype":"init","model":"claude-fake","session_id":"S-1"}
{"type":"stream_event","event":{"type":"message_start","message":{}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Let me look."}}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"toolu_1","name":"Read","input":{"file_path":"note.txt"}}]}}
{"type":"stream_event","event":{"type":"message_stop"}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"hi"}]}}
{"type":"stream_event","event":{"type":"message_start","message":{}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"It says hi."}}}
{"stop_reason":"end_turn","usage":{"input_tokens":1,"cache_read_input_tokens":2,"cache_creation_input_tokens":4,"output_tokens":8},"is_error":false,"type":"result"}
"#;

const CODEX: &str = r#"{"method":"item/started","params":{"turnId":"U","item":{"type":"reasoning","id":"r"}}}
{"method":"item/reasoning/summaryTextDelta","params":{"turnId":"U","itemId":"r","delta":"Hm."}}
{"method":"item/agentMessage/delta","params":{"turnId":"old","itemId":"m","delta":"lost"}}
{"method":"item/started","params":{"turnId":"U","item":{"type":"agentMessage","id":"m"}}}
{"method":"item/agentMessage/delta","params":{"turnId":"U","itemId":"m","delta":"Let me look."}}
{"method":"rawResponse/completed","params":{"turnId":"U","usage":{"inputTokens":5,"outputTokens":3}}}
{"method":"item/started","params":{"turnId":"U","item":{"type":"commandExecution","id":"c","command":"cat note.txt"}}}
{"method":"item/started","params":{"turnId":"U","item":{"type":"fileChange","id":"f","changes":[{"path":"a"},{"path":"b"}]}}}
{"id":77,"method":"item/commandExecution/requestApproval","params":{"turnId":"U"}}
{"method":"item/started","params":{"turnId":"U","item":{"type":"agentMessage","id":"n"}}}
{"method":"item/agentMessage/delta","params":{"turnId":"U","itemId":"n","delta":"It says hi."}}
{"method":"rawResponse/completed","params":{"turnId":"U","usage":{"inputTokens":2,"outputTokens":5}}}
{"method":"turn/completed","params":{"turn":{"id":"U","status":"completed","error":null}}}
"#;

const GEMINI: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"****\nHm."}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Let me look."}}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"tool_call","toolCallId":"c","status":"in_progress","title":"note.txt","kind":"read"}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed","title":"note.txt","kind":"read"}}}
{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"It says hi."}}}}
{"jsonrpc":"2.0","id":@P,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":7,"output_tokens":8}}}}}
"#;

/// What Gemini CLI notes of a turn: messages are noted again whenever they grow.
const RECORD: &str = r#"{"sessionId":"abcdef01-0000","projectHash":"y","kind":"main"}
{"id":"a","type":"user","content":[{"text":"one"}]}
{"id":"b","type":"gemini","content":"","toolCalls":[]}
{"id":"b","type":"gemini","content":"","toolCalls":[{"id":"c","name":"read_file"}]}
{"$set":{"lastUpdated":"t"}}
{"id":"d","type":"gemini","content":"It says hi."}
"#;

fn fake(kind: Kind) -> FakeAgent {
    match kind {
        Kind::ClaudeCode => FakeAgent::claude(CLAUDE),
        Kind::OpenaiCodex => FakeAgent::codex(CODEX),
        Kind::GoogleGemini | Kind::Plain => FakeAgent::gemini(GEMINI, RECORD),
    }
}

const KINDS: [Kind; 3] = [Kind::ClaudeCode, Kind::OpenaiCodex, Kind::GoogleGemini];

fn worker(kind: Kind, fake: &FakeAgent, permissions: Permissions) -> Agent {
    let folder = fake.path("project");
    fs::create_dir_all(&folder).unwrap();
    let workplace = Workplace { folder, permissions, sessions: fake.path("sessions") };
    let program = Program { workplace: Some(workplace), ..program(fake) };
    Agent::new(kind, program, PATIENCE, WARMTH)
}

fn digest_of(behind: &Digest, speaker: Speaker, text: &str) -> Digest {
    let mut utterance = behind.begin(speaker);
    utterance.push(text);
    utterance.end()
}

/// A task of a conversation that ends here, with what was said before.
fn task(before: &Digest, now: &str) -> String {
    let through = digest_of(before, Speaker::User, now);
    let thread = Thread {
        key: "me\nconv_1".to_owned(),
        before: before.clone(),
        through,
        prompt: format!("new: {now}"),
    };
    let task = Task {
        prompt: format!("all: {now}"),
        system: Some("Be brief.".to_owned()),
        thread: Some(thread),
    };
    task.to_body()
}

#[tokio::test]
async fn a_folder_goes_by_the_path_that_links_lead_to_and_one_that_is_gone_is_told() {
    for kind in KINDS {
        let fake = fake(kind);
        let (linked, real) = (fake.path("project"), fake.path("real"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &linked).unwrap();
        let agent = worker(kind, &fake, Permissions::Read);
        let body = Task { prompt: "Read it".to_owned(), ..Task::default() }.to_body();
        received(&agent, &body).await;
        let real = fs::canonicalize(real).unwrap();
        assert_eq!(fake.noted("cwd").trim(), real.to_str().unwrap(), "{kind:?}");
        let sent = fake.noted("input");
        assert!(!sent.contains(linked.to_str().unwrap()), "{kind:?}: {sent}");
        fs::remove_dir(&real).unwrap();
        let gone = agent.ask("m", body.into(), "").await.unwrap_err();
        assert!(gone.message.to_str().contains("folder"), "{kind:?}: {:?}", gone.message);
        settle(Duration::from_secs(10));
    }
}

#[tokio::test]
async fn what_it_says_is_the_answer_and_what_it_does_is_told_as_thoughts() {
    for kind in KINDS {
        let fake = fake(kind);
        let agent = worker(kind, &fake, Permissions::Read);
        let body = Task { prompt: "Read it".to_owned(), ..Task::default() }.to_body();
        let response = received(&agent, &body).await;
        assert!(response.fault.is_none(), "{kind:?} {:?}", response.fault);
        assert_eq!(text(&response), "Let me look.\n\nIt says hi.", "{kind:?}");
        let mut thoughts = String::new();
        for part in &response.candidates[0].message.parts {
            match part.content() {
                Content::Reasoning(it) => {
                    it.texts.iter().for_each(|text| thoughts += &text.to_str());
                }
                Content::Text(_) => {}
                other => panic!("{kind:?}: {other:?}"),
            }
        }
        assert!(thoughts.contains("Hm.") && thoughts.contains("note.txt"), "{kind:?}: {thoughts}");
        let counts = response.usage.unwrap().counts;
        assert_eq!((counts[Count::Input], counts[Count::Output]), (Some(7), Some(8)), "{kind:?}");
        let cwd = fs::canonicalize(fake.noted("cwd").trim()).unwrap();
        assert_eq!(cwd, fs::canonicalize(fake.path("project")).unwrap(), "{kind:?}");
        assert!(fake.noted("input").contains("Read it"), "{kind:?}");
        settle(Duration::from_secs(10));
        assert_eq!(fs::read_dir(folders(&fake)).unwrap().count(), 0, "{kind:?}");
        assert!(!fake.path("sessions").exists(), "{kind:?}: nobody keeps it");
    }
}

#[tokio::test]
async fn a_conversation_takes_up_its_session_unless_something_else_was_said() {
    for kind in KINDS {
        let fake = fake(kind);
        let agent = worker(kind, &fake, Permissions::Read);
        let start = Digest::default();
        received(&agent, &task(&start, "one")).await;
        assert!(fake.noted("input").contains("all: one"), "{kind:?}");
        let user = digest_of(&start, Speaker::User, "one");
        let before = digest_of(&user, Speaker::Agent, "Let me look. It says hi.");
        let taken_up = |fake: &FakeAgent| match kind {
            Kind::ClaudeCode => fake.noted("arguments").contains("--resume=S-1"),
            Kind::OpenaiCodex => fake.noted("input").contains("thread/resume"),
            _ => fake.noted("input").contains("session/load"),
        };
        assert!(!taken_up(&fake), "{kind:?}");

        received(&agent, &task(&before, "two")).await;
        assert!(taken_up(&fake) && fake.noted("input").contains("new: two"), "{kind:?}");

        // The same again is something else: the session knows what came after it.
        fs::remove_file(fake.path("input")).unwrap();
        let response = received(&agent, &task(&before, "two")).await;
        assert_eq!(text(&response), "Let me look.\n\nIt says hi.", "{kind:?}");
        assert!(!taken_up(&fake) && fake.noted("input").contains("all: two"), "{kind:?}");
    }
}

#[tokio::test]
async fn a_session_that_is_gone_is_begun_anew() {
    for kind in KINDS {
        let fake = fake(kind);
        let agent = worker(kind, &fake, Permissions::Read);
        let before = digest_of(&Digest::default(), Speaker::Agent, "x");
        let thread = Task::read(task(&before, "two").as_bytes()).unwrap().thread.unwrap();
        let known = fake.path("sessions").join(thread.folder_name());
        fs::create_dir_all(known.join("home/.gemini/tmp")).unwrap();
        fs::write(known.join("known"), format!("{}\nS-0\n", before.as_str())).unwrap();
        if kind == Kind::ClaudeCode {
            let script = fs::read_to_string(fake.path("agent")).unwrap();
            let lost = r#"case "$*" in *--resume*) read -r line; echo '{"type":"result","is_error":true}'; cat > /dev/null; exit 1 ;; esac"#;
            fs::write(
                fake.path("agent"),
                script.replacen("control()", &format!("{lost}\ncontrol()"), 1),
            )
            .unwrap();
        }
        let response = received(&agent, &task(&before, "two")).await;
        assert!(response.fault.is_none(), "{kind:?} {:?}", response.fault);
        assert_eq!(text(&response), "Let me look.\n\nIt says hi.", "{kind:?}");
        assert!(fake.noted("input").contains("all: two"), "{kind:?}");
    }
}

#[tokio::test]
async fn it_may_do_what_is_configured_and_nothing_is_bypassed() {
    for permissions in [Permissions::Read, Permissions::Edit, Permissions::Full] {
        let (may_edit, may_run) =
            (permissions != Permissions::Read, permissions == Permissions::Full);
        for kind in KINDS {
            let fake = fake(kind);
            let agent = worker(kind, &fake, permissions);
            received(&agent, &Task { prompt: "x".to_owned(), ..Task::default() }.to_body()).await;
            let stated = fake.noted("arguments") + &fake.noted("input") + &fake.noted("home");
            let (edits, runs) = match kind {
                Kind::ClaudeCode => (stated.contains("Edit,Write"), stated.contains("Bash")),
                Kind::OpenaiCodex => (
                    stated.contains(r#""sandbox":"workspace-write""#),
                    stated.contains(r#""network_access":true"#),
                ),
                _ => (stated.contains("write_file"), stated.contains("run_shell_command")),
            };
            assert_eq!((edits, runs), (may_edit, may_run), "{kind:?} {permissions:?}: {stated}");
            for bypass in ["bypass", "dangerous", "danger-full-access", "yolo"] {
                assert!(!stated.contains(bypass), "{kind:?} {permissions:?}: {stated}");
            }
        }
    }
}
