//! Processes that wait for the results of their calls: whoever returns exactly these finds them there, everybody else is told anew.

use super::warm::{asked, noting, started, until};
use super::*;

const KINDS: [Kind; 2] = [Kind::ClaudeCode, Kind::OpenaiCodex];

/// Claude Code asks for one result before its model's answer is over, and for the other behind it.
const CLAUDE_CALLS: &str = r#"{"type":"system","subtype":"init","model":"claude-fake"}
{"type":"stream_event","event":{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-fake","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":7,"output_tokens":1}}}}
{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"c2Vh"}}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2Vh"}]},"parent_tool_use_id":null}
{"type":"stream_event","event":{"type":"content_block_stop","index":0}}
{"type":"stream_event","event":{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"call_1","name":"Bash","input":{}}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Oslo\"}"}}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"Bash","input":{"city":"Oslo"}}]}}
{"type":"stream_event","event":{"type":"content_block_stop","index":1}}
{"type":"control_request","request_id":"c1","request":{"subtype":"mcp_message","server_name":"sabir","message":{"method":"tools/call","params":{"name":"Bash","arguments":{"city":"Oslo"},"_meta":{"claudecode/toolUseId":"call_1"}},"jsonrpc":"2.0","id":2}}}
{"type":"stream_event","event":{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"call_2","name":"Bash","input":{}}}}
{"type":"stream_event","event":{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Rome\"}"}}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"call_2","name":"Bash","input":{"city":"Rome"}}]}}
{"type":"stream_event","event":{"type":"content_block_stop","index":2}}
{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}}
{"type":"stream_event","event":{"type":"message_stop"}}
{"type":"control_request","request_id":"c2","request":{"subtype":"mcp_message","server_name":"sabir","message":{"method":"tools/call","params":{"name":"Bash","arguments":{"city":"Rome"},"_meta":{"claudecode/toolUseId":"call_2"}},"jsonrpc":"2.0","id":3}}}
"#;

const CODEX_CALLS: &str = r#"{"method":"rawResponseItem/completed","params":{"turnId":"U","item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2Vh"}}}
{"method":"rawResponseItem/completed","params":{"turnId":"U","item":{"type":"function_call","id":"fc_1","name":"Bash","arguments":"{\"city\":\"Oslo\"}","call_id":"call_1"}}}
{"method":"item/tool/call","id":0,"params":{"turnId":"U","callId":"call_1","tool":"Bash","arguments":{"city":"Oslo"}}}
{"method":"rawResponseItem/completed","params":{"turnId":"U","item":{"type":"function_call","id":"fc_2","name":"Bash","arguments":"{\"city\":\"Rome\"}","call_id":"call_2"}}}
{"method":"rawResponse/completed","params":{"turnId":"U","responseId":"resp_1","usage":{"totalTokens":40,"inputTokens":20,"outputTokens":20}}}
{"method":"item/tool/call","id":1,"params":{"turnId":"U","callId":"call_2","tool":"Bash","arguments":{"city":"Rome"}}}
"#;

/// What Codex is told it tells of.
const RESULT: &str = r#"{"method":"rawResponseItem/completed","params":{"turnId":"U","item":{"type":"function_call_output","id":"fco_1","call_id":"call_1","output":"sun"}}}
"#;

const CLAUDE_ASKS: &str = r#"{"model":"m","tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Weather?"}]}"#;

const CLAUDE_RETURNS: &str = r#"{"model":"m","tools":[{"name":"Bash","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Weather?"},
    {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2Vh"},{"type":"tool_use","id":"call_1","name":"Bash","input":{ "city": "Oslo" }},{"type":"tool_use","id":"call_2","name":"Bash","input":{"city":"Rome"}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"call_2","content":"rain"},{"type":"tool_result","tool_use_id":"call_1","content":[{"type":"text","text":"sun"}],"is_error":true}]}]}"#;

const CODEX_ASKS: &str = r#"{"model":"m","tools":[{"type":"function","name":"Bash","parameters":{"type":"object"}}],"input":[{"role":"user","content":"Weather?"}]}"#;

const CODEX_RETURNS: &str = r#"{"model":"m","tools":[{"type":"function","name":"Bash","parameters":{"type":"object"}}],"input":[{"role":"user","content":"Weather?"},
    {"type":"reasoning","summary":[],"encrypted_content":"c2Vh"},
    {"type":"function_call","call_id":"call_1","name":"Bash","arguments":"{ \"city\": \"Oslo\" }"},{"type":"function_call","call_id":"call_2","name":"Bash","arguments":"{\"city\":\"Rome\"}"},
    {"type":"function_call_output","call_id":"call_2","output":"rain"},{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"sun"}]}]}"#;

