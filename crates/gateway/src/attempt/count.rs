//! Counting tokens: the provider's own counter where it has one, else an estimate that says it is one.

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::HeaderValue;
use sabir_wire::Protocol;
use sabir_wire::json::Kind;
use sabir_wire::json::Reader;
use sabir_wire::json::Survey;
use sabir_wire::json::Writer;

use crate::Gateway;
use crate::attempt::Means;
use crate::attempt::Opened;
use crate::attempt::Prepared;
use crate::attempt::Whole;
use crate::attempt::ask;
use crate::attempt::ask::Bearing;
use crate::attempt::ask::Question;
use crate::attempt::notes::Notes;
use crate::attempt::notes::Stamp;
use crate::attempt::open;
use crate::attempt::payload::Payload;
use crate::attempt::prepare;
use crate::attempt::refusal::refusal;
use crate::attempt::same_protocol;
use crate::attempt::token_estimate;
use crate::call::Call;
use crate::call::LargeCall;
use crate::failure::Refusal;
use crate::failure::Result;
use crate::observe::Trace;
use crate::route::Candidate;
use crate::route::Resolved;

/// Asks the targets in the order in which they would be asked for the answer.
pub(crate) async fn count(
    means: Means<'_>,
    call: &Call<'_>,
    resolved: &Resolved,
    trace: &mut Trace,
) -> Result<Opened> {
    ask::ask(means, &Count { call, estimate: Cell::new(None) }, resolved, trace).await
}

struct Count<'c> {
    call: &'c Call<'c>,
    /// Made beforehand where the body takes long to read.
    estimate: Cell<Option<u64>>,
}

impl Question for Count<'_> {
    type Answer = Opened;

    const BEARING: Bearing = Bearing::Aside;

    async fn prepare<'a>(
        &'a self,
        means: Means<'a>,
        candidate: &Candidate,
        trace: &mut Trace,
    ) -> Result<Prepared<'a>> {
        trace.starts_over();
        if let Some(large) = self.call.large {
            let prepared = prepared_elsewhere(means, large, candidate, trace);
            let (prepared, estimate) = Box::pin(prepared).await?;
            self.estimate.set(Some(estimate));
            return Ok(prepared);
        }
        let mut notes = Notes::of(trace);
        let prepared = prepared(means.gateway, self.call, candidate, &mut notes);
        let losses = notes.into_losses();
        trace.loses_all(losses);
        prepared
    }

    fn known(&self, prepared: &Prepared<'_>) -> Option<Opened> {
        let is_countless = prepared.endpoint.protocol == Protocol::OpenaiChat;
        is_countless.then(|| self.estimated(prepared))
    }

    async fn open(
        &self,
        means: Means<'_>,
        provider: usize,
        prepared: &Prepared<'_>,
        _trace: &mut Trace,
    ) -> Result<Opened> {
        let (call, protocol) = (self.call, prepared.endpoint.protocol);
        let (status, headers, mut feed) = open::begin(means, provider, prepared).await?;
        let bytes_max = means.gateway.config.limits.answer_bytes_max;
        let body = open::whole_body(means.gateway, &mut feed, &headers, bytes_max).await?;
        if is_missing(status, &body) {
            return Ok(self.estimated(prepared));
        }
        if !(200..300).contains(&status) {
            return Err(refusal(Refusal { protocol, status, headers, body }));
        }
        if protocol == call.client {
            return Ok(Opened::Whole(Whole { headers, body }));
        }
        let Some(tokens) = tokens_in(&body) else { return Ok(self.estimated(prepared)) };
        Ok(Opened::Whole(Whole { headers, body: written(call.client, tokens) }))
    }
}

impl Count<'_> {
    fn estimated(&self, prepared: &Prepared<'_>) -> Opened {
        let mut headers = HeaderMap::new();
        headers.insert("sabir-estimate", HeaderValue::from_static("true"));
        let tokens = self.estimate.get().unwrap_or_else(|| tokens_of(prepared));
        Opened::Whole(Whole { headers, body: written(self.call.client, tokens) })
    }
}

