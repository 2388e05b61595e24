//! Counting tokens: the provider's own counter where it has one, else an estimate that is marked as one.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use sabir_wire::Protocol;
use sabir_wire::json::{Kind, Reader, Survey, Writer};

use crate::answer::{AnswerMode, Answering, ESTIMATE, InFlight, Incoming, SHORT_BYTES_MAX};
use crate::attempt::fallback::{AffectsHealth, Attempt};
use crate::attempt::notes::{Notes, Stamp};
use crate::attempt::prepare::Prepared;
use crate::attempt::refusal::{is_missing, refusal};
use crate::attempt::{Handles, fallback, prepare, same_protocol, send, token_estimate};
use crate::call::{Action, Call, Delivery, LargeCall};
use crate::failure::{Refusal, Result};
use crate::observe::Outcome;
use crate::route::{Candidate, Resolved};
use crate::state::Snapshot;
use crate::surface;
use crate::surface::Counting;
use crate::tap::Head;
use crate::trace::Trace;
use crate::upstream::{Endpoint, Payload, Provider, Turn};

/// Asks the targets in the order in which they would be asked for the answer.
pub(crate) async fn count(
    handles: Handles<'_>,
    call: &Call<'_>,
    resolved: &Resolved,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    fallback::ask(handles, &Count { call, estimate: Cell::new(None) }, resolved, flight).await
}

struct Count<'c> {
    call: &'c Call<'c>,
    /// Made beforehand where the body takes long to read.
    estimate: Cell<Option<u64>>,
}

impl Attempt for Count<'_> {
    type Output = Box<Answering>;

    const AFFECTS_HEALTH: AffectsHealth = AffectsHealth::No;

    async fn prepare<'a>(
        &'a self,
        handles: Handles<'a>,
        candidate: &'a Candidate,
        trace: &mut Trace,
    ) -> Result<Prepared<'a>> {
        trace.clear_losses();
        if let Some(large) = self.call.large {
            let prepared = prepared_elsewhere(handles, large, candidate, trace);
            let (prepared, estimate) = Box::pin(prepared).await?;
            self.estimate.set(Some(estimate));
            return Ok(prepared);
        }
        let mut notes = Notes::of(trace);
        let prepared = prepared(handles.snapshot, self.call, candidate, &mut notes);
        let losses = notes.into_losses();
        trace.add_losses(losses);
        prepared
    }

    fn known(&self, prepared: &Prepared<'_>) -> Option<Box<Answering>> {
        let counter = counter_path(prepared.endpoint, &self.call.model);
        counter.is_none().then(|| self.estimated(prepared))
    }

    async fn open(
        &self,
        handles: Handles<'_>,
        asked: (&Provider, Option<Turn<'_>>),
        prepared: &Prepared<'_>,
        flight: &mut InFlight,
    ) -> Result<Box<Answering>> {
        let incoming = send::begin(handles, asked, prepared, flight.trace.key()).await?;
        let Incoming { protocol, head, mut feed } = incoming;
        let bytes_max = handles.snapshot.config().limits.answer_bytes_max.min(SHORT_BYTES_MAX);
        let body = feed.collect_unpacked(handles.snapshot, &head.headers, bytes_max).await?;
        if is_missing(head.status, &body) {
            return Ok(self.estimated(prepared));
        }
        if !(200..300).contains(&head.status) {
            let Head { status, headers } = head;
            return Err(refusal(Refusal { protocol, status, headers, body }));
        }
        flight.begin_answer(&head, None);
        flight.body(&body);
        let client = self.call.client;
        let body = match (protocol == client, tokens_in(protocol, &body)) {
            (true, _) => body,
            (false, Some(tokens)) => written(client, tokens, cleared(prepared)),
            (false, None) => return Ok(self.estimated(prepared)),
        };
        Ok(Answering::whole(head, body, Outcome::Answered))
    }
}

impl Count<'_> {
    fn estimated(&self, prepared: &Prepared<'_>) -> Box<Answering> {
        let mut headers = HeaderMap::new();
        headers.insert(ESTIMATE, HeaderValue::from_static("true"));
        let tokens = self.estimate.get().unwrap_or_else(|| tokens_of(prepared));
        let head = Head { status: 200, headers };
        let body = written(self.call.client, tokens, cleared(prepared));
        Answering::whole(head, body, Outcome::Answered)
    }
}

