//! What may watch answers: a tap sees the head, every frame or the body, and the end of every answer, whatever protocol and
//! path it came by. Where there is no tap, an answer pays one comparison for each read.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::HeaderMap;
use sabir_wire::conversation::Counts;
use sabir_wire::protocol::{AnswerContext, Event};
use sabir_wire::sse::Frame;
use sabir_wire::{Fault, FaultKind, Protocol};

use crate::config::types::GatewayKey;
use crate::observe::{Losses, Outcome, Upstream};

/// Watches the answer to one request.
pub(crate) trait Tap {
    /// A provider begins to answer; `asked` is the context by which the answer is translated, if it does not pass as it is. If
    /// that comes to nothing before the first event, another attempt begins the answer anew and everything seen so far does not
    /// count.
    fn begin(
        &mut self,
        _head: &Head,
        _upstream: &Upstream,
        _asked: Option<&AnswerContext<'static>>,
    ) {
    }

    /// A frame of a stream, as the provider sent it. A backend that gives events has none.
    fn frame(&mut self, _frame: &Frame<'_>) {}

    /// The body of an answer that is no stream.
    fn body(&mut self, _body: &Bytes) {}

    /// A translated answer that is no stream, as its client gets it, if every call in it came with an id.
    fn written(&mut self, _body: &Bytes) {}

    /// The next piece of an answer that is not looked into.
    fn piece(&mut self, _bytes: &[u8]) {}

    /// An event of an answer that is translated. What is emitted goes on to the client in its place.
    fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        emit(event);
    }

    /// Whoever sees frames and events in its place while those are read on another thread, and shares with it what they are;
    /// none if it looks at neither.
    fn stand_in(&self) -> Option<Box<dyn Tap + Send>> {
        None
    }

    /// Whether [`Tap::event`] must see the events of every answer: then none passes through as bytes.
    fn changes_events(&self) -> bool {
        false
    }

    /// Whether the end of the answer may not leave before [`Tap::poll_ready`] is.
    fn holds_end(&self) -> bool {
        false
    }

    /// How the answer ended; once.
    fn end(&mut self, _end: &End<'_>) {}

    /// Whether the end of the answer may leave; asked behind [`Tap::end`], and again until all taps are ready. A fault takes
    /// the place of what was held back. Nobody but the end of the gateway puts a limit to the wait.
    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Fault<'static>>> {
        Poll::Ready(Ok(()))
    }
}

/// The head of a provider's answer.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
}

/// How an answer ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End<'a> {
    pub(crate) outcome: Outcome,
    /// What the client got; `Truncated` if the provider's answer broke off.
    #[cfg_attr(not(test), expect(dead_code, reason = "a recorder marks turns by it"))]
    pub(crate) fault: Option<FaultKind>,
    pub(crate) counts: Counts,
    /// What the translations of the request and of its answer lost.
    pub(crate) losses: &'a Losses,
    /// What the gateway has put between the request and its answer, as an element of the client's history.
    pub(crate) inserted: Option<&'a str>,
    /// The exchange in which the conversation was summarised for the request.
    pub(crate) compacted: Option<&'a str>,
}

/// The taps on one answer.
#[derive(Default)]
pub(crate) struct Taps(Vec<Box<dyn Tap>>);

/// Who watches an answer on another thread, for the taps that stay behind.
pub(crate) struct StandIns(Vec<Box<dyn Tap + Send>>);

impl StandIns {
    pub(crate) fn into_taps(self) -> Taps {
        Taps(self.0.into_iter().map(|tap| -> Box<dyn Tap> { tap }).collect())
    }
}

/// Makes a tap for each request.
pub(crate) type MakeTap = Box<dyn Fn(&Origin<'_>) -> Box<dyn Tap> + Send + Sync>;

/// The taps that every request gets.
#[derive(Default)]
pub(crate) struct TapMakers(pub(crate) Vec<MakeTap>);

/// The request that a tap is made for.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "a recorder keeps turns under it"))]
pub(crate) struct Origin<'a> {
    /// The exchange's id.
    pub(crate) id: &'a str,
    pub(crate) client: Protocol,
    /// The gateway key that the client sent.
    pub(crate) key: Option<&'a Arc<GatewayKey>>,
}

impl TapMakers {
    pub(crate) fn make(&self, origin: &Origin<'_>) -> Taps {
        Taps(self.0.iter().map(|make| make(origin)).collect())
    }
}

impl Taps {
    /// One more watches the answer.
    pub(crate) fn add(&mut self, tap: Box<dyn Tap>) {
        self.0.push(tap);
    }

    pub(crate) fn stand_ins(&self) -> StandIns {
        StandIns(self.0.iter().filter_map(|tap| tap.stand_in()).collect())
    }

    /// One more watches the answer, and changes what the others see.
    pub(crate) fn add_first(&mut self, tap: Box<dyn Tap>) {
        self.0.insert(0, tap);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn begin(
        &mut self,
        head: &Head,
        upstream: &Upstream,
        asked: Option<&AnswerContext<'static>>,
    ) {
        self.0.iter_mut().for_each(|tap| tap.begin(head, upstream, asked));
    }

    pub(crate) fn frame(&mut self, frame: &Frame<'_>) {
        self.0.iter_mut().for_each(|tap| tap.frame(frame));
    }

    pub(crate) fn body(&mut self, body: &Bytes) {
        self.0.iter_mut().for_each(|tap| tap.body(body));
    }

    pub(crate) fn written(&mut self, body: &Bytes) {
        self.0.iter_mut().for_each(|tap| tap.written(body));
    }

    pub(crate) fn piece(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|tap| tap.piece(bytes));
    }

    /// Hands an event from tap to tap, and what comes of it to `emit`.
    pub(crate) fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        pass(&mut self.0, event, emit);
    }

    pub(crate) fn changes_events(&self) -> bool {
        self.0.iter().any(|tap| tap.changes_events())
    }

    pub(crate) fn holds_end(&self) -> bool {
        self.0.iter().any(|tap| tap.holds_end())
    }

    pub(crate) fn end(&mut self, end: &End<'_>) {
        self.0.iter_mut().for_each(|tap| tap.end(end));
    }

    /// Ready when all are, or when one of them has failed.
    pub(crate) fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault<'static>>> {
        for tap in &mut self.0 {
            if let Err(fault) = ready!(tap.poll_ready(cx)) {
                return Poll::Ready(Err(fault));
            }
        }
        Poll::Ready(Ok(()))
    }
}

fn pass(taps: &mut [Box<dyn Tap>], event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
    match taps.split_first_mut() {
        None => emit(event),
        Some((first, rest)) => first.event(event, &mut |event| pass(rest, event, emit)),
    }
}

impl fmt::Debug for TapMakers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TapMakers({})", self.0.len())
    }
}
