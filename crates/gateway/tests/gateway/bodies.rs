//! The bodies of Sabir's own endpoints: one JSON object, all of it read, and no member that counts said twice.

use crate::harness::*;

/// An endpoint that takes a body.
struct Door {
    path: String,
    /// A body that it takes.
    body: String,
    /// One of its members, once more and otherwise.
    again: &'static str,
    /// Whether nothing need be said.
    takes_nothing: bool,
}

fn door(path: impl Into<String>, body: impl Into<String>, again: &'static str) -> Door {
    Door { path: path.into(), body: body.into(), again, takes_nothing: false }
}

/// All of them, on a gateway that keeps what they ask for.
fn doors(gateway: &Running) -> Vec<Door> {
    let begun = gateway.post("/v1/conversations", "{}").json();
    let begun = format!("/v1/conversations/{}", begun["id"].as_str().unwrap());
    let own = gateway.post("/sabir/v1/conversations", r#"{"id":"kept"}"#);
    assert_eq!(own.status, 200, "{}", own.body);
    let call = r#"{"model":"sim-chat/m","input":"call f with {}","tools":[{"type":"function","name":"f"}]}"#;
    let answer = gateway.post("/v1/responses", call).json();
    let id = answer["id"].as_str().unwrap();
    let output = answer["output"].as_array().unwrap().iter();
    let call = output.filter_map(|item| item["call_id"].as_str()).next().unwrap();
    let order = r#"{"from":"openai-chat","to":"gemini","body":{"messages":[]}}"#;
    let items = r#"{"items":[{"role":"user","content":"hi"}]}"#;
    let results = format!(r#"{{"tool_outputs":[{{"call_id":"{call}","output":"ok"}}]}}"#);
    let optional = |door: Door| Door { takes_nothing: true, ..door };
    vec![
        door("/sabir/v1/translate", order, r#""from":"gemini""#),
        optional(door(
            "/sabir/v1/conversations",
            r#"{"transcript":[{"role":"user","content":"hi","timestamp":1}]}"#,
            r#""transcript":[]"#,
        )),
        optional(door("/sabir/v1/conversations/kept/fork", r#"{"after":null}"#, r#""after":"x""#)),
        optional(door("/v1/conversations", items, r#""items":[]"#)),
        door(&*begun, r#"{"metadata":{"a":"b"}}"#, r#""metadata":{}"#),
        door(format!("{begun}/items"), items, r#""items":[]"#),
        door(format!("/v1/responses/{id}/submit_tool_outputs"), results, r#""tool_outputs":[]"#),
    ]
}

#[test]
fn a_body_is_one_object_and_nothing_behind_it() {
    let gateway = Running::start("");
    for Door { path, body, again, takes_nothing } in doors(&gateway) {
        let twice = format!("{},{again}}}", body.strip_suffix('}').unwrap());
        let first = again.as_bytes()[1];
        let escaped =
            format!("{},\"\\u00{first:x}{}}}", body.strip_suffix('}').unwrap(), &again[2..]);
        for wrong in [
            format!("{body}x"),
            format!("{body},"),
            format!("{body}{body}"),
            format!("{body}\n{{}}"),
            format!("{body}\0"),
            format!("[{body}]"),
            "null".to_owned(),
            body.strip_suffix('}').unwrap().to_owned(),
            twice.clone(),
            escaped,
        ] {
            let reply = gateway.post(&path, &wrong);
            assert_eq!(reply.status, 400, "{path} {wrong}: {}", reply.body);
            let error = &reply.json()["error"];
            assert_eq!(error["type"], "invalid_request_error", "{path} {wrong}: {error}");
        }
        let name = again[1..].split('"').next().unwrap();
        assert_eq!(gateway.post(&path, &twice).json()["error"]["param"], name, "{path}");
        for empty in ["", " \r\n"] {
            let status = if takes_nothing { 200 } else { 400 };
            let reply = gateway.post(&path, empty);
            assert_eq!(reply.status, status, "{path} {empty:?}: {}", reply.body);
        }
        let reply = gateway.post(&path, &format!(" {body}\r\n"));
        assert_eq!(reply.status, 200, "{path} {body}: {}", reply.body);
    }
}

#[test]
fn metadata_that_says_one_thing_twice_is_refused() {
    let gateway = Running::start("");
    let body = r#"{"metadata":{"a":"1","b":"2","\u0061":"3"}}"#;
    for path in ["/v1/conversations", "/sabir/v1/conversations"] {
        let reply = gateway.post(path, body);
        assert_eq!(reply.status, 400, "{path}: {}", reply.body);
        assert_eq!(reply.json()["error"]["param"], "metadata.a", "{path}");
    }
}
