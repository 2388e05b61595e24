//! Answers that are all there before anything of them is sent: passed on, translated, or taken apart into events. Large ones
//! are read on other threads.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_LENGTH;
use http::header::TRANSFER_ENCODING;
use sabir_wire::Fault;
use sabir_wire::FaultKind;
use sabir_wire::Loss;
use sabir_wire::Protocol;
use sabir_wire::conversation::Counts;
use sabir_wire::conversation::Response;
use sabir_wire::json::Json;
use sabir_wire::protocol::Asked;
use sabir_wire::protocol::Fold;
use sabir_wire::protocol::Watch;
use sabir_wire::protocol::unfold;
use sabir_wire::target::Target;
use sabir_wire::utf8;

use crate::Gateway;
use crate::attempt::Opened;
use crate::attempt::Whole;
use crate::attempt::open::unreadable;
use crate::call::Call;
use crate::call::Recipient;
use crate::egress::Translation;
use crate::failure::Failure;
use crate::failure::Result;
use crate::observe::Trace;
use crate::observe::Whose;
use crate::pool::LARGE_BYTES;

/// An answer as a provider gave it.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) recipient: Recipient,
    /// The provider's.
    pub(super) protocol: Protocol,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// What is to be done with an answer.
#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    /// It passes as it is, if it is whole.
    Own { is_proven: bool },
    /// It is translated.
    Whole(Cow<'a, Asked<'static>>),
    /// It came as a stream, for a client that asked for a whole answer.
    Events(Cow<'a, Asked<'static>>),
}

impl Form<'_> {
    /// An answer in the client's own protocol.
    pub(super) fn own(headers: &HeaderMap) -> Self {
        Self::Own { is_proven: !ends_with_connection(headers) }
    }

    fn into_owned(self) -> Form<'static> {
        match self {
            Self::Own { is_proven } => Form::Own { is_proven },
            Self::Whole(asked) => Form::Whole(Cow::Owned(asked.into_owned())),
            Self::Events(asked) => Form::Events(Cow::Owned(asked.into_owned())),
        }
    }
}

/// An answer as the client gets it.
enum Content {
    Body(Bytes),
    Events(Box<Translation>),
}

/// What is recorded of an answer, whatever came of it.
#[derive(Default)]
struct Tally {
    counts: Counts,
    losses: Vec<Loss>,
}

/// Makes the client's answer of the provider's.
pub(super) async fn open(
    gateway: &Gateway,
    answered: Answered,
    form: Form<'_>,
    trace: &mut Trace,
) -> Result<Opened> {
    let Answered { recipient, protocol, headers, body } = answered;
    let (content, tally) = if body.len() < LARGE_BYTES {
        read((recipient, protocol), &form, body)
    } else {
        let form = form.into_owned();
        let work = gateway.pool.run(move |_| Ok(read((recipient, protocol), &form, body)));
        Box::pin(work).await?
    };
    trace.counts(tally.counts);
    trace.loses_all(tally.losses);
    Ok(match content? {
        Content::Body(body) => Opened::Whole(Whole { headers, body }),
        Content::Events(translation) => Opened::Translated { headers, translation, feed: None },
    })
}

/// What a client asked of an answer in its own protocol.
pub(super) async fn asked_by(gateway: &Gateway, call: &Call<'_>) -> Result<Asked<'static>> {
    let asked = |call: &Call<'_>| match call.client.decode_request_surveyed(&call.survey) {
        Ok(exchange) => Asked::by(&exchange, call.client, &Target::default()),
        Err(_) => Asked::default(),
    };
    let Some(large) = call.large else { return Ok(asked(call)) };
    let large = Arc::clone(large);
    Box::pin(gateway.pool.run(move |_| Ok(asked(&large.lend())))).await
}

/// A fault where the first event should be. What nobody could read is no word of the provider's: a bad gateway.
pub(super) fn failed_at_first(fault: Fault<'static>) -> Box<Failure> {
    let whose = Whose::of_upstream(fault.kind);
    let status = (fault.kind == FaultKind::Truncated).then_some(502);
    Box::new(Failure { fault, whose, status, upstream: None, broken: None })
}

fn read(
    (recipient, protocol): (Recipient, Protocol),
    form: &Form<'_>,
    body: Bytes,
) -> (Result<Content>, Tally) {
    let mut tally = Tally::default();
    let content = match form {
        Form::Own { is_proven } => own(protocol, *is_proven, body, &mut tally),
        Form::Whole(asked) => whole((recipient, protocol), asked, &body, &mut tally),
        Form::Events(asked) => folded((recipient, protocol), asked, &body, &mut tally),
    };
    (content, tally)
}

/// A whole answer in the client's own protocol.
fn own(protocol: Protocol, is_proven: bool, body: Bytes, tally: &mut Tally) -> Result<Content> {
    let text = utf8::text(&body).ok();
    let is_whole = match is_proven {
        true => is_object(&body),
        false => text.is_some_and(|text| Json::parse(text).is_ok()),
    };
    if !is_whole {
        return Err(unreadable());
    }
    let mut watch = Watch::new(protocol);
    if let Some(text) = text {
        watch.whole(text);
    }
    tally.counts = watch.counts();
    match watch.take_fault() {
        Some(fault) => Err(failed_at_first(fault)),
        None => Ok(Content::Body(body)),
    }
}

/// A whole answer, for a client that may have asked for a stream.
fn whole(
    (recipient, protocol): (Recipient, Protocol),
    asked: &Asked<'static>,
    body: &[u8],
    tally: &mut Tally,
) -> Result<Content> {
    let response = protocol.decode_response(body).map_err(|_| unreadable())?;
    if let Some(usage) = &response.usage {
        tally.counts = usage.counts;
    }
    if let Some(fault) = response.fault {
        return Err(failed_at_first(fault.into_owned()));
    }
    if is_empty(&response) {
        return Err(unreadable());
    }
    if recipient.delivery.is_stream() {
        let mut translation = Box::new(Translation::new(recipient, protocol, asked.clone(), None));
        unfold(response, &mut |event| translation.event(event));
        translation.finish();
        return Ok(Content::Events(translation));
    }
    let encoded = recipient.client.encode_response(&response, protocol, asked);
    tally.losses = encoded.report.into_entries();
    Ok(Content::Body(encoded.body.into()))
}

/// A stream, for a client that asked for a whole answer.
fn folded(
    (recipient, protocol): (Recipient, Protocol),
    asked: &Asked<'static>,
    body: &[u8],
    tally: &mut Tally,
) -> Result<Content> {
    let mut fold = Fold::default();
    crate::egress::decode_all(protocol, body, &mut |event| fold.step(event));
    let response = fold.finish();
    if let Some(usage) = &response.usage {
        tally.counts = usage.counts;
    }
    if let Some(fault) = response.fault {
        return Err(failed_at_first(fault.into_owned()));
    }
    let encoded = recipient.client.encode_response(&response, protocol, asked);
    tally.losses = encoded.report.into_entries();
    Ok(Content::Body(encoded.body.into()))
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
