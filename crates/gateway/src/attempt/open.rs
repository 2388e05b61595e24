//! One try: the request is sent, and the beginning of its answer read far enough to know that it is one.

use std::cell::RefCell;
use std::future::poll_fn;

use bytes::Bytes;
use http::HeaderMap;
use http::HeaderValue;
use http::Method;
use http::header::CONTENT_ENCODING;
use http::header::CONTENT_LENGTH;
use http::header::CONTENT_TYPE;
use http::header::TRANSFER_ENCODING;
use sabir_backend::http::Afterwards;
use sabir_backend::http::Outgoing;
use sabir_backend::http::Timeouts;
use sabir_backend::sim::Incoming;
use sabir_wire::Fault;
use sabir_wire::FaultKind;
use sabir_wire::Protocol;
use sabir_wire::conversation::Response;
use sabir_wire::json::Json;
use sabir_wire::protocol::Asked;
use sabir_wire::protocol::Exchange;
use sabir_wire::protocol::Fold;
use sabir_wire::protocol::unfold;
use sabir_wire::target::Target;
use sabir_wire::utf8;

use crate::attempt::AnswerBody;
use crate::attempt::Feed;
use crate::attempt::Means;
use crate::attempt::Payload;
use crate::attempt::Prepared;
use crate::attempt::ask;
use crate::attempt::ask::Bearing;
use crate::attempt::ask::Question;
use crate::attempt::prepare;
use crate::attempt::prepare::Manner;
use crate::attempt::refusal::refusal;
use crate::attempt::unreached::unreached;
use crate::attempt::upstream::End;
use crate::attempt::upstream::Endpoint;
use crate::call::Call;
use crate::egress::Along;
use crate::egress::Frames;
use crate::egress::Translation;
use crate::egress::is_event_stream;
use crate::egress::states_error;
use crate::failure::Failure;
use crate::failure::Refusal;
use crate::failure::Result;
use crate::ingress;
use crate::observe::Trace;
use crate::observe::Whose;
use crate::route::Candidate;
use crate::route::Resolved;

/// An answer that has begun.
#[derive(Debug)]
pub(crate) enum Opened {
    Whole(Whole),
    /// The client's own protocol, event by event.
    Through {
        headers: HeaderMap,
        first: Bytes,
        along: Box<Along>,
        feed: Box<Feed>,
    },
    Translated {
        headers: HeaderMap,
        translation: Box<Translation>,
        feed: Option<Box<Feed>>,
    },
}

/// A whole answer in the client's protocol.
#[derive(Debug)]
pub(crate) struct Whole {
    /// The provider's own headers.
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What a provider answers, before its body is read.
struct Answer {
    status: u16,
    headers: HeaderMap,
    body: AnswerBody,
}

/// Asks the targets for an answer.
pub(crate) async fn answer<'c>(
    means: Means<'_>,
    call: &'c Call<'c>,
    decoded: Option<Box<Exchange<'c>>>,
    resolved: &Resolved,
    trace: &mut Trace,
) -> Result<Opened> {
    let generation = Generation { call, decoded: RefCell::new(decoded) };
    ask::ask(means, &generation, resolved, trace).await
}

struct Generation<'c> {
    call: &'c Call<'c>,
    /// The body taken apart, for the target that is asked first.
    decoded: RefCell<Option<Box<Exchange<'c>>>>,
}

impl Question for Generation<'_> {
    type Answer = Opened;

    const BEARING: Bearing = Bearing::Answer;

    fn prepare<'a>(
        &'a self,
        means: Means<'a>,
        candidate: &Candidate,
        trace: &mut Trace,
    ) -> Result<Prepared<'a>> {
        prepare::prepare(means.gateway, self.call, self.decoded.take(), candidate, trace)
    }

    async fn open(
        &self,
        means: Means<'_>,
        provider: usize,
        prepared: &Prepared<'_>,
        trace: &mut Trace,
    ) -> Result<Opened> {
        open(means, self.call, provider, prepared, trace).await
    }
}

