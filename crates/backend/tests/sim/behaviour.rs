//! What a simulator answers, by what the request asks; and its paths, keys, counts and recorder.

use http::{HeaderMap, Method};
use sabir_backend::sim::{Incoming, Simulator};
use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::support::{Mode, SimulatedResponse, ask, send};

fn chat(changes: Value) -> Value {
    let mut body = json!({"model": "sim", "messages": [{"role": "user", "content": "hi"}]});
    body.as_object_mut()
        .expect("an object")
        .extend(changes.as_object().cloned().expect("an object"));
    ask(Protocol::OpenaiChat, &body, Mode::Whole).json()
}

fn text_of(answer: &Value) -> &str {
    answer["choices"][0]["message"]["content"].as_str().expect("a text")
}

fn tools() -> Value {
    let tool = |name: &str| {
        let schema = json!({
            "type": "object", "required": ["unit", "days", "tags", "at"],
            "properties": {
                "unit": {"enum": ["C", "F"]}, "days": {"type": "integer", "minimum": 3},
                "tags": {"type": "array", "items": {"type": "string", "minLength": 5}},
                "at": {"$ref": "#/$defs/at"}, "note": {"type": "string"},
            },
            "$defs": {"at": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}},
        });
        json!({"type": "function", "function": {"name": name, "parameters": schema}})
    };
    json!([tool("get_weather"), tool("get_time")])
}

fn calls(answer: &Value) -> Vec<(String, Value)> {
    let calls =
        answer["choices"][0]["message"]["tool_calls"].as_array().cloned().unwrap_or_default();
    let read = |call: &Value| {
        let arguments = call["function"]["arguments"].as_str().expect("a text");
        let name = call["function"]["name"].as_str().expect("a text").to_owned();
        (name, serde_json::from_str(arguments).expect("JSON"))
    };
    calls.iter().map(read).collect()
}

fn user(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

#[test]
fn a_text_names_api_model_and_prompt() {
    let long = "ä".repeat(300);
    let answer = chat(json!({"model": "some-model", "messages": user(&long)}));
    let expected = format!(
        "This is Sabir's openai-chat simulator, answering as `some-model`. You said: \"{}…\".",
        "ä".repeat(200)
    );
    assert_eq!(text_of(&answer), expected);
    assert_eq!(text_of(&chat(json!({"messages": user("repeat 7 words")}))).split(' ').count(), 7);
}

#[test]
fn tools_are_called_when_named_or_forced() {
    let named = |text: &str, changes: Value| {
        let mut body = json!({"tools": tools(), "messages": user(text)});
        body.as_object_mut()
            .expect("an object")
            .extend(changes.as_object().cloned().expect("an object"));
        calls(&chat(body)).into_iter().map(|it| it.0).collect::<Vec<_>>()
    };
    assert_eq!(named("hello", json!({})), Vec::<String>::new());
    assert_eq!(named("my_get_weather_2 is not its name", json!({})), Vec::<String>::new());
    assert_eq!(named("get_time, then get_weather", json!({})), ["get_weather", "get_time"]);
    assert_eq!(
        named("get_time and get_weather", json!({"parallel_tool_calls": false})),
        ["get_weather"]
    );
    assert_eq!(
        named("get_time and get_weather", json!({"tool_choice": "none"})),
        Vec::<String>::new()
    );
    assert_eq!(named("hello", json!({"tool_choice": "required"})), ["get_weather"]);
    let forced = json!({"tool_choice": {"type": "function", "function": {"name": "get_time"}}});
    assert_eq!(named("get_weather", forced), ["get_time"]);
}

#[test]
fn sampled_arguments_satisfy_their_schema() {
    let answer = chat(json!({"tools": tools(), "messages": user("get_weather of Oslo")}));
    let expected = json!({"unit": "C", "days": 3, "tags": ["Oslox"], "at": {"city": "Oslo"}});
    assert_eq!(calls(&answer), [("get_weather".to_owned(), expected)]);
}

#[test]
fn dictated_calls_are_made_round_by_round() {
    let script = "please\ncall get_time with {\"a\": [1, 2.5]}\ncall get_weather with {}\nthen call get_time with {\"b\": 1}";
    let first = chat(json!({"tools": tools(), "messages": user(script)}));
    assert_eq!(
        calls(&first),
        [("get_time".to_owned(), json!({"a": [1, 2.5]})), ("get_weather".to_owned(), json!({}))]
    );
    let mut messages = user(script);
    let turn = |messages: &mut Value, answer: &Value, results: &[&str]| {
        let list = messages.as_array_mut().expect("a list");
        let message = answer["choices"][0]["message"].clone();
        let calls = message["tool_calls"].clone();
        list.push(message);
        for (call, result) in calls.as_array().expect("a list").iter().zip(results) {
            list.push(json!({"role": "tool", "tool_call_id": call["id"], "content": result}));
        }
    };
    turn(&mut messages, &first, &["noon", "rain"]);
    let second = chat(json!({"tools": tools(), "messages": messages}));
    assert_eq!(calls(&second), [("get_time".to_owned(), json!({"b": 1}))]);
    turn(&mut messages, &second, &["one"]);
    let third = chat(json!({"tools": tools(), "messages": messages}));
    assert!(text_of(&third).ends_with("The tools said: \"one\"."), "{third}");
}

#[test]
fn structured_output_satisfies_its_schema() {
    let schema = tools()[0]["function"]["parameters"].clone();
    let format = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema}});
    let answer = chat(json!({"response_format": format}));
    let value: Value = serde_json::from_str(text_of(&answer)).expect("JSON");
    assert_eq!(
        value,
        json!({"unit": "C", "days": 3, "tags": ["sample"], "at": {"city": "sample"}})
    );
    let object =
        chat(json!({"response_format": {"type": "json_object"}, "messages": user("JSON")}));
    assert!(serde_json::from_str::<Value>(text_of(&object)).expect("JSON").is_object());
}

