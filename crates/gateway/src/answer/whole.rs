//! Answers that are all there before anything of them is sent: passed on, translated, or taken apart into events. Large ones
//! are read on other threads.

use std::borrow::Cow;
use std::future::poll_fn;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue};
use sabir_compose::govern::Governor;
use sabir_wire::conversation::{Counts, Response};
use sabir_wire::json::Json;
use sabir_wire::protocol::{AnswerContext, ArtefactCollector, CallArtefacts, Fold, Watch, unfold};
use sabir_wire::{Protocol, utf8};

use crate::answer::form::Form;
use crate::answer::frames::Defect;
use crate::answer::governed::pass;
use crate::answer::output::Output;
use crate::answer::translation::Translation;
use crate::answer::{
    Answering, Ended, Feed, InFlight, Incoming, decode_all, failed_at_first, refused, unreadable,
};
use crate::call::Recipient;
use crate::failure::Result;
use crate::ingress;
use crate::observe::{Losses, Outcome};
use crate::pool::LARGE_BYTES;
use crate::state::Snapshot;
use crate::tap::Taps;
use crate::upstream::{Piece, unreached};

/// How an answer is read.
#[derive(Clone, Debug)]
pub(super) enum Reading<'a> {
    /// It passes as it is, if it is whole.
    Own { is_proven: bool },
    /// It is translated.
    Response(Cow<'a, AnswerContext<'static>>),
    /// It came as a stream, for a client that asked for a whole answer.
    Stream(Cow<'a, AnswerContext<'static>>),
}

impl Reading<'_> {
    /// An answer in the client's own protocol.
    pub(super) fn own(headers: &HeaderMap) -> Self {
        Self::Own { is_proven: !ends_with_connection(headers) }
    }

    fn into_owned(self) -> Reading<'static> {
        match self {
            Self::Own { is_proven } => Reading::Own { is_proven },
            Self::Response(context) => Reading::Response(Cow::Owned(context.into_owned())),
            Self::Stream(context) => Reading::Stream(Cow::Owned(context.into_owned())),
        }
    }
}

/// Who gets the answer, and in which protocol it came.
#[derive(Clone, Copy, Debug)]
struct Parties {
    recipient: Recipient,
    upstream: Protocol,
}

/// Says that nobody counted some of the tokens of an answer.
pub(crate) const ESTIMATE: HeaderName = HeaderName::from_static("sabir-estimate");

/// What is recorded of an answer, whatever came of it.
#[derive(Debug, Default)]
struct Tally {
    counts: Counts,
    losses: Losses,
    /// What the provider sealed with its calls.
    calls: Vec<CallArtefacts>,
    /// Whether the client is given counts that the provider did not state.
    is_estimate: bool,
    /// Whether every call of a translated answer came with an id.
    is_numbered: bool,
}

/// Makes the client's answer of the provider's.
pub(super) async fn open(
    snapshot: &Arc<Snapshot>,
    recipient: Recipient,
    (incoming, reading, mut governor): (Incoming, Reading<'_>, Option<Box<Governor>>),
    flight: &mut InFlight,
) -> Result<Answering> {
    let Incoming { protocol: upstream, mut head, mut feed } = incoming;
    let parties = Parties { recipient, upstream };
    let (form, tally) = match &reading {
        Reading::Stream(context) if feed.is_events() => {
            let mut tally = Tally::default();
            let response = fold(&mut feed, (&mut governor, &mut flight.taps)).await?;
            (governed((parties, context), response, (governor, &mut tally)), tally)
        }
        _ => {
            let bytes_max = snapshot.config().limits.answer_bytes_max;
            let body = feed.collect_unpacked(snapshot, &head.headers, bytes_max).await?;
            read(snapshot, parties, (reading, governor), body, flight).await?
        }
    };
    if tally.is_estimate {
        head.headers.insert(ESTIMATE, HeaderValue::from_static("true"));
    }
    flight.remember(tally.calls);
    flight.trace.add_usage(tally.counts);
    flight.trace.add_losses(tally.losses);
    let mut form = form?;
    if tally.is_numbered
        && let Form::Whole(Output::One(body)) = &form
    {
        flight.taps.written(body);
    }
    let losses = form.take_losses();
    let ended = Ended { outcome: Outcome::Answered, fault: None, counts: tally.counts, losses };
    Ok(Answering::ended(head, form, ended))
}

/// Reads events to their end. An answer that merely stops has failed.
async fn fold(
    feed: &mut Feed,
    (governor, taps): (&mut Option<Box<Governor>>, &mut Taps),
) -> Result<Response<'static>> {
    let mut fold = Fold::default();
    let mut take = |piece: Piece<'_>| {
        if let Piece::Event(event) = piece {
            pass(event, (governor, taps), &mut |event| fold.step(event));
        }
    };
    while let Some(read) = poll_fn(|cx| feed.poll(cx, &mut take)).await {
        read.map_err(unreached)?;
    }
    let mut response = fold.finish();
    let has_finished = !response.candidates.is_empty()
        && response.candidates.iter().all(|candidate| candidate.finish.is_some());
    if !has_finished && response.fault.is_none() {
        response.fault = Some(Defect::CutShort.fault());
    }
    Ok(response)
}

