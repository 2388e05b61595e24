//! What must hold for any bytes at all: shared by the fuzz targets and the property tests.
//!
//! Each function panics if its promise is broken and says nothing otherwise.

mod events;
mod mutate;

use sabir_wire::json::{Json, Kind, Reader, Survey};
use sabir_wire::protocol::{AnswerContext, Event, Fold, Order, StreamEncoder, unfold};
use sabir_wire::target::Target;
use sabir_wire::{DecodedRequest, Error, ErrorKind, Protocol, Report, schema, sse};

use crate::translate;

pub use events::events;
pub use mutate::Mutation;

/// How much longer than its input a translation may be: ids, wrappers and repeated wholes take room.
const GROWTH_MAX: usize = 400;

/// What a translation of nothing may take.
const GROWTH_FLOOR_BYTES: usize = 16 * 1024;

/// Reads a request; whatever can be read can be written in every protocol, and read again from there.
pub fn decode_request(protocol: Protocol, bytes: &[u8]) {
    let decoded = protocol.decode_request(bytes);
    assert_surveyed(protocol, bytes, decoded.as_ref().ok());
    let Ok(decoded) = decoded else { return };
    let named = decoded.request().model.as_ref().map(|model| Target::for_model(&model.to_str()));
    for target in [Some(Target::default()), named].into_iter().flatten() {
        for to in Protocol::ALL {
            let Ok(encoded) = decoded.encode(to, &target) else { continue };
            assert_body(to, bytes, &encoded.body, &encoded.report);
            let again = to.decode_request(encoded.body.as_bytes());
            assert!(again.is_ok(), "{to:?} cannot read its own request: {again:?}");
        }
    }
}

/// Asserts that a body reads the same where it has been passed over before.
fn assert_surveyed(protocol: Protocol, bytes: &[u8], expected: Option<&DecodedRequest<'_>>) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut survey = Survey::new(text);
    let _ = Reader::new(text).survey(&mut survey);
    let found = protocol.decode_request_surveyed(&survey).ok();
    let body = |decoded: &DecodedRequest<'_>| {
        decoded.encode(protocol, &Target::default()).map(|encoded| encoded.body).ok()
    };
    assert!(found.as_ref().map(body) == expected.map(body), "a survey changed what was read");
}

/// Reads a whole answer; whatever can be read can be written in every protocol, whole or as a stream.
pub fn decode_response(protocol: Protocol, bytes: &[u8]) {
    let Ok(response) = protocol.decode_response(bytes) else { return };
    for to in Protocol::ALL {
        let encoded = to.encode_response(&response, protocol, &AnswerContext::default());
        assert_body(to, bytes, &encoded.body, &encoded.report);
        let again = to.decode_response(encoded.body.as_bytes());
        assert!(again.is_ok(), "{to:?} cannot read its own answer: {again:?}");
    }
    let mut events = Vec::new();
    unfold(response, &mut |event| events.push(event));
    assert_order(&events);
    encode_events(protocol, &events);
}

/// Reads a stream; its events are in order, and every protocol can write them.
pub fn decode_stream(protocol: Protocol, bytes: &[u8]) {
    let mut events = Vec::new();
    translate::decode_stream(protocol, [bytes], &mut |event| events.push(event.into_owned()));
    assert_order(&events);
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    let mut count = 0;
    translate::decode_stream(protocol, [head, tail], &mut |_| count += 1);
    assert_eq!(count, events.len(), "a split changed the events");
    encode_events(protocol, &events);
}

/// Reads an error body; every protocol can state it.
pub fn decode_fault(protocol: Protocol, bytes: &[u8]) {
    for status in [0, 200, 400, 429, 529, u16::MAX] {
        let fault = protocol.decode_fault(status, bytes);
        for to in Protocol::ALL {
            let (_, body) = to.encode_fault(&fault);
            assert!(Json::parse(body.as_str()).is_ok(), "{to:?} wrote an error that is no JSON");
        }
    }
}

