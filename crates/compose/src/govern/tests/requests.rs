//! What the rules make of requests.

use sabir_wire::Protocol;
use sabir_wire::target::Target;
use serde_json::{Value, json};

use super::*;
use crate::govern::{Renamed, UndeclaredRule, rounds};

/// A request of a protocol as the rules leave it, with the kinds of what they changed.
fn governed(protocol: Protocol, body: &Value, rules: &Rules) -> (Value, Vec<(String, String)>) {
    let body = body.to_string();
    let mut decoded = protocol.decode_request_text(&body).unwrap();
    let plan = plan(decoded.request(), rules).unwrap();
    let mut losses = Vec::new();
    if plan.changes() {
        let governed = plan.apply(decoded.edit(), rules, POINTERS);
        let mut report = governed.report;
        governed.renamed.report_on(decoded.request(), &mut report);
        losses
            .extend(report.into_entries().into_iter().map(|it| (it.pointer, it.kind.to_string())));
    }
    let encoded = decoded.encode(protocol, &Target::default()).unwrap();
    (serde_json::from_str(&encoded.body).unwrap(), losses)
}

fn refused_by(body: &Value, table: &RuleTable) -> Option<&'static str> {
    let body = body.to_string();
    let decoded = Protocol::OpenaiChat.decode_request_text(&body).unwrap();
    plan(decoded.request(), &rules(table)).err().map(|violation| violation.rule())
}

fn two_tools() -> Value {
    request(&json!([read_file(), function("shell", &json!({"type": "object"}))]))
}

#[test]
fn what_is_denied_is_not_offered() {
    let deny = rules(&RuleTable { deny: globs(&["sh*"]), ..RuleTable::default() });
    let (body, losses) = governed(Protocol::OpenaiChat, &two_tools(), &deny);
    assert_eq!(body["tools"], json!([read_file()]));
    assert_eq!(losses, [("/tools/1".to_owned(), "dropped".to_owned())]);
    let allow = rules(&RuleTable { allow: globs(&["read_*"]), ..RuleTable::default() });
    assert_eq!(
        governed(Protocol::OpenaiChat, &two_tools(), &allow).0["tools"],
        json!([read_file()])
    );
}

#[test]
fn deny_beats_allow() {
    let both = RuleTable { allow: globs(&["*"]), deny: globs(&["*"]), ..RuleTable::default() };
    let mut body = two_tools();
    body["tool_choice"] = json!("required");
    body["parallel_tool_calls"] = json!(false);
    let (body, losses) = governed(Protocol::OpenaiChat, &body, &rules(&both));
    for gone in ["tools", "tool_choice", "parallel_tool_calls"] {
        assert_eq!(body.get(gone), None, "{gone}");
    }
    assert_eq!(losses.len(), 4);
    assert_eq!(losses[3], ("/parallel_tool_calls".to_owned(), "implied".to_owned()));
}

#[test]
fn a_choice_of_a_tool_that_is_denied_is_left_to_the_model() {
    let deny = rules(&RuleTable { deny: globs(&["shell"]), ..RuleTable::default() });
    let mut body = two_tools();
    body["tool_choice"] = json!({"type": "function", "function": {"name": "shell"}});
    let (body, losses) = governed(Protocol::OpenaiChat, &body, &deny);
    assert_eq!(body["tool_choice"], json!("auto"));
    assert_eq!(losses[1], ("/tool_choice".to_owned(), "approximated".to_owned()));
}

#[test]
fn tools_are_called_by_other_names_wherever_they_stand() {
    let rename = Some(vec![("shell".to_owned(), "run".to_owned())]);
    let rename = rules(&RuleTable { rename, ..RuleTable::default() });
    let mut body = two_tools();
    body["tool_choice"] = json!({"type": "function", "function": {"name": "shell"}});
    let calls =
        json!([{"id": "c", "type": "function", "function": {"name": "shell", "arguments": "{}"}}]);
    body["messages"] = json!([{"role": "user", "content": "hi"},
        {"role": "assistant", "content": null, "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c", "content": "done"}]);
    let (written, losses) = governed(Protocol::OpenaiChat, &body, &rename);
    let expected = body.to_string().replace("\"shell\"", "\"run\"");
    assert_eq!(written, serde_json::from_str::<Value>(&expected).unwrap());
    assert_eq!(losses, [("/tools/1".to_owned(), "renamed".to_owned())]);
}