/// An agent that calls two tools, and says hello when it has their results.
fn calling(kind: Kind) -> FakeAgent {
    noting(match kind {
        Kind::ClaudeCode => FakeAgent::claude(CLAUDE_CALLS).going_on(&[ANSWER]),
        _ => FakeAgent::codex(CODEX_CALLS).going_on(&[&(RESULT.to_owned() + &greeting())]),
    })
}

fn bodies(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::ClaudeCode => (CLAUDE_ASKS, CLAUDE_RETURNS),
        _ => (CODEX_ASKS, CODEX_RETURNS),
    }
}

async fn asked_by(agent: &Agent, body: &str, owner: &str) -> Response<'static> {
    let body = Bytes::copy_from_slice(body.as_bytes());
    collected(agent.ask("m", body, owner).await.unwrap()).await
}

fn calls(response: &Response<'_>) -> usize {
    let parts = response.candidates.iter().flat_map(|it| it.message.parts.iter());
    parts.filter(|part| matches!(part.content(), Content::ToolCall(_))).count()
}

#[tokio::test]
async fn results_go_to_the_process_that_waits_for_them() {
    for kind in KINDS {
        let (fake, (asks, returns)) = (calling(kind), bodies(kind));
        let agent = agent(kind, &fake);
        assert_eq!(calls(&received(&agent, asks).await), 2, "{kind:?}");
        let response = received(&agent, returns).await;
        assert!(response.fault.is_none(), "{kind:?} {:?}", response.fault);
        assert_eq!(text(&response), "Hello there", "{kind:?}: {}", fake.noted("input"));
        let parts = &response.candidates[0].message.parts;
        let is_output =
            |it: &Part<'_>| matches!(it.content(), Content::Text(_) | Content::Reasoning(_));
        assert!(parts.iter().all(is_output), "{kind:?}: {parts:?}");
        assert_eq!(asked(&fake).len(), 1, "{kind:?}");
        let sent: Vec<String> = fake.noted("input").lines().map(str::to_owned).collect();
        let expected = match kind {
            Kind::ClaudeCode => [
                r#"{"type":"control_response","response":{"subtype":"success","request_id":"c2","response":{"mcp_response":{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"rain"}],"isError":false}}}}}"#,
                r#"{"type":"control_response","response":{"subtype":"success","request_id":"c1","response":{"mcp_response":{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"sun"}],"isError":true}}}}}"#,
            ],
            _ => [
                r#"{"id":1,"result":{"contentItems":[{"type":"inputText","text":"rain"}],"success":true}}"#,
                r#"{"id":0,"result":{"contentItems":[{"type":"inputText","text":"sun"}],"success":true}}"#,
            ],
        };
        let results =
            sent.iter().filter(|it| it.contains("isError") || it.contains("contentItems"));
        assert_eq!(results.collect::<Vec<_>>(), expected, "{kind:?}");
        // One waits ahead, and nothing else.
        until(|| started(&fake).len() == 2).await;
        until(|| fs::read_dir(folders(&fake)).unwrap().count() == 1).await;
    }
}

