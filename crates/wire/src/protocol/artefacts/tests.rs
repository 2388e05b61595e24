//! Answers of every protocol, shown to clients that strip whatever they do not know, and sent back.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::protocol::{
    AnswerContext, ArtefactCollector, BareCall, CallArtefacts, Protocol, StreamDecoder, unfold,
};
use crate::target::Target;

const SEAL: &str = "c2VhbA==";

/// An answer of each protocol that seals: thinking, words, a call that is signed or stands behind sealed thinking, and
/// a call that nobody signed.
fn answer(issuer: Protocol) -> Value {
    match issuer {
        Protocol::Gemini => {
            json!({"candidates": [{"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [
                {"text": "I look."},
                {"functionCall": {"id": "c1", "name": "tide", "args": {"port": "Porto", "n": 1}}, "thoughtSignature": SEAL},
                {"functionCall": {"id": "c2", "name": "tide", "args": {"port": "Lagos"}}},
            ]}}]})
        }
        Protocol::AnthropicMessages => {
            json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [
            {"type": "thinking", "thinking": "Tides matter.", "signature": SEAL},
            {"type": "redacted_thinking", "data": "cmVk"},
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c1", "name": "tide", "input": {"port": "Porto", "n": 1}},
            {"type": "tool_use", "id": "c2", "name": "tide", "input": {"port": "Lagos"}},
        ], "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}})
        }
        Protocol::OpenaiResponses => {
            json!({"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Tides."}], "encrypted_content": SEAL},
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
                {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "tide", "arguments": r#"{"port":"Porto","n":1}"#, "status": "completed"},
                {"type": "function_call", "id": "fc_2", "call_id": "c2", "name": "tide", "arguments": r#"{"port":"Lagos"}"#, "status": "completed"},
            ]})
        }
        _ => unreachable!("it seals nothing here"),
    }
}

const CLIENTS: [Protocol; 4] = [
    Protocol::OpenaiChat,
    Protocol::OpenaiResponses,
    Protocol::AnthropicMessages,
    Protocol::Gemini,
];

const ISSUERS: [Protocol; 3] =
    [Protocol::Gemini, Protocol::AnthropicMessages, Protocol::OpenaiResponses];

/// The same calls as a client has them that keeps nothing but words and calls.
fn stripped(client: Protocol, port: &str) -> Value {
    match client {
        Protocol::OpenaiChat => json!({"model": "m", "messages": [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": "I look.", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "tide", "arguments": format!(r#"{{ "n": 1, "port": "{port}" }}"#)}},
                {"id": "c2", "type": "function", "function": {"name": "tide", "arguments": r#"{"port":"Lagos"}"#}},
            ]},
            {"role": "tool", "tool_call_id": "c1", "content": "low"},
            {"role": "tool", "tool_call_id": "c2", "content": "high"},
        ]}),
        Protocol::OpenaiResponses => json!({"model": "m", "input": [
            {"role": "user", "content": "Go."},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "tide", "arguments": format!(r#"{{"port":"{port}","n":1}}"#)},
            {"type": "function_call", "call_id": "c2", "name": "tide", "arguments": r#"{"port":"Lagos"}"#},
            {"type": "function_call_output", "call_id": "c1", "output": "low"},
            {"type": "function_call_output", "call_id": "c2", "output": "high"},
        ]}),
        Protocol::AnthropicMessages => json!({"model": "m", "max_tokens": 9, "messages": [
            {"role": "user", "content": "Go."},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "tide", "input": {"n": 1, "port": port}},
                {"type": "tool_use", "id": "c2", "name": "tide", "input": {"port": "Lagos"}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": "low"},
                {"type": "tool_result", "tool_use_id": "c2", "content": "high"},
            ]},
        ]}),
        _ => json!({"contents": [
            {"role": "user", "parts": [{"text": "Go."}]},
            {"role": "model", "parts": [
                {"text": "I look."},
                {"functionCall": {"id": "c1", "name": "tide", "args": {"n": 1, "port": port}}},
                {"functionCall": {"id": "c2", "name": "tide", "args": {"port": "Lagos"}}},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "c1", "name": "tide", "response": {"output": "low"}}},
                {"functionResponse": {"id": "c2", "name": "tide", "response": {"output": "high"}}},
            ]},
        ]}),
    }
}