#[test]
fn media_are_counted() {
    let image = json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}});
    let content = json!([image, image, {"type": "text", "text": "look"}]);
    let answer = chat(json!({"messages": [{"role": "user", "content": content}]}));
    assert!(text_of(&answer).ends_with("I see 2 images."), "{answer}");
}

#[test]
fn refusals_have_their_own_form() {
    let refused = |protocol: Protocol, body: Value| ask(protocol, &body, Mode::Whole).json();
    let chat =
        refused(Protocol::OpenaiChat, json!({"model": "sim", "messages": user("Please refuse")}));
    assert_eq!(chat["choices"][0]["message"]["refusal"], "I can't help with that.");
    assert_eq!(chat["choices"][0]["message"]["content"], Value::Null);
    let responses =
        refused(Protocol::OpenaiResponses, json!({"model": "sim", "input": "please refuse"}));
    assert_eq!(responses["output"][0]["content"][0]["type"], "refusal");
    let messages = refused(
        Protocol::AnthropicMessages,
        json!({"model": "sim", "max_tokens": 99, "messages": user("please refuse")}),
    );
    assert_eq!(
        (&messages["stop_reason"], &messages["stop_details"]["type"]),
        (&json!("refusal"), &json!("refusal"))
    );
    let gemini =
        refused(Protocol::Gemini, json!({"contents": [{"parts": [{"text": "please refuse"}]}]}));
    assert_eq!(gemini["candidates"][0]["finishReason"], "SAFETY");
}

#[test]
fn marked_prefixes_are_written_and_then_read() {
    let text =
        json!({"type": "text", "text": "x".repeat(400), "cache_control": {"type": "ephemeral"}});
    let first = json!({"role": "user", "content": [text, {"type": "text", "text": "hi"}]});
    let body = |messages: Value| json!({"model": "sim", "max_tokens": 99, "messages": messages});
    let usage = |messages: Value| {
        ask(Protocol::AnthropicMessages, &body(messages), Mode::Whole).json()["usage"].clone()
    };
    let written = usage(json!([first]));
    assert_eq!(
        (
            &written["cache_creation_input_tokens"],
            &written["cache_read_input_tokens"],
            &written["input_tokens"]
        ),
        (&json!(100), &json!(0), &json!(1))
    );
    let read = usage(
        json!([first, {"role": "assistant", "content": "so"}, {"role": "user", "content": "go on"}]),
    );
    assert_eq!(
        (&read["cache_creation_input_tokens"], &read["cache_read_input_tokens"]),
        (&json!(0), &json!(100))
    );
}

