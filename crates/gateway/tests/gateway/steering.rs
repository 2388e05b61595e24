//! The usage by which clients decide when to shorten their conversation: what the provider counted reaches every client, and
//! where nobody counted an estimate takes its place, which says that it is one.

use serde_json::{Value, json as value};

use crate::harness::*;
use crate::overflow::{Delivery, asked, events, model};

const PROTOCOLS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic-messages", "gemini"];

/// The words of every answer: 50 tokens at four bytes each.
fn words() -> String {
    "word ".repeat(40)
}

/// What a provider reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stated {
    /// 1,000 of input, of which 400 were cached, and 60 of output, of which 10 were reasoning.
    All,
    Nothing,
    Zeros,
}

/// The usage report of a protocol.
fn report(protocol: &str, stated: Stated) -> Value {
    let [input, cached, output, reasoning] = match stated {
        Stated::All => [1000, 400, 60, 10],
        Stated::Zeros => [0; 4],
        Stated::Nothing => return Value::Null,
    };
    match protocol {
        "openai-chat" => value!({
            "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        }),
        "openai-responses" => value!({
            "input_tokens": input, "output_tokens": output, "total_tokens": input + output,
            "input_tokens_details": {"cached_tokens": cached},
            "output_tokens_details": {"reasoning_tokens": reasoning},
        }),
        "anthropic-messages" => value!({
            "input_tokens": input - cached, "cache_read_input_tokens": cached, "output_tokens": output,
            "output_tokens_details": {"thinking_tokens": reasoning},
        }),
        _ => value!({
            "promptTokenCount": input, "cachedContentTokenCount": cached,
            "candidatesTokenCount": output - reasoning, "thoughtsTokenCount": reasoning,
            "totalTokenCount": input + output,
        }),
    }
}

/// A whole answer of a protocol.
fn whole(protocol: &str, stated: Stated) -> Value {
    let (text, usage) = (words(), report(protocol, stated));
    match protocol {
        "openai-chat" => value!({
            "id": "c", "object": "chat.completion", "created": 1, "model": "local", "usage": usage,
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        }),
        "openai-responses" => value!({
            "id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "local",
            "output": [{"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": text, "annotations": []}]}],
            "usage": usage,
        }),
        "anthropic-messages" => value!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "local",
            "content": [{"type": "text", "text": text}], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": usage,
        }),
        _ => value!({
            "candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": text}]}, "finishReason": "STOP"}],
            "usageMetadata": usage, "modelVersion": "local", "responseId": "r",
        }),
    }
}

/// The same answer as a stream.
fn streamed(protocol: &str, stated: Stated) -> String {
    let (all, text) = (whole(protocol, stated), words());
    let named = |event: Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    match protocol {
        "openai-chat" => {
            let chunk = |choices: Value, usage: &Value| {
                format!(
                    "data: {}\n\n",
                    value!({"id": "c", "object": "chat.completion.chunk",
                    "created": 1, "model": "local", "choices": choices, "usage": usage})
                )
            };
            let begin = value!([{"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": null}]);
            let end = value!([{"index": 0, "delta": {}, "finish_reason": "stop"}]);
            let mut frames = chunk(begin, &Value::Null) + &chunk(end, &Value::Null);
            if stated != Stated::Nothing {
                frames += &chunk(value!([]), &all["usage"]);
            }
            frames + "data: [DONE]\n\n"
        }
        "openai-responses" => {
            let mut begun = all.clone();
            (begun["output"], begun["status"], begun["usage"]) =
                (value!([]), value!("in_progress"), Value::Null);
            let place = value!({"item_id": "msg_1", "output_index": 0, "content_index": 0});
            let at = |mut event: Value| {
                let members = place.as_object().into_iter().flatten();
                members.for_each(|(key, value)| event[key] = value.clone());
                event
            };
            let empty = value!({"type": "output_text", "text": "", "annotations": []});
            let item = value!({"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []});
            let events = [
                value!({"type": "response.created", "response": begun}),
                value!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                at(value!({"type": "response.content_part.added", "part": empty})),
                at(value!({"type": "response.output_text.delta", "delta": text, "logprobs": []})),
                at(value!({"type": "response.output_text.done", "text": text, "logprobs": []})),
                at(
                    value!({"type": "response.content_part.done", "part": all["output"][0]["content"][0]}),
                ),
                value!({"type": "response.output_item.done", "output_index": 0, "item": all["output"][0]}),
                value!({"type": "response.completed", "response": all}),
            ];
            let numbered = events.into_iter().enumerate().map(|(number, mut event)| {
                event["sequence_number"] = value!(number);
                named(event)
            });
            numbered.collect()
        }
        "anthropic-messages" => {
            let mut begun = all.clone();
            (begun["content"], begun["stop_reason"]) = (value!([]), Value::Null);
            [
                value!({"type": "message_start", "message": begun}),
                value!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                value!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
                value!({"type": "content_block_stop", "index": 0}),
                value!({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": null}, "usage": all["usage"]}),
                value!({"type": "message_stop"}),
            ]
            .map(named)
            .concat()
        }
        _ => format!("data: {all}\n\n"),
    }
}

/// What a client learns: input with what was cached, of it cached, output with reasoning, of it reasoning.
fn learned(client: &str, usage: &Value) -> [u64; 4] {
    let count = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64).unwrap_or_default();
    match client {
        "openai-chat" => [
            count("/prompt_tokens"),
            count("/prompt_tokens_details/cached_tokens"),
            count("/completion_tokens"),
            count("/completion_tokens_details/reasoning_tokens"),
        ],
        "openai-responses" => [
            count("/input_tokens"),
            count("/input_tokens_details/cached_tokens"),
            count("/output_tokens"),
            count("/output_tokens_details/reasoning_tokens"),
        ],
        "anthropic-messages" => {
            let cached = count("/cache_read_input_tokens");
            let reasoning = count("/output_tokens_details/thinking_tokens");
            [count("/input_tokens") + cached, cached, count("/output_tokens"), reasoning]
        }
        _ => {
            let reasoning = count("/thoughtsTokenCount");
            let cached = count("/cachedContentTokenCount");
            [
                count("/promptTokenCount"),
                cached,
                count("/candidatesTokenCount") + reasoning,
                reasoning,
            ]
        }
    }
}

/// The usage of a reply, where its client looks for it.
fn usage(client: &str, delivery: Delivery, reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.body);
    let last = match delivery {
        Delivery::Whole => reply.json(),
        Delivery::Streamed => {
            let states = |event: &Value| !usage_member(client, event).is_null();
            events(&reply.body)
                .into_iter()
                .rfind(states)
                .unwrap_or_else(|| panic!("{}", reply.body))
        }
    };
    usage_member(client, &last).clone()
}

fn usage_member<'e>(client: &str, event: &'e Value) -> &'e Value {
    match client {
        "gemini" => &event["usageMetadata"],
        "openai-responses" if event["object"] != "response" => &event["response"]["usage"],
        _ => &event["usage"],
    }
}

