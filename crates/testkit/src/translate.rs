//! Translating as a user would: text of one protocol in, text of another and the report out.

use sabir_wire::Error;
use sabir_wire::Protocol;
use sabir_wire::Report;
use sabir_wire::conversation::Response;
use sabir_wire::protocol::Asked;
use sabir_wire::protocol::Event;
use sabir_wire::protocol::Fold;
use sabir_wire::protocol::StreamDecoder;
use sabir_wire::protocol::StreamEncoder;
use sabir_wire::sse;
use sabir_wire::target::ModelPlace;
use sabir_wire::target::Target;

/// Translates a request for `model`, or for the model that it names itself.
pub fn request(
    from: Protocol,
    to: Protocol,
    body: &[u8],
    model: Option<&str>,
) -> Result<(String, Report), Error> {
    let mut exchange = from.decode_request(body)?;
    if let Some(model) = model {
        exchange.request.model = Some(model.to_owned().into());
    }
    let target = match &exchange.request.model {
        Some(model) => Target::for_model(&model.to_str()),
        None => Target::default(),
    };
    let encoded = exchange.encode(to, &target.with_gemini_model(ModelPlace::Body))?;
    Ok((encoded.body, encoded.report))
}

/// Translates a whole answer.
pub fn response(from: Protocol, to: Protocol, body: &[u8]) -> Result<(String, Report), Error> {
    let response = from.decode_response(body)?;
    let encoded = to.encode_response(&response, from, &Asked::default());
    Ok((encoded.body, encoded.report))
}

/// Translates a stream.
pub fn stream(from: Protocol, to: Protocol, bytes: &[u8]) -> Result<(String, Report), Error> {
    let mut out = String::new();
    let mut encoder = Some(StreamEncoder::new(to, from, Asked::default()));
    decode_stream(from, [bytes], &mut |event| {
        encoder = encoder.take().map(|encoder| encoder.step(event, &mut out));
    })?;
    let report = encoder.map(|encoder| encoder.end(&mut out)).unwrap_or_default();
    Ok((out, report))
}

/// Reads a stream that arrives in chunks.
pub fn decode_stream<'c>(
    protocol: Protocol,
    chunks: impl IntoIterator<Item = &'c [u8]>,
    emit: &mut dyn FnMut(Event<'_>),
) -> Result<(), Error> {
    let mut parser = sse::Parser::default();
    let mut decoder = Some(StreamDecoder::new(protocol));
    let mut step = |frame: sse::Frame<'_>| {
        if let Some(current) = decoder.take() {
            decoder = Some(current.step(&frame, &mut |event| emit(event))?);
        }
        Ok(())
    };
    for chunk in chunks {
        parser.push(chunk, &mut step)?;
    }
    parser.end(&mut step)?;
    if let Some(decoder) = decoder {
        decoder.end(&mut |event| emit(event));
    }
    Ok(())
}

/// The whole answer that a stream stands for.
pub fn fold(protocol: Protocol, bytes: &[u8]) -> Result<Response<'static>, Error> {
    let mut fold = Fold::default();
    decode_stream(protocol, [bytes], &mut |event| fold.step(event))?;
    Ok(fold.finish())
}