fn collected(issuer: Protocol, answer: &Value) -> Vec<CallArtefacts> {
    let text = answer.to_string();
    let response = issuer.decode_response(text.as_bytes()).unwrap();
    let mut collector = ArtefactCollector::of(&AnswerContext::default()).unwrap();
    collector.response(&response);
    let whole = collector.take();
    let mut collector = ArtefactCollector::of(&AnswerContext::default()).unwrap();
    unfold(response, &mut |event| collector.event(&event));
    let streamed = collector.take();
    let records = |calls: &[CallArtefacts]| {
        let record = |it: &CallArtefacts| it.sealed.as_ref().map(|it| it.record.clone());
        calls.iter().map(|it| (it.id.clone(), record(it))).collect::<Vec<_>>()
    };
    assert_eq!(records(&whole), records(&streamed), "{issuer:?}");
    whole
}

/// Sends a request to the issuer with what was collected put back, and tells how many entries say so.
fn sent(
    client: Protocol,
    issuer: Protocol,
    request: &Value,
    calls: &[CallArtefacts],
) -> (Value, usize) {
    let known: HashMap<&str, &CallArtefacts> =
        calls.iter().map(|call| (call.id.as_str(), call)).collect();
    let text = request.to_string();
    let mut decoded = client.decode_request(text.as_bytes()).unwrap();
    let records: HashMap<&str, Arc<str>> = (calls.iter())
        .filter_map(|call| Some((&*call.id, Arc::from(&*call.sealed.as_ref()?.record))))
        .collect();
    let report = decoded.put_back(issuer, &mut |call: BareCall<'_>| {
        let id = call.ids().find(|id| known.contains_key(&**id))?;
        let kept = known[&*id].sealed.as_ref()?;
        (kept.meaning == call.meaning()).then(|| Arc::clone(&records[&*id]))
    });
    let encoded = decoded.encode(issuer, &Target::default()).unwrap();
    (serde_json::from_str(&encoded.body).unwrap(), report.entries().len())
}

/// The assistant's turn as the issuer gets it.
fn turn(issuer: Protocol, request: &Value) -> Value {
    match issuer {
        Protocol::Gemini => request["contents"][1]["parts"].clone(),
        Protocol::AnthropicMessages => request["messages"][1]["content"].clone(),
        Protocol::OpenaiResponses => {
            let items = request["input"].as_array().unwrap();
            items.iter().filter(|item| item["role"] != "user").cloned().collect()
        }
        _ => request["messages"][1].clone(),
    }
}

#[test]
fn a_stripping_client_of_any_protocol_loses_nothing_that_its_provider_sealed() {
    for issuer in ISSUERS {
        let calls = collected(issuer, &answer(issuer));
        assert_eq!(calls.iter().map(|it| &*it.id).collect::<Vec<_>>(), ["c1", "c2"]);
        assert!(calls[1].sealed.is_none(), "{issuer:?}");
        for client in CLIENTS.into_iter().filter(|client| *client != issuer) {
            let (request, put_back) = sent(client, issuer, &stripped(client, "Porto"), &calls);
            let turn = turn(issuer, &request);
            assert_eq!(put_back, 1);
            match issuer {
                Protocol::Gemini => {
                    assert_eq!(turn[1]["thoughtSignature"], SEAL, "{client:?}: {turn}");
                    assert!(turn[2]["thoughtSignature"].is_null(), "{client:?}: {turn}");
                }
                Protocol::AnthropicMessages => {
                    let given = &answer(issuer)["content"];
                    assert_eq!(turn, *given, "{client:?}");
                }
                Protocol::OpenaiResponses => {
                    assert_eq!(turn[0]["type"], "reasoning", "{client:?}: {turn}");
                    assert_eq!(turn[0]["encrypted_content"], SEAL, "{client:?}");
                    assert_eq!(turn[0]["summary"][0]["text"], "Tides.", "{client:?}");
                }
                _ => unreachable!(),
            }
        }
    }
}

#[test]
fn an_edited_call_gets_nothing_back() {
    for issuer in ISSUERS {
        let calls = collected(issuer, &answer(issuer));
        for client in CLIENTS.into_iter().filter(|client| *client != issuer) {
            let (request, put_back) = sent(client, issuer, &stripped(client, "Faro"), &calls);
            assert_eq!(put_back, 0);
            assert!(!request.to_string().contains(SEAL), "{client:?}: {request}");
        }
    }
}

#[test]
fn what_a_client_returns_itself_is_not_put_back_again() {
    let calls = collected(Protocol::Gemini, &answer(Protocol::Gemini));
    let mut request = stripped(Protocol::OpenaiChat, "Porto");
    request["messages"][1]["tool_calls"][0]["extra_content"] =
        json!({"google": {"thought_signature": "b3du"}});
    let (request, put_back) = sent(Protocol::OpenaiChat, Protocol::Gemini, &request, &calls);
    assert_eq!(
        (put_back, &request["contents"][1]["parts"][1]["thoughtSignature"]),
        (0, &json!("b3du"))
    );
}