async fn read(
    snapshot: &Snapshot,
    parties: Parties,
    (reading, governor): (Reading<'_>, Option<Box<Governor>>),
    body: Bytes,
    flight: &mut InFlight,
) -> Result<(Result<Form>, Tally)> {
    // Where somebody changes the events, they are what the others see.
    let is_changed = governor.is_some() || flight.taps.changes_events();
    if !matches!(reading, Reading::Stream(_)) && !is_changed {
        flight.body(&body);
    }
    if body.len() < LARGE_BYTES || flight.taps.changes_events() {
        return Ok(form_of(parties, (&reading, governor), body, &mut flight.taps));
    }
    let (reading, stand_ins) = (reading.into_owned(), flight.taps.stand_ins());
    let work =
        move |_: &_| Ok(form_of(parties, (&reading, governor), body, &mut stand_ins.into_taps()));
    Box::pin(snapshot.shared.pool.run(work)).await
}

fn form_of(
    parties: Parties,
    (reading, mut governor): (&Reading<'_>, Option<Box<Governor>>),
    body: Bytes,
    taps: &mut Taps,
) -> (Result<Form>, Tally) {
    let mut tally = Tally::default();
    let form = match reading {
        Reading::Own { is_proven } => own(parties.upstream, *is_proven, body, &mut tally),
        Reading::Response(context) => {
            response((parties, context), &body, governor, (&mut tally, taps))
        }
        Reading::Stream(context) => {
            let mut fold = Fold::default();
            decode_all(parties.upstream, &body, (&mut governor, taps), &mut |event| {
                fold.step(event);
            });
            governed((parties, context), fold.finish(), (governor, &mut tally))
        }
    };
    (form, tally)
}

/// A whole answer in the client's own protocol.
fn own(protocol: Protocol, is_proven: bool, body: Bytes, tally: &mut Tally) -> Result<Form> {
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
        None => Ok(Form::Whole(body.into())),
    }
}

/// A whole answer, for a client that may have asked for a stream.
fn response(
    (parties, context): (Parties, &AnswerContext<'static>),
    body: &[u8],
    mut governor: Option<Box<Governor>>,
    (tally, taps): (&mut Tally, &mut Taps),
) -> Result<Form> {
    check_density(body)?;
    let response = parties.upstream.decode_response(body).map_err(|_| unreadable())?;
    if response.fault.is_none() && is_empty(&response) {
        tally.counts = response.usage.as_ref().map(|usage| usage.counts).unwrap_or_default();
        return Err(unreadable());
    }
    if governor.is_none() && !taps.changes_events() {
        return encode(parties, context, response, tally);
    }
    let response = changed(response, (&mut governor, taps));
    governed((parties, context), response, (governor, tally))
}

/// Refuses a large answer of so many small pieces that it would take far more memory than its length.
fn check_density(body: &[u8]) -> Result<()> {
    match utf8::text(body) {
        Ok(text) if body.len() >= LARGE_BYTES => {
            ingress::check_answer_density(text).map_err(|_| unreadable())
        }
        // What is no text is refused by whoever decodes it.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// The answer that rules and taps make of it.
fn changed(
    response: Response<'_>,
    (governor, taps): (&mut Option<Box<Governor>>, &mut Taps),
) -> Response<'static> {
    let mut fold = Fold::default();
    unfold(response, &mut |event| pass(event, (governor, taps), &mut |event| fold.step(event)));
    fold.finish()
}

/// Writes an answer that went by its governor, with what was changed of it.
fn governed(
    (parties, context): (Parties, &AnswerContext<'static>),
    response: Response<'_>,
    (governor, tally): (Option<Box<Governor>>, &mut Tally),
) -> Result<Form> {
    let Some(mut governor) = governor else { return encode(parties, context, response, tally) };
    let form = encode(parties, context, response, tally);
    tally.losses.extend(governor.take_report().into());
    form.map_err(|failure| match governor.has_refused() {
        true => refused(failure.fault),
        false => failure,
    })
}

/// Writes an answer in the form that the client asked for.
fn encode(
    parties: Parties,
    context: &AnswerContext<'static>,
    response: Response<'_>,
    tally: &mut Tally,
) -> Result<Form> {
    let Parties { recipient, upstream } = parties;
    tally.counts = response.usage.as_ref().map(|usage| usage.counts).unwrap_or_default();
    if let Some(fault) = response.fault {
        return Err(failed_at_first(fault.into_owned()));
    }
    let shows_usage = context.include_usage || !recipient.delivery.is_stream();
    tally.is_estimate =
        shows_usage && context.estimates_usage(&response, (upstream, recipient.client));
    if recipient.delivery.is_stream() {
        let translation = Translation::new(recipient, upstream, context.clone(), None);
        return Ok(Form::Translation(Box::new(translation.unfolded(response))));
    }
    tally.calls = calls_of(&response, parties, context);
    tally.is_numbered = response.numbers_calls();
    let encoded = recipient.client.encode_response(&response, upstream, context);
    tally.losses = encoded.report.into();
    Ok(Form::Whole(Bytes::from(encoded.body).into()))
}

/// What the provider sealed with the calls of an answer that is translated.
fn calls_of(
    response: &Response<'_>,
    parties: Parties,
    context: &AnswerContext<'static>,
) -> Vec<CallArtefacts> {
    let is_foreign = parties.recipient.client != parties.upstream;
    let collector = is_foreign.then(|| ArtefactCollector::of(context)).flatten();
    let Some(mut collector) = collector else { return Vec::new() };
    collector.response(response);
    collector.take()
}

/// Whether an answer neither holds anything nor ends.
fn is_empty(response: &Response<'_>) -> bool {
    response.candidates.iter().all(|it| it.finish.is_none() && it.message.parts.is_empty())
}

/// Whether nothing but the end of the connection marks the end of the body: one that broke off looks the same.
fn ends_with_connection(headers: &HeaderMap) -> bool {
    !headers.contains_key(CONTENT_LENGTH) && !headers.contains_key(TRANSFER_ENCODING)
}

/// Whether a body is whole, as far as its two ends show: an answer is an object or, of Gemini, a list.
fn is_object(body: &[u8]) -> bool {
    let body = body.trim_ascii();
    matches!((body.first(), body.last()), (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')))
}
