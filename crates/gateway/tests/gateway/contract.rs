//! Promises of the manual that no other group of tests holds: what keys of the configuration do, and what goes along with
//! requests that are not translated.

use crate::harness::{Provider, Running, Script, chat, chat_answer, json, messages, sse};

const RESPONSE: &str = r#"{"id":"resp_1","object":"response","created_at":1,"model":"m","status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"hi","annotations":[]}]}]}"#;

/// A Responses request with a system message between two of the user's.
const LATE: &str = r#"{"model":"p/m","input":[{"role":"system","content":"first"},{"role":"user","content":"one"},{"role":"system","content":"second"},{"role":"user","content":"two"}]}"#;

#[test]
fn the_operators_limit_of_tokens_reaches_every_protocol() {
    for (protocol, answer, member) in [
        ("openai-chat", chat_answer("hi"), "max_tokens"),
        ("openai-responses", RESPONSE.to_owned(), "max_output_tokens"),
    ] {
        let provider = Provider::whole(&answer);
        let toml = format!("{}max_output_tokens = 777\n", provider.toml("p", protocol));
        let gateway = Running::start(&toml);
        let body = r#"{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}"#;
        let reply = gateway.post("/v1beta/models/p/m:generateContent", body);
        assert_eq!(reply.status, 200, "{}", reply.body);
        let sent: serde_json::Value = serde_json::from_str(&provider.received()[0].body).unwrap();
        assert_eq!(sent[member], 777, "{protocol}: {sent}");
    }
}

/// The roles and texts of what a Chat provider gets, and what the gateway says was lost.
fn late_system(setting: &str) -> (Vec<(String, String)>, Option<String>) {
    let provider = Provider::whole(&chat_answer("hi"));
    let toml = format!("{}late_system = \"{setting}\"\n", provider.toml("p", "openai-chat"));
    let gateway = Running::start(&toml);
    let reply = gateway.post("/v1/responses", LATE);
    assert_eq!(reply.status, 200, "{}", reply.body);
    let sent: serde_json::Value = serde_json::from_str(&provider.received()[0].body).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let turns = sent["messages"].as_array().unwrap().iter();
    let turns = turns.map(|message| (text(&message["role"]), text(&message["content"])));
    (turns.collect(), reply.header("sabir-loss").map(str::to_owned))
}

fn turns(messages: &[(&str, &str)]) -> Vec<(String, String)> {
    messages.iter().map(|(role, text)| ((*role).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn a_late_system_message_goes_where_the_operator_wants_it() {
    let kept = [("system", "first"), ("user", "one"), ("system", "second"), ("user", "two")];
    assert_eq!(late_system("native"), (turns(&kept), Some("none".to_owned())));
    let approximated = Some("approximated=1".to_owned());
    let lifted = [("system", "first"), ("system", "second"), ("user", "one"), ("user", "two")];
    assert_eq!(late_system("lift"), (turns(&lifted), approximated.clone()));
    let marked =
        [("system", "first"), ("user", "one"), ("user", "[system]\nsecond"), ("user", "two")];
    assert_eq!(late_system("inline"), (turns(&marked), approximated));
}

#[test]
fn the_name_of_a_gateway_key_tells_whose_exchange_it_was() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&format!(
        "[auth]\nrequired = true\n[[auth.key]]\nname = \"ci\"\nvalue = {{ value = \"k-1\" }}\n\
         [[auth.key]]\nname = \"laptop\"\nvalue = {{ value = \"k-2\" }}\n{}",
        provider.toml("p", "openai-chat")
    ));
    let key = "authorization: Bearer k-2\r\n";
    for (path, body) in [
        ("/v1/chat/completions", chat("p/m", false)),
        ("/v1/embeddings", r#"{"model":"p/m","input":"a"}"#.to_owned()),
        ("/passthrough/p/v1/files", String::new()),
    ] {
        let reply = gateway.request(&format!("POST {path}\r\n{key}"), &body);
        let id = reply.header("sabir-exchange").unwrap();
        let seen = gateway.request(&format!("GET /sabir/v1/exchanges/{id}\r\n{key}"), "");
        assert_eq!(seen.json()["key"], "laptop", "{path}: {}", seen.body);
        assert!(!seen.body.contains("k-2"), "{}", seen.body);
    }
}

#[test]
fn the_key_of_a_client_stays_here_whatever_repeats_it() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&format!(
        "[auth]\nrequired = true\n[[auth.key]]\nname = \"ci\"\nvalue = {{ value = \"user-key-123\" }}\n{}",
        provider.toml("p", "openai-chat")
    ));
    let headers = "x-api-key: user-key-123\r\napi-key: user-key-123\r\nx-auth: Token user-key-123\r\nx-own: kept\r\n";
    let query = "a=1&%6bey=user-key-123&api_key=user%2Dkey-123&b=2";
    gateway.request(&format!("GET /passthrough/p/v1/files?{query}\r\n{headers}"), "");
    let received = provider.received();
    let received = received.last().unwrap();
    assert_eq!(received.header("x-own"), Some("kept"));
    assert_eq!((received.header("api-key"), received.header("x-auth")), (None, None));
    assert!(received.line.contains("/files?a=1&b=2 "), "{}", received.line);
}