async fn open(
    means: Means<'_>,
    call: &Call<'_>,
    provider: usize,
    prepared: &Prepared<'_>,
    trace: &mut Trace,
) -> Result<Opened> {
    let bytes_max = means.gateway.config.limits.answer_bytes_max;
    let frame_bytes_max = means.gateway.config.limits.frame_bytes_max;
    let protocol = prepared.endpoint.protocol;
    let (status, mut headers, mut feed) = begin(means, provider, prepared).await?;
    if !(200..300).contains(&status) {
        let body = whole_body(&mut feed, &headers, bytes_max).await.unwrap_or_default();
        return Err(refusal(Refusal { protocol, status, headers, body }));
    }
    if call.delivery.is_stream() {
        name_events(&mut headers, &mut feed).await?;
    }
    let is_stream =
        is_event_stream(&headers) || protocol == Protocol::Gemini && call.delivery.is_stream();
    if is_stream && call.delivery.is_stream() && is_packed(&headers) {
        return Err(packed());
    }
    match (&prepared.manner, is_stream) {
        (Manner::Through, true) => {
            let frames = Frames::of(&headers, frame_bytes_max);
            let along = Along::new(call.client, frames, frame_bytes_max);
            through(Box::new(along), headers, feed, frame_bytes_max).await
        }
        (Manner::Through, false) => {
            let body = whole_body(&mut feed, &headers, bytes_max).await?;
            match call.delivery.is_stream() {
                // Nobody who waits for events would find one in it.
                true => whole(call, protocol, &asked_by(call), headers, &body, trace),
                false => whole_through(protocol, headers, body, trace),
            }
        }
        (Manner::Translated(asked), true) if call.delivery.is_stream() => {
            let frames = Some(Frames::of(&headers, frame_bytes_max));
            let asked = Asked::clone(asked);
            let translation = Translation::new(call, protocol, asked, frames);
            translated(Box::new(translation), headers, feed).await
        }
        (Manner::Translated(asked), true) => {
            let body = whole_body(&mut feed, &headers, bytes_max).await?;
            folded(call, protocol, asked, headers, &body, trace)
        }
        (Manner::Translated(asked), false) => {
            let body = whole_body(&mut feed, &headers, bytes_max).await?;
            whole(call, protocol, asked, headers, &body, trace)
        }
    }
}

/// Some servers send events and call them something else, or nothing: then their first bytes name them.
async fn name_events(headers: &mut HeaderMap, feed: &mut Feed) -> Result<()> {
    if !is_event_stream(headers) && feed.begins_with_events().await.map_err(unreached)? {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    }
    Ok(())
}

/// A request in a provider's own terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawRequest<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Payload<'a>,
    /// What becomes of the connection.
    pub(crate) afterwards: Afterwards,
}

/// Sends a prepared request and reads the head of the answer.
pub(super) async fn begin(
    means: Means<'_>,
    provider: usize,
    prepared: &Prepared<'_>,
) -> Result<(u16, HeaderMap, Feed)> {
    let Prepared { endpoint, path, headers, body, .. } = prepared;
    let afterwards = Afterwards::Keep;
    let request = RawRequest { method: &Method::POST, path, headers, body, afterwards };
    begin_raw(means, provider, endpoint, request).await
}

/// Sends a request and reads the head of the answer. From here on nothing holds the provider's secrets.
pub(super) async fn begin_raw(
    means: Means<'_>,
    provider: usize,
    endpoint: &Endpoint,
    request: RawRequest<'_>,
) -> Result<(u16, HeaderMap, Feed)> {
    let config = &means.gateway.config;
    let mut answer = send(means, provider, endpoint, request).await?;
    let redactor = &means.gateway.upstreams[provider].redactor;
    redactor.redact_headers(&mut answer.headers);
    let idle_max = config.providers[provider].timeouts.idle;
    let feed =
        Feed::new(answer.body, redactor.clone(), idle_max, config.limits.stream_duration_max);
    Ok((answer.status, answer.headers, feed))
}

async fn send(
    means: Means<'_>,
    provider: usize,
    endpoint: &Endpoint,
    request: RawRequest<'_>,
) -> Result<Answer> {
    let RawRequest { method, path, headers, body, afterwards } = request;
    match &endpoint.end {
        End::Http(address) => {
            let timeouts = &means.gateway.config.providers[provider].timeouts;
            let timeouts = Timeouts { connect: timeouts.connect, first_byte: timeouts.first_byte };
            let body = &body.pieces();
            let outgoing = Outgoing { method, address, path, headers, body, afterwards };
            let answer = means.client.send(&outgoing, timeouts).await.map_err(unreached)?;
            let body = AnswerBody::Http(answer.body);
            Ok(Answer { status: answer.status.as_u16(), headers: answer.headers, body })
        }
        End::Simulator(simulator) => {
            let body = &body.whole();
            let incoming = Incoming { method, path, headers, body };
            let (head, body) = simulator.answer(incoming).into_response().into_parts();
            let body = AnswerBody::Simulated(Box::new(body));
            Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
        }
    }
}

