//! Conversations that the gateway keeps itself: where one does not fit, its oldest turns are summarised, and the summary is kept
//! with it. In between it grows at its end alone.

use std::sync::Arc;

use sabir_compose::compact::{Keep, Plan, Questions, plan_where, questions, weight};
use sabir_store::{Conversation, ConversationId, Hash, Owner, Store};
use sabir_wire::FaultKind;
use sabir_wire::conversation::{Message, Request};

use crate::answer::{Answering, InFlight};
use crate::attempt::{Handles, estimated_tokens};
use crate::compact::read::piece_bytes;
use crate::compact::{Stage, narrowest};
use crate::config::types::AutoCompaction;
use crate::failure::Result;
use crate::recall::{End, HistoryLine, HistoryLines, out_of_order, recollect_lines};
use crate::recalled::Recalled;
use crate::summaries::{Carried, KeptSummary};

/// A conversation that the gateway keeps and may summarise.
pub(super) struct Own {
    store: Store,
    owner: Owner,
    id: ConversationId,
    auto: AutoCompaction,
}

impl Own {
    /// The conversation that a call names and goes on with, unless summaries are switched off.
    pub(super) fn of(handles: Handles<'_>, flight: &InFlight) -> Option<Self> {
        let auto = handles.snapshot.config().compaction.auto;
        let id = flight.trace.turn()?.conversation.as_deref()?;
        let id = ConversationId::new(id).ok()?;
        let memory = handles.snapshot.shared.memory.as_ref();
        let memory = memory.filter(|_| auto != AutoCompaction::Off)?;
        let (store, owner) = (memory.store().clone(), memory.owner(flight.trace.key()));
        Some(Self { store, owner, id, auto })
    }

    /// What is kept of it. The call holds it, so that nobody changes it meanwhile.
    async fn lines(&self, stage: &Stage<'_>) -> Result<HistoryLines> {
        let read = self.store.conversation(&self.owner, &self.id).await;
        let Conversation { tip, last_turn, .. } = read.map_err(|error| out_of_order(&error))?;
        let summary = self.store.summary(&self.owner, &self.id).await;
        let summary = summary.map_err(|error| out_of_order(&error))?;
        let end = End { tip, last: last_turn.as_ref(), summary: summary.as_ref() };
        let pool = &stage.handles.snapshot.shared.pool;
        recollect_lines(pool, (&self.store, &self.owner), end).await
    }
}

impl Stage<'_> {
    /// Asks for an answer. A conversation that does not fit is summarised first, instead of failing.
    pub(super) async fn answer_fitting(
        &self,
        own: &Own,
        recalled: &Arc<Recalled>,
        flight: &mut InFlight,
    ) -> Result<Box<Answering>> {
        let early = match own.auto {
            AutoCompaction::Early => self.shortened_early(own, recalled, flight).await?,
            AutoCompaction::Fit | AutoCompaction::Off => None,
        };
        let recalled = early.unwrap_or_else(|| Arc::clone(recalled));
        let failure = match self.answer_from(&recalled, flight).await {
            Err(failure) if failure.fault.kind == FaultKind::ContextTooLong => failure,
            answered => return answered,
        };
        // Whoever writes the summary may be the same provider, which has room for so many at a time.
        flight.admission.release_permit();
        let window = failure.fault.overflow.window.or_else(|| narrowest(self.resolved));
        let room = Room { window, is_exceeded: true };
        match self.shortened(own, &recalled, room, flight).await {
            Ok(Some(shorter)) => self.answer_from(&shorter, flight).await,
            Ok(None) | Err(_) => Err(failure),
        }
    }

    /// The conversation shortened before it has to be, if it is long by estimate. If that fails, it goes on as it is.
    async fn shortened_early(
        &self,
        own: &Own,
        recalled: &Arc<Recalled>,
        flight: &mut InFlight,
    ) -> Result<Option<Arc<Recalled>>> {
        let Some(window) = narrowest(self.resolved) else { return Ok(None) };
        let at = u64::from(self.handles.snapshot.config().compaction.at_thousandths);
        let tokens_max = window.saturating_mul(at) / 1_000;
        // What has so few bytes need not be read for it.
        if (recalled.bytes() as u64) < tokens_max {
            return Ok(None);
        }
        let given = Arc::clone(recalled);
        let tokens = self.pooled(move |_| Ok(estimated_tokens(given.decoded()?.request()))).await?;
        if tokens < tokens_max {
            return Ok(None);
        }
        let room = Room { window: Some(window), is_exceeded: false };
        Ok(self.shortened(own, recalled, room, flight).await.ok().flatten())
    }

    /// The conversation with its oldest turns summarised, which is kept; none if there are none that could be.
    async fn shortened(
        &self,
        own: &Own,
        recalled: &Arc<Recalled>,
        room: Room,
        flight: &mut InFlight,
    ) -> Result<Option<Arc<Recalled>>> {
        let history = own.lines(self).await?;
        let turns = self.handles.snapshot.config().compaction.keep_turns;
        let (given, piece_bytes) =
            (Arc::clone(recalled), piece_bytes(self.window().or(room.window)));
        let choose = move |_: &_| {
            let keep = Choosing::of(&given, &history)?;
            Ok(keep.choose((turns, room), piece_bytes))
        };
        let Some(chosen) = self.pooled(choose).await? else { return Ok(None) };
        let Chosen { questions, covers, kept } = chosen;
        let earlier = Some(&*kept.summary).filter(|summary| !summary.is_empty());
        let summary = self.commission(None).summarise(&questions, earlier).await?;
        flight.trace.set_compacted(summary.exchange);
        let kept = KeptSummary { summary: summary.text, ..kept };
        let record = kept.write().map_err(|error| out_of_order(&error))?;
        let put = own.store.put_summary(&own.owner, &own.id, covers, record).await;
        put.map_err(|error| out_of_order(&error))?;
        let shorter = own.lines(self).await?.before(Recalled::clone(recalled));
        Ok(Some(Arc::new(shorter)))
    }
}

