//! What is shown of requests, answers, streams and errors.

use serde_json::json;

use crate::run::sabir;

#[test]
fn a_request_shows_its_places_and_semantics() {
    let body = r#"{"model":"m","system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],
        "max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":"Hello"}]}],"new_field":1.50}"#;
    let run = sabir("inspect --from messages", body).exits(0);
    assert!(
        run.stdout.starts_with("{\n  \"protocol\": \"anthropic-messages\",\n"),
        "{}",
        run.stdout
    );
    assert_eq!(run.stderr, "");
    let shown = run.json();
    assert_eq!(shown["semantics"]["system"]["textBlocks"], json!(["Be brief."]));
    assert_eq!(shown["semantics"]["cache"], json!([{"place": "/system/0"}]));
    assert_eq!(shown["semantics"]["extras"][0]["pointer"], "/new_field");
    assert_eq!(shown["request"]["messages"][1]["parts"][0]["place"], "/messages/0/content/0");
    assert!(run.stdout.contains("1.50"), "{}", run.stdout);
    // Diagnostics are for people: nothing that a translation needs is among them.
    let expected = json!({"missingFields": [], "providerMetadata": {}});
    assert_eq!(shown["diagnostics"], expected);
}

#[test]
fn a_resumed_request_shows_what_it_goes_on_from_and_with() {
    let own = r#"{"type":"function_call","call_id":"call_2","name":"look","arguments":"{}"},
        {"type":"function_call_output","call_id":"call_2","output":"inside"},"#;
    let body = format!(
        r#"{{"model":"m","previous_response_id":"resp_1","input":[{own}
        {{"type":"function_call_output","call_id":"call_1","output":"found"}},
        {{"type":"function_call_output","call_id":"call_3","output":[{{"type":"input_text","text":"a"}},
            {{"type":"input_text","text":"b"}}]}}]}}"#
    );
    let shown = sabir("inspect --from responses", &body).exits(0).json();
    let session = &shown["semantics"]["session"];
    assert_eq!(session["previousResponseId"], "resp_1");
    let outputs = &session["resumeToolOutputs"];
    assert_eq!(outputs[0], json!({"callId": "call_1", "output": "found"}));
    assert_eq!(outputs[1]["callId"], "call_3");
    assert_eq!(outputs[1]["output"][1]["text"], "b");
    assert_eq!(outputs.as_array().map(Vec::len), Some(2), "{outputs}");
    let whole = body.replace(r#""previous_response_id":"resp_1","#, "");
    let shown = sabir("inspect --from responses", &whole).exits(0).json();
    assert_eq!(shown["semantics"]["session"], json!({}));
}

#[test]
fn an_answer_shows_what_only_its_issuer_can_read() {
    let body = r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"Hi","thoughtSignature":"c2ln"}]},"finishReason":"STOP"}]}"#;
    let shown = sabir("inspect --kind response --from gemini", body).exits(0).json();
    let part = &shown["candidates"][0]["message"]["parts"][0];
    assert_eq!(part["text"], "Hi");
    let artefact = json!({"issuer": "gemini", "kind": "signature", "data": "c2ln"});
    assert_eq!(part["semantics"]["artefact"], artefact);
    assert_eq!(shown["candidates"][0]["finish"]["kind"], "stop");
}

#[test]
fn a_stream_shows_the_list_of_its_events() {
    let stream = "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"Hi\"}]},\"finishReason\":\"STOP\"}]}\n\n";
    let shown = sabir("inspect --kind stream --from gemini", stream).exits(0).json();
    let names: Vec<&str> =
        shown.as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names.first(), Some(&"start"));
    assert!(names.contains(&"delta") && names.contains(&"finish"), "{names:?}");
}

#[test]
fn an_error_shows_its_class() {
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#;
    let shown = sabir("inspect --kind error --from messages --status 529", body).exits(0).json();
    assert_eq!(shown["kind"], "overloaded");
    assert_eq!(shown["message"], "busy");
}

#[test]
fn the_events_before_an_unreadable_frame_are_still_a_list() {
    let stream =
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Hi\"}]}}]}\n\ndata: {]\n\n";
    let run = sabir("inspect --kind stream --from gemini", stream).exits(1);
    let shown = run.json();
    let last = shown.as_array().unwrap().last().unwrap();
    assert_eq!((&last["event"], &last["kind"]), (&json!("fault"), &json!("truncated")));
    assert!(run.stderr.contains("at: /1"), "{}", run.stderr);
}