/// Reads a whole body, within its limit.
pub(crate) async fn collect(feed: &mut Feed, bytes_max: usize) -> Result<Bytes> {
    let mut body = Vec::new();
    while let Some(read) =
        poll_fn(|cx| feed.poll_data(cx, &mut |data| body.extend_from_slice(data))).await
    {
        read.map_err(unreached)?;
        if body.len() > bytes_max {
            return Err(too_large(bytes_max));
        }
    }
    Ok(body.into())
}

/// A whole body without the compression that nobody asked for, under which nothing could be redacted before.
pub(crate) async fn whole_body(
    feed: &mut Feed,
    headers: &HeaderMap,
    bytes_max: usize,
) -> Result<Bytes> {
    let body = collect(feed, bytes_max).await?;
    if !is_packed(headers) {
        return Ok(body);
    }
    let unpacked = ingress::unpack(body.into(), headers, bytes_max).await;
    unpacked.map(|it| feed.redactor().redact_body(it).into()).map_err(|_| unreadable())
}

pub(crate) fn is_packed(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_ENCODING).is_some_and(|coding| coding != "identity")
}

fn packed() -> Box<Failure> {
    let message = "the provider's stream is compressed, although it was asked for a plain one";
    Failure::new(Whose::Upstream, FaultKind::Internal, message).with_status(502)
}

/// Waits for the first event of a stream that passes through: an error in its place, or anything else, is a failure.
async fn through(
    mut along: Box<Along>,
    headers: HeaderMap,
    mut feed: Feed,
    bytes_max: usize,
) -> Result<Opened> {
    let mut first = Vec::new();
    while !along.has_begun() && !along.is_broken() && first.len() <= bytes_max {
        let mut take = |data: &[u8]| along.push(data, &mut |data| first.extend_from_slice(data));
        match poll_fn(|cx| feed.poll_data(cx, &mut take)).await {
            Some(read) => read.map_err(unreached)?,
            None => {
                first.extend(along.end());
                break;
            }
        }
    }
    if let Some(fault) = along.fault() {
        return Err(failed_at_first(fault));
    }
    if !along.has_begun() && !along.is_complete() {
        return Err(unreadable());
    }
    Ok(Opened::Through { headers, first: first.into(), along, feed: Box::new(feed) })
}

/// Waits for the first event of a stream that is translated.
async fn translated(
    mut translation: Box<Translation>,
    headers: HeaderMap,
    mut feed: Feed,
) -> Result<Opened> {
    while !translation.has_begun() {
        match poll_fn(|cx| feed.poll_data(cx, &mut |data| translation.push(data))).await {
            None => {
                translation.end();
                break;
            }
            Some(Err(error)) => return Err(unreached(error)),
            Some(Ok(())) => {}
        }
    }
    if let Some(fault) = translation.fault_at_first() {
        return Err(failed_at_first(fault));
    }
    Ok(Opened::Translated { headers, translation, feed: Some(Box::new(feed)) })
}

/// A fault where the first event should be. What nobody could read is no word of the provider's: a bad gateway.
fn failed_at_first(fault: Fault<'static>) -> Box<Failure> {
    let whose = Whose::of_upstream(fault.kind);
    let status = (fault.kind == FaultKind::Truncated).then_some(502);
    Box::new(Failure { fault, whose, status, upstream: None, broken: None })
}

/// A whole answer in the client's own protocol.
fn whole_through(
    protocol: Protocol,
    headers: HeaderMap,
    body: Bytes,
    trace: &mut Trace,
) -> Result<Opened> {
    let text = utf8::text(&body).ok();
    let is_whole = match ends_with_connection(&headers) {
        true => text.is_some_and(|text| Json::parse(text).is_ok()),
        false => is_object(&body),
    };
    if !is_whole {
        return Err(unreadable());
    }
    if let Some(counts) = text.and_then(|text| protocol.counts_in(text)) {
        trace.counts(counts);
    }
    match text.and_then(|text| fault_in(protocol, text)) {
        Some(fault) => Err(failed_at_first(fault)),
        None => Ok(Opened::Whole(Whole { headers, body })),
    }
}

