//! Prompt caches: what a provider that caches would bill in full when an agent talks to another vendor than its own.

use serde_json::{Value, json as value};

use crate::harness::*;

const TURNS: usize = 50;

/// The agents, by the protocols that they speak.
const AGENTS: [&str; 3] = ["anthropic-messages", "openai-responses", "gemini"];
const UPSTREAMS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"];

fn words(topic: &str, count: usize) -> String {
    (0..count).map(|number| format!("{topic}{number} ")).collect()
}

/// The request of a turn, as the agent of a protocol writes it: system prompt, tools, and all rounds so far.
fn request(agent: &str, turn: usize) -> (&'static str, Value) {
    let schema = value!({"type": "object", "properties": {"path": {"type": "string"}}});
    let (system, about) = (words("rule", 800), words("about", 300));
    let round =
        |turn: usize| (words(&format!("ask{turn}x"), 40), words(&format!("file{turn}x"), 200));
    match agent {
        "anthropic-messages" => {
            let mut messages = Vec::new();
            for turn in 0..=turn {
                let (asked, read) = round(turn);
                let id = format!("toolu_{turn}");
                messages
                    .push(value!({"role": "user", "content": [{"type": "text", "text": asked}]}));
                messages.push(value!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "Read", "input": {"path": "a"}}]}));
                messages.push(value!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": read}]}));
                messages.push(
                    value!({"role": "assistant", "content": [{"type": "text", "text": "done"}]}),
                );
            }
            messages.pop();
            messages.last_mut().unwrap()["content"][0]["cache_control"] =
                value!({"type": "ephemeral"});
            let system =
                value!([{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]);
            let tools = value!([{"name": "Read", "description": about, "input_schema": schema}]);
            (
                "/v1/messages",
                value!({"model": "m", "max_tokens": 99, "system": system, "tools": tools, "messages": messages}),
            )
        }
        "openai-responses" => {
            let mut input = Vec::new();
            for turn in 0..=turn {
                let (asked, read) = round(turn);
                let id = format!("call_{turn}");
                input.push(value!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": asked}]}));
                input.push(value!({"type": "function_call", "call_id": id, "name": "Read", "arguments": "{\"path\":\"a\"}"}));
                input.push(value!({"type": "function_call_output", "call_id": id, "output": read}));
                input.push(value!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}));
            }
            input.pop();
            let tools = value!([{"type": "function", "name": "Read", "description": about, "parameters": schema, "strict": false}]);
            (
                "/v1/responses",
                value!({"model": "m", "store": false, "prompt_cache_key": "s-1", "instructions": system, "tools": tools, "input": input}),
            )
        }
        _ => {
            let mut contents = Vec::new();
            for turn in 0..=turn {
                let (asked, read) = round(turn);
                contents.push(value!({"role": "user", "parts": [{"text": asked}]}));
                contents.push(value!({"role": "model", "parts": [{"functionCall": {"name": "Read", "args": {"path": "a"}}}]}));
                contents.push(value!({"role": "user", "parts": [{"functionResponse": {"name": "Read", "response": {"output": read}}}]}));
                contents.push(value!({"role": "model", "parts": [{"text": "done"}]}));
            }
            contents.pop();
            let tools = value!([{"functionDeclarations": [{"name": "Read", "description": about, "parametersJsonSchema": schema}]}]);
            (
                "/v1beta/models/m:generateContent",
                value!({"systemInstruction": {"parts": [{"text": system}]}, "tools": tools, "contents": contents}),
            )
        }
    }
}

/// A piece of a prompt in the order in which providers render it, and whether it is cached up to there.
struct Piece {
    json: String,
    is_marked: bool,
}

impl Piece {
    fn tokens(&self) -> usize {
        self.json.split_whitespace().count()
    }
}

fn pieces(upstream: &str, body: &Value) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut add = |value: &Value| match value {
        Value::Array(list) => list.iter().for_each(|it| pieces.push(piece(it))),
        Value::Null => {}
        other => pieces.push(piece(other)),
    };
    add(&body["tools"]);
    match upstream {
        "anthropic-messages" => {
            add(&body["system"]);
            for message in body["messages"].as_array().unwrap() {
                add(&message["content"]);
            }
        }
        "openai-responses" => {
            add(&body["instructions"]);
            add(&body["input"]);
        }
        "openai-chat" => add(&body["messages"]),
        _ => {
            add(&body["systemInstruction"]);
            add(&body["contents"]);
        }
    }
    if let (Some(last), true) = (pieces.last_mut(), body.get("cache_control").is_some()) {
        last.is_marked = true;
    }
    pieces
}

