//! A streamed answer says what the whole answer says, in the form that its protocol demands.

use sabir_testkit::{meaning, translate};
use sabir_wire::protocol::AnswerContext;
use sabir_wire::{Protocol, Report};
use serde_json::{Value, json};

use crate::support::{Mode, ask};

/// The same question in the words of an API.
fn request(protocol: Protocol, text: &str, extra: Value) -> Value {
    let mut body = match protocol {
        Protocol::OpenaiChat => json!({
            "model": "sim", "messages": [{"role": "user", "content": text}],
            "stream_options": {"include_usage": true},
        }),
        Protocol::OpenaiResponses => json!({"model": "sim", "input": text}),
        Protocol::AnthropicMessages => {
            json!({"model": "sim", "max_tokens": 4000, "messages": [{"role": "user", "content": text}]})
        }
        Protocol::Gemini => {
            json!({"model": "sim", "contents": [{"role": "user", "parts": [{"text": text}]}]})
        }
    };
    let members = body.as_object_mut().expect("a body is an object");
    members.extend(extra.as_object().cloned().unwrap_or_default());
    body
}

/// Checks that the stream's fold, written as a whole answer, says what the whole answer says.
#[track_caller]
fn check(protocol: Protocol, text: &str, extra: Value) -> Value {
    let body = request(protocol, text, extra);
    let whole = ask(protocol, &body, Mode::Whole);
    assert_eq!(whole.status, 200, "{}", whole.text());
    let stream = ask(protocol, &body, Mode::Stream);
    let folded = translate::fold(protocol, &stream.bytes);
    let context = AnswerContext::default();
    let folded: Value =
        serde_json::from_str(&protocol.encode_response(&folded, protocol, &context).body)
            .expect("JSON");
    // Ids are made from the request, and the two requests differ in how they ask to be answered.
    let [whole_answer, streamed] = [whole.json(), folded].map(without_ids);
    let differences = meaning::unreported(protocol, &whole_answer, &streamed, &Report::default());
    assert_eq!(differences, [""; 0], "{protocol:?}: {text}: {whole_answer} {streamed}");
    whole.json()
}

fn without_ids(mut value: Value) -> Value {
    strip(&mut value);
    value
}

fn strip(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(strip),
        Value::Object(members) => {
            for name in [
                "id",
                "call_id",
                "responseId",
                "signature",
                "thoughtSignature",
                "encrypted_content",
                "data",
            ] {
                members.remove(name);
            }
            // Whole answers of Chat have an empty list of annotations that its streams never mention.
            members.retain(|name, value| name != "annotations" || *value != json!([]));
            members.values_mut().for_each(strip);
        }
        _ => {}
    }
}

#[test]
fn texts_are_the_same() {
    for protocol in Protocol::ALL {
        for text in [
            "hello",
            "",
            "unicode please",
            "repeat 300 words",
            "please refuse",
            "a \"quoted\"\nline",
        ] {
            if protocol == Protocol::AnthropicMessages && text.is_empty() {
                continue;
            }
            check(protocol, text, json!({}));
        }
    }
}

fn tools(protocol: Protocol) -> Value {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 2}}, "required": ["city", "days"]});
    let names = ["get_weather", "get_time"];
    match protocol {
        Protocol::OpenaiChat => {
            json!({"tools": names.map(|name| json!({"type": "function", "function": {"name": name, "parameters": schema}}))})
        }
        Protocol::OpenaiResponses => {
            json!({"tools": names.map(|name| json!({"type": "function", "name": name, "parameters": schema, "strict": false}))})
        }
        Protocol::AnthropicMessages => {
            json!({"tools": names.map(|name| json!({"name": name, "input_schema": schema}))})
        }
        Protocol::Gemini => {
            json!({"tools": [{"functionDeclarations": names.map(|name| json!({"name": name, "description": "d", "parametersJsonSchema": schema}))}]})
        }
    }
}

#[test]
fn tool_calls_are_the_same() {
    for protocol in Protocol::ALL {
        for text in [
            "use get_weather in Oslo",
            "get_weather and get_time of Oslo",
            "call get_time with {\"city\": \"Rome\", \"days\": 12345678901234567890, \"x\": \"é👩\"}",
        ] {
            let whole = check(protocol, text, tools(protocol)).to_string();
            assert!(whole.contains("get_"), "{whole}");
        }
    }
}

fn thinking(protocol: Protocol) -> Value {
    match protocol {
        Protocol::OpenaiChat => json!({"reasoning_effort": "high"}),
        Protocol::OpenaiResponses => json!({"reasoning": {"effort": "high", "summary": "auto"}}),
        Protocol::AnthropicMessages => {
            json!({"thinking": {"type": "enabled", "budget_tokens": 2000}})
        }
        Protocol::Gemini => {
            json!({"generationConfig": {"thinkingConfig": {"includeThoughts": true}}})
        }
    }
}

#[test]
fn thinking_is_the_same() {
    for protocol in Protocol::ALL {
        check(protocol, "hello", thinking(protocol));
        let mut both = tools(protocol);
        both.as_object_mut()
            .expect("an object")
            .extend(thinking(protocol).as_object().cloned().expect("an object"));
        check(protocol, "use get_weather in Oslo", both);
    }
}

