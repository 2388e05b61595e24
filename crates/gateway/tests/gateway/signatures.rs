//! Thought signatures of Gemini: a client of any protocol gets them and gives them back, and no other vendor sees them.

use serde_json::{Value, json};

use crate::harness::{Provider, Running, Script, json as whole};

const FIRST: &str = "CpQBfirst+call==";
const SECOND: &str = "CpQBsecond/call==";

/// Two calls that Gemini signs one by one, without any thinking that it shows.
fn parts() -> Value {
    json!([
        {"functionCall": {"id": "c1", "name": "f", "args": {"n": 1}}, "thoughtSignature": FIRST},
        {"functionCall": {"id": "c2", "name": "f", "args": {"n": 2}}, "thoughtSignature": SECOND},
    ])
}

fn answer(parts: &Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": "STOP", "index": 0}],
        "modelVersion": "m", "responseId": "r"})
}

/// A Gemini that answers whole and streamed requests alike.
fn gemini(streams: bool) -> Provider {
    let body = answer(&parts()).to_string();
    let bytes = match streams {
        false => whole(200, "", &body),
        true => format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {body}\r\n\r\n"
        ),
    };
    Provider::start(vec![Script::Reply(bytes)])
}

/// The signatures on the calls of the last request that a Gemini got, by the arguments of the calls.
fn returned(provider: &Provider) -> Vec<(Value, Value)> {
    let request: Value = serde_json::from_str(&provider.received().last().unwrap().body).unwrap();
    let contents = request["contents"].as_array().unwrap().clone();
    let parts = contents.iter().flat_map(|content| content["parts"].as_array().unwrap());
    let calls = parts.filter(|part| !part["functionCall"].is_null());
    calls
        .map(|part| (part["functionCall"]["args"]["n"].clone(), part["thoughtSignature"].clone()))
        .collect()
}

fn expected() -> Vec<(Value, Value)> {
    vec![(json!(1), json!(FIRST)), (json!(2), json!(SECOND))]
}

