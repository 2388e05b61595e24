//! Agent CLIs as models: programs that play them, behind a gateway, for clients of every protocol.

use std::thread;

use sabir_testkit::agents::FakeAgent;
use serde_json::{Value, json};

use crate::harness::*;
use crate::waiting::wait_for;

pub(crate) fn toml(agent: &str, fake: &FakeAgent, more: &str) -> String {
    let command = serde_json::to_string(&fake.command()).unwrap();
    format!("\n[[provider]]\nname = \"cli\"\nagent = \"{agent}\"\ncommand = {command}\n{more}\n")
}

/// A conversation in the words of a protocol: where it is sent, and what.
fn asked(protocol: &str, stream: bool) -> (String, Value) {
    let turns = [("user", "Hello é"), ("assistant", "Hi."), ("user", "What now?\n")];
    let chat = turns.map(|(role, text)| json!({"role": role, "content": text}));
    match protocol {
        "chat" => {
            let system = json!({"role": "system", "content": "Be brief."});
            let messages: Vec<Value> = [system].into_iter().chain(chat).collect();
            let body = json!({"model": "cli/default", "stream": stream, "messages": messages});
            ("/v1/chat/completions".to_owned(), body)
        }
        "responses" => (
            "/v1/responses".to_owned(),
            json!({"model": "cli/default", "stream": stream, "instructions": "Be brief.", "input": chat}),
        ),
        "messages" => (
            "/v1/messages".to_owned(),
            json!({"model": "cli/default", "stream": stream, "max_tokens": 99, "system": "Be brief.", "messages": chat}),
        ),
        _ => {
            let verb = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            let role = |role: &str| if role == "assistant" { "model" } else { "user" }.to_owned();
            let contents =
                turns.map(|(who, text)| json!({"role": role(who), "parts": [{"text": text}]}));
            (
                format!("/v1beta/models/cli/default:{verb}"),
                json!({"systemInstruction": {"parts": [{"text": "Be brief."}]}, "contents": contents}),
            )
        }
    }
}

const PROTOCOLS: [&str; 4] = ["chat", "responses", "messages", "gemini"];

/// All text that an answer shows, whole or streamed, in any protocol.
fn shown(reply: &Reply) -> String {
    assert_eq!(reply.status, 200, "{}", reply.body);
    let frames = reply.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let frames: Vec<Value> = frames.filter_map(|frame| serde_json::from_str(frame).ok()).collect();
    if frames.is_empty() {
        return text_in(&reply.json());
    }
    frames.iter().map(delta_in).collect()
}

fn text_in(answer: &Value) -> String {
    let places = [
        "/choices/0/message/content",
        "/output/0/content/0/text",
        "/content/0/text",
        "/candidates/0/content/parts/0/text",
    ];
    let found = places.iter().find_map(|place| answer.pointer(place)?.as_str());
    found.unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
}

fn delta_in(frame: &Value) -> String {
    let kind = frame["type"].as_str().unwrap_or_default();
    let place = match kind {
        "response.output_text.delta" => "/delta",
        "content_block_delta" => "/delta/text",
        "" if frame.get("choices").is_some() => "/choices/0/delta/content",
        "" => "/candidates/0/content/parts/0/text",
        _ => return String::new(),
    };
    frame.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
}

#[test]
fn any_program_is_a_model_in_every_protocol() {
    let fake = FakeAgent::printing("All is well.\n");
    let gateway = Running::start(&toml("plain", &fake, ""));
    for protocol in PROTOCOLS {
        for stream in [false, true] {
            let (path, body) = asked(protocol, stream);
            let reply = gateway.post(&path, &body.to_string());
            assert_eq!(shown(&reply), "All is well.\n", "{protocol} {stream}");
            assert_eq!(
                fake.noted("input"),
                "Be brief.\n\nuser: Hello é\nassistant: Hi.\n\nWhat now?",
                "{protocol} {stream}"
            );
        }
    }
    assert_eq!(fake.noted("arguments").trim(), "");
}