#[test]
fn two_tools_never_get_one_name() {
    let rename = |to: &str| RuleTable {
        rename: Some(vec![("shell".to_owned(), to.to_owned())]),
        ..RuleTable::default()
    };
    assert_eq!(refused_by(&two_tools(), &rename("read_file")), Some("rename"));
    assert_eq!(refused_by(&two_tools(), &rename("run")), None);
}

#[test]
fn limits_refuse_and_zero_is_none() {
    let count = |count_max| RuleTable { count_max: Some(count_max), ..RuleTable::default() };
    assert_eq!(refused_by(&two_tools(), &count(1)), Some("count_max"));
    assert_eq!(refused_by(&two_tools(), &count(2)), None);
    assert_eq!(count(0).rules(), None);
    let bytes = |max| RuleTable { schema_bytes_max: Some(max), ..RuleTable::default() };
    assert_eq!(refused_by(&two_tools(), &bytes(20)), Some("schema_bytes_max"));
    assert_eq!(refused_by(&two_tools(), &bytes(1_000)), None);
    let denied = RuleTable { deny: globs(&["shell"]), ..count(1) };
    assert_eq!(refused_by(&two_tools(), &denied), None, "what is not offered does not count");
}

#[test]
fn rounds_count_from_the_users_last_word() {
    let calls =
        json!([{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]);
    let round = [
        json!({"role": "assistant", "content": null, "tool_calls": calls}),
        json!({"role": "tool", "tool_call_id": "c", "content": "done"}),
    ];
    let user = json!({"role": "user", "content": "go on"});
    let counted = |messages: Vec<Value>| {
        let body = json!({"model": "m", "messages": messages}).to_string();
        rounds(&Protocol::OpenaiChat.decode_request_text(&body).unwrap().request().messages)
    };
    let [call, result] = round;
    assert_eq!(counted(vec![user.clone()]), 0);
    assert_eq!(counted(vec![user.clone(), call.clone(), result.clone()]), 1);
    let two = vec![user.clone(), call.clone(), result.clone(), call.clone(), result.clone()];
    assert_eq!(counted(two.clone()), 2);
    assert_eq!(counted([two.clone(), vec![user.clone()]].concat()), 0);
    let body = json!({"model": "m", "messages": two});
    let limited = |max| RuleTable { rounds_max: Some(max), ..RuleTable::default() };
    assert_eq!(refused_by(&body, &limited(1)), Some("rounds_max"));
    assert_eq!(refused_by(&body, &limited(2)), None);
}

#[test]
fn calls_at_once_are_one_round_in_every_protocol() {
    let calls = |ids: [&str; 2]| {
        let call = |id: &str| {
            let function = json!({"name": "f", "arguments": "{}"});
            json!({"id": id, "type": "function", "function": function})
        };
        json!({"role": "assistant", "content": "Well.", "tool_calls": ids.map(call)})
    };
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "done"});
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "go"},
        calls(["a", "b"]), result("a"), result("b"), calls(["c", "d"]), result("c"), result("d")]});
    let body = body.to_string();
    let chat = Protocol::OpenaiChat.decode_request_text(&body).unwrap();
    for protocol in Protocol::ALL {
        let sent = chat.encode(protocol, &Target::default()).unwrap().body;
        let decoded = protocol.decode_request_text(&sent).unwrap();
        assert_eq!(rounds(&decoded.request().messages), 2, "{sent}");
        for (max, refused) in [(1, Some("rounds_max")), (2, None), (3, None)] {
            let table = RuleTable { rounds_max: Some(max), ..RuleTable::default() };
            let found = plan(decoded.request(), &rules(&table)).err().map(|it| it.rule());
            assert_eq!(found, refused, "at most {max} in {sent}");
        }
    }
}

#[test]
fn long_results_are_cut_and_say_so() {
    let cut = rules(&RuleTable { result_bytes_max: Some(4), ..RuleTable::default() });
    let result = |content: Value| {
        json!({"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": content}]}]})
    };
    let content = |body: &Value| body["messages"][2]["content"][0]["content"].clone();
    let messages = Protocol::AnthropicMessages;
    let (body, losses) = governed(messages, &result(json!("abcdefgh")), &cut);
    assert_eq!(content(&body), json!("abcd\n[truncated: 4 of 8 bytes]"));
    assert_eq!(losses, [("/messages/2/content/0".to_owned(), "approximated".to_owned())]);
    let (body, losses) = governed(messages, &result(json!("abcd")), &cut);
    assert_eq!((content(&body), losses.len()), (json!("abcd"), 0));
    let several = json!([{"type": "text", "text": "abc"}, {"type": "text", "text": "äö"},
        {"type": "text", "text": "x"}]);
    let (body, _) = governed(messages, &result(several), &cut);
    assert_eq!(
        content(&body),
        json!([{"type": "text", "text": "abc"},
        {"type": "text", "text": "\n[truncated: 3 of 8 bytes]"}])
    );
}