fn piece(value: &Value) -> Piece {
    let mut value = value.clone();
    let is_marked = value.as_object_mut().is_some_and(|it| it.remove("cache_control").is_some());
    Piece { json: value.to_string(), is_marked }
}

/// The tokens that are billed in full: those behind the longest beginning that is cached. One vendor caches what is marked, and
/// finds an earlier mark twenty blocks back at most; the others cache whatever they have seen.
fn billed(upstream: &str, bodies: &[Value]) -> usize {
    let mut cached: Vec<String> = Vec::new();
    let mut billed = 0;
    for body in bodies {
        let pieces = pieces(upstream, body);
        let is_by_mark = upstream == "anthropic-messages";
        let common =
            pieces.iter().zip(&cached).take_while(|(piece, seen)| piece.json == **seen).count();
        let known = match is_by_mark {
            true => {
                let marks = pieces.iter().enumerate().filter(|(_, piece)| piece.is_marked);
                let finds =
                    |at: usize| common == cached.len() && at + 1 >= common && at < common + 20;
                if marks.into_iter().any(|(at, _)| finds(at)) { common } else { 0 }
            }
            false => common,
        };
        billed += pieces[known..].iter().map(Piece::tokens).sum::<usize>();
        let end = match is_by_mark {
            true => pieces.iter().rposition(|piece| piece.is_marked).map_or(0, |at| at + 1),
            false => pieces.len(),
        };
        cached = pieces.into_iter().take(end).map(|piece| piece.json).collect();
    }
    billed
}

fn session(agent: &str, upstream: &str, extra: &str) -> Vec<Value> {
    let provider = Provider::start(vec![Script::Reply(json(400, "", "{}"))]);
    let toml = format!(
        "{}{extra}\n[[model]]\nname = \"m\"\ntargets = [{{ provider = \"up\", model = \"local\" }}]\n",
        provider.toml("up", upstream)
    );
    let gateway = Running::start(&toml);
    for turn in 0..TURNS {
        let (path, body) = request(agent, turn);
        gateway.request(
            &format!("POST {path}\r\nx-claude-code-session-id: s-1\r\n"),
            &body.to_string(),
        );
    }
    provider.received().iter().map(|it| serde_json::from_str(&it.body).unwrap()).collect()
}

#[test]
fn a_session_costs_no_more_on_another_vendor_than_on_its_own() {
    for agent in AGENTS {
        let own = billed(agent, &session(agent, agent, ""));
        for upstream in UPSTREAMS {
            let bodies = session(agent, upstream, "");
            assert_eq!(bodies.len(), TURNS);
            let there = billed(upstream, &bodies);
            println!("{agent} on {upstream}: {there} tokens in full, {own} at home");
            assert!(there * 100 <= own * 105, "{agent} on {upstream}: {there}, at home {own}");
        }
    }
}

#[test]
fn without_markers_every_turn_would_be_billed_in_full() {
    let agent = "openai-responses";
    let own = billed(agent, &session(agent, agent, ""));
    let bodies = session(agent, "anthropic-messages", "cache = \"off\"\n");
    assert!(bodies.iter().all(|body| !body.to_string().contains("cache_control")));
    assert!(billed("anthropic-messages", &bodies) > 10 * own);
}

#[test]
fn a_server_that_knows_no_marker_for_all_gets_them_in_its_blocks() {
    let bodies = session("openai-responses", "anthropic-messages", "dialect = \"openrouter\"\n");
    let body = bodies.last().unwrap();
    assert!(body.get("cache_control").is_none());
    assert_eq!(body["tools"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(body["system"][0]["cache_control"]["type"], "ephemeral");
    let newest = body["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(newest["content"][0]["cache_control"]["type"], "ephemeral");
    assert_eq!(body.to_string().matches("cache_control").count(), 3);
    let own = billed("openai-responses", &session("openai-responses", "openai-responses", ""));
    assert!(billed("anthropic-messages", &bodies) * 100 <= own * 105);
}

#[test]
fn a_question_that_nobody_goes_on_from_is_not_marked() {
    let provider = Provider::start(vec![Script::Reply(json(400, "", "{}"))]);
    let gateway = Running::start(&provider.toml("up", "anthropic-messages"));
    gateway.post("/v1/chat/completions", &chat("up/m", false));
    assert!(!provider.received()[0].body.contains("cache_control"));
}

#[test]
fn the_session_of_an_agent_is_the_key_of_its_cache() {
    for upstream in ["openai-chat", "openai-responses"] {
        let bodies = session("anthropic-messages", upstream, "");
        assert_eq!(bodies[0]["prompt_cache_key"], "s-1", "{upstream}");
        let bodies = session("anthropic-messages", upstream, "cache = \"off\"\n");
        assert!(bodies[0].get("prompt_cache_key").is_none(), "{upstream}");
    }
}