#[test]
fn the_documents_own_call_is_answered_in_every_protocol() {
    let lines = r#"{"type":"message","role":"user","content":"Instructions:\nYou are Carol..."}
{"type":"message","role":"assistant","content":"我理解了任务需求...","delta":true}
{"type":"result","success":true}
"#;
    let fake = FakeAgent::printing(lines);
    let mut command = fake.command();
    command.extend(["--output-format".to_owned(), "jsonl".to_owned()]);
    let command = serde_json::to_string(&command).unwrap();
    let gateway = Running::start(&format!(
        "[[provider]]\nname = \"cli\"\nagent = \"google-gemini\"\nhistory = \"assembled\"\ncommand = {command}\n"
    ));
    for protocol in PROTOCOLS {
        for stream in [false, true] {
            let (path, body) = asked(protocol, stream);
            let reply = gateway.post(&path, &body.to_string());
            assert_eq!(shown(&reply), "我理解了任务需求...", "{protocol} {stream}");
        }
    }
    assert_eq!(fake.noted("arguments"), "--output-format\njsonl\n");
    assert_eq!(
        fake.noted("input"),
        "Instructions:\nBe brief.\n\nConversation so far:\n- user: Hello é\n- assistant: Hi.\n\nYour task:\nWhat now?"
    );
}

const ANSWER: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"@S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"All is well."}}}}
{"jsonrpc":"2.0","id":@P,"result":{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":7,"output_tokens":2}}}}}
"#;

#[test]
fn gemini_cli_takes_up_a_conversation_of_every_protocol_in_one_process() {
    let fake = FakeAgent::gemini(ANSWER, "");
    let gateway = Running::start(&toml("google-gemini", &fake, ""));
    for protocol in PROTOCOLS {
        for stream in [false, true] {
            let (path, body) = asked(protocol, stream);
            let reply = gateway.post(&path, &body.to_string());
            assert_eq!(shown(&reply), "All is well.", "{protocol} {stream}");
            let record = fake.noted("record");
            for part in [r#""type":"user","content":[{"text":"Hello é"}]"#, r#"[{"text":"Hi."}]"#]
            {
                assert!(record.contains(part), "{protocol} {stream}: {record}");
            }
            let input = fake.noted("input");
            let prompt = r#""prompt":[{"type":"text","text":"What now?\n"}]"#;
            assert!(input.lines().last().unwrap().contains(prompt), "{protocol} {stream}: {input}");
            assert_eq!(fake.noted("system"), "Be brief.");
        }
    }
    assert_eq!(fake.noted("input").matches("\"initialize\"").count(), 1, "one process did it all");
}

#[test]
fn a_version_that_takes_no_conversation_gets_a_prompt_and_the_report_says_so() {
    let fake = FakeAgent::gemini(ANSWER, "");
    let script = std::fs::read_to_string(fake.path("agent")).unwrap();
    std::fs::write(fake.path("agent"), script.replace("\"loadSession\":true", "")).unwrap();
    let gateway = Running::start(&toml("google-gemini", &fake, ""));
    let (path, body) = asked("chat", false);
    let reply = gateway.post(&path, &body.to_string());
    assert_eq!(shown(&reply), "All is well.");
    assert_eq!(reply.header("sabir-loss"), Some("approximated=1"));
    let prompt = r"Instructions:\nBe brief.\n\nConversation so far:\n- user: Hello é\n- assistant: Hi.\n\nYour task:\nWhat now?";
    let input = fake.noted("input");
    assert!(input.contains("session/new") && input.contains(prompt), "{input}");
    assert!(gateway.get("/sabir/v1/exchanges").body.contains("takes no conversation"));
}

#[test]
fn what_gemini_cli_would_take_for_its_own_is_text_and_reported() {
    let fake = FakeAgent::gemini(ANSWER, "");
    let gateway = Running::start(&toml("google-gemini", &fake, ""));
    let user = |text: &str| json!({"role": "user", "content": text});
    let body = json!({"model": "cli/default", "messages": [
        {"role": "system", "content": "Use ${SubAgents}."}, user(" /clear"), user("?"), user("\u{feff}$x"),
    ]});
    let reply = gateway.post("/v1/chat/completions", &body.to_string());
    assert_eq!(shown(&reply), "All is well.");
    assert_eq!(reply.header("sabir-loss"), Some("approximated=4"));
    let record = fake.noted("record");
    assert!(record.contains("\"\u{200b} /clear\"") && record.contains("\"\u{200b}?\""), "{record}");
    assert!(fake.noted("input").contains("\"\u{200b}\u{feff}$x\""));
    assert_eq!(fake.noted("system"), "Use $\u{200b}{SubAgents}.");
}

#[test]
fn a_prompt_keeps_to_its_budget_and_the_report_says_what_it_cost() {
    let fake = FakeAgent::printing("fine");
    let gateway = Running::start(&toml("plain", &fake, "max_bytes = 40"));
    let (path, body) = asked("chat", false);
    let reply = gateway.post(&path, &body.to_string());
    assert_eq!(fake.noted("input"), "Be brief.\n\nassistant: Hi.\n\nWhat now?");
    assert!(reply.header("sabir-loss").unwrap().contains("dropped"), "{:?}", reply.headers);
    let reply =
        gateway.request(&format!("POST {path}\r\nsabir-strict: true\r\n"), &body.to_string());
    assert_eq!(reply.status, 400, "{}", reply.body);
    let body = json!({"model": "cli/default", "messages": [{"role": "system", "content": "x".repeat(60)}, {"role": "user", "content": "a"}]});
    let reply = gateway.post(&path, &body.to_string());
    assert_eq!(reply.status, 400);
    assert_eq!(reply.json()["error"]["code"], "context_length_exceeded", "{}", reply.body);
}

#[test]
fn a_long_prompt_arrives_byte_for_byte() {
    let fake = FakeAgent::printing("fine");
    let gateway = Running::start(&toml("plain", &fake, ""));
    let text = "0123456789 äöü €\n".repeat(32_000);
    let body = json!({"model": "cli/default", "messages": [{"role": "user", "content": text}]});
    assert_eq!(shown(&gateway.post("/v1/chat/completions", &body.to_string())), "fine");
    assert!(text.len() > 600_000 && fake.noted("input") == text.trim());
}

#[test]
fn what_no_cli_takes_is_reported_and_refused_if_strict() {
    let fake = FakeAgent::printing("fine");
    let gateway = Running::start(&toml("plain", &fake, ""));
    let body = json!({
        "model": "cli/default", "temperature": 0.5, "stop": ["x"], "max_tokens": 5, "n": 1,
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "Look"},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}],
    })
    .to_string();
    let reply = gateway.post("/v1/chat/completions", &body);
    assert_eq!(shown(&reply), "fine");
    assert_eq!(reply.header("sabir-loss").map(|it| it.contains("dropped")), Some(true));
    let exchanges = gateway.get("/sabir/v1/exchanges").body;
    for pointer in ["/temperature", "/stop", "/max_tokens", "/tools/0", "/messages/0/content/1"] {
        assert!(exchanges.contains(&format!("\"{pointer}\"")), "{pointer}: {exchanges}");
    }
    assert!(!exchanges.contains("\"/n\""), "{exchanges}");
    let reply = gateway.request("POST /v1/chat/completions\r\nsabir-strict: true\r\n", &body);
    assert_eq!(reply.status, 400, "{}", reply.body);
}

