//! Having a summary written: calls of their own, with their own exchange and usage.

use std::future::poll_fn;
use std::sync::Arc;

use http::{HeaderMap, Uri};
use sabir_compose::compact::{PROMPT, Questions, summary_in};
use sabir_wire::FaultKind;
use sabir_wire::conversation::{Count, Counts, FinishKind, Request};
use sabir_wire::json::Text;
use sabir_wire::protocol::DecodedRequest;
use sabir_wire::target::Target;

use crate::answer::{ESTIMATE, Ended, InFlight};
use crate::attempt::{Handles, estimated_tokens};
use crate::call::Action;
use crate::compact::read::piece_bytes;
use crate::config::types::GatewayKey;
use crate::failure::{Failure, Result, Whose};
use crate::ingress::Arrived;
use crate::observe::{Outcome, Upstream};
use crate::upstream::Provider;
use crate::{attempt, ingress, surface};

/// How many calls a summary takes at most: a conversation that needs more was never sent to a model.
const PIECES_MAX: usize = 64;

/// Smaller pieces are not tried: the prompt takes more than they do.
const SMALLEST_PIECE_BYTES: usize = 2 * 1024;

/// What a summary may take: more than any should, and less than models refuse.
const SUMMARY_TOKENS_MAX: usize = 8192;

/// In English prose and most code.
const BYTES_PER_TOKEN: usize = 4;

/// Who wants a summary, and of whom.
#[derive(Clone, Copy)]
pub(super) struct Commission<'a> {
    pub(super) handles: Handles<'a>,
    pub(super) key: Option<&'a Arc<GatewayKey>>,
    /// The model of the call; the configuration may name another.
    pub(super) model: &'a str,
    /// What the client wants of the summary.
    pub(super) instructions: Option<&'a str>,
}

/// A summary, who wrote it and what that cost.
pub(super) struct Summary {
    pub(super) text: String,
    /// The exchange of the last call.
    pub(super) exchange: String,
    pub(super) provider: Arc<Provider>,
    pub(super) upstream: Upstream,
    pub(super) usage: Counts,
    /// Whether some of that is an estimate.
    pub(super) is_estimate: bool,
}