#[test]
fn counters_agree_with_usage() {
    let post = |protocol: Protocol, path: &str, body: &Value| {
        send(&Simulator::new(protocol), Method::POST, path, body.to_string().as_bytes()).json()
    };
    let messages = json!({"model": "sim", "messages": user("how many is this"), "system": "s"});
    let counted = post(Protocol::AnthropicMessages, "/v1/messages/count_tokens", &messages);
    let mut asked = messages.clone();
    asked["max_tokens"] = json!(9);
    assert_eq!(
        counted["input_tokens"],
        ask(Protocol::AnthropicMessages, &asked, Mode::Whole).json()["usage"]["input_tokens"]
    );
    let input = json!({"model": "sim", "input": "how many is this"});
    let counted = post(Protocol::OpenaiResponses, "/v1/responses/input_tokens", &input);
    assert_eq!(
        counted["input_tokens"],
        ask(Protocol::OpenaiResponses, &input, Mode::Whole).json()["usage"]["input_tokens"]
    );
    let contents = json!({"contents": [{"parts": [{"text": "how many is this"}]}]});
    let whole = json!({"generateContentRequest": contents});
    let total =
        ask(Protocol::Gemini, &contents, Mode::Whole).json()["usageMetadata"]["promptTokenCount"]
            .clone();
    for body in [&contents, &whole] {
        let counted = post(Protocol::Gemini, "/v1beta/models/sim:countTokens", body);
        assert_eq!(counted["totalTokens"], total);
    }
}

fn with_headers(
    protocol: Protocol,
    path: &str,
    pairs: &[(&'static str, &'static str)],
) -> SimulatedResponse {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.insert(*name, value.parse().expect("a header's value"));
    }
    let incoming = Incoming { method: &Method::GET, path, headers: &headers, body: b"" };
    SimulatedResponse::of(Simulator::new(protocol).answer(incoming))
}

#[test]
fn a_key_is_needed() {
    let version = ("anthropic-version", "2023-06-01");
    for (protocol, path, headers, status) in [
        (Protocol::OpenaiChat, "/v1/models", vec![], 401),
        (Protocol::OpenaiChat, "/v1/models", vec![("authorization", "Bearer invalid")], 401),
        (Protocol::OpenaiResponses, "/v1/models", vec![("authorization", "Bearer k")], 200),
        (Protocol::AnthropicMessages, "/v1/models", vec![version], 401),
        (Protocol::AnthropicMessages, "/v1/models", vec![version, ("x-api-key", "k")], 200),
        (
            Protocol::AnthropicMessages,
            "/v1/models",
            vec![version, ("authorization", "Bearer k")],
            200,
        ),
        (Protocol::AnthropicMessages, "/v1/models", vec![("x-api-key", "k")], 400),
        (Protocol::Gemini, "/v1beta/models", vec![], 401),
        (Protocol::Gemini, "/v1/models?key=k", vec![], 200),
        (Protocol::Gemini, "/v1beta/models/some%2Fmodel", vec![("x-goog-api-key", "k")], 200),
        (Protocol::Gemini, "/v1beta/models?key=invalid", vec![], 400),
    ] {
        assert_eq!(
            with_headers(protocol, path, &headers).status,
            status,
            "{protocol:?} {path} {headers:?}"
        );
    }
}

#[test]
fn unknown_paths_and_broken_bodies_have_the_apis_shape() {
    for protocol in Protocol::ALL {
        let simulator = Simulator::new(protocol);
        let missing = send(&simulator, Method::POST, "/v1/nothing", b"{}");
        assert_eq!((missing.status, missing.json()["error"].is_object()), (404, true));
        let path = crate::support::path(protocol, "sim", Mode::Whole);
        let deep = "[".repeat(1000);
        for body in ["", "{", "{\"model\": \"sim\",}", &deep] {
            let answer = send(&simulator, Method::POST, &path, body.as_bytes());
            assert_eq!((answer.status, answer.json()["error"].is_object()), (400, true), "{body}");
        }
        for body in ["null", "[]", "3", "\"text\"", "{}"] {
            assert_eq!(
                send(&simulator, Method::POST, &path, body.as_bytes()).status,
                400,
                "{body}"
            );
        }
    }
}