#[test]
fn an_agent_is_listed_counted_and_has_nothing_else() {
    let fake = FakeAgent::printing("fine");
    let gateway = Running::start(&toml("plain", &fake, ""));
    assert!(gateway.get("/v1/models").body.contains("\"cli/default\""));
    let (_, body) = asked("messages", false);
    let reply = gateway.post("/v1/messages/count_tokens", &body.to_string());
    assert_eq!(reply.header("sabir-estimate"), Some("true"), "{}", reply.body);
    let body = json!({"model": "cli/default", "input": "x"});
    assert_eq!(gateway.post("/v1/embeddings", &body.to_string()).status, 404);
    assert_eq!(fake.noted("input"), "", "nobody started it");
}

/// The error that each protocol's client sees.
#[track_caller]
fn check_fault(gateway: &Running, status: u16, words: &str) {
    for protocol in PROTOCOLS {
        for stream in [false, true] {
            let (path, body) = asked(protocol, stream);
            let reply = gateway.post(&path, &body.to_string());
            // Where a stream that does not fit is one that fails, it begins.
            if (protocol, stream, status) == ("responses", true, 400) {
                assert!(reply.body.contains("context_length_exceeded"), "{}", reply.body);
                continue;
            }
            assert_eq!(reply.status, status, "{protocol} {stream}: {}", reply.body);
            let message = reply.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains(words), "{protocol} {stream}: {message}");
        }
    }
}

