//! Translating as a user would: text of one protocol in, text of another and the report out.

use sabir_wire::conversation::Response;
use sabir_wire::protocol::{AnswerContext, Event, Fold, StreamDecoder, StreamEncoder};
use sabir_wire::target::{Family, ModelPlace, Target};
use sabir_wire::{Error, Fault, FaultKind, Protocol, Report, sse};

/// Translates a request for `model`, or for the model that it names itself. Gemini's model is written into the body.
pub fn request(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    model: Option<&str>,
) -> Result<(String, Report), Error> {
    request_placing(ModelPlace::Body, (from, to), body, model)
}

/// Encodes a request anew in its own protocol, as after an edit.
pub fn request_anew(protocol: Protocol, body: &[u8]) -> Result<(String, Report), Error> {
    let mut decoded = protocol.decode_request(body)?;
    let _ = decoded.edit();
    let target = match &decoded.request().model {
        Some(model) => Target::for_model(&model.to_str()),
        None => Target::default(),
    };
    let encoded = decoded.encode(protocol, &target.with_gemini_model(ModelPlace::Body))?;
    Ok((encoded.body, encoded.report))
}

/// Translates a request and leaves Gemini's model to the URL, as a real call does.
pub fn request_as_sent(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    model: Option<&str>,
) -> Result<(String, Report), Error> {
    request_placing(ModelPlace::Url, (from, to), body, model)
}

/// Translates a request for a model that accepts everything, also what a model of which nothing is known is not sent, and
/// demands nothing, so that nothing is made up for it.
pub fn request_for_any(
    from: Protocol,
    to: Protocol,
    body: &[u8],
) -> Result<(String, Report), Error> {
    let decoded = from.decode_request(body)?;
    let family =
        Family { system_among_turns: true, needs_thought_signature: false, ..Family::UNKNOWN };
    let target = Target::default().with_family(family).with_gemini_model(ModelPlace::Body);
    let encoded = decoded.encode(to, &target)?;
    Ok((encoded.body, encoded.report))
}

fn request_placing(
    place: ModelPlace,
    (from, to): (Protocol, Protocol),
    body: &[u8],
    model: Option<&str>,
) -> Result<(String, Report), Error> {
    let mut decoded = from.decode_request(body)?;
    if let Some(model) = model {
        decoded.edit().model = Some(model.to_owned().into());
    }
    let target = match &decoded.request().model {
        Some(model) => Target::for_model(&model.to_str()),
        None => Target::default(),
    };
    let encoded = decoded.encode(to, &target.with_gemini_model(place))?;
    Ok((encoded.body, encoded.report))
}

/// What every answer here is translated by: at a time that no sample states, so that a made-up time shows.
fn context() -> AnswerContext<'static> {
    AnswerContext { created_s: 1, ..AnswerContext::default() }
}

/// Translates a whole answer.
pub fn response(from: Protocol, to: Protocol, body: &[u8]) -> Result<(String, Report), Error> {
    let response = from.decode_response(body)?;
    let encoded = to.encode_response(&response, from, &context());
    Ok((encoded.body, encoded.report))
}

/// Translates a stream.
pub fn stream(from: Protocol, to: Protocol, bytes: &[u8]) -> (String, Report) {
    let mut out = String::new();
    let mut encoder = Some(StreamEncoder::new(to, from, context()));
    decode_stream(from, [bytes], &mut |event| {
        encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
    });
    let report = encoder.map(|encoder| encoder.end(&mut out)).unwrap_or_default();
    (out, report)
}

