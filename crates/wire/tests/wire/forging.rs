//! Semantics cannot be written, forged or moved by anyone outside the protocols: such code does not compile.

use sabir_wire::conversation::{Content, Message, Part, Request, ResultOutput};
use sabir_wire::target::Target;
use sabir_wire::{DecodedRequest, Protocol};

#[test]
fn semantics_are_read_only_outside_the_protocols() {
    trybuild::TestCases::new().compile_fail("tests/wire/compile_fail/*.rs");
}

#[test]
fn what_rode_on_a_message_stays_behind_when_another_request_is_made_of_it() {
    let body = r#"{"messages":[{"role":"user","content":"hi","x_trace":1},{"role":"assistant","content":null,"tool_calls":
        [{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"4"}]}"#;
    let decoded = Protocol::OpenaiChat.decode_request(body.as_bytes()).unwrap();
    for protocol in Protocol::ALL {
        let taken = DecodedRequest::new(protocol, decoded.request().clone());
        let made = DecodedRequest::new(protocol, anew(decoded.request()));
        let encode =
            |decoded: &DecodedRequest<'_>| decoded.encode(protocol, &Target::default()).unwrap();
        assert_eq!(encode(&taken).body, encode(&made).body, "{protocol:?}");
        assert!(!encode(&taken).body.contains("x_trace"), "{protocol:?}");
    }
}

/// The same content in messages and parts of our own.
fn anew<'a>(request: &Request<'a>) -> Request<'a> {
    let part = |part: &Part<'a>| {
        let content = match part.content().clone() {
            Content::ToolResult(mut result) => {
                let parts = result.output.parts().iter();
                let parts = parts.map(|part| Part::new(part.content().clone())).collect();
                result.output = ResultOutput::Parts(parts);
                Content::ToolResult(result)
            }
            content => content,
        };
        Part::new(content)
    };
    let message = |message: &Message<'a>| {
        Message::new(message.role, message.parts.iter().map(part).collect::<Vec<_>>())
    };
    Request { messages: request.messages.iter().map(message).collect(), ..Request::default() }
}
