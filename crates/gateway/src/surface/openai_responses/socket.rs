//! Responses over a WebSocket: what a client's messages ask for, and the frames that only a socket has. Events are the same as
//! those of a stream, one in each frame.

use std::str;

use http::{HeaderMap, HeaderValue};
use memchr::memchr2;
use sabir_wire::Protocol;
use sabir_wire::conversation::Response;
use sabir_wire::json::{Json, Kind, Reader, Writer};
use sabir_wire::protocol::{AnswerContext, Echo};

use crate::surface::socket::{Create, Ended, EventKind, Refusal, Socket, SocketMessage};

pub(super) const SOCKET: Socket = Socket {
    strip,
    read,
    body,
    elements: |create| create.input.as_ref().map(elements).unwrap_or_default(),
    prepared,
    completed,
    kind,
    ended,
    in_lane,
    restate_previous,
    refuse,
    steering_refused,
};

/// Room for what most messages have beside their input.
const HEAD_BYTES: usize = 1024;

/// Members of a message that are for the socket alone, or that it says itself.
const OWN: [&str; 5] = ["type", "stream_id", "generate", "stream", "stream_options"];

const PREVIOUS: &str = "previous_response_id";
const INPUT: &str = "input";

/// Clients ask for the socket by a beta of this name.
const BETA: &str = "openai-beta";

fn strip(headers: &mut HeaderMap) {
    let is_of_socket = |value: &HeaderValue| value.as_bytes().starts_with(b"responses_websockets");
    let kept = headers.get_all(BETA).iter().filter(|value| !is_of_socket(value));
    let kept: Vec<HeaderValue> = kept.cloned().collect();
    headers.remove(BETA);
    for value in kept {
        headers.append(BETA, value);
    }
}

fn read(message: &str) -> Result<SocketMessage, Refusal> {
    let mut asked = Reading::begin(message.len().min(HEAD_BYTES));
    let mut reader = Reader::new(message);
    let read = reader.object(|name, reader| asked.member(&name, reader));
    let read = read.and_then(|()| reader.finish());
    let lane = asked.lane.take();
    let refuse = |message: String, param| Refusal { lane: lane.clone(), message, param };
    if let Err(error) = read {
        return Err(refuse(format!("expected a JSON object in each message: {error}"), None));
    }
    if let Some((param, expected)) = asked.wrong {
        return Err(refuse(format!("expected {expected}"), Some(param)));
    }
    match asked.kind.as_deref() {
        Some("response.create") if asked.in_background => {
            let message = "`background` is not served over a WebSocket: use POST /v1/responses";
            Err(refuse(message.to_owned(), Some("background")))
        }
        Some("response.create") => {
            asked.head.field("stream", &true);
            let Reading { head, input, previous, is_generated, .. } = asked;
            let head = head.into_string();
            Ok(SocketMessage::Create(Create { lane, head, input, previous, is_generated }))
        }
        Some("response.steer") => Ok(SocketMessage::Steer { lane, input: asked.input }),
        _ => {
            let message = "expected the type `response.create` or `response.steer`";
            Err(refuse(message.to_owned(), Some("type")))
        }
    }
}

/// What is read of a message.
struct Reading {
    kind: Option<String>,
    lane: Option<String>,
    previous: Option<String>,
    input: Option<Json<'static>>,
    is_generated: bool,
    in_background: bool,
    /// A member that is for the socket and not of its kind, and what it should be.
    wrong: Option<(&'static str, &'static str)>,
    /// The body of the call as far as it is known.
    head: Writer,
}

impl Reading {
    fn begin(head_bytes: usize) -> Self {
        let mut head = Writer::with_capacity(head_bytes);
        head.begin_object();
        Self {
            kind: None,
            lane: None,
            previous: None,
            input: None,
            is_generated: true,
            in_background: false,
            wrong: None,
            head,
        }
    }