#[test]
fn a_missing_program_is_an_error_of_the_clients_protocol() {
    let missing = "[[provider]]\nname = \"cli\"\nagent = \"plain\"\ncommand = \"/no/such/agent\"\nretries = 0\n";
    check_fault(&Running::start(missing), 503, "/no/such/agent");
}

#[test]
fn crashes_silence_and_garbage_are_errors_of_the_clients_protocol() {
    for (agent, script, status, words) in [
        ("plain", "exit 3", 502, "exit code 3"),
        ("claude-code", "kill -9 $$", 502, "by a signal"),
        ("google-gemini", "echo garbage", 502, "ended"),
        ("google-gemini", "exit 41", 401, "log in"),
        ("plain", "sleep 1000", 504, "said nothing"),
    ] {
        let fake = FakeAgent::new(script);
        let patience = if status == 504 { "first_event_timeout = \"100ms\"" } else { "" };
        let gateway = Running::start(&toml(agent, &fake, &format!("{patience}\nretries = 0")));
        check_fault(&gateway, status, words);
    }
}

#[test]
fn claudes_faults_are_errors_of_the_clients_protocol() {
    let error = |error: &str, status: &str, kind: &str, words: &str| {
        format!(
            r#"{{"type":"rate_limit_event","rate_limit_info":{{"resetsAt":99999999999}}}}
{{"type":"assistant","message":{{"content":[{{"type":"text","text":"{words}"}}]}},"error":"{error}","api_error_status":{status},"api_error_type":{kind}}}
{{"is_error":true,"type":"result"}}
"#
        )
    };
    for (answer, status, words) in [
        (error("authentication_failed", "null", "null", "Not logged in"), 401, "claude /login"),
        (error("rate_limit", "429", "\"rate_limit_error\"", "limit reached"), 429, "limit reached"),
        (
            error(
                "invalid_request",
                "400",
                "\"invalid_request_error\"",
                "prompt is too long: 9 tokens > 8 maximum",
            ),
            400,
            "too long",
        ),
    ] {
        let fake = FakeAgent::claude(&answer);
        let gateway = Running::start(&toml("claude-code", &fake, "retries = 0"));
        check_fault(&gateway, status, words);
        if status == 429 {
            let (path, body) = asked("chat", false);
            let reply = gateway.post(&path, &body.to_string());
            assert!(reply.header("retry-after").is_some(), "{:?}", reply.headers);
        }
    }
}

#[test]
fn an_agent_that_fails_is_fallen_back_from() {
    let fake = FakeAgent::new("exit 1");
    let model = "[[model]]\nname = \"smart\"\ntargets = [{ provider = \"cli\", model = \"default\" }, { provider = \"sim-chat\", model = \"sim\" }]\n";
    let gateway = Running::start(&(toml("plain", &fake, "") + model));
    let reply = gateway.post("/v1/chat/completions", &chat("smart", false));
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("sabir-provider"), Some("sim-chat"));
}

#[test]
fn no_more_processes_run_than_are_allowed() {
    let fake = FakeAgent::new(
        r#"cat > /dev/null; echo + >> "$here/log"; sleep 0.05; echo - >> "$here/log"; echo fine"#,
    );
    let gateway = &Running::start(&toml("plain", &fake, "processes_max = 2"));
    thread::scope(|scope| {
        for _ in 0..50 {
            scope.spawn(|| {
                let reply = gateway.post("/v1/chat/completions", &chat("cli/default", false));
                assert_eq!(shown(&reply), "fine\n");
            });
        }
    });
    let (mut running, mut most) = (0_i32, 0);
    for line in fake.noted("log").lines() {
        running += if line == "+" { 1 } else { -1 };
        most = most.max(running);
    }
    assert_eq!((running, most), (0, 2));
}

#[test]
fn a_client_that_leaves_ends_the_process() {
    let fake = FakeAgent::new("cat > /dev/null; echo begun; sleep 1000");
    let gateway = Running::start(&toml("plain", &fake, ""));
    let body = chat("cli/default", true);
    let mut reader = gateway.send("POST /v1/chat/completions", &body);
    read_head(&mut reader);
    assert!(read_chunk(&mut reader).is_some());
    assert!(fake.running() > 0);
    drop(reader);
    gone(&fake);
}