/// What a client asked of an answer in its own protocol.
fn asked_by(call: &Call<'_>) -> Asked<'static> {
    match call.client.decode_request_surveyed(&call.survey) {
        Ok(exchange) => Asked::by(&exchange, call.client, &Target::default()),
        Err(_) => Asked::default(),
    }
}

/// The error that a provider states under a status that says that all is well.
fn fault_in(protocol: Protocol, body: &str) -> Option<Fault<'static>> {
    let body = Some(body).filter(|body| states_error(body))?;
    match protocol {
        // Here an answer and an error have nothing in common.
        Protocol::AnthropicMessages => Some(protocol.decode_fault(None, body.as_bytes())),
        Protocol::OpenaiChat | Protocol::OpenaiResponses | Protocol::Gemini => {
            protocol.decode_response(body.as_bytes()).ok()?.fault.map(Fault::into_owned)
        }
    }
}

/// Enough of a body to see whether it is an error.
const BEGINNING_BYTES: usize = 64;

/// A whole answer, for a client that may have asked for a stream.
fn whole(
    call: &Call<'_>,
    protocol: Protocol,
    asked: &Asked<'static>,
    headers: HeaderMap,
    body: &[u8],
    trace: &mut Trace,
) -> Result<Opened> {
    if states_error(&String::from_utf8_lossy(&body[..body.len().min(BEGINNING_BYTES)]))
        && let Some(fault) = utf8::text(body).ok().and_then(|text| fault_in(protocol, text))
    {
        return Err(failed_at_first(fault));
    }
    let response = protocol.decode_response(body).map_err(|_| unreadable())?;
    if let Some(usage) = &response.usage {
        trace.uses(usage);
    }
    if let Some(fault) = response.fault {
        return Err(failed_at_first(fault.into_owned()));
    }
    if is_empty(&response) {
        return Err(unreadable());
    }
    if call.delivery.is_stream() {
        let mut translation = Box::new(Translation::new(call, protocol, asked.clone(), None));
        unfold(response, &mut |event| translation.event(event));
        translation.finish();
        return Ok(Opened::Translated { headers, translation, feed: None });
    }
    let encoded = call.client.encode_response(&response, protocol, asked);
    trace.loses(encoded.report);
    Ok(Opened::Whole(Whole { headers, body: encoded.body.into() }))
}

/// A stream, for a client that asked for a whole answer.
fn folded(
    call: &Call<'_>,
    protocol: Protocol,
    asked: &Asked<'static>,
    headers: HeaderMap,
    body: &[u8],
    trace: &mut Trace,
) -> Result<Opened> {
    let mut fold = Fold::default();
    crate::egress::decode_all(protocol, body, &mut |event| fold.step(event));
    let response = fold.finish();
    if let Some(usage) = &response.usage {
        trace.uses(usage);
    }
    if let Some(fault) = response.fault {
        return Err(failed_at_first(fault.into_owned()));
    }
    let encoded = call.client.encode_response(&response, protocol, asked);
    trace.loses(encoded.report);
    Ok(Opened::Whole(Whole { headers, body: encoded.body.into() }))
}

/// Whether an answer neither says anything nor ends.
fn is_empty(response: &Response<'_>) -> bool {
    response.candidates.iter().all(|it| it.finish.is_none() && it.message.parts.is_empty())
}

/// Whether nothing but the end of the connection says where the body ends: one that broke off looks the same.
fn ends_with_connection(headers: &HeaderMap) -> bool {
    !headers.contains_key(CONTENT_LENGTH) && !headers.contains_key(TRANSFER_ENCODING)
}

/// Whether a body is whole, as far as its two ends show: an answer is an object or, of Gemini, a list.
fn is_object(body: &[u8]) -> bool {
    let body = body.trim_ascii();
    matches!((body.first(), body.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')))
}

/// An answer that this gateway may not hold. Asking again would only cost another one.
fn too_large(bytes_max: usize) -> Box<Failure> {
    let message = format!(
        "the provider's answer is larger than {bytes_max} bytes; raise `max_answer_size` in [limits]"
    );
    Failure::new(Whose::Gateway, FaultKind::Internal, message).with_status(502)
}

fn unreadable() -> Box<Failure> {
    let message = "the provider's answer cannot be read";
    Failure::new(Whose::Upstream, FaultKind::Internal, message).with_status(502)
}