#[test]
fn requests_with_a_provider_are_counted_while_they_are() {
    let (left, _left) = std::sync::mpsc::channel();
    let first = format!("{}\n", crate::harness::chat_chunk("hi"));
    let provider = Provider::start(vec![Script::Hold(sse(&first), left)]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let labels = r#"provider="p",client="anthropic-messages",upstream="openai-chat""#;
    let line = |count: u32| format!("sabir_provider_requests_in_flight{{{labels}}} {count}");
    let stream = gateway.send("POST /v1/messages", &messages("p/m", true));
    gateway.wait_for_metric(&line(1));
    drop(stream);
    gateway.wait_for_metric(&line(0));
}

#[test]
fn embeddings_carry_the_vendors_headers_and_have_an_id() {
    let provider = Provider::whole("{}");
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let reply = gateway.request(
        "POST /v1/embeddings\r\nopenai-project: proj\r\nauthorization: Bearer mine\r\nx-other: 1\r\n",
        r#"{"model":"p/m","input":"a"}"#,
    );
    assert_eq!(reply.header("x-request-id"), reply.header("sabir-exchange"));
    let received = &provider.received()[0];
    assert_eq!(received.header("openai-project"), Some("proj"));
    assert_eq!(received.header("authorization"), Some("Bearer sk-upstream"));
    assert_eq!(received.header("x-other"), None);
}

#[test]
fn any_method_passes_through() {
    let provider = Provider::start(vec![Script::Reply(json(200, "x-request-id: up\r\n", "{}"))]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    for method in ["GET", "PUT", "PATCH", "DELETE", "OPTIONS"] {
        let reply = gateway.request(&format!("{method} /passthrough/p/v1/files/1"), "");
        assert_eq!((reply.status, reply.header("x-request-id")), (200, Some("up")), "{method}");
        let line = format!("{method} /v1/files/1 HTTP/1.1");
        assert_eq!(provider.received().last().unwrap().line, line);
    }
}

#[test]
fn a_count_keeps_its_query_on_the_same_protocol() {
    let provider = Provider::whole(r#"{"input_tokens":7}"#);
    let gateway = Running::start(&provider.toml("p", "anthropic-messages"));
    let body = r#"{"model":"p/m","messages":[{"role":"user","content":"hello"}]}"#;
    let reply = gateway.post("/v1/messages/count_tokens?beta=true&key=mine", body);
    assert_eq!(reply.body, r#"{"input_tokens":7}"#);
    let line = &provider.received()[0].line;
    assert_eq!(line, "POST /v1/messages/count_tokens?beta=true HTTP/1.1");
}

#[test]
fn a_pause_in_milliseconds_is_told_in_seconds() {
    let refusal = json(429, "retry-after-ms: 2500\r\n", r#"{"error":{"message":"slow"}}"#);
    let provider = Provider::start(vec![Script::Reply(refusal)]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    for (path, body) in
        [("/v1/messages", messages("p/m", false)), ("/v1/chat/completions", chat("p/m", false))]
    {
        assert_eq!(gateway.post(path, &body).header("retry-after"), Some("3"), "{path}");
    }
}

#[test]
fn geminis_own_paths_are_refused_in_its_shape() {
    let gateway = Running::start("");
    for path in ["/v1/models/m:embedContent", "/upload/v1beta/files", "/v1alpha/models/m:fly"] {
        let reply = gateway.post(path, "{}");
        assert_eq!((reply.status, &reply.json()["error"]["status"]), (404, &"NOT_FOUND".into()));
    }
}

#[test]
fn an_exchange_that_is_not_there_is_an_error_like_any_other() {
    let gateway = Running::start("");
    let reply = gateway.get("/sabir/v1/exchanges/none");
    let error = &reply.json()["error"];
    assert_eq!((reply.status, &error["type"]), (404, &"invalid_request_error".into()));
    assert!(error.get("param").is_some(), "{}", reply.body);
    assert_eq!(error["code"], "unknown_exchange");
}

#[test]
fn the_whole_report_of_a_long_conversation_can_be_read() {
    let turns: Vec<String> = (0..600)
        .map(|number| match number % 2 {
            0 => format!(r#"{{"role":"user","name":"u{number}","content":"a"}}"#),
            _ => r#"{"role":"assistant","content":"b"}"#.to_owned(),
        })
        .collect();
    let gateway = Running::start("");
    let messages = turns.join(",");
    let body = format!(
        r#"{{"model":"sim-anthropic/m","messages":[{messages},{{"role":"user","content":"c"}}]}}"#
    );
    let reply = gateway.post("/v1/chat/completions", &body);
    let id = reply.header("sabir-exchange").unwrap();
    let seen = gateway.get(&format!("/sabir/v1/exchanges/{id}")).json();
    let losses = seen["losses"].as_array().unwrap();
    let dropped = losses.iter().filter(|loss| loss["kind"] == "dropped").count();
    assert!(dropped >= 300, "{dropped}");
    let counted = reply.header("sabir-loss").unwrap_or_default();
    assert!(counted.contains(&format!("dropped={dropped}")), "{counted} of {dropped}");
}

#[test]
fn a_gateway_key_sees_its_own_exchanges_and_no_others() {
    let provider = Provider::whole(&chat_answer("hi"));
    let gateway = Running::start(&format!(
        "[auth]\nrequired = true\n[[auth.key]]\nname = \"ci\"\nvalue = {{ value = \"k-1\" }}\n\
         [[auth.key]]\nname = \"laptop\"\nvalue = {{ value = \"k-2\" }}\n{}",
        provider.toml("p", "openai-chat")
    ));
    let get =
        |path: &str, key: &str| gateway.request(&format!("GET {path}\r\nx-api-key: {key}\r\n"), "");
    let ask = |path: &str, key: &str| {
        let head = format!("POST {path}\r\nx-api-key: {key}\r\n");
        let reply = gateway.request(&head, &chat("p/m", false));
        reply.header("sabir-exchange").unwrap().to_owned()
    };
    ask("/v1/chat/completions", "wrong");
    let paths = [
        "/v1/chat/completions",
        "/passthrough/p/v1/x",
        "/passthrough/none/x",
        "/v1/embeddings",
        "/v1/none",
    ];
    for key in ["k-1", "k-2"] {
        let own: Vec<String> = paths.iter().map(|path| ask(path, key)).collect();
        let list = get("/sabir/v1/exchanges", key).json();
        let listed =
            list["exchanges"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap());
        assert!(listed.rev().eq(own.iter().map(String::as_str)), "{list} {own:?}");
        let other = if key == "k-1" { "k-2" } else { "k-1" };
        let unknown = get("/sabir/v1/exchanges/ex_unknown", other);
        for id in own {
            assert_eq!(get(&format!("/sabir/v1/exchanges/{id}"), key).status, 200);
            let strange = get(&format!("/sabir/v1/exchanges/{id}"), other);
            assert_eq!((strange.status, &strange.body), (404, &unknown.body));
        }
    }
}

#[test]
fn a_version_that_the_client_speaks_passes_through_to_other_paths() {
    let provider = Provider::whole("{}");
    let toml = provider.toml("p", "anthropic-messages");
    let versions = |toml: &str, headers: &str| {
        let gateway = Running::start(toml);
        gateway.request(&format!("GET /passthrough/p/v1/models\r\n{headers}"), "");
        let received = provider.received().pop().unwrap();
        let values = received.headers.iter().filter(|(name, _)| name.starts_with("anthropic-"));
        values.map(|(_, value)| value.clone()).collect::<Vec<_>>()
    };
    assert_eq!(versions(&toml, ""), ["2023-06-01"]);
    let sent = "anthropic-version: 2024-01-01\r\nanthropic-beta: a\r\nanthropic-beta: b\r\n";
    let mut found = versions(&toml, sent);
    found.sort();
    assert_eq!(found, ["2024-01-01", "a", "b"]);
    let configured = format!("{toml}version = \"2022-02-02\"\n");
    assert_eq!(versions(&configured, ""), ["2022-02-02"]);
    assert_eq!(versions(&configured, "anthropic-version: 2024-01-01\r\n"), ["2024-01-01"]);
    let configured = format!("{toml}headers = {{ \"anthropic-version\" = \"2021-01-01\" }}\n");
    assert_eq!(versions(&configured, "anthropic-version: 2024-01-01\r\n"), ["2021-01-01"]);
}

#[test]
fn a_key_that_a_provider_repeats_does_not_pass_through() {
    let refusal = json(401, "", r#"{"error":{"message":"sk-upstream is no key"}}"#);
    let provider = Provider::start(vec![Script::Reply(refusal)]);
    let gateway = Running::start(&provider.toml("p", "openai-chat"));
    let embedding = r#"{"model":"p/m","input":"a"}"#;
    for (path, body) in [("/passthrough/p/v1/files", ""), ("/v1/embeddings", embedding)] {
        let reply = gateway.post(path, body);
        assert_eq!((reply.status, reply.header("sabir-provider")), (401, Some("p")), "{path}");
        assert_eq!(reply.body, r#"{"error":{"message":"[redacted] is no key"}}"#, "{path}");
    }
    let labels = r#"provider="p",client="openai-chat",upstream="openai-chat",fault="upstream""#;
    gateway.wait_for_metric(&format!("sabir_errors_total{{{labels}}} 2"));
}

#[test]
fn a_provider_without_a_counter_gets_an_estimate() {
    let own = r#"{"type":"error","error":{"type":"not_found_error","message":"model: m"}}"#;
    for (status, turns, expected) in [
        (404, r#"{"detail":"Not Found"}"#, (200, Some("true"))),
        (404, "404 page not found", (200, Some("true"))),
        (405, r#"{"detail":"Method Not Allowed"}"#, (200, Some("true"))),
        (501, "", (200, Some("true"))),
        (404, own, (404, None)),
        (400, "{}", (400, None)),
    ] {
        let provider = Provider::start(vec![Script::Reply(json(status, "", turns))]);
        let gateway = Running::start(&provider.toml("p", "anthropic-messages"));
        let message = r#"[{"role":"user","content":"hello"}]"#;
        for (path, body) in [
            ("/v1/messages/count_tokens", format!(r#"{{"model":"p/m","messages":{message}}}"#)),
            ("/v1/responses/input_tokens", r#"{"model":"p/m","input":"hello"}"#.to_owned()),
        ] {
            let reply = gateway.post(path, &body);
            let found = (reply.status, reply.header("sabir-estimate"));
            assert_eq!(found, expected, "{path} after {status} {turns}: {}", reply.body);
            assert_eq!(reply.json()["input_tokens"].as_u64().is_some(), expected.0 == 200);
        }
    }
}

#[test]
fn geminis_bodies_name_the_model_that_is_asked() {
    let provider = Provider::whole(r#"{"candidates":[],"totalTokens":2}"#);
    let alias = "[[model]]\nname = \"smart\"\ntargets = [{ provider = \"p\", model = \"g\" }]\n";
    let gateway = Running::start(&format!("{alias}{}", provider.toml("p", "gemini")));
    let request = |model: &str| format!(r#"{{ "model": "{model}", "contents": [] }}"#);
    let wrapped = |model: &str| format!(r#"{{"generateContentRequest": {} }}"#, request(model));
    for (verb, asked, expected) in [
        ("generateContent", request("models/smart"), request("models/g")),
        ("countTokens", wrapped("models/smart"), wrapped("models/g")),
        ("countTokens", r#"{"contents": []}"#.to_owned(), r#"{"contents": []}"#.to_owned()),
    ] {
        gateway.post(&format!("/v1beta/models/smart:{verb}"), &asked);
        let received = provider.received();
        let received = received.last().unwrap();
        assert_eq!(received.line, format!("POST /v1/models/g:{verb} HTTP/1.1"));
        assert_eq!(received.body, expected);
    }
    // The path says which it is, whatever the body names beside it.
    for (stated, sent) in [
        (r#""models/other""#, r#""models/g""#),
        (r#""other""#, r#""models/g""#),
        ("5", r#""models/g""#),
        (r#""models/g""#, r#""models/g""#),
        (r#""g""#, r#""g""#),
        ("null", "null"),
    ] {
        let body = |model: &str| format!(r#"{{ "model": {model}, "contents": [] }}"#);
        gateway.post("/v1beta/models/p%2Fg:generateContent", &body(stated));
        let received = provider.received();
        assert_eq!(received.last().unwrap().body, body(sent), "{stated}");
    }
    let body = r#"{"model":"p/models/g","messages":[{"role":"user","content":"hello"}]}"#;
    gateway.post("/v1/messages/count_tokens", body);
    let received = provider.received();
    let received = received.last().unwrap();
    assert_eq!(received.line, "POST /v1/models/g:countTokens HTTP/1.1");
    assert!(received.body.contains(r#""model":"models/g""#), "{}", received.body);
}