/// Reads a stream that arrives in chunks. What cannot be read ends it like a cut, with a fault that says why.
pub fn decode_stream<'c>(
    protocol: Protocol,
    chunks: impl IntoIterator<Item = &'c [u8]>,
    emit: &mut dyn FnMut(Event<'_>),
) {
    let mut decoder = Some(StreamDecoder::new(protocol));
    let mut has_failed = false;
    // Nothing follows a failure, even where the frame that states it cannot be read to its end.
    let mut emit = |event: Event<'_>| {
        let is_wanted = !has_failed;
        has_failed |= matches!(event, Event::Fault(_));
        if is_wanted {
            emit(event);
        }
    };
    let read = read_frames(chunks, &mut |frame| {
        if let Some(current) = decoder.take() {
            decoder = Some(current.step(&frame, &mut |event| emit(event))?);
        }
        Ok(())
    });
    match (read, decoder) {
        (Err(error), _) => {
            let message = format!("the stream cannot be read: {error}");
            emit(Event::Fault(Fault::new(FaultKind::Truncated, message)));
        }
        (Ok(()), Some(decoder)) => decoder.end(&mut |event| emit(event)),
        (Ok(()), None) => {}
    }
}

/// The data of each frame of a stream, up to the first that cannot be read.
pub fn frames(bytes: &[u8]) -> Vec<String> {
    named_frames(bytes).into_iter().map(|(_, data)| data).collect()
}

/// The same with the name of each frame.
pub fn named_frames(bytes: &[u8]) -> Vec<(Option<String>, String)> {
    let mut frames = Vec::new();
    // A stream that cannot be read to its end is another law's concern.
    let _ = read_frames([bytes], &mut |frame| {
        frames.push((frame.event.map(str::to_owned), frame.data.to_owned()));
        Ok(())
    });
    frames
}

fn read_frames<'c>(
    chunks: impl IntoIterator<Item = &'c [u8]>,
    step: &mut dyn FnMut(sse::Frame<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut parser = sse::Parser::default();
    for chunk in chunks {
        parser.push(chunk, step)?;
    }
    parser.end(step)
}

/// The whole answer that a stream stands for.
pub fn fold(protocol: Protocol, bytes: &[u8]) -> Response<'static> {
    let mut fold = Fold::default();
    decode_stream(protocol, [bytes], &mut |event| fold.step(event));
    fold.finish()
}

#[cfg(test)]
mod tests {
    use sabir_wire::conversation::Content;
    use sabir_wire::protocol::Opening;

    use super::*;

    #[test]
    fn a_failure_whose_frame_cannot_be_read_to_its_end_is_told_once() {
        let frames = [
            (Protocol::OpenaiChat, r#"data: {"error":{"message":"Full.","code":"x"}}rest"#),
            (Protocol::Gemini, r#"data: {"error":{"code":429,"message":"Full."}}rest"#),
        ];
        for (protocol, frame) in frames {
            let mut faults = 0;
            decode_stream(protocol, [format!("{frame}\n\n").as_bytes()], &mut |event| {
                faults += usize::from(matches!(event, Event::Fault(_)));
            });
            assert_eq!(faults, 1, "{protocol:?}");
        }
    }

    #[test]
    fn a_call_in_pieces_that_fit_nowhere_is_emitted_as_none() {
        let piece = |piece: &str| {
            format!(
                r#"data: {{"candidates":[{{"content":{{"role":"model","parts":[{{"functionCall":{piece}}}]}},"index":0}}]}}"#
            ) + "\n\n"
        };
        let stream = [
            piece(r#"{"name":"tides","id":"c1","willContinue":true}"#),
            piece(
                r#"{"partialArgs":[{"jsonPath":"$.days[7]","numberValue":6}],"willContinue":true}"#,
            ),
            piece("{}"),
        ];
        let is_piece = |opening: &Opening<'_>| match opening {
            Opening::Whole(Content::Opaque(opaque)) => opaque.is_broken_call(),
            _ => false,
        };
        let mut opened = Vec::new();
        decode_stream(Protocol::Gemini, [stream.concat().as_bytes()], &mut |event| {
            if let Event::Open(open) = &event {
                opened.push(is_piece(&open.opening));
            }
        });
        assert_eq!(opened, [true; 3]);
    }
}