/// Asks in every way, with 4,000 bytes of words: a thousand tokens.
fn over_all_pairs(stated: Stated, check: impl Fn(&str, &str, Delivery, &Reply, &Running)) {
    for upstream in PROTOCOLS {
        for delivery in [Delivery::Whole, Delivery::Streamed] {
            let reply = match delivery {
                Delivery::Whole => json(200, "", &whole(upstream, stated).to_string()),
                Delivery::Streamed => sse(&streamed(upstream, stated)),
            };
            let provider = Provider::start(vec![Script::Reply(reply)]);
            let gateway = model(&provider, upstream);
            for client in PROTOCOLS {
                let (path, body) = asked(client, &"word ".repeat(800), delivery);
                let body = match (client, delivery) {
                    ("openai-chat", Delivery::Streamed) => {
                        body.replacen('{', r#"{"stream_options":{"include_usage":true},"#, 1)
                    }
                    _ => body,
                };
                let reply = gateway.post(path, &body);
                check(client, upstream, delivery, &reply, &gateway);
            }
        }
    }
}

#[test]
fn what_a_provider_counts_reaches_every_client() {
    over_all_pairs(Stated::All, |client, upstream, delivery, reply, _| {
        let pair = format!("{client} on {upstream}, {delivery:?}");
        let learned = learned(client, &usage(client, delivery, reply));
        assert_eq!(learned, [1000, 400, 60, 10], "{pair}: {}", reply.body);
        assert_eq!(reply.header("sabir-estimate"), None, "{pair}");
    });
}

#[test]
fn what_nobody_counts_is_estimated_and_says_so() {
    for stated in [Stated::Nothing, Stated::Zeros] {
        over_all_pairs(stated, |client, upstream, delivery, reply, gateway| {
            // A provider of the client's own protocol speaks for itself.
            if client == upstream {
                return assert_eq!(reply.header("sabir-estimate"), None);
            }
            let pair = format!("{client} on {upstream}, {delivery:?}, {stated:?}");
            let [input, _, output, _] = learned(client, &usage(client, delivery, reply));
            assert!((950..1100).contains(&input), "{pair}: {input} of input in {}", reply.body);
            assert_eq!(output, 50, "{pair}: {}", reply.body);
            if delivery == Delivery::Whole {
                assert_eq!(reply.header("sabir-estimate"), Some("true"), "{pair}");
            }
            let exchange = reply.header("sabir-exchange").unwrap();
            let seen = gateway.get(&format!("/sabir/v1/exchanges/{exchange}")).json();
            assert!(seen.to_string().contains("an estimate is written"), "{pair}: {seen}");
        });
    }
}

#[test]
fn a_stream_of_messages_begins_with_about_its_input() {
    for upstream in PROTOCOLS.into_iter().filter(|it| *it != "anthropic-messages") {
        let provider = Provider::start(vec![Script::Reply(sse(&streamed(upstream, Stated::All)))]);
        let gateway = model(&provider, upstream);
        let (path, body) = asked("anthropic-messages", &"word ".repeat(800), Delivery::Streamed);
        let reply = gateway.post(path, &body);
        let first = events(&reply.body).remove(0);
        let input = first["message"]["usage"]["input_tokens"].as_u64().unwrap();
        assert!((950..1100).contains(&input), "{upstream}: {first}");
    }
}