#[test]
fn results_of_gemini_are_cut_in_their_object() {
    let cut = rules(&RuleTable { result_bytes_max: Some(4), ..RuleTable::default() });
    let result = |response: Value| {
        json!({"contents": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": response}}]}]})
    };
    let response = |response: Value| {
        let (body, _) = governed(Protocol::Gemini, &result(response), &cut);
        body["contents"][2]["parts"][0]["functionResponse"]["response"].clone()
    };
    let noted = json!({"result": "abcd\n[truncated: 4 of 8 bytes]"});
    assert_eq!(response(json!({"result": "abcdefgh"})), noted);
    let other = response(json!({"a": 1, "b": 2}));
    assert_eq!(other, json!({"output": "{\"a\"\n[truncated: 4 of 13 bytes]"}));
    assert_eq!(response(json!({"a": "b"})), json!({"a": "b"}));
}

#[test]
fn a_result_is_cut_as_a_whole() {
    let cut = rules(&RuleTable { result_bytes_max: Some(8), ..RuleTable::default() });
    let result = |response: Value, data: &str| {
        let parts = json!([{"inlineData": {"mimeType": "text/plain", "data": data}}]);
        json!({"contents": [
        {"role": "user", "parts": [{"text": "hi"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [
            {"functionResponse": {"name": "f", "response": response, "parts": parts}}]}]})
    };
    let seen = |body: &Value, rules: &Rules| {
        let (body, losses) = governed(Protocol::Gemini, body, rules);
        let answered = &body["contents"][2]["parts"][0]["functionResponse"];
        (answered["response"].clone(), answered["parts"].clone(), losses.len())
    };
    let mut words = result(json!({"result": "abcdef"}), "");
    words["contents"][2]["parts"][0]["functionResponse"]["parts"] = json!([{"text": "ghäjkl"}]);
    let (response, parts, losses) = seen(&words, &cut);
    assert_eq!(response, json!({"result": "abcdef"}));
    assert_eq!((parts[0]["text"].as_str(), losses), (Some("gh\n[truncated: 8 of 13 bytes]"), 1));
    // No image and no file is cut, however long it is.
    let image = result(json!({"result": "abcdefgh"}), "QUFBQUFBQUFBQUFBQUFBQUFBQUE=");
    assert_eq!(seen(&image, &cut).2, 0);
    let long = result(json!({"result": "abcdefghi"}), "QUFB");
    let (response, parts, losses) = seen(&long, &cut);
    assert_eq!(response, json!({"result": "abcdefgh\n[truncated: 8 of 9 bytes]"}));
    assert_eq!((parts[0]["inlineData"]["data"].clone(), losses), (json!("QUFB"), 1));
}

#[test]
fn documents_of_text_count_as_text() {
    let cut = rules(&RuleTable { result_bytes_max: Some(6), ..RuleTable::default() });
    let document = |text: &str| {
        let source = json!({"type": "text", "media_type": "text/plain", "data": text});
        json!({"type": "document", "title": "T", "source": source})
    };
    let found = json!({"type": "search_result", "source": "https://a.example", "title": "S",
        "content": [{"type": "text", "text": "äöüß"}], "citations": {"enabled": true}});
    let result = |content: Value| {
        json!({"model": "m", "max_tokens": 9, "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": content}]}]})
    };
    let content = |content: Value| {
        let (body, losses) = governed(Protocol::AnthropicMessages, &result(content), &cut);
        (body["messages"][2]["content"][0]["content"].clone(), losses.len())
    };
    let (parts, losses) = content(json!([document("abcdefgh"), {"type": "text", "text": "x"}]));
    assert_eq!(parts[0]["source"]["data"], "abcdef\n[truncated: 6 of 9 bytes]");
    assert_eq!((parts[0]["title"].as_str(), parts.as_array().unwrap().len()), (Some("T"), 1));
    assert_eq!(losses, 1);
    let (parts, _) = content(json!([found]));
    assert!(parts.to_string().contains("äöü\\n[truncated: 6 of 8 bytes]"), "{parts}");
    assert!(!parts.to_string().contains('ß'), "{parts}");
    let (parts, losses) = content(json!([document("abc"), {"type": "text", "text": "def"}]));
    assert_eq!((parts[0]["source"]["data"].as_str(), losses), (Some("abc"), 0));
}