/// Feeds events, in order or not, to every encoder: all that is written is frames of JSON.
pub fn encode_events(source: Protocol, events: &[Event<'_>]) {
    for to in Protocol::ALL {
        let mut out = String::new();
        let mut encoder = StreamEncoder::new(to, source, AnswerContext::default());
        for event in events {
            encoder = encoder.step(event.clone(), &mut out);
        }
        let _ = encoder.end(&mut out);
        assert_frames(to, &out);
    }
    let mut fold = Fold::default();
    events.iter().cloned().for_each(|event| fold.step(event));
    let folded = fold.finish();
    for to in Protocol::ALL {
        let encoded = to.encode_response(&folded, source, &AnswerContext::default());
        assert!(Json::parse(encoded.body.as_str()).is_ok(), "{to:?} wrote no JSON");
    }
}

/// Feeds the events that some bytes stand for to every encoder.
pub fn encode_stream(bytes: &[u8]) {
    let events = events(bytes);
    for source in Protocol::ALL {
        encode_events(source, &events);
    }
}

/// Splits the bytes into frames: any split gives the same.
pub fn sse(bytes: &[u8]) {
    let whole = frames([bytes]);
    let singles = frames(bytes.chunks(1));
    match (whole, singles) {
        (Ok(whole), Ok(singles)) => assert!(whole == singles, "a split changed the frames"),
        (Err(_), Err(_)) => {}
        (Ok(_), Err(error)) | (Err(error), Ok(_)) => panic!("a split changed the end: {error}"),
    }
}

/// Reads JSON: this crate and serde_json agree on what is JSON and on what it says.
pub fn json(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let ours = Json::parse(text);
    let theirs = serde_json::from_str::<serde_json::Value>(text);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            let compact = ours.compact();
            let again = serde_json::from_str::<serde_json::Value>(&compact);
            assert!(again.is_ok_and(|again| again == theirs), "compacting changed the value");
            walk(&mut ours.reader()).expect("what was parsed can be walked");
        }
        // Half of a surrogate pair is a string to us, since clients do send it.
        (Ok(_), Err(_)) => assert!(text.contains("\\u"), "we read what is no JSON"),
        // Either limit on depth may come first.
        (Err(error), Ok(_)) => assert!(error.kind() == ErrorKind::Limit, "we refused: {error}"),
        (Err(_), Err(_)) => {}
    }
}

/// Translates a schema between all languages: what comes out is JSON, not much longer, and stays as it is from there.
pub fn schema(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(schema) = Json::parse(text) else { return };
    for from in LANGUAGES {
        for to in LANGUAGES {
            let there = schema::translate(&schema, from, to);
            let losses = there.losses.len();
            assert!(Json::parse(there.json.as_str()).is_ok(), "{from:?} to {to:?} is no JSON");
            assert!(there.json.as_str().len() <= growth_max(bytes), "{from:?} to {to:?} grew");
            assert!(losses <= 64 + 8 * bytes.len(), "{losses} losses of {} bytes", bytes.len());
            let again = schema::translate(&there.json, to, to);
            assert!(again.json == there.json, "{from:?} to {to:?} is not stable");
        }
    }
}

const LANGUAGES: [schema::SchemaLanguage; 5] = [
    schema::SchemaLanguage::JsonSchema,
    schema::SchemaLanguage::OpenaiStrict,
    schema::SchemaLanguage::AnthropicStrict,
    schema::SchemaLanguage::GeminiJsonSchema,
    schema::SchemaLanguage::GeminiSchema,
];

/// Reads every value there is, each by the method for its kind.
fn walk(reader: &mut Reader<'_>) -> Result<(), Error> {
    match reader.kind()? {
        Kind::Null => reader.null(),
        Kind::Boolean => reader.boolean().map(drop),
        Kind::Number => {
            let number = reader.number()?;
            let _ = (number.as_f64(), number.as_i64(), number.as_u64());
            Ok(())
        }
        Kind::String => reader.string().map(|text| drop(text.to_str().into_owned())),
        Kind::Array => reader.array(|_, reader| walk(reader)),
        Kind::Object => reader.object(|_, reader| walk(reader)),
    }
}

fn frames<'c>(
    chunks: impl IntoIterator<Item = &'c [u8]>,
) -> Result<Vec<(Option<String>, String)>, Error> {
    let mut frames = Vec::new();
    let mut keep = |frame: sse::Frame<'_>| {
        frames.push((frame.event.map(str::to_owned), frame.data.to_owned()));
        Ok(())
    };
    let mut parser = sse::Parser::default();
    for chunk in chunks {
        parser.push(chunk, &mut keep)?;
    }
    parser.end(&mut keep)?;
    Ok(frames)
}

fn assert_body(to: Protocol, input: &[u8], body: &str, report: &Report) {
    assert!(Json::parse(body).is_ok(), "{to:?} wrote no JSON");
    assert!(body.len() <= growth_max(input), "{} bytes became {}", input.len(), body.len());
    let entries = report.entries().len();
    assert!(entries <= 64 + 8 * input.len(), "{entries} losses of {} bytes", input.len());
}

fn growth_max(input: &[u8]) -> usize {
    GROWTH_FLOOR_BYTES + GROWTH_MAX * input.len()
}

fn assert_order(events: &[Event<'_>]) {
    let mut order = Order::default();
    for event in events {
        if let Err(error) = order.step(event) {
            panic!("out of order: {error}");
        }
    }
}

fn assert_frames(to: Protocol, out: &str) {
    let frames = frames([out.as_bytes()]).expect("what is written is UTF-8 and small");
    for (_, data) in frames {
        let is_json = data == "[DONE]" || Json::parse(data.as_str()).is_ok();
        assert!(is_json, "{to:?} wrote a frame that is no JSON");
    }
}