#[test]
fn ends_are_the_same() {
    let cases = [
        (Protocol::OpenaiChat, json!({"max_tokens": 5}), "/choices/0/finish_reason", "length"),
        (Protocol::OpenaiResponses, json!({"max_output_tokens": 16}), "/status", "incomplete"),
        (Protocol::AnthropicMessages, json!({"max_tokens": 5}), "/stop_reason", "max_tokens"),
        (
            Protocol::Gemini,
            json!({"generationConfig": {"maxOutputTokens": 5}}),
            "/candidates/0/finishReason",
            "MAX_TOKENS",
        ),
        (Protocol::OpenaiChat, json!({"stop": ["answering"]}), "/choices/0/finish_reason", "stop"),
        (
            Protocol::AnthropicMessages,
            json!({"stop_sequences": ["nowhere", "answering"]}),
            "/stop_sequence",
            "answering",
        ),
        (
            Protocol::Gemini,
            json!({"generationConfig": {"stopSequences": ["answering"]}}),
            "/candidates/0/finishReason",
            "STOP",
        ),
    ];
    for (protocol, extra, pointer, expected) in cases {
        let whole = check(protocol, "hello", extra);
        assert_eq!(whole.pointer(pointer), Some(&json!(expected)), "{whole}");
        assert!(!whole.to_string().contains("You said"), "{whole}");
    }
}

#[test]
fn several_candidates_are_the_same() {
    let chat =
        check(Protocol::OpenaiChat, "hello", json!({"n": 3, "logprobs": true, "top_logprobs": 2}));
    assert_eq!(chat["choices"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        chat["choices"][0]["logprobs"]["content"][0]["top_logprobs"].as_array().map(Vec::len),
        Some(2)
    );
    let gemini =
        check(Protocol::Gemini, "hello", json!({"generationConfig": {"candidateCount": 2}}));
    assert_eq!(gemini["candidates"].as_array().map(Vec::len), Some(2));
    assert!(gemini["candidates"][0]["logprobsResult"].is_null());
}

#[test]
fn gemini_tells_log_probabilities_where_they_are_asked_for() {
    let config = json!({"candidateCount": 2, "responseLogprobs": true, "logprobs": 2});
    let gemini = check(Protocol::Gemini, "hello", json!({"generationConfig": config}));
    for candidate in gemini["candidates"].as_array().expect("a list") {
        let result = &candidate["logprobsResult"];
        let chosen = result["chosenCandidates"].as_array().expect("a list");
        let text: String = chosen.iter().filter_map(|it| it["token"].as_str()).collect();
        assert_eq!(candidate["content"]["parts"][0]["text"], text);
        assert_eq!(result["topCandidates"].as_array().map(Vec::len), Some(chosen.len()));
        assert_eq!(result["topCandidates"][0]["candidates"].as_array().map(Vec::len), Some(2));
    }
}

#[test]
fn responses_tells_log_probabilities_where_they_are_asked_for() {
    let silent = check(Protocol::OpenaiResponses, "hello", json!({"top_logprobs": 2}));
    assert_eq!(silent["output"][0]["content"][0]["logprobs"], json!([]));
    let extra = json!({"include": ["message.output_text.logprobs"], "top_logprobs": 2});
    let body = request(Protocol::OpenaiResponses, "hello", extra);
    let whole_answer = ask(Protocol::OpenaiResponses, &body, Mode::Whole).json();
    let part = &whole_answer["output"][0]["content"][0];
    let tokens = part["logprobs"].as_array().expect("a list");
    let text: String = tokens.iter().filter_map(|it| it["token"].as_str()).collect();
    assert_eq!(part["text"], text);
    assert_eq!(tokens[0]["top_logprobs"].as_array().map(Vec::len), Some(2));
    assert!(tokens[0]["bytes"].is_array());
    let stream = ask(Protocol::OpenaiResponses, &body, Mode::Stream);
    let frames = translate::frames(&stream.bytes);
    let frames = frames.iter().map(|it| serde_json::from_str::<Value>(it).expect("JSON"));
    let frames: Vec<Value> = frames.collect();
    for delta in frames.iter().filter(|it| it["type"] == "response.output_text.delta") {
        assert_eq!(delta["logprobs"][0]["token"], delta["delta"]);
        assert_eq!(delta["logprobs"][0]["top_logprobs"].as_array().map(Vec::len), Some(2));
        assert!(delta["logprobs"][0]["bytes"].is_null(), "only a complete part tells bytes");
    }
    let last = frames.last().expect("a frame");
    assert_eq!(last["response"]["output"][0]["content"], whole_answer["output"][0]["content"]);
}

#[test]
fn an_array_stream_holds_the_chunks_of_the_event_stream() {
    let body = json!({"contents": [{"parts": [{"text": "hello"}]}]});
    let simulator = sabir_backend::sim::Simulator::new(Protocol::Gemini);
    let path = "/v1beta/models/sim:streamGenerateContent";
    let array =
        crate::support::send(&simulator, http::Method::POST, path, body.to_string().as_bytes());
    let chunks = array.json();
    let events = ask(Protocol::Gemini, &body, Mode::Stream);
    let frames: Vec<Value> = translate::frames(&events.bytes)
        .iter()
        .map(|it| serde_json::from_str(it).expect("JSON"))
        .collect();
    assert_eq!(without_ids(chunks), without_ids(Value::Array(frames)));
}

#[test]
fn pieces_of_an_answer_in_unicode_end_inside_characters() {
    for protocol in Protocol::ALL {
        for mode in [Mode::Whole, Mode::Stream] {
            let answer = ask(protocol, &request(protocol, "unicode", json!({})), mode);
            let is_cut = answer.steps.iter().any(|step| match step {
                sabir_backend::sim::Step::Send(bytes) => std::str::from_utf8(bytes).is_err(),
                _ => false,
            });
            assert!(is_cut, "{protocol:?} {mode:?}");
            assert!(answer.text().contains('\u{6F22}'));
        }
    }
}
