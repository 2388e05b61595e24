//! Requests, answers, streams and errors between Miniature and each other protocol.

use crate::{Protocol, sse};
use crate::fault::{Fault, FaultKind};
use crate::protocol::{AnswerContext, StreamDecoder, StreamEncoder};
use crate::protocol::miniature::types::SELF;
use crate::target::Target;

const REQUEST: &str = r#"{"model":"m","turns":[{"who":"system","text":"Be brief."},{"who":"user","text":"Hi."},{"who":"model","text":"Hello."},{"who":"user","text":"Why?"}],"limit":64,"stream":true}"#;
const ANSWER: &str = r#"{"id":"1","model":"m","text":"Because.","end":"cut","usage":{"in":7,"out":3}}"#;
const STREAM: &str = "data: {\"id\":\"1\",\"model\":\"m\"}\n\ndata: {\"text\":\"Be\"}\n\ndata: {\"text\":\"cause.\"}\n\ndata: {\"end\":\"done\",\"usage\":{\"in\":7,\"out\":3}}\n\n";

fn others() -> impl Iterator<Item = Protocol> {
    Protocol::ALL.into_iter().filter(|protocol| *protocol != SELF)
}

fn request(from: Protocol, to: Protocol, body: &str) -> String {
    let decoded = from.decode_request(body.as_bytes()).unwrap();
    decoded.encode(to, &Target::default()).unwrap().body
}

fn stream(from: Protocol, to: Protocol, stream: &str) -> String {
    let mut out = String::new();
    let mut encoder = Some(StreamEncoder::new(to, from, AnswerContext::default()));
    let mut decoder = Some(StreamDecoder::new(from));
    let mut parser = sse::Parser::default();
    let mut step = |frame: sse::Frame<'_>| {
        decoder = Some(decoder.take().unwrap().step(&frame, &mut |event| {
            encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
        })?);
        Ok(())
    };
    parser.push(stream.as_bytes(), &mut step).unwrap();
    parser.end(&mut step).unwrap();
    decoder.unwrap().end(&mut |event| {
        encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
    });
    let _ = encoder.unwrap().end(&mut out);
    out
}

#[test]
fn a_plain_request_goes_to_each_protocol_and_comes_back() {
    for other in others() {
        let back: serde_json::Value =
            serde_json::from_str(&request(other, SELF, &request(SELF, other, REQUEST))).unwrap();
        let before: serde_json::Value = serde_json::from_str(REQUEST).unwrap();
        assert_eq!(back["turns"], before["turns"], "{other:?}");
        assert_eq!(back["limit"], before["limit"], "{other:?}");
    }
}

#[test]
fn a_whole_answer_goes_to_each_protocol_and_comes_back() {
    for other in others() {
        let context = AnswerContext::default();
        let there = other.translate_response(ANSWER.as_bytes(), SELF, &context).unwrap();
        let back = SELF.translate_response(there.body.as_bytes(), other, &context).unwrap();
        let [before, after] = [ANSWER, &back.body]
            .map(|body| serde_json::from_str::<serde_json::Value>(body).unwrap());
        for key in ["text", "end", "usage"] {
            assert_eq!(after[key], before[key], "{other:?}");
        }
    }
}

#[test]
fn a_stream_goes_to_each_protocol_and_comes_back() {
    for other in others() {
        let back = stream(other, SELF, &stream(SELF, other, STREAM));
        for piece in ["\"text\":\"Be\"", "\"text\":\"cause.\"", "\"end\":\"done\"", "\"out\":3"] {
            assert!(back.contains(piece), "{other:?}: {back}");
        }
    }
}

#[test]
fn an_error_goes_to_each_protocol_and_comes_back() {
    for other in others() {
        let (status, body) = SELF.encode_fault(&Fault::new(FaultKind::RateLimit, "Slow down."));
        let there = other.encode_fault(&SELF.decode_fault(status, body.as_bytes()));
        let back = other.decode_fault(there.0, there.1.as_bytes());
        assert_eq!(SELF.encode_fault(&back), (status, body.clone()), "{other:?}");
    }
}