    fn member(&mut self, name: &str, reader: &mut Reader<'_>) -> sabir_wire::Result<()> {
        let kind = reader.kind()?;
        let value = reader.raw()?;
        let text = || value.reader().string().map(|text| text.into_str().into_owned());
        match (name, kind) {
            ("type", Kind::String) => self.kind = Some(text()?),
            ("stream_id", Kind::String) => self.lane = Some(text()?),
            ("generate", Kind::Boolean) => self.is_generated = value.reader().boolean()?,
            ("background", Kind::Boolean) => self.in_background = value.reader().boolean()?,
            (PREVIOUS, Kind::String) => self.previous = Some(text()?),
            (name, Kind::Null) if OWN.contains(&name) || [PREVIOUS, INPUT].contains(&name) => {}
            (INPUT, _) => self.input = Some(value.into_owned()),
            (PREVIOUS, _) => self.wrong = Some((PREVIOUS, "a string")),
            ("stream_id", _) => self.wrong = Some(("stream_id", "a string")),
            ("generate", _) => self.wrong = Some(("generate", "a boolean")),
            (name, _) if OWN.contains(&name) => {}
            (name, _) => self.head.field(name, &value),
        }
        Ok(())
    }
}

/// The body that a POST would have, with earlier elements before its own.
fn body(create: &Create, base: Option<&str>, earlier: &str) -> String {
    let own = create.input.as_ref().map_or("", |input| input.as_str());
    let mut body = String::with_capacity(create.head.len() + earlier.len() + own.len() + 128);
    body.push_str(&create.head);
    if let Some(base) = base {
        let mut name = Writer::default();
        name.value(base);
        body.extend([",\"", PREVIOUS, "\":", name.as_str()]);
    }
    match (earlier, &create.input) {
        ("", None) => {}
        ("", Some(input)) => body.extend([",\"", INPUT, "\":", input.as_str()]),
        (earlier, input) => {
            let own = input.as_ref().map(elements).unwrap_or_default();
            let comma = if own.is_empty() { "" } else { "," };
            body.extend([",\"", INPUT, "\":[", earlier, comma, &own, "]"]);
        }
    }
    body.push('}');
    body
}