fn tokens_of(prepared: &Prepared<'_>) -> u64 {
    token_estimate::tokens(prepared.endpoint.protocol, &prepared.body.whole())
}

fn prepared<'a>(
    gateway: &'a Gateway,
    whole: &Call<'a>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Prepared<'a>> {
    let unwrapped = unwrapped(gateway, whole, candidate);
    let call = unwrapped.as_ref().unwrap_or(whole);
    let mut prepared = prepare::prepare_noting(gateway, call, None, candidate, notes)?;
    let upstream = prepared.endpoint.protocol;
    let Some(path) = counter_path(&prepared.endpoint.base_path, upstream, &candidate.model) else {
        return Ok(prepared);
    };
    prepared.path = path;
    if upstream == call.client {
        let query = call.query.map(prepare::without_key).filter(|it| !it.is_empty());
        prepared.path.extend(query.map(|query| format!("?{query}")));
        if let Some(body) = rewrapped(gateway, whole, candidate, notes)? {
            prepared.body = body;
        }
    } else {
        prepared.body = countable(upstream, &candidate.model, &prepared.body.whole()).into();
    }
    Ok(prepared)
}

/// The same on another thread, for a body that takes long to read, with an estimate of its tokens.
async fn prepared_elsewhere<'a>(
    means: Means<'a>,
    large: &Arc<LargeCall>,
    candidate: &Candidate,
    trace: &mut Trace,
) -> Result<(Prepared<'a>, u64)> {
    let upstream = &means.gateway.upstreams[candidate.provider];
    let endpoint = upstream.endpoint_for(large.client).ok_or_else(prepare::without_endpoint)?;
    let (gateway, large, stamp) = (Arc::clone(means.gateway), Arc::clone(large), Stamp::of(trace));
    let candidate = candidate.clone();
    let work = means.gateway.pool.run(move |wanted| {
        let mut notes = stamp.notes(wanted);
        let parts = prepared(&gateway, &large.lend(), &candidate, &mut notes).map(|prepared| {
            let estimate = tokens_of(&prepared);
            let Prepared { path, headers, body, manner, .. } = prepared;
            (path, headers.into_owned(), body.whole().into_owned(), manner, estimate)
        });
        Ok((parts, notes.into_losses()))
    });
    let (parts, losses) = work.await?;
    trace.loses_all(losses);
    let (path, headers, body, manner, estimate) = parts?;
    let (headers, body) = (Cow::Owned(headers), body.into());
    Ok((Prepared { endpoint, path, headers, body, manner }, estimate))
}

/// A count for Gemini whose request stands inside `generateContentRequest`: for a provider of another protocol what stands
/// there alone, for one of Gemini's own the same with the place of its model.
fn unwrapped<'b>(gateway: &Gateway, call: &Call<'b>, candidate: &Candidate) -> Option<Call<'b>> {
    let upstream = gateway.upstreams[candidate.provider].endpoint_for(call.client)?;
    if call.client != Protocol::Gemini {
        return None;
    }
    let whole = call.survey.source();
    let inner = member(Reader::surveyed(&call.survey), WRAPPERS)?;
    if upstream.protocol != call.client {
        let body = &whole[inner];
        return Some(Call { body, survey: Survey::new(body), model_at: None, ..call.clone() });
    }
    let model = member(Reader::new(&whole[inner.clone()]), &["model"])?;
    let start = call.body.len() - whole.len() + inner.start;
    let model_at = Some(start + model.start..start + model.end);
    Some(Call { model_at, ..call.clone() })
}