/// The data of the events of a stream.
fn events(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// What the vendor's SDK has of a Messages answer, whole or streamed.
fn messages_content(body: &str, streams: bool) -> Vec<Value> {
    if !streams {
        let answer: Value = serde_json::from_str(body).unwrap();
        return answer["content"].as_array().unwrap().clone();
    }
    let mut blocks: Vec<Value> = Vec::new();
    for event in events(body) {
        let delta = &event["delta"];
        match event["type"].as_str().unwrap() {
            "content_block_start" => blocks.push(event["content_block"].clone()),
            "content_block_delta" => {
                let block = blocks.last_mut().unwrap();
                if let Some(signature) = delta["signature"].as_str() {
                    block["signature"] = json!(signature);
                } else if let Some(input) = delta["partial_json"].as_str() {
                    block["input"] = serde_json::from_str(input).unwrap();
                }
            }
            _ => {}
        }
    }
    blocks
}

#[test]
fn a_messages_client_gives_signatures_back_on_their_calls() {
    for streams in [false, true] {
        let gemini = gemini(streams);
        let gateway = Running::start(&gemini.toml("g", "gemini"));
        let ask = |messages: &Value| {
            let request = json!({"model": "g/m", "max_tokens": 99, "stream": streams, "messages": messages,
                "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {}}}]});
            gateway.post("/v1/messages", &request.to_string())
        };
        let question = json!({"role": "user", "content": "go"});
        let content = messages_content(&ask(&json!([question])).body, streams);
        let kinds: Vec<&str> =
            content.iter().map(|block| block["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["thinking", "tool_use", "thinking", "tool_use"]);
        let calls = content.iter().filter(|block| block["type"] == "tool_use");
        let results: Vec<Value> = calls
            .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": "ok"}))
            .collect();
        let history = json!([question, {"role": "assistant", "content": content}, {"role": "user", "content": results}]);
        assert_eq!(ask(&history).status, 200);
        assert_eq!(returned(&gemini), expected(), "stream: {streams}");
    }
}

/// What the vendor's SDK has of the calls of a Chat answer, whole or streamed.
fn chat_calls(body: &str, streams: bool) -> Vec<Value> {
    if !streams {
        let answer: Value = serde_json::from_str(body).unwrap();
        return answer["choices"][0]["message"]["tool_calls"].as_array().unwrap().clone();
    }
    let mut calls: Vec<Value> = Vec::new();
    for event in events(body) {
        for delta in event["choices"][0]["delta"]["tool_calls"].as_array().into_iter().flatten() {
            let index = delta["index"].as_u64().unwrap() as usize;
            if index == calls.len() {
                let mut call = delta.clone();
                call.as_object_mut().unwrap().remove("index");
                calls.push(call);
            } else if let Some(more) = delta["function"]["arguments"].as_str() {
                let before = calls[index]["function"]["arguments"].as_str().unwrap().to_owned();
                calls[index]["function"]["arguments"] = json!(before + more);
            }
        }
    }
    calls
}

#[test]
fn a_chat_client_gives_signatures_back_on_their_calls() {
    for streams in [false, true] {
        let gemini = gemini(streams);
        let gateway = Running::start(&gemini.toml("g", "gemini"));
        let ask = |messages: &Value| {
            let request = json!({"model": "g/m", "stream": streams, "messages": messages,
                "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}]});
            gateway.post("/v1/chat/completions", &request.to_string())
        };
        let question = json!({"role": "user", "content": "go"});
        let calls = chat_calls(&ask(&json!([question])).body, streams);
        assert_eq!(calls[0]["extra_content"]["google"]["thought_signature"], FIRST);
        let mut history =
            vec![question, json!({"role": "assistant", "content": null, "tool_calls": calls})];
        let result =
            |call: &Value| json!({"role": "tool", "tool_call_id": call["id"], "content": "ok"});
        history.extend(calls.iter().map(result));
        assert_eq!(ask(&json!(history)).status, 200);
        assert_eq!(returned(&gemini), expected(), "stream: {streams}");
    }
}

#[test]
fn a_responses_client_gives_signatures_back_on_their_calls() {
    for streams in [false, true] {
        let gemini = gemini(streams);
        let gateway = Running::start(&gemini.toml("g", "gemini"));
        let ask = |input: &Value| {
            let request = json!({"model": "g/m", "stream": streams, "input": input,
                "tools": [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": false}]});
            gateway.post("/v1/responses", &request.to_string()).body
        };
        let body = ask(&json!("go"));
        let output = match streams {
            false => serde_json::from_str::<Value>(&body).unwrap()["output"].clone(),
            true => events(&body).last().unwrap()["response"]["output"].clone(),
        };
        let mut input = vec![json!({"role": "user", "content": "go"})];
        input.extend(output.as_array().unwrap().iter().cloned());
        let calls =
            output.as_array().unwrap().iter().filter(|item| item["type"] == "function_call");
        let result = |call: &Value| json!({"type": "function_call_output", "call_id": call["call_id"], "output": "ok"});
        input.extend(calls.map(result));
        ask(&json!(input));
        assert_eq!(returned(&gemini), expected(), "stream: {streams}");
    }
}

#[test]
fn signatures_of_gemini_stay_away_from_every_other_vendor() {
    let claude = Provider::whole(
        r#"{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}"#,
    );
    let chat = Provider::whole(r#"{"id":"c","object":"chat.completion","choices":[]}"#);
    let openai = chat.toml("o", "openai-chat") + "dialect = \"openai\"\n";
    let gateway = Running::start(
        &(claude.toml("a", "anthropic-messages") + &openai + &chat.toml("u", "openai-chat")),
    );
    let sealed = format!("sabir1:gemini:signature:{FIRST}");
    let history = json!({"model": "a/m", "max_tokens": 99, "messages": [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [
            {"type": "thinking", "thinking": "", "signature": sealed},
            {"type": "tool_use", "id": "c1", "name": "f", "input": {}},
        ]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "ok"}]},
    ]});
    let reply = gateway.post("/v1/messages", &history.to_string());
    assert_eq!(reply.header("sabir-loss"), Some("withheld=1"));
    let seen = &claude.received()[0].body;
    assert!(!seen.contains("thinking") && seen.contains("tool_use"), "{seen}");

    let call = json!({"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": FIRST}}});
    let history = |model: &str| {
        json!({"model": model, "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ]})
        .to_string()
    };
    for model in ["o/gpt-4.1", "o/gemini-3-pro"] {
        let reply = gateway.post("/v1/chat/completions", &history(model));
        assert_eq!(reply.header("sabir-loss"), Some("withheld=1"), "{model}");
        let seen = chat.received().last().unwrap().body.clone();
        assert!(!seen.contains("thought_signature"), "{model}: {seen}");
    }
    for model in ["u/gemini-3-pro", "u/our-model"] {
        gateway.post("/v1/chat/completions", &history(model));
        let seen = chat.received().last().unwrap().body.clone();
        assert!(seen.contains(FIRST), "{model}: {seen}");
    }
}

#[test]
fn calls_that_nobody_signed_get_the_placeholder_on_any_gemini() {
    for (model, signed) in [("m", true), ("gemini-next", true), ("gemini-2.5-flash", false)] {
        let gemini = gemini(false);
        let gateway = Running::start(&gemini.toml("g", "gemini"));
        let request = json!({"model": format!("g/{model}"), "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{\"n\":1}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ]});
        gateway.post("/v1/chat/completions", &request.to_string());
        let placeholder =
            if signed { json!("skip_thought_signature_validator") } else { Value::Null };
        assert_eq!(returned(&gemini), [(json!(1), placeholder)], "{model}");
    }
}