fn tokens_of(prepared: &Prepared<'_>) -> u64 {
    token_estimate::tokens(prepared.endpoint.protocol, &prepared.body.whole())
}

fn prepared<'a>(
    snapshot: &'a Snapshot,
    whole: &Call<'a>,
    candidate: &'a Candidate,
    notes: &mut Notes<'_>,
) -> Result<Prepared<'a>> {
    let unwrapped = unwrapped(whole, candidate);
    let call = unwrapped.as_ref().unwrap_or(whole);
    let mut prepared = prepare::prepare_noting(snapshot, (call, None), candidate, notes)?;
    let upstream = prepared.endpoint.protocol;
    let Some(path) = counter_path(prepared.endpoint, &candidate.model) else {
        return Ok(prepared);
    };
    prepared.path = path;
    if upstream == call.client {
        let query = call.query.map(surface::without_key).filter(|it| !it.is_empty());
        prepared.path.extend(query.map(|query| format!("?{query}")));
        if let Some(body) = rewrapped(snapshot, whole, candidate, notes)? {
            prepared.body = body;
        }
    } else {
        prepared.body = countable(upstream, &candidate.model, &prepared.body.whole()).into();
    }
    Ok(prepared)
}

/// The same on another thread, for a body that takes long to read, with an estimate of its tokens.
async fn prepared_elsewhere<'a>(
    handles: Handles<'a>,
    large: &Arc<LargeCall>,
    candidate: &'a Candidate,
    trace: &mut Trace,
) -> Result<(Prepared<'a>, u64)> {
    let endpoint =
        candidate.provider.endpoint_for(large.client).ok_or_else(prepare::without_endpoint)?;
    let (snapshot, large, stamp) =
        (Arc::clone(handles.snapshot), Arc::clone(large), Stamp::of(trace));
    let candidate = candidate.clone();
    let work = handles.snapshot.shared.pool.run(move |wanted| {
        let mut notes = stamp.notes(wanted);
        let parts = prepared(&snapshot, &large.lend(), &candidate, &mut notes).map(|prepared| {
            let estimate = tokens_of(&prepared);
            let Prepared { path, headers, body, mode, .. } = prepared;
            (path, headers.into_owned(), body.shared().whole(), mode, estimate)
        });
        Ok((parts, notes.into_losses()))
    });
    let (parts, losses) = work.await?;
    trace.add_losses(losses);
    let (path, headers, body, mode, estimate) = parts?;
    let (headers, body) = (Cow::Owned(headers), body.into());
    Ok((Prepared { endpoint, path, headers, body, mode }, estimate))
}

/// A count whose request stands in a field of its own: for a provider of another protocol what stands there alone, for one
/// of the same protocol the whole with the place of its model.
fn unwrapped<'b>(call: &Call<'b>, candidate: &Candidate) -> Option<Call<'b>> {
    let upstream = candidate.provider.endpoint_for(call.client)?;
    let whole = call.survey.source();
    let inner = inner(call)?;
    if upstream.protocol != call.client {
        let body = &whole[inner];
        return Some(Call {
            body,
            survey: Survey::counted(body, call.survey.nodes()),
            model_at: None,
            ..call.clone()
        });
    }
    let model = member(Reader::new(&whole[inner.clone()]), &["model"])?;
    let start = call.body.len() - whole.len() + inner.start;
    let model_at = Some(start + model.start..start + model.end);
    Some(Call { model_at, ..call.clone() })
}