/// The same for a provider of Gemini's own that would refuse something of the history.
fn rewrapped(
    gateway: &Gateway,
    call: &Call<'_>,
    candidate: &Candidate,
    notes: &mut Notes<'_>,
) -> Result<Option<Payload<'static>>> {
    if call.client != Protocol::Gemini {
        return Ok(None);
    }
    let Some(inner) = member(Reader::surveyed(&call.survey), WRAPPERS) else { return Ok(None) };
    let body = &call.survey.source()[inner];
    let inner = Call { body, survey: Survey::new(body), model_at: None, ..call.clone() };
    let Some(changed) = same_protocol::rewritten(gateway, &inner, candidate, notes)? else {
        return Ok(None);
    };
    let mut model = Writer::default();
    model.value(format!("models/{}", prepare::without_prefix(&candidate.model)).as_str());
    let mut body =
        format!(r#"{{"{}":{{"model":{},"#, WRAPPERS[0], model.into_string()).into_bytes();
    // The request is an object that holds its contents at least.
    body.extend_from_slice(&changed.whole()[1..]);
    body.push(b'}');
    Ok(Some(body.into()))
}

const WRAPPERS: &[&str] = &["generateContentRequest", "generate_content_request"];

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

/// Where a protocol's providers count; Chat has no such place.
fn counter_path(base: &str, upstream: Protocol, model: &str) -> Option<String> {
    match upstream {
        Protocol::OpenaiChat => None,
        Protocol::OpenaiResponses => Some(format!("{base}/responses/input_tokens")),
        Protocol::AnthropicMessages => Some(format!("{base}/messages/count_tokens")),
        Protocol::Gemini => Some(format!(
            "{base}/models/{}:countTokens",
            prepare::in_path(prepare::without_prefix(model))
        )),
    }
}

/// Whether a provider has no counter though its protocol does, as many that speak another vendor's protocol. Of a path
/// that is not there nobody says anything about models.
fn is_missing(status: u16, body: &[u8]) -> bool {
    let tells_of_model = || body.windows(5).any(|word| word.eq_ignore_ascii_case(b"model"));
    matches!(status, 405 | 501) || status == 404 && !tells_of_model()
}

/// What of a request a counter takes: it refuses what only an answer needs.
fn countable(upstream: Protocol, model: &str, body: &[u8]) -> Vec<u8> {
    let taken: &[&str] = match upstream {
        Protocol::OpenaiChat => &[],
        Protocol::OpenaiResponses => &[
            "input",
            "instructions",
            "model",
            "parallel_tool_calls",
            "reasoning",
            "text",
            "tool_choice",
            "tools",
            "truncation",
        ],
        Protocol::AnthropicMessages => {
            &["messages", "model", "system", "thinking", "tool_choice", "tools", "output_config"]
        }
        Protocol::Gemini => {
            &["contents", "generationConfig", "systemInstruction", "toolConfig", "tools"]
        }
    };
    let mut writer = Writer::with_capacity(body.len() + 64);
    match upstream {
        Protocol::Gemini => writer.object(|it| {
            it.key("generateContentRequest");
            it.object(|it| {
                let model = prepare::without_prefix(model);
                it.field("model", format!("models/{model}").as_str());
                keep(body, taken, it);
            });
        }),
        _ => writer.object(|it| keep(body, taken, it)),
    }
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
fn tokens_in(body: &[u8]) -> Option<u64> {
    let mut tokens = None;
    let read = Reader::from_slice(body).and_then(|mut reader| {
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("input_tokens" | "totalTokens", Kind::Number) => {
                    tokens = reader.number()?.as_u64()
                }
                _ => reader.skip()?,
            }
            Ok(())
        })
    });
    read.ok().and(tokens)
}

/// A count in the client's shape.
fn written(client: Protocol, tokens: u64) -> Bytes {
    let body = match client {
        Protocol::OpenaiChat | Protocol::AnthropicMessages => {
            format!("{{\"input_tokens\":{tokens}}}")
        }
        Protocol::OpenaiResponses => {
            format!("{{\"object\":\"response.input_tokens\",\"input_tokens\":{tokens}}}")
        }
        Protocol::Gemini => format!("{{\"totalTokens\":{tokens}}}"),
    };
    body.into()
}