impl Commission<'_> {
    /// Has everything summarised. `earlier` is the summary of what stands before. A model that turns out to read less at once
    /// is asked in smaller pieces.
    pub(super) async fn summarise(
        &self,
        questions: &Questions,
        earlier: Option<&str>,
    ) -> Result<Summary> {
        let mut smaller: Option<Questions> = None;
        loop {
            let questions = smaller.as_ref().unwrap_or(questions);
            let failure = match self.summarise_in_pieces(questions, earlier).await {
                Err(failure) if failure.fault.kind == FaultKind::ContextTooLong => failure,
                summarised => return summarised,
            };
            let fitting = failure.fault.overflow.window.map(|window| piece_bytes(Some(window)));
            let halved = questions.bytes_max() / 2;
            if halved < SMALLEST_PIECE_BYTES {
                return Err(failure);
            }
            smaller = Some(questions.within(fitting.unwrap_or(halved).min(halved)));
        }
    }

    /// One piece after the other, each with the summary of those before it.
    async fn summarise_in_pieces(
        &self,
        questions: &Questions,
        earlier: Option<&str>,
    ) -> Result<Summary> {
        if questions.len() > PIECES_MAX {
            return Err(too_long());
        }
        let config = &self.handles.snapshot.config().compaction;
        let prompt = self.instructions.or(config.prompt.as_deref()).unwrap_or(PROMPT);
        let mut whole: Option<Summary> = None;
        for index in 0..questions.len() {
            let earlier = whole.as_ref().map(|summary| summary.text.as_str()).or(earlier);
            let Some(request) = questions.request(index, prompt, earlier) else { break };
            let mut summary = self.ask(request, summary_tokens_max(questions)).await?;
            if let Some(before) = whole {
                summary.usage = sum(summary.usage, before.usage);
                summary.is_estimate |= before.is_estimate;
            }
            whole = Some(summary);
        }
        whole.ok_or_else(wordless)
    }

    /// One call to the model, like any client's.
    async fn ask(&self, mut request: Request<'static>, tokens_max: u64) -> Result<Summary> {
        let Handles { snapshot, .. } = self.handles;
        let model = snapshot.config().compaction.model.as_deref().unwrap_or(self.model);
        request.model = Some(Text::plain(model.to_owned()));
        request.max_output_tokens = Some(tokens_max.into());
        let input = estimated_tokens(&request);
        let protocol = surface::DEFAULT;
        let body = DecodedRequest::new(protocol, request).encode(protocol, &Target::default())?;
        let (headers, uri) = (HeaderMap::new(), Uri::default());
        let arrived = Arrived {
            protocol,
            action: Action::Generate,
            from_path: None,
            headers: &headers,
            uri: &uri,
            key: self.key,
            submits_to: None,
        };
        let mut flight = InFlight::begin(snapshot, protocol, self.key);
        let asked = self.ask_in(&arrived, (body.body.as_bytes(), input), &mut flight).await;
        if let Err(failure) = &asked {
            flight.end(Ended::plain(Outcome::Failed(failure.whose)));
        }
        asked
    }

    async fn ask_in(
        &self,
        arrived: &Arrived<'_>,
        (body, input): (&[u8], u64),
        flight: &mut InFlight,
    ) -> Result<Summary> {
        let Handles { snapshot, .. } = self.handles;
        let routed = ingress::route_call(snapshot, arrived, body, &mut flight.trace)?;
        let answering = attempt::answer(self.handles, &routed.call, &routed.resolved, flight);
        let mut answering = Box::pin(answering).await?;
        flight.trace.set_status(200);
        let is_estimate = answering.take_head().headers.contains_key(ESTIMATE);
        let mut bytes = Vec::new();
        while let Some(piece) = poll_fn(|cx| answering.poll_next(cx, flight)).await {
            bytes.extend_from_slice(&piece.map_err(|_| wordless())?);
        }
        let response = arrived.protocol.decode_response(&bytes).map_err(|_| wordless())?;
        let counts = response.usage.as_ref().map(|it| it.counts).unwrap_or_default();
        let finish = response.candidates.first().and_then(|it| it.finish.as_ref());
        if finish.is_some_and(|finish| finish.kind != FinishKind::Stop) {
            return Err(unfinished());
        }
        let text = summary_in(&response).ok_or_else(wordless)?;
        let (provider, upstream) = flight.trace.asked().ok_or_else(wordless)?;
        let exchange = flight.trace.id().to_owned();
        // A provider that is not translated speaks for itself, to whoever asked: here that is the gateway.
        let (usage, is_completed) = completed(counts, (input, &text));
        let is_estimate = is_estimate || is_completed;
        Ok(Summary { text, exchange, provider, upstream, usage, is_estimate })
    }
}

/// What a summary may take of a model that reads so much at once. A piece is two bytes for each token of the window, and a
/// quarter of the window is left: servers refuse what does not fit with all of the answer that it may get.
fn summary_tokens_max(questions: &Questions) -> u64 {
    (questions.bytes_max() / 8).min(SUMMARY_TOKENS_MAX) as u64
}

/// What a summary cost, with an estimate where that is not stated, and whether it is needed.
fn completed(mut counts: Counts, (input, text): (u64, &str)) -> (Counts, bool) {
    let output = text.len().div_ceil(BYTES_PER_TOKEN) as u64;
    let mut is_estimate = false;
    for (count, estimated) in [(Count::Input, input), (Count::Output, output)] {
        if counts[count].is_none_or(|stated| stated == 0) {
            counts[count] = Some(estimated);
            is_estimate = true;
        }
    }
    (counts, is_estimate)
}

fn sum(mut counts: Counts, earlier: Counts) -> Counts {
    for count in Count::ALL {
        counts[count] = match (counts[count], earlier[count]) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
    }
    counts
}

fn wordless() -> Box<Failure> {
    let message = "the conversation could not be compacted: the model that was to summarise it gave no summary";
    Failure::new(Whose::Upstream, FaultKind::Internal, message).with_status(502)
}

fn unfinished() -> Box<Failure> {
    let message = "the conversation could not be compacted: the model that was to summarise it did not come to its end; \
                   `model` in [compaction] names another";
    Failure::new(Whose::Upstream, FaultKind::Internal, message).with_status(502)
}

fn too_long() -> Box<Failure> {
    let message = "the conversation is longer than this gateway compacts at once";
    Failure::client(FaultKind::TooLarge, message)
}