/// What differs from what the process waits for, and so is told to another.
fn doubts(kind: Kind) -> Vec<(&'static str, String)> {
    let returns = bodies(kind).1;
    let long = "x".repeat(64 * 1024);
    let mut doubts =
        vec![
            ("another history", returns.replacen("Weather?", "Whether?", 1)),
            ("another tool", returns.replacen(r#""Bash""#, r#""Bush""#, 1)),
            ("other arguments", returns.replacen("Oslo", "Bergen", 1)),
            ("other thoughts", returns.replacen("c2Vh", "c2Vi", 1)),
            ("an empty result", returns.replacen("rain", "", 1)),
            ("a long result", returns.replacen("rain", &long, 1)),
            (
                "a result of another call",
                returns
                    .replacen(r#"id":"call_2","content"#, r#"id":"call_3","content"#, 1)
                    .replacen(r#"id":"call_2","output"#, r#"id":"call_3","output"#, 1),
            ),
        ];
    let one = match kind {
        Kind::ClaudeCode => r#"{"type":"tool_result","tool_use_id":"call_2","content":"rain"},"#,
        _ => r#"{"type":"function_call_output","call_id":"call_2","output":"rain"},"#,
    };
    doubts.push(("a missing result", returns.replacen(one, "", 1)));
    doubts.push(("a result twice", returns.replacen(one, &one.repeat(2), 1)));
    match kind {
        Kind::ClaudeCode => {
            doubts.push((
                "words beside",
                returns.replacen(one, &format!(r#"{one}{{"type":"text","text":"quick"}},"#), 1),
            ));
            doubts.push((
                "a setting",
                returns.replacen(r#""model":"m""#, r#""model":"m","max_tokens":9"#, 1),
            ));
            doubts.push((
                "an image",
                returns.replacen(
                    r#""text","text":"sun""#,
                    r#""image","source":{"type":"base64","media_type":"image/png","data":"AA=="}"#,
                    1,
                ),
            ));
        }
        _ => {
            doubts.push((
                "words beside",
                returns.replacen(one, &format!(r#"{one}{{"role":"user","content":"quick"}},"#), 1),
            ));
            doubts.push((
                "a setting",
                returns.replacen(
                    r#""model":"m""#,
                    r#""model":"m","reasoning":{"effort":"low"}"#,
                    1,
                ),
            ));
            doubts.push((
                "an image",
                returns.replacen(
                    r#""input_text","text":"sun""#,
                    r#""input_image","image_url":"data:image/png;base64,AA==""#,
                    1,
                ),
            ));
        }
    }
    doubts
}

#[tokio::test]
async fn results_of_tools_by_other_names_go_to_the_process_that_waits_for_them() {
    let lines = CODEX_CALLS.replace("Bash", "_mcp__a__b");
    let fake = noting(FakeAgent::codex(&lines).going_on(&[&(RESULT.to_owned() + &greeting())]));
    let agent = agent(Kind::OpenaiCodex, &fake);
    let [asks, returns] = [CODEX_ASKS, CODEX_RETURNS].map(|it| it.replace("Bash", "mcp__a__b"));
    assert_eq!(calls(&received(&agent, &asks).await), 2);
    assert_eq!(text(&received(&agent, &returns).await), "Hello there");
    assert_eq!(asked(&fake).len(), 1);
}

#[tokio::test]
async fn in_every_doubt_the_conversation_is_told_anew() {
    for kind in KINDS {
        for (doubt, body) in doubts(kind) {
            assert_ne!(body, bodies(kind).1, "{doubt}");
            let fake = calling(kind);
            let agent = agent(kind, &fake);
            received(&agent, bodies(kind).0).await;
            assert_eq!(
                calls(&received(&agent, &body).await),
                2,
                "{kind:?} {doubt}: it is asked anew"
            );
            assert_eq!(asked(&fake).len(), 2, "{kind:?} {doubt}");
        }
    }
}

#[tokio::test]
async fn a_process_waits_for_its_owner_alone() {
    for kind in KINDS {
        let (fake, (asks, returns)) = (calling(kind), bodies(kind));
        let agent = agent(kind, &fake);
        asked_by(&agent, asks, "one").await;
        assert_eq!(calls(&asked_by(&agent, returns, "another").await), 2, "{kind:?}");
        assert_eq!(text(&asked_by(&agent, returns, "one").await), "Hello there", "{kind:?}");
    }
}

#[tokio::test]
async fn one_that_asked_for_something_else_at_the_last_moment_waits_as_well() {
    let stop = r#"{"type":"stream_event","event":{"type":"message_stop"}}"#;
    let list = r#"{"type":"control_request","request_id":"l","request":{"subtype":"mcp_message","server_name":"sabir","message":{"method":"tools/list","jsonrpc":"2.0","id":9}}}"#;
    let asking = CLAUDE_CALLS.replacen(stop, &format!("{list}\n{stop}"), 1);
    let fake = noting(FakeAgent::claude(&asking).going_on(&[ANSWER]));
    let agent = agent(Kind::ClaudeCode, &fake);
    received(&agent, CLAUDE_ASKS).await;
    assert_eq!(text(&received(&agent, CLAUDE_RETURNS).await), "Hello there");
    assert_eq!(asked(&fake).len(), 1);
}

#[tokio::test]
async fn of_two_with_the_same_results_one_goes_on_and_the_other_is_told_anew() {
    for kind in KINDS {
        let (fake, (asks, returns)) = (calling(kind), bodies(kind));
        let agent = agent(kind, &fake);
        received(&agent, asks).await;
        let both = tokio::join!(received(&agent, returns), received(&agent, returns));
        let answers = [both.0, both.1].map(|it| (text(&it), calls(&it)));
        assert!(answers.iter().any(|it| it.0 == "Hello there"), "{kind:?} {answers:?}");
        assert!(answers.iter().any(|it| it.1 == 2), "{kind:?} {answers:?}");
        assert_eq!(asked(&fake).len(), 2, "{kind:?}");
    }
}

#[tokio::test]
async fn who_leaves_while_results_are_handed_over_leaves_nothing() {
    for kind in KINDS {
        let fake = calling(kind);
        let script = fs::read_to_string(fake.path("agent")).unwrap();
        fs::write(fake.path("agent"), script.replacen("results=$((results + 1))", "sleep 1000", 1))
            .unwrap();
        let agent = agent(kind, &fake);
        received(&agent, bodies(kind).0).await;
        let body = Bytes::from_static(bodies(kind).1.as_bytes());
        let mut answer = agent.ask("m", body, "").await.unwrap();
        let waited = tokio::time::timeout(Duration::from_millis(200), next(&mut answer)).await;
        assert!(waited.is_err(), "{kind:?}: it waits for its results");
        drop(answer);
        agent.close();
        drop(agent.spawner.all_places().await);
        assert_eq!(fake.running(), 0, "{kind:?}");
    }
}

#[tokio::test]
async fn one_that_died_or_went_on_by_itself_is_made_good_by_another() {
    for kind in KINDS {
        let fake = calling(kind);
        let first = agent(kind, &fake);
        received(&first, bodies(kind).0).await;
        let waiting = asked(&fake)[0].parse().unwrap();
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(waiting).unwrap(),
            rustix::process::Signal::KILL,
        )
        .unwrap();
        assert_eq!(calls(&received(&first, bodies(kind).1).await), 2, "{kind:?}");
        assert_eq!(asked(&fake).len(), 2, "{kind:?}");
    }
    // It never asked for the second result, and its model goes on.
    let hasty = CLAUDE_CALLS
        .lines()
        .filter(|line| !line.contains(r#""c2""#))
        .collect::<Vec<_>>()
        .join("\n")
        + "\n"
        + ANSWER;
    let fake = noting(FakeAgent::claude(&hasty));
    let agent = agent(Kind::ClaudeCode, &fake);
    received(&agent, CLAUDE_ASKS).await;
    assert_eq!(calls(&received(&agent, CLAUDE_RETURNS).await), 2);
    assert_eq!(asked(&fake).len(), 2);
}

#[tokio::test]
async fn one_that_dies_of_its_results_is_made_good_by_another() {
    for kind in KINDS {
        let fake = calling(kind);
        let script = fs::read_to_string(fake.path("agent")).unwrap();
        fs::write(fake.path("agent"), script.replacen("results=$((results + 1))", "exit 3", 1))
            .unwrap();
        let mut agent = agent(kind, &fake);
        // There is a place for one alone.
        agent.spawner = Spawner::new(Program { processes_max: 1, ..program(&fake) }, WARMTH).into();
        received(&agent, bodies(kind).0).await;
        assert_eq!(calls(&received(&agent, bodies(kind).1).await), 2, "{kind:?}");
        assert_eq!(asked(&fake).len(), 2, "{kind:?}");
    }
}

#[tokio::test]
async fn one_that_waits_gives_way_to_a_call() {
    for kind in KINDS {
        let (fake, (asks, returns)) = (calling(kind), bodies(kind));
        let mut agent = agent(kind, &fake);
        agent.spawner = Spawner::new(Program { processes_max: 1, ..program(&fake) }, WARMTH).into();
        received(&agent, asks).await;
        assert_eq!(fake.running(), 1, "{kind:?}: it waits");
        assert_eq!(calls(&asked_by(&agent, asks, "another").await), 2, "{kind:?}");
        assert_eq!(asked(&fake).len(), 2, "{kind:?}");
        assert_eq!(calls(&received(&agent, returns).await), 2, "{kind:?}: the first is gone");
        agent.close();
        drop(agent.spawner.all_places().await);
        assert_eq!(fake.running(), 0, "{kind:?}");
    }
}

#[tokio::test]
async fn none_waits_for_ever_or_where_none_is_to_wait() {
    for warmth in
        [Warmth { idle: Duration::from_millis(50), ..WARMTH }, Warmth { processes: 0, ..WARMTH }]
    {
        for kind in KINDS {
            let fake = calling(kind);
            let mut agent = agent(kind, &fake);
            agent.spawner = Spawner::new(program(&fake), warmth).into();
            received(&agent, bodies(kind).0).await;
            drop(agent.spawner.all_places().await);
            assert_eq!(fake.running(), 0, "{kind:?}");
        }
    }
}
