//! Calls of an answer that come at once, in pieces by turns, and rules that are exchanged meanwhile: each call is mended by itself and
//! under its client's name, and an answer ends under the rules that it began with.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, mpsc};

use sabir_testkit::translate::decode_stream;
use sabir_wire::Protocol;
use sabir_wire::conversation::{Arguments, Content};
use sabir_wire::protocol::Fold;
use serde_json::{Value, json};

use crate::governing::{PROTOCOLS, offering, path};
use crate::harness::*;

const RULES: &str = "\n[tools]\nrename = { \"fs.look\" = \"look\", write = \"put\" }\narguments = \"repair\"\nundeclared = \"text\"\n";

/// What is called: ids, names as the model knows them, and the arguments in two pieces.
const CALLS: [(&str, &str, [&str; 2]); 2] =
    [("minted_0", "look", ["{'at'", ": 'door',}"]), ("minted_1", "put", ["{\"at\"", ":7}"])];

/// Two calls whose pieces come by turns, with text before and between them.
fn frames(upstream: Protocol) -> String {
    match upstream {
        Protocol::OpenaiChat => chat_frames(),
        Protocol::OpenaiResponses => responses_frames(),
        Protocol::AnthropicMessages => messages_frames(),
        _ => gemini_frames(),
    }
}

fn chat_frames() -> String {
    let chunk = |delta: Value, finish: Value| {
        let body = json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        format!("data: {body}\n\n")
    };
    let calls = |call: Value| chunk(json!({"tool_calls": [call]}), Value::Null);
    let mut out = chunk(json!({"role": "assistant", "content": "Let me "}), Value::Null);
    for (index, (id, name, _)) in CALLS.iter().enumerate() {
        let function = json!({"name": name, "arguments": ""});
        out += &calls(json!({"index": index, "id": id, "type": "function", "function": function}));
    }
    for piece in 0..2 {
        for (index, (_, _, pieces)) in CALLS.iter().enumerate() {
            out += &calls(json!({"index": index, "function": {"arguments": pieces[piece]}}));
        }
        if piece == 0 {
            out += &chunk(json!({"content": "see."}), Value::Null);
        }
    }
    out + &chunk(json!({}), json!("tool_calls")) + "data: [DONE]\n\n"
}

fn responses_frames() -> String {
    let mut number = 0;
    let mut out = String::new();
    let mut frame = |mut data: Value| {
        data["sequence_number"] = number.into();
        number += 1;
        let kind = data["type"].as_str().unwrap().to_owned();
        write!(out, "event: {kind}\ndata: {data}\n\n").unwrap();
    };
    let response = |status: &str, output: Value| {
        json!({"id": "resp_1", "object": "response", "created_at": 1, "status": status, "model": "m",
            "output": output})
    };
    let text = json!({"type": "output_text", "text": "Let me see.", "annotations": []});
    let message = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]});
    let call = |index: usize, arguments: &str, status: &str| {
        let (id, name, _) = CALLS[index];
        json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": name,
            "arguments": arguments, "status": status})
    };
    frame(json!({"type": "response.created", "response": response("in_progress", json!([]))}));
    let begun = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []});
    frame(json!({"type": "response.output_item.added", "output_index": 0, "item": begun}));
    let empty = json!({"type": "output_text", "text": "", "annotations": []});
    frame(
        json!({"type": "response.content_part.added", "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": empty}),
    );
    for delta in ["Let me ", "see."] {
        frame(
            json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0, "delta": delta}),
        );
    }
    frame(
        json!({"type": "response.output_text.done", "item_id": "msg_1", "output_index": 0, "content_index": 0, "text": "Let me see."}),
    );
    frame(json!({"type": "response.output_item.done", "output_index": 0, "item": message}));
    for index in 0..2 {
        let item = call(index, "", "in_progress");
        frame(
            json!({"type": "response.output_item.added", "output_index": index + 1, "item": item}),
        );
    }
    for piece in 0..2 {
        for (index, (id, _, pieces)) in CALLS.iter().enumerate() {
            let (item, delta) = (format!("fc_{id}"), pieces[piece]);
            frame(
                json!({"type": "response.function_call_arguments.delta", "item_id": item, "output_index": index + 1, "delta": delta}),
            );
        }
    }
    // The second ends first.
    for index in [1, 0] {
        let (id, _, pieces) = CALLS[index];
        let arguments = pieces.concat();
        frame(
            json!({"type": "response.function_call_arguments.done", "item_id": format!("fc_{id}"), "output_index": index + 1, "arguments": arguments}),
        );
        let item = call(index, &arguments, "completed");
        frame(
            json!({"type": "response.output_item.done", "output_index": index + 1, "item": item}),
        );
    }
    let calls = [0, 1].map(|index| call(index, &CALLS[index].2.concat(), "completed"));
    let output = json!([message, calls[0], calls[1]]);
    frame(json!({"type": "response.completed", "response": response("completed", output)}));
    out
}

fn messages_frames() -> String {
    let mut out = String::new();
    let mut frame = |data: Value| {
        write!(out, "event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap()).unwrap();
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    frame(
        json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": "m", "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage}}),
    );
    frame(
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
    );
    let text = |text: &str| json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}});
    frame(text("Let me "));
    for (index, (id, name, _)) in CALLS.iter().enumerate() {
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
        frame(json!({"type": "content_block_start", "index": index + 1, "content_block": block}));
    }
    for piece in 0..2 {
        for (index, (_, _, pieces)) in CALLS.iter().enumerate() {
            let delta = json!({"type": "input_json_delta", "partial_json": pieces[piece]});
            frame(json!({"type": "content_block_delta", "index": index + 1, "delta": delta}));
        }
        if piece == 0 {
            frame(text("see."));
        }
    }
    for index in [2, 0, 1] {
        frame(json!({"type": "content_block_stop", "index": index}));
    }
    let delta = json!({"stop_reason": "tool_use", "stop_sequence": null});
    frame(json!({"type": "message_delta", "delta": delta, "usage": {"output_tokens": 9}}));
    frame(json!({"type": "message_stop"}));
    out
}