#[test]
fn thinking_that_lost_its_signature_is_replaced_by_the_whole() {
    let issuer = Protocol::AnthropicMessages;
    let calls = collected(issuer, &answer(issuer));
    let mut request = stripped(Protocol::OpenaiChat, "Porto");
    request["messages"][1]["reasoning_content"] = json!("Tides matter.");
    let (request, _) = sent(Protocol::OpenaiChat, issuer, &request, &calls);
    assert_eq!(turn(issuer, &request), answer(issuer)["content"]);
}

#[test]
fn a_call_whose_id_was_made_up_is_found_by_what_it_was_made_from() {
    let mut given = answer(Protocol::Gemini);
    let parts = given["candidates"][0]["content"]["parts"].as_array_mut().unwrap();
    parts.iter_mut().filter_map(|it| it["functionCall"].as_object_mut()).for_each(|it| {
        it.remove("id");
    });
    for client in [Protocol::OpenaiChat, Protocol::OpenaiResponses, Protocol::AnthropicMessages] {
        let context = AnswerContext { seed: "ex_0a1b".into(), ..AnswerContext::default() };
        let text = given.to_string();
        let response = Protocol::Gemini.decode_response(text.as_bytes()).unwrap();
        let mut collector = ArtefactCollector::of(&context).unwrap();
        collector.response(&response);
        let shown = client.encode_response(&response, Protocol::Gemini, &context).body;
        let id = shown.split('"').find(|it| it.contains("_ex_0a1b_")).unwrap();
        let ids = id.to_owned();
        let request = stripped(client, "Porto").to_string().replace("c1", &ids);
        let request = serde_json::from_str(&request).unwrap();
        let calls: Vec<_> = collector.take().into_iter().filter(|it| it.sealed.is_some()).collect();
        let (request, put_back) = sent(client, Protocol::Gemini, &request, &calls);
        assert_eq!(put_back, 1, "{client:?} {id}");
        assert_eq!(turn(Protocol::Gemini, &request)[1]["thoughtSignature"], SEAL);
    }
}

#[test]
fn of_equal_calls_that_share_a_record_the_first_was_sealed() {
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "tide", "arguments": "{}"}});
    let request = json!({"model": "m", "messages": [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": null, "tool_calls": [call("call_ex_0a1b_0"), call("call_ex_0a1b_1")]},
        {"role": "tool", "tool_call_id": "call_ex_0a1b_0", "content": "low"},
        {"role": "tool", "tool_call_id": "call_ex_0a1b_1", "content": "low"},
    ]});
    let given = json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
        {"functionCall": {"name": "tide", "args": {}}, "thoughtSignature": SEAL},
        {"functionCall": {"name": "tide", "args": {}}},
    ]}}]});
    let mut calls = collected(Protocol::Gemini, &given);
    calls.retain(|call| call.sealed.is_some());
    calls[0].id = "ex_0a1b".to_owned();
    let (request, put_back) = sent(Protocol::OpenaiChat, Protocol::Gemini, &request, &calls);
    let turn = turn(Protocol::Gemini, &request);
    assert_eq!(put_back, 1);
    assert_eq!(
        (&turn[0]["thoughtSignature"], &turn[1]["thoughtSignature"]),
        (&json!(SEAL), &Value::Null)
    );
}

#[test]
fn an_answer_that_fails_or_has_no_tools_leaves_nothing() {
    assert!(
        ArtefactCollector::of(&AnswerContext { offers_tools: false, ..AnswerContext::default() })
            .is_none()
    );
    let mut collector = ArtefactCollector::of(&AnswerContext::default()).unwrap();
    let frame = json!({"candidates": [{"content": {"parts": [
        {"functionCall": {"id": "c1", "name": "f", "args": {}}, "thoughtSignature": SEAL}]}}]});
    let frame = frame.to_string();
    let frame = crate::sse::Frame { event: None, data: &frame };
    let decoder = StreamDecoder::new(Protocol::Gemini);
    let decoder = decoder.step(&frame, &mut |event| collector.event(&event)).unwrap();
    decoder.end(&mut |event| collector.event(&event));
    assert!(collector.take().is_empty());
}

#[test]
fn a_record_of_another_version_is_not_read() {
    use super::record::Record;
    assert!(
        Record::read(r#"{"version":1,"seal":{"issuer":"gemini","kind":"signature","data":"x"}}"#)
            .is_ok()
    );
    for record in [r#"{"version":2}"#, "{}", "", r#"{"version":1,"seal":{"issuer":"other"}}"#] {
        assert!(Record::read(record).is_err(), "{record}");
    }
}