#[test]
fn the_more_specific_table_decides_key_by_key() {
    let wide = RuleTable { deny: globs(&["a"]), count_max: Some(1), ..RuleTable::default() };
    let narrow = RuleTable { deny: globs(&["b"]), ..RuleTable::default() };
    let both = rules(&narrow.over(&wide));
    assert!(both.allows("a") && !both.allows("b"));
    assert_eq!(both.count_max, Some(1));
}

#[test]
fn a_hosted_tool_is_denied_by_what_it_does_however_its_vendor_calls_it() {
    let deny = rules(&RuleTable { deny: globs(&["web_search"]), ..RuleTable::default() });
    let user = json!([{"role": "user", "content": "hi"}]);
    for (protocol, body) in [
        (Protocol::OpenaiChat, json!({"model": "m", "messages": user, "web_search_options": {}})),
        (
            Protocol::OpenaiResponses,
            json!({"model": "m", "input": user, "tools": [{"type": "web_search_preview"}],
                "tool_choice": {"type": "web_search_preview"}}),
        ),
        (
            Protocol::AnthropicMessages,
            json!({"model": "m", "max_tokens": 9, "messages": user,
                "tools": [{"type": "web_search_20250305", "name": "web_search"}]}),
        ),
        (
            Protocol::Gemini,
            json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], "tools": [{"googleSearch": {}}]}),
        ),
    ] {
        let (sent, losses) = governed(protocol, &body, &deny);
        assert!(!sent.to_string().to_lowercase().contains("search"), "{sent}");
        assert_eq!(losses[0].1, "dropped", "{sent}");
    }
}

#[test]
fn a_hosted_tool_that_clients_run_is_denied_and_called_by_its_name() {
    let body = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "bash_20250124", "name": "bash"}]});
    let deny = rules(&RuleTable { deny: globs(&["bash"]), ..RuleTable::default() });
    let (sent, losses) = governed(Protocol::AnthropicMessages, &body, &deny);
    assert_eq!((sent.get("tools"), losses.len()), (None, 1), "{sent}");
    let strict = RuleTable { undeclared: Some(UndeclaredRule::Refuse), ..RuleTable::default() };
    let text = body.to_string();
    let decoded = Protocol::AnthropicMessages.decode_request_text(&text).unwrap();
    let names = (&mut AnswerContext::default(), Renamed::default());
    let offer = Offer::new(decoded.request(), decoded.protocol(), names, &rules(&strict));
    assert!(offer.tool("bash").is_some() && offer.tool("bash_20250124").is_none());
}

#[test]
fn a_choice_of_a_hosted_tool_that_is_denied_is_left_to_the_model() {
    let deny = rules(&RuleTable { deny: globs(&["file_search"]), ..RuleTable::default() });
    let body = json!({"model": "m", "input": "hi", "tool_choice": {"type": "file_search"},
        "tools": [{"type": "file_search", "vector_store_ids": ["v"]}, {"type": "code_interpreter", "container": {"type": "auto"}}]});
    let (sent, losses) = governed(Protocol::OpenaiResponses, &body, &deny);
    assert_eq!(sent["tool_choice"], "auto");
    assert_eq!(losses.len(), 2);
}