fn gemini_frames() -> String {
    let chunk = |parts: Value, finish: Value| {
        let body = json!({"candidates": [{"index": 0, "finishReason": finish,
            "content": {"role": "model", "parts": parts}}], "modelVersion": "m"});
        format!("data: {body}\n\n")
    };
    let begin = |index: usize, argument: Value| {
        let (id, name, _) = CALLS[index];
        let call = json!({"id": id, "name": name, "partialArgs": [argument], "willContinue": true});
        chunk(json!([{"functionCall": call}]), Value::Null)
    };
    let end = |call: Value| chunk(json!([{"functionCall": call}]), Value::Null);
    let rest = json!({"jsonPath": "$.at", "stringValue": "or"});
    [
        chunk(json!([{"text": "Let me "}]), Value::Null),
        begin(0, json!({"jsonPath": "$.at", "stringValue": "do", "willContinue": true})),
        begin(1, json!({"jsonPath": "$.at", "numberValue": 7})),
        chunk(json!([{"text": "see."}]), Value::Null),
        end(json!({"id": CALLS[0].0, "partialArgs": [rest]})),
        end(json!({"id": CALLS[1].0})),
        chunk(json!([{"text": ""}]), json!("STOP")),
    ]
    .concat()
}

/// What a client sees of a stream: its text, and its calls as id, name and arguments.
fn seen(client: Protocol, body: &str) -> (String, Vec<(String, String, Value)>) {
    let mut fold = Fold::default();
    decode_stream(client, [body.as_bytes()], &mut |event| fold.step(event));
    let (mut text, mut calls) = (String::new(), Vec::new());
    for part in fold.so_far().candidates.iter().flat_map(|it| &it.message.parts) {
        match part.content() {
            Content::Text(words) => text.push_str(&words.to_str()),
            Content::ToolCall(call) => {
                let arguments = match &call.arguments {
                    Arguments::Json(json) => json.as_str().to_owned(),
                    Arguments::Text(text) => text.to_str().into_owned(),
                };
                let id = call.id.as_ref().unwrap().to_str().into_owned();
                let arguments = serde_json::from_str(&arguments).unwrap();
                calls.push((id, call.name.to_str().into_owned(), arguments));
            }
            _ => {}
        }
    }
    calls.sort_by(|one, other| one.0.cmp(&other.0));
    (text, calls)
}

fn expected() -> Vec<(String, String, Value)> {
    let call = |id: &str, name: &str, at: &str| (id.to_owned(), name.to_owned(), json!({"at": at}));
    vec![call("minted_0", "fs.look", "door"), call("minted_1", "write", "7")]
}

#[test]
fn calls_that_come_by_turns_are_mended_each_by_itself() {
    for upstream in PROTOCOLS {
        let stream = frames(upstream);
        for client in PROTOCOLS {
            let provider = Provider::start(vec![Script::Reply(sse(&stream))]);
            let gateway = Running::start(&(provider.toml("p", upstream.as_str()) + RULES));
            let body = offering(client, &["fs.look", "write"], true).to_string();
            let reply = gateway.post(path(client, true), &body);
            let cell = format!("{client:?} {upstream:?}: {}", reply.body);
            assert_eq!(reply.status, 200, "{cell}");
            let (text, calls) = seen(client, &reply.body);
            assert_eq!((text.as_str(), calls), ("Let me see.", expected()), "{cell}");
            assert!(!reply.body.contains("\"look\"") && !reply.body.contains("\"put\""), "{cell}");
        }
    }
}

#[test]
fn an_answer_ends_under_the_rules_that_it_began_with() {
    for client in PROTOCOLS {
        let stream = chat_frames();
        let (begin, rest) = stream.split_at(stream.find("\n\n").unwrap() + 2);
        let (send, pieces) = mpsc::channel();
        let provider = Provider::start(vec![Script::Pieces(Arc::new(Mutex::new(pieces)))]);
        let plain = provider.toml("p", "openai-chat");
        let file = ConfigFile::new(&format!("{plain}{RULES}"));
        let gateway = Running::start_from(&file);
        let body = offering(client, &["fs.look", "write"], true).to_string();
        let mut reader = gateway.send(&format!("POST {}", path(client, true)), &body);
        send.send(sse(begin)).unwrap();
        assert_eq!(read_head(&mut reader).0, 200);
        let mut body = Vec::new();
        while !String::from_utf8_lossy(&body).contains("Let me ") {
            body.extend(read_chunk(&mut reader).unwrap());
        }
        file.write(&format!("{plain}\n[tools]\ndeny = [\"*\"]\nundeclared = \"refuse\"\n"));
        assert_eq!(gateway.post("/sabir/v1/reload", "").status, 200);
        send.send(rest.to_owned()).unwrap();
        drop(send);
        while let Some(chunk) = read_chunk(&mut reader) {
            body.extend(chunk);
        }
        let body = String::from_utf8(body).unwrap();
        let (text, calls) = seen(client, &body);
        assert_eq!((text.as_str(), calls), ("Let me see.", expected()), "{client:?}: {body}");
    }
}
