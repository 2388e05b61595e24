//! Calls that come in pieces, however odd: histories, whole answers and streams make the same calls of them, and keep the laws.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use proptest::sample::select;
use proptest::test_runner::{TestCaseError, TestRunner};
use sabir_testkit::laws::Law;
use sabir_testkit::sample::{Kind, Sample};
use sabir_testkit::{laws, translate};
use sabir_wire::conversation::{Arguments, Content, Finish, FinishKind, Message};
use sabir_wire::protocol::Event;
use sabir_wire::{FaultKind, Protocol};
use serde_json::{Value, json};

use crate::config;
use crate::fixtures::described;

const GEMINI: Protocol = Protocol::Gemini;

#[test]
fn pieces_make_the_same_calls_wherever_they_stand() {
    let answers = (vec(part(), 1..7), reason());
    let outcome = TestRunner::new(config()).run(&answers, |(parts, reason)| check(&parts, reason));
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// A few bytes of a path make many values: there is an end to them.
#[test]
fn calls_of_too_many_values_are_no_calls() {
    for (paths, are_too_many) in [(200, false), (300, true)] {
        let path = |number| format!("$.k{number}{}", ".a".repeat(60));
        let piece = |number| json!({"jsonPath": path(number), "numberValue": 1});
        let pieces: Vec<Value> = (0..paths).map(piece).collect();
        let call = |call: Value| json!({"functionCall": call});
        let begun = call(json!({"name": "f", "partialArgs": pieces, "willContinue": true}));
        let parts = [begun, call(json!({}))];
        check(&parts, "STOP").unwrap_or_else(|failure| panic!("{failure}"));
        let answer = answer(&parts, "STOP").to_string();
        let decoded = GEMINI.decode_response(answer.as_bytes()).unwrap();
        let calls = calls(&decoded.candidates[0].message);
        assert_eq!(calls.is_empty(), are_too_many, "{paths} paths");
    }
}

fn check(parts: &[Value], reason: &str) -> Result<(), TestCaseError> {
    let answer = answer(parts, reason).to_string();
    let whole = GEMINI.decode_response(answer.as_bytes()).map_err(fail)?;
    let Some(candidate) = whole.candidates.first() else { return Err(fail("no candidate")) };
    let kind = |finish: &Option<Finish<'_>>| finish.as_ref().map(|finish| finish.kind);
    let (calls, end) = (calls(&candidate.message), kind(&candidate.finish));
    // An end that says itself that the answer broke off is an end all the same.
    let lacks_pieces = reason == "STOP" && end == Some(FinishKind::Length);
    let stream = stream(parts, reason);
    let streamed = translate::fold(GEMINI, &stream);
    let streamed_calls: Vec<String> =
        streamed.candidates.iter().flat_map(|it| self::calls(&it.message)).collect();
    same("streamed", &calls, &streamed_calls)?;
    same("complete", &lacks_pieces, &is_truncated(&stream))?;
    if !lacks_pieces {
        let streamed_end = streamed.candidates.first().and_then(|it| kind(&it.finish));
        same("ended", &end, &streamed_end)?;
    }
    let request = json!({"contents": [{"role": "model", "parts": parts}]}).to_string();
    let decoded = GEMINI.decode_request(request.as_bytes()).map_err(fail)?;
    same("in a history", &calls, &self::calls(&decoded.request().messages[0]))?;
    keeps_laws(Kind::Request, request.clone().into_bytes(), false)?;
    keeps_laws(Kind::Response, answer.into_bytes(), false)?;
    keeps_laws(Kind::Stream, stream, lacks_pieces)
}

fn keeps_laws(kind: Kind, body: Vec<u8>, is_cut: bool) -> Result<(), TestCaseError> {
    let (name, protocol) = (format!("a {} in pieces", kind.name()), GEMINI);
    let sample = Sample { name, protocol, kind, body, model: None, is_cut, was_refused: false };
    // A client that asks for pieces adds them up, and answers each call once: it sends no pieces back.
    match laws::check(&sample).iter().find(|it| it.law != Law::Replay) {
        Some(broken) => Err(fail(described(&sample.name, broken))),
        None => Ok(()),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(
    what: &str,
    whole: &T,
    other: &T,
) -> Result<(), TestCaseError> {
    match whole == other {
        true => Ok(()),
        false => Err(fail(format!("{what}: {whole:?} in the whole answer, {other:?} here"))),
    }
}

fn fail(reason: impl ToString) -> TestCaseError {
    TestCaseError::fail(reason.to_string())
}

fn calls(message: &Message<'_>) -> Vec<String> {
    let calls = message.parts.iter().filter_map(|part| match part.content() {
        Content::ToolCall(call) => Some(call),
        _ => None,
    });
    calls
        .map(|call| {
            let arguments = match &call.arguments {
                Arguments::Json(json) => json.compact().into_owned(),
                Arguments::Text(text) => text.to_str().into_owned(),
            };
            format!(
                "{:?} {} {arguments}",
                call.id.as_ref().map(|id| id.to_str()),
                call.name.to_str()
            )
        })
        .collect()
}

fn is_truncated(stream: &[u8]) -> bool {
    let mut is_truncated = false;
    translate::decode_stream(GEMINI, [stream], &mut |event| {
        if let Event::Fault(fault) = &event {
            is_truncated |= fault.kind == FaultKind::Truncated;
        }
    });
    is_truncated
}

fn answer(parts: &[Value], reason: &str) -> Value {
    let content = json!({"role": "model", "parts": parts});
    json!({"candidates": [{"content": content, "finishReason": reason, "index": 0}]})
}

/// Each part in a frame of its own.
fn stream(parts: &[Value], reason: &str) -> Vec<u8> {
    let frame = |(index, part): (usize, &Value)| {
        let mut chunk = answer(std::slice::from_ref(part), reason);
        if index + 1 < parts.len()
            && let Some(candidate) = chunk["candidates"][0].as_object_mut()
        {
            candidate.remove("finishReason");
        }
        format!("data: {chunk}\n\n")
    };
    parts.iter().enumerate().map(frame).collect::<String>().into_bytes()
}

fn reason() -> BoxedStrategy<&'static str> {
    prop_oneof![3 => Just("STOP"), 2 => select(&["MAX_TOKENS", "SAFETY", "MALFORMED_FUNCTION_CALL"])]
        .boxed()
}

fn part() -> BoxedStrategy<Value> {
    prop_oneof![1 => Just(json!({"text": "One moment."})), 6 => call()].boxed()
}

fn call() -> BoxedStrategy<Value> {
    let pieces = prop_oneof![
        4 => vec(piece(), 0..3).prop_map(Value::Array),
        1 => piece(),
        1 => Just(Value::Null),
        1 => Just(json!(5)),
    ];
    let arguments = [json!({"a": "x"}), json!({"n": {"m": [1]}}), json!({}), json!([1])];
    let members = (
        option::of(select(&["f", "f", "g", ""])),
        option::of(select(&["c1", "c1", "c1", "c2", "c2", ""])),
        option::weighted(0.2, select(arguments.to_vec())),
        option::weighted(0.6, pieces),
        option::weighted(0.7, flag()),
        option::weighted(0.1, select(&["c2ln", "c2Vh"])),
    );
    let call = members.prop_map(|(name, id, arguments, pieces, more, signature)| {
        let mut call = serde_json::Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            call.extend(value.map(|value| (key.to_owned(), value)));
        };
        set("name", name.map(Value::from));
        set("id", id.map(Value::from));
        set("args", arguments);
        set("partialArgs", pieces);
        set("willContinue", more);
        let mut part = json!({"functionCall": call});
        if let Some(signature) = signature {
            part["thoughtSignature"] = json!(signature);
        }
        part
    });
    call.boxed()
}

/// Whether more follows, mostly in a word that can be read.
fn flag() -> BoxedStrategy<Value> {
    let odd = select([json!("true"), json!("false"), json!("maybe"), json!(1)].to_vec());
    prop_oneof![12 => Just(json!(true)), 3 => Just(json!(false)), 1 => odd].boxed()
}

fn piece() -> BoxedStrategy<Value> {
    static PATHS: [&str; 11] =
        ["$.a", "$.a", "$.b", "$.n.m[0]", "$.n.m[1]", "$['b']", "$", "$.l[7]", "a", "$.*", "$.a-b"];
    let values = [
        json!({"stringValue": "s"}),
        json!({"stringValue": "s"}),
        json!({"stringValue": "t", "willContinue": true}),
        json!({}),
        json!({"numberValue": 6}),
        json!({"numberValue": 7}),
        json!({"numberValue": "12"}),
        json!({"boolValue": true}),
        json!({"boolValue": "maybe"}),
        json!({"nullValue": "NULL_VALUE"}),
        json!({"nullValue": 5}),
        json!({"willContinue": true}),
        json!({"willContinue": false}),
    ];
    // Most paths and values are right, or hardly any call would be complete.
    let paths = prop_oneof![12 => select(&PATHS[..6]), 1 => select(&PATHS[6..])];
    let values = prop_oneof![12 => select(values[..7].to_vec()), 1 => select(values[7..].to_vec())];
    (paths, values)
        .prop_map(|(path, mut piece)| {
            piece["jsonPath"] = json!(path);
            piece
        })
        .boxed()
}