#[test]
fn a_gateway_that_stops_ends_its_processes() {
    let fake = FakeAgent::new("trap '' TERM; cat > /dev/null; echo begun; sleep 1000; sleep 1000");
    let limits = "[limits]\nshutdown_grace = \"100ms\"\n";
    let mut gateway = Running::start(&(toml("plain", &fake, "") + limits));
    let body = chat("cli/default", true);
    let mut reader = gateway.send("POST /v1/chat/completions", &body);
    read_head(&mut reader);
    assert!(read_chunk(&mut reader).is_some());
    gateway.stop();
    gone(&fake);
}

fn gone(fake: &FakeAgent) {
    wait_for(|| match fake.running() {
        0 => Ok(()),
        running => Err(format!("{running} processes are left")),
    });
}

pub(crate) const CALLS: &str = r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-fake","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":1}}}}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Two cities."}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2VhbGVk"}}}
{"type":"stream_event","event":{"type":"content_block_stop","index":0}}
{"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Oslo\"}"}}}
{"type":"stream_event","event":{"type":"content_block_stop","index":1}}
{"type":"control_request","request_id":"c","request":{"subtype":"mcp_message","server_name":"sabir","message":{"method":"tools/call","params":{"name":"Bash","arguments":{"city":"Oslo"}},"jsonrpc":"2.0","id":2}}}
{"type":"stream_event","event":{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_2","name":"Bash","input":{}}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Rome\"}"}}}
{"type":"stream_event","event":{"type":"content_block_stop","index":2}}
{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}}
{"type":"stream_event","event":{"type":"message_stop"}}
"#;

