//! What is shown of conversations that no protocol has touched; semantics are tested where they can be written.

use serde_json::{Value, json};

use crate::conversation::{
    Arguments, CallForm, Candidate, Content, Finish, FinishKind, Message, Part, Request, Response,
    Role, ToolCall,
};
use crate::json::indented;
use crate::json::{Json, Text};
use crate::protocol::{Delta, Event, NodeSemantics, Open, Opening, PartId};
use crate::{DecodedRequest, Fault, FaultKind, Protocol};

#[track_caller]
fn check(shown: &str, pointer: &str, expected: Value) {
    let shown: Value = serde_json::from_str(shown).unwrap();
    assert_eq!(shown.pointer(pointer), Some(&expected), "{pointer} of {shown:#}");
}

#[test]
fn indentation_is_that_of_serde_json() {
    for json in
        ["{}", "[]", "7", r#""a\"{b\\""#, r#"{"a":[],"b":{"c":[1,-2.50,null]}}"#, r#"["é,:{"]"#]
    {
        let value: Value = serde_json::from_str(json).unwrap();
        assert_eq!(indented(json), serde_json::to_string_pretty(&value).unwrap());
    }
}

#[test]
fn white_space_of_the_input_does_not_show() {
    assert_eq!(
        indented("{ \"a\" :\t[\r\n 1 , 2 ] , \"b\": { } }"),
        indented(r#"{"a":[1,2],"b":{}}"#)
    );
}

#[test]
fn a_request_shows_messages_parts_and_system_texts() {
    let call = ToolCall {
        id: None,
        name: "look".into(),
        arguments: Arguments::Json(Json::literal(r#"{"deep": [1.0]}"#)),
        form: CallForm::Function,
    };
    let request = Request {
        model: Some("m".into()),
        messages: vec![
            Message::new(Role::System, vec![Part::text("be brief"), Part::text("be kind")]),
            Message::new(Role::Assistant, vec![Part::new(Content::ToolCall(Box::new(call)))]),
        ],
        ..Request::default()
    };
    let shown = DecodedRequest::new(Protocol::OpenaiChat, request).inspect();
    check(&shown, "/protocol", json!("openai-chat"));
    check(&shown, "/request/model", json!("m"));
    check(&shown, "/request/messages/0/role", json!("system"));
    check(&shown, "/request/messages/1/parts/0/type", json!("toolCall"));
    check(&shown, "/semantics/system/textBlocks", json!(["be brief", "be kind"]));
    assert!(shown.contains("1.0"), "numbers keep their spelling: {shown}");
}

#[test]
fn an_answer_shows_its_end() {
    let mut candidate = Candidate::new(Message::new(Role::Assistant, vec![Part::text("a\nb")]));
    candidate.finish = Some(Finish::new(FinishKind::ContentFilter));
    let response = Response { candidates: vec![candidate], ..Response::default() };
    let shown = response.inspect();
    check(&shown, "/candidates/0/finish/kind", json!("contentFilter"));
    check(&shown, "/candidates/0/message/parts/0/text", json!("a\nb"));
}

#[test]
fn events_show_by_name() {
    let open = Event::Open(Open {
        part: PartId(3),
        candidate: 0,
        opening: Opening::Whole(Content::Refusal("no".into())),
        semantics: NodeSemantics::default(),
    });
    check(&open.inspect(), "/part", json!(3));
    check(&open.inspect(), "/type", json!("refusal"));
    let delta = Event::Delta(PartId(3), Delta::Text(Text::plain("more")));
    check(&delta.inspect(), "", json!({"event": "delta", "part": 3, "text": "more"}));
    let fault = Event::Fault(Fault::new(FaultKind::Truncated, "cut"));
    check(&fault.inspect(), "", json!({"event": "fault", "kind": "truncated", "message": "cut"}));
}