/// The room that a conversation has.
#[derive(Clone, Copy)]
struct Room {
    window: Option<u64>,
    /// Whether somebody found it too long.
    is_exceeded: bool,
}

/// A conversation as it is before some of it is chosen to be summarised.
struct Choosing<'h> {
    history: &'h HistoryLines,
    /// Those of the history, then those of the call.
    messages: Vec<Message<'static>>,
    /// Where the messages of each line of the history end.
    ends: Vec<usize>,
    /// By estimate, with all that goes with every call.
    tokens: u64,
}

/// What is to be summarised.
struct Chosen {
    questions: Questions,
    /// The last line that the summary covers.
    covers: Hash,
    /// What is kept, with the words of the earlier summary.
    kept: KeptSummary,
}

impl<'h> Choosing<'h> {
    fn of(recalled: &Recalled, history: &'h HistoryLines) -> sabir_wire::Result<Self> {
        let client = recalled.client;
        let (mut messages, mut ends) = (Vec::new(), Vec::new());
        for HistoryLine { protocol, turn, elements, .. } in &history.lines {
            messages.extend(protocol.restore_messages(elements, *turn, client)?);
            ends.push(messages.len());
        }
        let own = client.decode_request_text(&recalled.body)?.into_request().messages;
        let own = own.into_iter().skip_while(|message| message.role.instructs());
        messages.extend(own.map(Message::into_owned));
        let tokens = estimated_tokens(recalled.decoded()?.request());
        Ok(Self { history, messages, ends, tokens })
    }

    fn choose(self, (turns, room): (usize, Room), piece_bytes: usize) -> Option<Chosen> {
        let keep = Keep { turns, bytes_max: self.bytes_max(room) };
        let plan = plan_where(&self.messages, keep, |at| self.line_before(at).is_some())?;
        let covers = self.line_before(plan.covered().end)?;
        let questions = questions(&self.messages, &plan, piece_bytes);
        let earlier = self.history.summary.as_ref();
        let messages = plan.covered().len() - usize::from(plan.carried().is_some());
        let kept = KeptSummary {
            messages: messages + earlier.map_or(0, |earlier| earlier.messages),
            summary: earlier.map(|earlier| earlier.summary.clone()).unwrap_or_default(),
            carried: self.carried(&plan),
        };
        (!questions.is_empty()).then_some(Chosen { questions, covers, kept })
    }

    /// The line of the log that ends where a message begins.
    fn line_before(&self, at: usize) -> Option<Hash> {
        let line = self.ends.partition_point(|end| *end <= at).checked_sub(1)?;
        self.history.lines[line].hash.filter(|_| self.ends[line] == at)
    }

    /// What may stay, so that the conversation can grow to twice its length again.
    fn bytes_max(&self, room: Room) -> usize {
        let messages = self.messages.clone();
        let spent = estimated_tokens(&Request { messages, ..Request::default() });
        let around = self.tokens.saturating_sub(spent);
        let by_window = room.window.map(|window| (window / 2).saturating_sub(around));
        // Where somebody found that it does not fit, no estimate says that it does.
        let tokens = match by_window {
            Some(tokens) if room.is_exceeded => tokens.min(spent / 2),
            Some(tokens) => tokens,
            None => spent / 2,
        };
        let bytes = weight(&self.messages) as u128 * u128::from(tokens) / u128::from(spent.max(1));
        usize::try_from(bytes).unwrap_or(usize::MAX)
    }

    /// The lines that stay whole beside the summary: instructions before all else, and what the user said last.
    fn carried(&self, plan: &Plan) -> Vec<Carried> {
        let newest = plan.carried().map(|at| self.ends.partition_point(|end| *end <= at));
        let leading = self.ends.partition_point(|end| *end <= plan.covered().start);
        let lines = (0..leading).chain(newest);
        lines.map(|line| self.carry(&self.history.lines[line])).collect()
    }

    fn carry(&self, line: &HistoryLine) -> Carried {
        let turn = usize::try_from(line.turn).ok().and_then(|at| self.history.turns.get(at));
        Carried {
            protocol: line.protocol,
            turn: turn.cloned().unwrap_or_default(),
            elements: line.elements.clone(),
        }
    }
}