#[test]
fn the_agents_calls_are_the_clients_and_its_thinking_comes_back_to_it() {
    let fake = FakeAgent::claude(CALLS);
    let gateway = Running::start(&toml("claude-code", &fake, ""));
    let tools = json!([{"type": "function", "function": {"name": "Bash", "description": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}}]);
    let mut messages = vec![json!({"role": "user", "content": "/weather in Oslo and Rome"})];
    let body = json!({"model": "cli/sonnet", "messages": messages, "tools": tools});
    let reply = gateway.post("/v1/chat/completions", &body.to_string());
    let answer = reply.json();
    assert_eq!(answer["choices"][0]["finish_reason"], "tool_calls", "{answer}");
    let calls = answer["choices"][0]["message"]["tool_calls"].clone();
    let names: Vec<_> =
        calls.as_array().unwrap().iter().map(|it| &it["function"]["name"]).collect();
    assert_eq!(names, ["Bash", "Bash"]);
    assert_eq!(calls[1]["function"]["arguments"], "{\"city\":\"Rome\"}");
    let sent = fake.noted("input");
    assert!(sent.contains(r#""content":"\n/weather in Oslo"#), "{sent}");

    messages.push(json!({"role": "assistant", "content": null, "tool_calls": calls}));
    for (call, weather) in [(0, "snow"), (1, "sun")] {
        messages
            .push(json!({"role": "tool", "tool_call_id": calls[call]["id"], "content": weather}));
    }
    std::fs::remove_file(fake.path("input")).unwrap();
    let body = json!({"model": "cli/sonnet", "messages": messages, "tools": tools});
    assert_eq!(gateway.post("/v1/chat/completions", &body.to_string()).status, 200);
    let sent = fake.noted("input");
    let past = sent.lines().find(|line| line.starts_with(r#"{"type":"assistant""#)).unwrap();
    for kept in [
        r#""signature":"c2VhbGVk""#,
        r#""thinking":"Two cities.""#,
        r#""id":"toolu_1""#,
        r#""id":"toolu_2""#,
    ] {
        assert!(past.contains(kept), "{kept}: {past}");
    }
    let last = sent.lines().rfind(|line| line.starts_with(r#"{"type":"user""#)).unwrap();
    assert!(
        last.contains("snow") && last.contains("sun") && !last.contains("shouldQuery"),
        "{last}"
    );
}

#[test]
fn what_only_the_vendors_api_takes_is_reported() {
    let fake = FakeAgent::claude(CALLS);
    let gateway = Running::start(&toml("claude-code", &fake, ""));
    let body = json!({
        "model": "cli/sonnet", "max_tokens": 9, "top_k": 3, "container": "c", "never_heard_of": 1,
        "tools": [{"type": "web_search_20250305", "name": "web_search"}, {"name": "f", "input_schema": {"type": "object"}}],
        "tool_choice": {"type": "any"},
        "messages": [{"role": "user", "content": "hello"}],
    });
    let reply = gateway.post("/v1/messages", &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let exchanges = gateway.get("/sabir/v1/exchanges").body;
    for pointer in ["/top_k", "/container", "/never_heard_of", "/tools/0", "/tool_choice"] {
        assert!(exchanges.contains(&format!("\"{pointer}\"")), "{pointer}: {exchanges}");
    }
    assert!(!fake.noted("input").contains("web_search"));
}

/// What Codex writes for an answer of one text.
pub(crate) const WELL: &str = r#"{"method":"item/agentMessage/delta","params":{"turnId":"U","itemId":"msg_1","delta":"All is well."}}
{"method":"rawResponseItem/completed","params":{"turnId":"U","item":{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"All is well.","annotations":[]}]}}}
{"method":"rawResponse/completed","params":{"turnId":"U","responseId":"resp_1","usage":{"totalTokens":4,"inputTokens":2,"outputTokens":2}}}
"#;

#[test]
fn codex_is_a_model_in_every_protocol() {
    let fake = FakeAgent::codex(WELL);
    let gateway = Running::start(&toml("openai-codex", &fake, ""));
    for protocol in PROTOCOLS {
        for stream in [false, true] {
            let (path, body) = asked(protocol, stream);
            let reply = gateway.post(&path, &body.to_string());
            assert_eq!(shown(&reply), "All is well.", "{protocol} {stream}");
        }
    }
    let sent = fake.noted("input");
    assert!(
        sent.contains("Be brief.") && sent.contains("Hello é") && sent.contains("What now?"),
        "{sent}"
    );
}

#[test]
fn an_agents_response_is_kept_by_the_gateway_and_continued() {
    let fake = FakeAgent::codex(WELL);
    let gateway = Running::start(&toml("openai-codex", &fake, ""));
    let body = json!({"model": "cli/default", "input": "My name is Kim."});
    let first = gateway.post("/v1/responses", &body.to_string()).json();
    let body =
        json!({"model": "cli/default", "input": "And now?", "previous_response_id": first["id"]});
    let reply = gateway.post("/v1/responses", &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent = fake.noted("input");
    let last = sent.lines().rfind(|line| line.contains("inject_items")).unwrap();
    for text in ["My name is Kim.", "All is well.", "And now?"] {
        assert!(last.contains(text), "{text}: {last}");
    }
}

#[test]
fn claude_may_get_an_assembled_prompt_instead() {
    let fake = FakeAgent::claude(CALLS);
    let gateway = Running::start(&toml("claude-code", &fake, "history = \"assembled\""));
    let (path, body) = asked("responses", false);
    gateway.post(&path, &body.to_string());
    let sent = fake.noted("input");
    assert!(sent.contains(r#""systemPrompt":["Be brief."]"#), "{sent}");
    let prompt = r#"[CONTEXT]\n- user -> assistant: Hello é\n- assistant -> user: Hi.\n\n[MESSAGE]\nWhat now?"#;
    assert!(sent.contains(prompt), "{sent}");
}

#[test]
fn a_wrong_agent_is_refused_with_advice() {
    for (toml, words) in [
        ("agent = \"cluade-code\"\nname = \"a\"", "claude-code"),
        ("agent = \"plain\"\nname = \"a\"", "command"),
        ("agent = \"claude-code\"", "name"),
        ("agent = \"claude-code\"\nname = \"a\"\nbase_url = \"http://x\"", "is no key of an agent"),
        ("agent = \"claude-code\"\nname = \"a\"\nmode = \"agent\"", "needs `folder`"),
        ("agent = \"claude-code\"\nname = \"a\"\nfolder = \"/x\"", "add `mode"),
        ("agent = \"claude-code\"\nname = \"a\"\nenv = [\"NO_SUCH_VARIABLE\"]", "is not set"),
        ("preset = \"ollama\"\ncommand = \"x\"", "is for agents"),
    ] {
        let toml = format!("env_providers = false\n[[provider]]\n{toml}\n");
        let file = std::path::Path::new("sabir.toml");
        let problems = sabir_gateway::config::parse(&toml, file, &|_| None).unwrap_err();
        assert!(problems.to_string().contains(words), "{words}: {problems}");
    }
}