/// The elements of an input, with commas between them.
fn elements(input: &Json<'_>) -> String {
    match input.kind() {
        Kind::Array => {
            let list = input.as_str().trim();
            let list = list.strip_prefix('[').and_then(|list| list.strip_suffix(']'));
            list.unwrap_or_default().trim().to_owned()
        }
        _ => format!(r#"{{"type":"message","role":"user","content":{}}}"#, input.as_str()),
    }
}

/// The frames of an answer that nobody generates, and what it leaves for the next turn.
fn prepared(body: &str, context: AnswerContext<'static>) -> (Vec<String>, Ended) {
    let echo = Echo::of(Reader::new(body)).map(Echo::into_owned).unwrap_or_default();
    let context = AnswerContext { echo: Some(echo), ..context };
    let other = Protocol::AnthropicMessages;
    let whole = Protocol::OpenaiResponses.encode_response(&Response::default(), other, &context);
    let created = whole.body.replacen(r#""status":"completed""#, r#""status":"in_progress""#, 1);
    let frames = [("response.created", created), ("response.completed", whole.body)];
    let frames = frames.into_iter().zip(0..).map(|((kind, body), number)| {
        format!(r#"{{"type":"{kind}","sequence_number":{number},"response":{body}}}"#)
    });
    let id = format!("resp_{}", context.seed.to_str());
    (frames.collect(), Ended { id, ..Ended::default() })
}

/// The event that a whole answer ends a stream with.
fn completed(body: &str) -> Option<String> {
    let status = Reader::new(body).peek_tag("status").ok()??;
    let kind = match &*status.to_str() {
        "incomplete" => "response.incomplete",
        "failed" => "response.failed",
        _ => "response.completed",
    };
    Some(format!(r#"{{"type":"{kind}","sequence_number":0,"response":{body}}}"#))
}

fn kind(data: &[u8]) -> (EventKind, usize) {
    if let Some((kind, shown)) = first_type(data) {
        return (kind_of(kind), shown);
    }
    let kind =
        str::from_utf8(data).ok().and_then(|data| Reader::new(data).peek_tag("type").ok()?);
    (kind.map_or(EventKind::Piece, |kind| kind_of(kind.to_str().as_bytes())), 0)
}

/// The type of an event that begins with it, as nearly all do, and where that ends.
fn first_type(data: &[u8]) -> Option<(&[u8], usize)> {
    const BEGINNING: &[u8] = br#"{"type":""#;
    let rest = data.strip_prefix(BEGINNING)?;
    let end = memchr2(b'"', b'\\', rest)?;
    (rest[end] == b'"').then(|| (&rest[..end], BEGINNING.len() + end + 1))
}

fn kind_of(kind: &[u8]) -> EventKind {
    match kind {
        b"response.created" | b"response.in_progress" => EventKind::Whole,
        b"response.completed" | b"response.incomplete" | b"response.failed" => EventKind::End,
        b"error" => EventKind::Fault,
        _ => EventKind::Piece,
    }
}

/// How an answer ended, by its last event.
fn ended(data: &str) -> Option<Ended> {
    let kind = Reader::new(data).peek_tag("type").ok()??;
    let is_failed = kind == *"response.failed";
    let mut ended = Ended { is_failed, ..Ended::default() };
    let read = Reader::new(data).object(|name, reader| match &*name {
        "response" => reader.object(|name, reader| {
            match (&*name, reader.kind()?) {
                ("id", Kind::String) => ended.id = reader.string()?.into_str().into_owned(),
                ("store", Kind::Boolean) => ended.is_stored = reader.boolean()?,
                ("output", Kind::Array) => ended.elements = elements(&reader.raw()?),
                _ => reader.skip()?,
            }
            Ok(())
        }),
        _ => reader.skip(),
    });
    read.ok().map(|()| ended)
}

/// An event with the lane that it belongs to.
fn in_lane(data: &str, lane: &str) -> String {
    let mut writer = Writer::default();
    writer.value(lane);
    let rest = data.strip_prefix('{').unwrap_or(data);
    let comma = if rest.trim_start().starts_with('}') { "" } else { "," };
    format!(r#"{{"stream_id":{}{comma}{rest}"#, writer.as_str())
}

/// An event whose response says what it went on from, where that was known to the socket alone.
fn restate_previous(data: &str, previous: &str) -> String {
    let mut writer = Writer::default();
    writer.value(previous);
    let restated = format!(r#""{PREVIOUS}":{}"#, writer.as_str());
    data.replacen(&format!(r#""{PREVIOUS}":null"#), &restated, 1)
}

/// The frame of an error, with the body that a POST would have got.
fn refuse(status: u16, body: &str, lane: Option<&str>) -> String {
    let mut error = None;
    let _ = Reader::new(body).object(|name, reader| match &*name {
        "error" => {
            error = Some(reader.raw()?);
            Ok(())
        }
        _ => reader.skip(),
    });
    // An event of a stream is the error itself.
    let error = error.unwrap_or_else(|| Json::parse(body).unwrap_or(Json::literal("{}")));
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("type", "error");
        it.field("status", &u64::from(status));
        it.field("error", &error);
        it.optional("stream_id", lane);
    });
    writer.into_string()
}

fn steering_refused(input: Option<&Json<'_>>, lane: Option<&str>) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("type", "response.steer.failed");
        it.key("error");
        it.object(|it| {
            it.field("code", "steering_not_supported");
            it.field(
                "message",
                "This gateway does not steer responses: send the input with the next one.",
            );
        });
        it.key("steer");
        it.object(|it| it.optional("input", input));
        it.optional("stream_id", lane);
    });
    writer.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn create(message: &str) -> Create {
        match read(message) {
            Ok(SocketMessage::Create(create)) => create,
            _ => panic!("{message}"),
        }
    }

    #[test]
    fn a_message_becomes_the_body_of_a_post() {
        let message = r#"{"type":"response.create","stream_id":"a","model":"m","generate":false,"previous_response_id":"resp_1","input":[{"b":1.0}],"store":false}"#;
        let create = create(message);
        assert_eq!(create.lane.as_deref(), Some("a"));
        assert_eq!(create.previous.as_deref(), Some("resp_1"));
        assert!(!create.is_generated);
        assert_eq!(
            body(&create, None, r#"{"a":1}"#),
            r#"{"model":"m","store":false,"stream":true,"input":[{"a":1},{"b":1.0}]}"#
        );
        assert_eq!(
            body(&create, Some("resp_1"), ""),
            r#"{"model":"m","store":false,"stream":true,"previous_response_id":"resp_1","input":[{"b":1.0}]}"#
        );
    }

    #[test]
    fn text_is_an_element_where_others_stand_before_it() {
        let create = create(r#"{"type":"response.create","input":"hi"}"#);
        assert_eq!(body(&create, None, ""), r#"{"stream":true,"input":"hi"}"#);
        let whole =
            r#"{"stream":true,"input":[{},{"type":"message","role":"user","content":"hi"}]}"#;
        assert_eq!(body(&create, None, "{}"), whole);
    }

    #[test]
    fn an_input_that_is_null_is_none() {
        let create = create(r#"{"type":"response.create","input":null}"#);
        assert_eq!(body(&create, None, ""), r#"{"stream":true}"#);
        assert_eq!(body(&create, None, "{}"), r#"{"stream":true,"input":[{}]}"#);
    }

    #[test]
    fn what_is_no_message_is_refused_in_its_lane() {
        for wrong in ["", "[]", "{", r#"{"type":"x"}"#, "{}", r#"{"type":"response.create"} {}"#] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
        let refusal = read(r#"{"stream_id":"a","type":"x"}"#).err().unwrap();
        assert_eq!(refusal.lane.as_deref(), Some("a"));
        assert!(read(r#"{"type":"response.create","background":true}"#).is_err());
    }

    #[test]
    fn what_is_for_the_socket_is_of_its_kind_or_null() {
        for (member, value) in
            [("previous_response_id", "5"), ("generate", r#""no""#), ("stream_id", "[]")]
        {
            let message = |value| format!(r#"{{"type":"response.create","{member}":{value}}}"#);
            let refusal = read(&message(value)).err().unwrap();
            assert_eq!(refusal.param, Some(member));
            assert!(create(&message("null")).is_generated);
        }
    }

    #[test]
    fn the_last_event_says_what_the_next_turn_goes_on_from() {
        let data = r#"{"type":"response.completed","response":{"id":"r","store":false,"output":[ {"a":1},{"b":2} ]}}"#;
        let ended = ended(data).unwrap();
        assert_eq!((&*ended.id, &*ended.elements), ("r", r#"{"a":1},{"b":2}"#));
        assert!(!ended.is_stored && !ended.is_failed);
        assert!(super::ended(r#"{"type":"response.failed","response":{}}"#).unwrap().is_failed);
        let kind = |event: &str| super::kind(event.as_bytes()).0;
        assert_eq!(kind(data), EventKind::End);
        for spelled in [
            r#"{"type":"response.created","response":{}}"#,
            r#"{ "type" : "response.created" }"#,
            r#"{"response":{"type":"error"},"type":"response.created"}"#,
            r#"{"type":"response\u002ecreated"}"#,
        ] {
            assert_eq!(kind(spelled), EventKind::Whole, "{spelled}");
        }
        assert_eq!(kind(r#"{"type":"error"}"#), EventKind::Fault);
        let delta = r#"{"type":"response.output_text.delta"}"#;
        assert_eq!(super::kind(delta.as_bytes()), (EventKind::Piece, delta.len() - 1));
    }

    #[test]
    fn frames_name_their_lane_and_their_error() {
        assert_eq!(in_lane(r#"{"type":"x"}"#, "a\"b"), r#"{"stream_id":"a\"b","type":"x"}"#);
        assert_eq!(in_lane("{ }", "a"), r#"{"stream_id":"a" }"#);
        let frame = refuse(400, r#"{"error":{"code":"c"}}"#, Some("a"));
        assert_eq!(frame, r#"{"type":"error","status":400,"error":{"code":"c"},"stream_id":"a"}"#);
    }
}