/// The same for a provider of the same protocol that would refuse something of the history, or is not offered all tools.
fn rewrapped(
    snapshot: &Snapshot,
    call: &Call<'_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Option<Payload<'static>>> {
    let surface = surface::of(call.client);
    let Some(wrapper) = surface.counting.wrappers.first() else { return Ok(None) };
    let Some(inner) = inner(call) else { return Ok(None) };
    let body = &call.survey.source()[inner];
    let inner = Call {
        body,
        survey: Survey::counted(body, call.survey.nodes()),
        model_at: None,
        ..call.clone()
    };
    let changed = match inner.is_governed() {
        true => same_protocol::governed(snapshot, (&inner, None), candidate, notes)?.body,
        false => same_protocol::rewritten(snapshot, &inner, candidate, notes)?,
    };
    let Some(changed) = changed else { return Ok(None) };
    let mut model = Writer::default();
    model.value(&*surface.model_in_body(&candidate.model));
    let model = model.into_string();
    let mut body = format!(r#"{{"{wrapper}":{{"model":{model},"#).into_bytes();
    // The request is an object that holds its contents at least.
    body.extend_from_slice(&changed.whole()[1..]);
    body.push(b'}');
    Ok(Some(body.into()))
}

/// Where the request of a count stands that has it in a field of its own.
fn inner(call: &Call<'_>) -> Option<Range<usize>> {
    match surface::of(call.client).counting.wrappers {
        [] => None,
        wrappers => member(Reader::surveyed(&call.survey), wrappers),
    }
}

/// Where the value of a member stands that has one of these names.
fn member(mut reader: Reader<'_>, names: &[&str]) -> Option<Range<usize>> {
    let mut found = None;
    let read = reader.object(|key, reader| {
        reader.kind()?;
        let start = reader.position();
        reader.skip()?;
        if names.contains(&&*key) {
            found = Some(start..reader.position());
        }
        Ok(())
    });
    read.ok().and(found)
}

/// Where a provider counts, if its protocol has a place for it. No agent counts.
fn counter_path(endpoint: &Endpoint, model: &str) -> Option<String> {
    let path = surface::Path { action: Action::CountTokens, model, delivery: Delivery::Whole };
    let path = surface::of(endpoint.protocol).path(&endpoint.base_path, &path);
    path.filter(|_| endpoint.agent().is_none())
}

/// What of a request a counter takes: it refuses what only an answer needs.
fn countable(upstream: Protocol, model: &str, body: &[u8]) -> Vec<u8> {
    let surface = surface::of(upstream);
    let Counting { fields, wrappers, .. } = surface.counting;
    let mut writer = Writer::with_capacity(body.len() + 64);
    writer.object(|it| match wrappers.first() {
        Some(wrapper) => {
            it.key(wrapper);
            it.object(|it| {
                it.field("model", &*surface.model_in_body(model));
                keep(body, fields, it);
            });
        }
        None => keep(body, fields, it),
    });
    writer.into_string().into_bytes()
}

fn keep(body: &[u8], taken: &[&str], writer: &mut Writer) {
    let Ok(mut reader) = Reader::from_slice(body) else { return };
    // The body was written by an encoder of ours, so that there is nothing to refuse.
    let _ = reader.object(|key, reader| {
        let value = reader.raw()?;
        if taken.contains(&&*key) {
            writer.key(&key);
            writer.value(&value);
        }
        Ok(())
    });
}

/// The count in a counter's answer.
fn tokens_in(upstream: Protocol, body: &[u8]) -> Option<u64> {
    let total = surface::of(upstream).counting.total;
    let mut tokens = None;
    let read = Reader::from_slice(body).and_then(|mut reader| {
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                (key, Kind::Number) if key == total => tokens = reader.number()?.as_u64(),
                _ => reader.skip()?,
            }
            Ok(())
        })
    });
    read.ok().and(tokens)
}

/// The tokens of what was left out as the client asked, by estimate; none if it did not ask.
fn cleared(prepared: &Prepared<'_>) -> Option<u64> {
    let AnswerMode::Translate { context, .. } = &prepared.mode else { return None };
    let edits = context.applied_edits.as_ref()?;
    Some(edits.iter().map(|edit| edit.cleared_input_tokens).sum())
}

/// A count in the client's shape, with what was left out of it.
fn written(client: Protocol, tokens: u64, cleared: Option<u64>) -> Bytes {
    let Counting { tag, total, .. } = surface::of(client).counting;
    let mut writer = Writer::with_capacity(64);
    writer.object(|it| {
        if let Some((name, value)) = tag {
            it.field(name, value);
        }
        it.field(total, &tokens);
        if let Some(cleared) = cleared {
            it.key("context_management");
            it.object(|it| it.field("original_input_tokens", &(tokens + cleared)));
        }
    });
    writer.into_string().into()
}
