//! Streams in pieces of any length.

use sabir_wire::Protocol;

use super::*;

const CHAT: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"reasoning_content\":\"Hm.\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Grüße \"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\\ude00\"}}]}\r\n\r\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c\",\"function\":\
    {\"name\":\"bash\",\"arguments\":\"{\\\"cmd\\\":\"}}]}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":\
    {\"arguments\":\"\\\"ls\\\"}\"}}]}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":5}}\n\n\
    data: [DONE]\n\n";

const CLAUDE: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":\"message\",\
    \"role\":\"assistant\",\"model\":\"x\",\"content\":[],\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\n\n\
    event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n\
    event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"Hm.\"}}\n\n\
    event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n\
    event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n\
    event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Grüße 😀\"}}\n\n\
    event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n\
    event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"bash\",\"input\":{}}}\n\n\
    event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"cmd\\\":\\\"ls\\\"}\"}}\n\n\
    event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":2}\n\n\
    event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}\n\n\
    event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// Everything that is shown of a stream in these pieces.
fn shown(protocol: Protocol, pieces: &[&[u8]]) -> Result<(Vec<StreamEvent>, String)> {
    let prepared =
        Prepared { body: String::new(), losses: Report::default(), names: Names::default() };
    let machines = Some((Parser::default(), StreamDecoder::new(protocol)));
    let view = View::new(prepared);
    let mut reading = Reading { machines, protocol, view, failure: None };
    pieces.iter().for_each(|piece| reading.push(piece, None));
    reading.end();
    match reading.failure {
        Some(error) => Err(error),
        None => {
            let mut reply = UnifiedReply::of(reading.view.fold.so_far());
            reply.tool_calls = reading.view.calls;
            Ok((reading.view.events.into(), reply.to_json()))
        }
    }
}

#[test]
fn a1_6_a_stream_cut_at_every_byte_gives_the_same_reply() {
    let expected = r#"{"content":"Grüße 😀","toolCalls":[{"id":"c","name":"bash","input":{"cmd":"ls"}}],"finishReason":"tool_calls"}"#;
    for (protocol, stream) in [(Protocol::OpenaiChat, CHAT), (Protocol::AnthropicMessages, CLAUDE)]
    {
        let whole = shown(protocol, &[stream.as_bytes()]).unwrap();
        assert_eq!(whole.1, expected);
        for cut in 0..=stream.len() {
            let (first, second) = stream.as_bytes().split_at(cut);
            let pieces = shown(protocol, &[first, second]).unwrap();
            assert!(pieces == whole, "{} cut at {cut}", protocol.as_str());
        }
    }
}

#[test]
fn the_pieces_are_those_of_the_reply() {
    let (events, _) = shown(Protocol::OpenaiChat, &[CHAT.as_bytes()]).unwrap();
    let mut texts = String::new();
    let mut thoughts = String::new();
    for event in &events {
        match event {
            StreamEvent::Text(text) => texts.push_str(text),
            StreamEvent::Reasoning(text) => thoughts.push_str(text),
            _ => {}
        }
    }
    assert_eq!((&*texts, &*thoughts), ("Grüße 😀", "Hm."));
    assert!(matches!(events.last(), Some(StreamEvent::End("tool_calls"))));
    let calls = events.iter().filter(|event| matches!(event, StreamEvent::ToolCall(_))).count();
    assert_eq!(calls, 1);
}

#[test]
fn a_stream_that_stops_anywhere_before_its_end_is_truncated() {
    let end = CHAT.find("data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish").unwrap();
    for cut in 0..end {
        let error = shown(Protocol::OpenaiChat, &[&CHAT.as_bytes()[..cut]]).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Truncated | ErrorKind::Malformed),
            "cut at {cut}: {error:?}"
        );
    }
}