#[test]
fn a_choice_of_a_hosted_tool_goes_with_it_by_whichever_of_its_names_it_is_denied() {
    let f = json!({"name": "f", "input_schema": {"type": "object"}});
    let web = json!({"type": "web_search_20250305", "name": "web_search"});
    let messages = json!({"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}],
        "tools": [web, f], "tool_choice": {"type": "tool", "name": "web_search"}});
    let preview = json!({"type": "web_search_preview"});
    let f = json!({"type": "function", "name": "f", "parameters": {"type": "object"}});
    let of_type =
        json!({"model": "m", "input": "hi", "tools": [preview, f], "tool_choice": preview});
    let mut among = of_type.clone();
    among["tool_choice"] = json!({"type": "allowed_tools", "mode": "auto", "tools": [preview, {"type": "function", "name": "f"}]});
    for (protocol, body, kind) in [
        (Protocol::AnthropicMessages, messages, "web_search_20250305"),
        (Protocol::OpenaiResponses, of_type, "web_search_preview"),
        (Protocol::OpenaiResponses, among, "web_search_preview"),
    ] {
        for name in [kind, "web_search"] {
            let deny = rules(&RuleTable { deny: globs(&[name]), ..RuleTable::default() });
            let (sent, losses) = governed(protocol, &body, &deny);
            assert!(!sent.to_string().contains("web_search"), "{name}: {sent}");
            assert_eq!(losses.len(), 2, "{name}: {losses:?}");
            let allow = rules(&RuleTable { allow: globs(&[name, "f"]), ..RuleTable::default() });
            let decoded = body.to_string();
            let decoded = protocol.decode_request_text(&decoded).unwrap();
            assert!(!plan(decoded.request(), &allow).unwrap().changes(), "{name}: {body}");
        }
    }
}

#[test]
fn a_tool_of_the_history_alone_takes_no_name_of_one_on_offer() {
    let table = RuleTable {
        rename: Some(vec![
            ("fs.read".to_owned(), "read".to_owned()),
            ("ls".to_owned(), "read".to_owned()),
        ]),
        ..RuleTable::default()
    };
    let mut body = request(&json!([function("read", &json!({"type": "object"}))]));
    let history = json!([calling("fs.read", "{}"), {"role": "tool", "tool_call_id": "call_1", "content": "x"}]);
    body["messages"].as_array_mut().unwrap().extend(history.as_array().unwrap().clone());
    let rules = rules(&table);
    let (sent, losses) = governed(Protocol::OpenaiChat, &body, &rules);
    assert_eq!((sent, losses), (body.clone(), vec![]));
    let answered = answer(&body, &rules, &calling("read", "{}"));
    assert_eq!(answered.parts, [("read".to_owned(), "{}".to_owned())]);
    body["tools"] = json!([function("ls", &json!({"type": "object"}))]);
    let (sent, _) = governed(Protocol::OpenaiChat, &body, &rules);
    assert_eq!(sent["tools"][0]["function"]["name"], "read");
    assert_eq!(sent["messages"][1]["tool_calls"][0]["function"]["name"], "fs.read");
    let answered = answer(&body, &rules, &calling("read", "{}"));
    assert_eq!(answered.parts, [("ls".to_owned(), "{}".to_owned())]);
}

#[test]
fn a_request_that_the_rules_leave_alone_is_its_own_bytes() {
    let all = RuleTable {
        deny: globs(&["nothing"]),
        rename: Some(vec![("nobody".to_owned(), "n".to_owned())]),
        result_bytes_max: Some(1_000),
        ..RuleTable::default()
    };
    let body = two_tools().to_string();
    let decoded = Protocol::OpenaiChat.decode_request_text(&body).unwrap();
    assert!(!plan(decoded.request(), &rules(&all)).unwrap().changes());
}

#[test]
fn a_tool_that_its_vendor_defines_keeps_its_name_and_no_other_gets_it() {
    let hosted = json!({"type": "bash_20250124", "name": "bash"});
    let own = json!({"name": "shell", "input_schema": {"type": "object"}});
    let body = |tools: &[&Value]| {
        json!({"model": "m", "max_tokens": 9, "tools": tools, "messages": [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "bash", "input": {"command": "ls"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "a"}]}]})
    };
    let renaming = |own: &str, seen: &str| RuleTable {
        rename: Some(vec![(own.to_owned(), seen.to_owned())]),
        ..RuleTable::default()
    };
    let messages = Protocol::AnthropicMessages;
    let (sent, losses) = governed(messages, &body(&[&hosted]), &rules(&renaming("bash", "run")));
    assert_eq!(sent["tools"][0]["name"], "bash");
    assert_eq!(sent["messages"][1]["content"][0]["name"], "bash");
    assert_eq!(losses, []);
    // The same name for two tools would leave nobody knowing which is called.
    for tools in [[&hosted, &own], [&own, &hosted]] {
        let text = body(&tools).to_string();
        let decoded = messages.decode_request_text(&text).unwrap();
        let refused = plan(decoded.request(), &rules(&renaming("shell", "bash")));
        assert_eq!(refused.err().map(|it| it.rule()), Some("rename"));
    }
}
