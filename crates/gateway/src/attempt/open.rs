//! One try: the request is sent, and the beginning of its answer read far enough to know that it is one.

use std::borrow::Cow;
use std::cell::RefCell;
use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::HeaderValue;
use http::Method;
use http::Response;
use http::header::CONTENT_ENCODING;
use http::header::CONTENT_TYPE;
use sabir_backend::http::Afterwards;
use sabir_backend::http::Outgoing;
use sabir_backend::http::Timeouts;
use sabir_backend::sim::Incoming;
use sabir_backend::sim::ReplyBody;
use sabir_backend::sim::Simulator;
use sabir_wire::FaultKind;
use sabir_wire::protocol::Asked;
use sabir_wire::protocol::Exchange;

use crate::Gateway;
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
use crate::attempt::whole;
use crate::attempt::whole::Answered;
use crate::attempt::whole::Form;
use crate::attempt::whole::failed_at_first;
use crate::call::Call;
use crate::egress::Along;
use crate::egress::Frames;
use crate::egress::Translation;
use crate::egress::is_event_stream;
use crate::failure::Failure;
use crate::failure::Refusal;
use crate::failure::Result;
use crate::ingress;
use crate::observe::Trace;
use crate::observe::Whose;
use crate::pool::LARGE_BYTES;
use crate::route::Candidate;
use crate::route::Resolved;
use crate::surface;

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

    async fn prepare<'a>(
        &'a self,
        means: Means<'a>,
        candidate: &Candidate,
        trace: &mut Trace,
    ) -> Result<Prepared<'a>> {
        if let Some(large) = self.call.large {
            let call = (self.call, large);
            return Box::pin(prepare::prepare_large(means.gateway, call, candidate, trace)).await;
        }
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
        let body =
            whole_body(means.gateway, &mut feed, &headers, bytes_max).await.unwrap_or_default();
        return Err(refusal(Refusal { protocol, status, headers, body }));
    }
    if call.delivery.is_stream() {
        name_events(&mut headers, &mut feed).await?;
    }
    let is_stream =
        is_event_stream(&headers) || protocol.facts().streams_lists && call.delivery.is_stream();
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
            let body = whole_body(means.gateway, &mut feed, &headers, bytes_max).await?;
            let form = match call.delivery.is_stream() {
                // Nobody who waits for events would find one in it.
                true => Form::Whole(Cow::Owned(whole::asked_by(means.gateway, call).await?)),
                false => Form::own(&headers),
            };
            let answered = Answered { recipient: call.recipient(), protocol, headers, body };
            whole::open(means.gateway, answered, form, trace).await
        }
        (Manner::Translated(asked), true) if call.delivery.is_stream() => {
            let frames = Some(Frames::of(&headers, frame_bytes_max));
            let asked = Asked::clone(asked);
            let translation = Translation::new(call.recipient(), protocol, asked, frames);
            translated(Box::new(translation), headers, feed).await
        }
        (Manner::Translated(asked), is_stream) => {
            let body = whole_body(means.gateway, &mut feed, &headers, bytes_max).await?;
            let asked = Cow::Borrowed(&**asked);
            let form = if is_stream { Form::Events(asked) } else { Form::Whole(asked) };
            let answered = Answered { recipient: call.recipient(), protocol, headers, body };
            whole::open(means.gateway, answered, form, trace).await
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
            let key = means.gateway.config.providers[provider].key.as_ref();
            let headers = &surface::of(endpoint.protocol).auth.signed(key, &outgoing);
            let outgoing = Outgoing { headers, ..outgoing };
            let answer = means.client.send(&outgoing, timeouts).await.map_err(unreached)?;
            let body = AnswerBody::Http(answer.body);
            Ok(Answer { status: answer.status.as_u16(), headers: answer.headers, body })
        }
        End::Simulator(simulator) => {
            let reply = Box::pin(simulated(means.gateway, simulator, request)).await?;
            let (head, body) = reply.into_parts();
            let body = AnswerBody::Simulated(Box::new(body));
            Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
        }
    }
}

/// What a simulator answers. It reads like a provider, and large bodies like one: elsewhere.
async fn simulated(
    gateway: &Gateway,
    simulator: &Arc<Simulator>,
    request: RawRequest<'_>,
) -> Result<Response<ReplyBody>> {
    let RawRequest { method, path, headers, body, afterwards: _ } = request;
    let body = body.whole();
    if body.len() < LARGE_BYTES {
        let incoming = Incoming { method, path, headers, body: &body };
        return Ok(simulator.answer(incoming).into_response());
    }
    let (simulator, body) = (Arc::clone(simulator), body.into_owned());
    let (method, path, headers) = (method.clone(), path.to_owned(), headers.clone());
    let work = gateway.pool.run(move |_| {
        let incoming = Incoming { method: &method, path: &path, headers: &headers, body: &body };
        Ok(simulator.answer(incoming).into_response())
    });
    work.await
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
    gateway: &Arc<Gateway>,
    feed: &mut Feed,
    headers: &HeaderMap,
    bytes_max: usize,
) -> Result<Bytes> {
    let body = collect(feed, bytes_max).await?;
    if !is_packed(headers) {
        return Ok(body);
    }
    let unpacking = ingress::unpack(gateway, body.into(), headers, bytes_max);
    let unpacked = Box::pin(unpacking).await;
    unpacked.map(|(body, _)| feed.redactor().redact_body(body).into()).map_err(|_| unreadable())
}

pub(crate) fn is_packed(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().any(|coding| coding != "identity")
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

/// An answer that this gateway may not hold. Asking again would only cost another one.
fn too_large(bytes_max: usize) -> Box<Failure> {
    let message = format!(
        "the provider's answer is larger than {bytes_max} bytes; raise `max_answer_size` in [limits]"
    );
    Failure::new(Whose::Gateway, FaultKind::Internal, message).with_status(502)
}

pub(super) fn unreadable() -> Box<Failure> {
    let message = "the provider's answer cannot be read";
    Failure::new(Whose::Upstream, FaultKind::Internal, message).with_status(502)
}