#[test]
fn what_arrived_is_told_without_keys() {
    let simulator = Simulator::recording(Protocol::Gemini);
    let path = "/v1beta/models/sim:generateContent?key=hidden-key";
    for _ in 0..1_020 {
        send(&simulator, Method::POST, path, br#"{"contents": 3}"#);
    }
    let received = simulator.received();
    assert_eq!((received.len(), received[0].status, received[0].is_valid), (1_000, 400, false));
    let recorded = send(&simulator, Method::GET, "/_sim/requests", b"");
    assert_eq!(recorded.json()[0]["body"], json!({"contents": 3}));
    assert!(
        !recorded.text().contains("hidden-key") && !recorded.text().contains("\"key\""),
        "{}",
        recorded.text()
    );
    let sought = |text| {
        let path = format!("/_sim/requests?holds={text}");
        send(&simulator, Method::GET, &path, b"").json().as_array().unwrap().len()
    };
    assert_eq!((sought("models/sim"), sought("contents"), sought("elsewhere")), (1_000, 1_000, 0));
    assert_eq!(send(&simulator, Method::DELETE, "/_sim/requests", b"").json(), json!([]));
    assert!(simulator.received().is_empty());
}

#[test]
fn nothing_is_kept_of_what_nobody_asked_to_keep() {
    let simulator = Simulator::new(Protocol::OpenaiChat);
    let body = json!({"model": "sim", "messages": user("hi")}).to_string();
    send(&simulator, Method::POST, "/v1/chat/completions", body.as_bytes());
    assert!(simulator.received().is_empty());
    assert_eq!(send(&simulator, Method::GET, "/_sim/requests", b"").status, 404);
}

#[test]
fn long_bodies_push_each_other_out() {
    let simulator = Simulator::recording(Protocol::OpenaiChat);
    let body = vec![b'x'; 20 << 20];
    for _ in 0..5 {
        send(&simulator, Method::POST, "/v1/chat/completions", &body);
    }
    assert_eq!(simulator.received().len(), 3);
}

#[test]
fn an_answer_of_responses_is_continued_by_its_id() {
    let simulator = Simulator::new(Protocol::OpenaiResponses);
    let ask =
        |body: &Value| send(&simulator, Method::POST, "/v1/responses", body.to_string().as_bytes());
    let tools = json!([{"type": "function", "name": "look", "strict": false,
        "parameters": {"type": "object", "properties": {}}}]);
    for is_streamed in [false, true] {
        let first = ask(&json!({"model": "sim", "input": "call look with {}", "tools": tools,
            "stream": is_streamed}));
        let text = String::from_utf8(first.bytes).unwrap();
        let last = text.lines().rev().find_map(|line| line.strip_prefix("data: "));
        let last: Value = serde_json::from_str(last.unwrap_or(&text)).unwrap();
        let response = if is_streamed { &last["response"] } else { &last };
        let output = json!({"type": "function_call_output", "output": "a door",
            "call_id": response["output"][0]["call_id"]});
        let mut next = json!({"model": "sim", "input": [output], "tools": tools,
            "previous_response_id": response["id"]});
        let second = ask(&next).json();
        assert!(second.to_string().contains("The tools said"), "{second}");
        next["previous_response_id"] = json!("resp_unknown");
        assert_eq!(ask(&next).json()["error"]["code"], "previous_response_not_found");
    }
    let unkept = ask(&json!({"model": "sim", "input": "hi", "store": false})).json();
    let next = json!({"model": "sim", "input": "hi", "previous_response_id": unkept["id"]});
    assert_eq!(ask(&next).status, 400);
}

#[test]
fn the_same_request_gets_the_same_answer() {
    for protocol in Protocol::ALL {
        let body = match protocol {
            Protocol::OpenaiResponses => json!({"model": "sim", "input": "hi"}),
            Protocol::Gemini => json!({"contents": [{"parts": [{"text": "hi"}]}]}),
            _ => json!({"model": "sim", "max_tokens": 50, "messages": user("hi")}),
        };
        for mode in [Mode::Whole, Mode::Stream] {
            assert_eq!(ask(protocol, &body, mode).bytes, ask(protocol, &body, mode).bytes);
        }
    }
}
