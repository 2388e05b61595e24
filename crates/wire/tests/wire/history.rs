//! What a memory keeps of requests and answers, and how it finds them again.

use sabir_wire::protocol::{DecodedRequest, Encoded, Entries};
use sabir_wire::target::{ModelPlace, Target};
use sabir_wire::{LossKind, Protocol};
use serde_json::{Value, json};

const CHAT: Protocol = Protocol::OpenaiChat;
const RESPONSES: Protocol = Protocol::OpenaiResponses;
const MESSAGES: Protocol = Protocol::AnthropicMessages;
const GEMINI: Protocol = Protocol::Gemini;

/// What is kept of a request, and the meanings of all its elements.
fn kept<T>(protocol: Protocol, body: Value, see: impl FnOnce(Entries<'_>) -> T) -> T {
    let body = body.to_string();
    let decoded = protocol.decode_request(body.as_bytes()).expect("it is a request");
    see(decoded.entries().expect("nobody edited it"))
}

fn meanings(protocol: Protocol, body: Value) -> Vec<Vec<u8>> {
    kept(protocol, body, |kept| {
        kept.entries.into_iter().flat_map(|it| it.content.meanings).collect()
    })
}

/// The same conversation in every protocol.
fn conversation() -> [(Protocol, Value); 4] {
    [
        (
            CHAT,
            json!({"messages": [
                {"role": "system", "content": "S"},
                {"role": "user", "content": [{"type": "text", "text": "Is it "}, {"type": "text", "text": "high?"},
                    {"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]},
                {"role": "assistant", "content": "I look.", "reasoning_content": "hm", "tool_calls": [{"type": "function", "id": "c1",
                    "function": {"name": "tide", "arguments": "{ \"b\": 1, \"a\": \"é\" }"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": "high"},
                {"role": "user", "content": "And now?"}]}),
        ),
        (
            RESPONSES,
            json!({"instructions": "S", "input": [
                {"role": "user", "content": [{"type": "input_text", "text": "Is it high?"},
                    {"type": "input_image", "image_url": "https://a.example/b.png"}]},
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
                {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed",
                    "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
                {"type": "function_call", "call_id": "c9", "name": "tide", "arguments": "{\"a\":\"\\u00e9\",\"b\":1}"},
                {"type": "function_call_output", "call_id": "c9", "output": "high"},
                {"role": "user", "content": "And now?"}]}),
        ),
        (
            MESSAGES,
            json!({"system": "S", "messages": [
                {"role": "user", "content": [{"type": "text", "text": "Is it high?"},
                    {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}}]},
                {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t", "name": "tide", "input": {"a": "é", "b": 1}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "is_error": false,
                        "content": [{"type": "text", "text": "high", "cache_control": {"type": "ephemeral"}}]},
                    {"type": "text", "text": "And now?"}]}]}),
        ),
        (
            GEMINI,
            json!({"system_instruction": {"parts": [{"text": "S"}]}, "contents": [
                {"role": "user", "parts": [{"text": "Is it high?"},
                    {"fileData": {"mimeType": "image/png", "fileUri": "https://a.example/b.png"}}]},
                {"role": "model", "parts": [{"text": "hm", "thought": true}, {"text": "I look."},
                    {"functionCall": {"name": "tide", "args": {"b": 1, "a": "é"}}, "thoughtSignature": "c2ln"}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "tide", "response": {"output": "high"}}},
                    {"text": "And now?"}]}]}),
        ),
    ]
}

#[test]
fn one_conversation_means_the_same_in_every_protocol() {
    let [first, others @ ..] = conversation().map(|(it, body)| (it, meanings(it, body)));
    assert_eq!(first.1.len(), 6);
    for (protocol, other) in others {
        assert_eq!(other, first.1, "{protocol:?}");
    }
}

#[test]
fn leading_instructions_and_tools_are_settings() {
    for (protocol, mut body) in conversation() {
        assert!(kept(protocol, body.clone(), |kept| kept.tools.is_none()));
        body["tools"] = json!([]);
        let (system, tools) = kept(protocol, body, |kept| (kept.system.unwrap(), kept.tools));
        assert_eq!(tools.as_deref(), Some(r#""tools":[]"#), "{protocol:?}");
        for reader in Protocol::ALL {
            let (messages, tools) =
                protocol.restore_settings(Some(&system), tools.as_deref(), reader).unwrap();
            assert_eq!((messages.len(), tools.len()), (1, 0), "{protocol:?}");
            assert!(messages[0].role.instructs());
        }
    }
}

#[test]
fn late_instructions_are_elements() {
    let body = json!({"messages": [{"role": "developer", "content": "a"}, {"role": "user", "content": "b"},
        {"role": "system", "content": "c"}]});
    kept(CHAT, body, |kept| {
        assert_eq!(kept.system.unwrap(), r#""messages":[{"role":"developer","content":"a"}]"#);
        assert_eq!(kept.entries.len(), 2);
        assert_eq!(kept.entries[1].json, r#"{"role":"system","content":"c"}"#);
    });
}

#[test]
fn what_is_no_list_is_one_element() {
    let whole = meanings(RESPONSES, json!({"input": [{"role": "user", "content": "a"}]}));
    assert_eq!(meanings(RESPONSES, json!({"input": "a"})), whole);
    kept(RESPONSES, json!({"input": "a"}), |kept| {
        let restored = RESPONSES.restore_messages(&kept.entries[0].json, 0, RESPONSES).unwrap();
        assert_eq!(restored.len(), 1);
    });
    let content = json!({"role": "user", "parts": {"text": "a"}});
    assert_eq!(meanings(GEMINI, json!({"contents": content})), whole);
}

#[test]
fn an_element_of_thinking_alone_means_nothing_and_is_kept() {
    let body = json!({"input": [{"type": "reasoning", "summary": [], "encrypted_content": "x"},
        {"role": "user", "content": "a"}]});
    kept(RESPONSES, body, |kept| {
        assert_eq!(kept.entries.len(), 2);
        assert!(kept.entries[0].content.meanings.is_empty());
    });
}

#[test]
fn different_words_speakers_and_kinds_mean_something_else() {
    let message = |role: &str, content: Value| {
        meanings(MESSAGES, json!({"messages": [{"role": role, "content": content}]}))
    };
    let image = |url| json!([{"type": "image", "source": {"type": "url", "url": url}}]);
    let call = |input| json!([{"type": "tool_use", "id": "t", "name": "f", "input": input}]);
    let different = [
        message("user", json!("a")),
        message("assistant", json!("a")),
        message("user", json!("b")),
        message("user", image("https://a.example")),
        message("user", image("https://b.example")),
        message("assistant", call(json!({"a": 1}))),
        message("assistant", call(json!({"a": "1"}))),
        message("user", json!([{"type": "tool_result", "tool_use_id": "t", "content": "a"}])),
        message(
            "assistant",
            json!([{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]),
        ),
    ];
    for (index, one) in different.iter().enumerate() {
        assert!(different[..index].iter().all(|other| other != one), "{index}");
    }
}

#[test]
fn marks_and_ids_of_opaque_parts_do_not_count_but_references_differ() {
    let block = |id: &str, mark: Option<Value>| {
        let mut block =
            json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {}});
        if let Some(mark) = mark {
            block["cache_control"] = mark;
        }
        meanings(MESSAGES, json!({"messages": [{"role": "assistant", "content": [block]}]}))
    };
    assert_eq!(block("a", None), block("b", Some(json!({"type": "ephemeral"}))));
    let reference =
        |id: &str| meanings(RESPONSES, json!({"input": [{"type": "item_reference", "id": id}]}));
    assert_ne!(reference("a"), reference("b"));
}

#[test]
fn an_edited_request_has_no_elements() {
    let body = json!({"messages": []}).to_string();
    let mut decoded = CHAT.decode_request(body.as_bytes()).unwrap();
    decoded.edit();
    assert!(decoded.entries().is_err());
}

#[test]
fn an_answer_becomes_the_elements_that_a_client_sends_back() {
    let answers = [
        (
            CHAT,
            json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "a", "audio": {"id": "v", "data": "x"}}}]}),
        ),
        (
            RESPONSES,
            json!({"output": [{"type": "reasoning", "id": "r", "summary": []},
            {"type": "message", "id": "m", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}]}),
        ),
        (
            MESSAGES,
            json!({"role": "assistant", "id": "x", "content": [{"type": "text", "text": "a"}]}),
        ),
        (
            GEMINI,
            json!({"candidates": [{"index": 1, "content": {"parts": [{"text": "b"}]}},
            {"content": {"parts": [{"text": "a"}]}}]}),
        ),
    ];
    let expected = [
        json!([{"role": "assistant", "content": "a", "audio": {"id": "v"}}]),
        answers[1].1["output"].clone(),
        json!([{"role": "assistant", "content": [{"type": "text", "text": "a"}]}]),
        json!([{"role": "model", "parts": [{"text": "a"}]}]),
    ];
    let text = meanings(CHAT, json!({"messages": [{"role": "assistant", "content": "a"}]}));
    for ((protocol, answer), expected) in answers.into_iter().zip(expected) {
        let entries = protocol.answer_entries(&answer.to_string()).unwrap();
        let elements: Vec<Value> =
            entries.iter().map(|it| serde_json::from_str(&it.json).unwrap()).collect();
        assert_eq!(Value::from(elements), expected, "{protocol:?}");
        let meanings: Vec<Vec<u8>> =
            entries.into_iter().flat_map(|it| it.content.meanings).collect();
        assert_eq!(meanings[0], text[0], "{protocol:?}");
    }
}

#[test]
fn an_answer_of_nothing_becomes_no_element() {
    assert!(
        GEMINI.answer_entries(r#"{"candidates":[{"finishReason":"SAFETY"}]}"#).unwrap().is_empty()
    );
    assert!(CHAT.answer_entries(r#"{"choices":[]}"#).unwrap().is_empty());
    assert!(RESPONSES.answer_entries(r#"{"output":[]}"#).unwrap().is_empty());
    assert!(MESSAGES.answer_entries("{}").unwrap().is_empty());
}

/// What a target gets of a kept history that a client of `reader`'s protocol goes on with.
fn recalled(
    (protocol, elements): (Protocol, Value),
    (reader, request): (Protocol, Value),
    target: Protocol,
) -> (Value, Encoded) {
    let elements = elements.as_array().expect("a list").iter().map(Value::to_string);
    let elements = elements.collect::<Vec<_>>().join(",");
    let request = request.to_string();
    let mut decoded: DecodedRequest<'_> =
        reader.decode_request(request.as_bytes()).expect("it is a request");
    decoded.recall(protocol.restore_messages(&elements, 4, reader).expect("they are elements"));
    let at = Target::default().with_gemini_model(ModelPlace::Url);
    let encoded = decoded.encode(target, &at).expect("it can be written");
    (serde_json::from_str(&encoded.body).expect("bodies are JSON"), encoded)
}

fn thought() -> (Protocol, Value) {
    let elements = json!([{"role": "user", "content": "Is it high?"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "c2ln"},
            {"type": "text", "text": "Yes.", "citations": [{"type": "char_location", "cited_text": "x",
                "document_index": 0, "document_title": "t", "start_char_index": 0, "end_char_index": 1}]},
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]}]);
    (MESSAGES, elements)
}

#[test]
fn thinking_goes_back_to_its_issuer_through_a_client_of_another_protocol() {
    let (body, encoded) = recalled(
        thought(),
        (CHAT, json!({"messages": [{"role": "user", "content": "And now?"}]})),
        MESSAGES,
    );
    assert_eq!(body["messages"][1], thought().1[1]);
    assert!(
        encoded.report.entries().iter().all(|it| !it.pointer.starts_with("/turns")),
        "{encoded:?}"
    );
}

#[test]
fn thinking_is_withheld_from_others_and_the_report_names_the_turn() {
    let request = || (CHAT, json!({"messages": [{"role": "user", "content": "And now?"}]}));
    for target in [CHAT, RESPONSES, GEMINI] {
        let (body, encoded) = recalled(thought(), request(), target);
        assert!(!body.to_string().contains("c2ln"), "{target:?}");
        let withheld = encoded.report.entries().iter().find(|it| it.kind == LossKind::Withheld);
        let pointer = withheld.map_or("", |it| &it.pointer);
        assert!(pointer.starts_with("/turns/4/messages/1/content/0"), "{target:?}: {pointer}");
    }
}

#[test]
fn a_signed_call_goes_back_to_its_issuer() {
    let elements = json!([{"role": "model", "parts": [
        {"functionCall": {"name": "tide", "args": {}}, "thoughtSignature": "c2ln"}]}]);
    let next = json!({"messages": [{"role": "user", "content": "Go on."}]});
    let (body, _) = recalled((GEMINI, elements.clone()), (MESSAGES, next.clone()), GEMINI);
    assert_eq!(body["contents"][0], elements[0]);
    let elements = json!([{"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "call_id": "c", "name": "tide", "arguments": "{}"}]);
    let (body, _) = recalled((RESPONSES, elements), (MESSAGES, next), RESPONSES);
    assert_eq!(body["input"][0]["encrypted_content"], "x");
}

#[test]
fn a_request_of_its_own_protocol_keeps_what_is_its_own_beside_a_foreign_history() {
    let elements = json!([{"role": "user", "parts": [{"text": "a"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f.g", "args": {"b": 1}}, "thoughtSignature": "c2ln"}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f.g", "response": {"output": "c"}}}]}]);
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    let own = json!([{"type": "text", "text": "d", "cache_control": mark, "x_own": 1}]);
    let request = json!({"system": [{"type": "text", "text": "S", "cache_control": mark}], "max_tokens": 9, "top_k": 3,
        "messages": [{"role": "user", "content": own}]});
    let (body, encoded) = recalled((GEMINI, elements), (MESSAGES, request.clone()), MESSAGES);
    let messages = body["messages"].as_array().expect("a list");
    assert_eq!((&body["system"], &body["top_k"]), (&request["system"], &request["top_k"]));
    assert_eq!(messages[messages.len() - 1]["content"], own);
    assert_eq!(messages[1]["content"][0]["type"], "tool_use");
    assert_eq!(messages[2]["content"][0]["tool_use_id"], messages[1]["content"][0]["id"]);
    assert!(!body.to_string().contains("c2ln") && !body.to_string().contains("next"));
    let pointers: Vec<&str> = encoded.report.entries().iter().map(|it| &*it.pointer).collect();
    assert!(pointers.contains(&"/turns/4/contents/1/parts/0/thoughtSignature"), "{pointers:?}");
}

#[test]
fn tools_that_were_kept_are_read_in_the_language_of_their_own_protocol() {
    let schema = json!({"type": "OBJECT", "properties": {"a": {"type": "STRING"}}});
    let tools =
        json!([{"functionDeclarations": [{"name": "f", "parameters": schema}]}]).to_string();
    for (reader, target) in [(CHAT, CHAT), (CHAT, MESSAGES), (MESSAGES, CHAT)] {
        let (_, tools) =
            GEMINI.restore_settings(None, Some(&format!("\"tools\":{tools}")), reader).unwrap();
        let body = json!({"messages": [{"role": "user", "content": "a"}]}).to_string();
        let mut decoded = reader.decode_request(body.as_bytes()).unwrap();
        decoded.edit().tools = tools;
        let written = decoded.encode(target, &Target::default()).unwrap().body;
        assert!(written.contains("\"string\"") && !written.contains("STRING"), "{written}");
    }
}
