//! An answer as it comes: frames into events, events into what a program shows.

use std::collections::VecDeque;

use sabir_backend::http::{Body, HttpResponse};
use sabir_wire::conversation::{Content, Counts};
use sabir_wire::json::Text;
use sabir_wire::protocol::{Delta, Event, Fold, Open, Opening, PartId, StreamDecoder};
use sabir_wire::sse::Parser;
use sabir_wire::unified::{UnifiedCall, UnifiedReply};
use sabir_wire::{Protocol, Report};

use crate::answer::{Answer, BETWEEN_PIECES, Head, Reasoning};
use crate::error::{Error, ErrorKind, Result};
use crate::names::Names;
use crate::request::Prepared;
use crate::transport::{ANSWER_BYTES_MAX, Transport, too_large};

/// A piece of an answer.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum StreamEvent {
    /// More of the text.
    Text(String),
    /// More of the thinking that the model shows.
    Reasoning(String),
    /// A call of a tool, once it is whole.
    ToolCall(UnifiedCall),
    /// What it cost so far.
    Usage(Counts),
    /// The answer is complete; nothing follows. The word is that of [`UnifiedReply::finish_reason`].
    End(&'static str),
}

/// An answer that comes in. Dropping it closes the connection, and the server stops.
#[derive(Debug)]
pub struct Stream {
    head: Head,
    body: Body,
    transport: Transport,
    reading: Reading,
    /// How many bytes may still come.
    left: usize,
}

/// How far an answer has been read.
#[derive(Debug)]
struct Reading {
    /// Both are gone once the answer is over.
    machines: Option<(Parser, StreamDecoder)>,
    protocol: Protocol,
    view: View,
    /// What the answer failed by.
    failure: Option<Error>,
}

/// What is shown of the events so far.
#[derive(Debug)]
struct View {
    fold: Fold,
    names: Names,
    calls: Vec<UnifiedCall>,
    usage: Counts,
    events: VecDeque<StreamEvent>,
    has_reasoned: bool,
    /// The next piece of thinking stands apart from the one before.
    begins_piece: bool,
    is_finished: bool,
    /// Halves of characters at the ends of deltas, which wait for the other half.
    halves: Vec<(PartId, Text<'static>)>,
    losses: Report,
}

impl Stream {
    pub(crate) fn new(
        protocol: Protocol,
        transport: Transport,
        response: HttpResponse,
        prepared: Prepared,
    ) -> Self {
        let view = View::new(prepared);
        let machines = Some((Parser::default(), StreamDecoder::new(protocol)));
        let reading = Reading { machines, protocol, view, failure: None };
        let head = Head::new(response.headers);
        Self { head, body: response.body, transport, reading, left: ANSWER_BYTES_MAX }
    }

    /// What the headers say: they are there before the first piece.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// The next piece; none behind the end. After an error nothing follows.
    ///
    /// Nothing is lost where this is dropped before it is done: it can stand in a `select!`.
    pub async fn next(&mut self) -> Result<Option<StreamEvent>> {
        loop {
            if let Some(event) = self.reading.view.events.pop_front() {
                return Ok(Some(event));
            }
            if let Some(failure) = self.reading.failure.take() {
                return Err(failure);
            }
            if self.reading.machines.is_none() {
                return Ok(None);
            }
            match self.transport.read_piece(&mut self.body).await {
                Ok(Some(piece)) => self.push(&piece),
                Ok(None) => self.reading.end(),
                Err(error) => self.reading.break_off(error),
            }
        }
    }

    /// Everything that came so far, as the whole answer it stands for.
    pub fn into_answer(self) -> Answer {
        let View { fold, calls, usage, losses, .. } = self.reading.view;
        let response = fold.finish();
        let mut reply = UnifiedReply::of(&response);
        reply.tool_calls = calls;
        let reasoning = Reasoning::of(&response);
        Answer { reply, reasoning, usage, head: self.head, losses }
    }

    /// Reads on to the end.
    pub async fn finish(mut self) -> Result<Answer> {
        while self.next().await?.is_some() {}
        Ok(self.into_answer())
    }

    fn push(&mut self, piece: &[u8]) {
        match self.left.checked_sub(piece.len()) {
            Some(left) => {
                self.left = left;
                self.reading.push(piece, self.transport.key.as_ref());
            }
            None => self.reading.fail(too_large(ANSWER_BYTES_MAX)),
        }
    }
}

impl Reading {
    fn push(&mut self, piece: &[u8], key: Option<&sabir_backend::Secret>) {
        let Some((mut parser, decoder)) = self.machines.take() else { return };
        let mut decoder = Some(decoder);
        let (view, failure) = (&mut self.view, &mut self.failure);
        let pushed = parser.push(piece, &mut |frame| {
            let Some(machine) = decoder.take() else { return Ok(()) };
            decoder = Some(machine.step(&frame, &mut |event| {
                if let Some(error) = view.take(event, key) {
                    failure.get_or_insert(error);
                }
            })?);
            Ok(())
        });
        match (pushed, decoder) {
            (Err(error), _) => self.fail(unreadable(self.protocol, &error)),
            (Ok(()), Some(decoder)) if self.failure.is_none() => {
                self.machines = Some((parser, decoder));
            }
            (Ok(()), _) => {}
        }
    }

    /// The body is over: what the decoder held back comes now, or that the stream was cut off.
    fn end(&mut self) {
        let Some((parser, decoder)) = self.machines.take() else { return };
        let mut decoder = Some(decoder);
        let (view, failure) = (&mut self.view, &mut self.failure);
        let mut take = |event: Event<'_>| {
            if let Some(error) = view.take(event, None) {
                failure.get_or_insert(error);
            }
        };
        let ended = parser.end(&mut |frame| {
            let Some(machine) = decoder.take() else { return Ok(()) };
            decoder = Some(machine.step(&frame, &mut take)?);
            Ok(())
        });
        if let Some(decoder) = decoder {
            decoder.end(&mut take);
        }
        match ended {
            Err(error) => self.fail(unreadable(self.protocol, &error)),
            Ok(()) if self.failure.is_none() => self.view.end(),
            Ok(()) => {}
        }
    }

    /// The connection broke. An answer that had come to its end has ended nevertheless.
    fn break_off(&mut self, error: Error) {
        let is_ending = |(_, decoder): &(Parser, StreamDecoder)| decoder.is_ending();
        match self.view.is_finished || self.machines.as_ref().is_some_and(is_ending) {
            true => self.end(),
            false => self.fail(error),
        }
    }

    fn fail(&mut self, error: Error) {
        self.machines = None;
        self.failure.get_or_insert(error);
    }
}

impl View {
    fn new(prepared: Prepared) -> Self {
        Self {
            fold: Fold::default(),
            names: prepared.names,
            calls: Vec::new(),
            usage: Counts::default(),
            events: VecDeque::new(),
            has_reasoned: false,
            begins_piece: false,
            is_finished: false,
            halves: Vec::new(),
            losses: prepared.losses,
        }
    }

    /// Adds an event, and shows what there is to show of it. Of several candidates the first is shown.
    fn take(&mut self, event: Event<'_>, key: Option<&sabir_backend::Secret>) -> Option<Error> {
        match &event {
            Event::Fault(fault) => return Some(Error::of_fault(fault, None, key)),
            Event::Open(Open { candidate: 0, opening, .. }) => self.opens(opening),
            Event::Delta(part, Delta::Text(text)) => self.grows(*part, text.reborrow()),
            Event::Delta(_, Delta::NextPiece) => self.begins_piece = self.has_reasoned,
            Event::Usage(usage) => {
                self.usage.update(usage.counts);
                self.events.push_back(StreamEvent::Usage(self.usage));
            }
            Event::Finish { candidate: 0, .. } => self.is_finished = true,
            _ => {}
        }
        let closed = match &event {
            Event::Close(closed) => Some(closed.part),
            _ => None,
        };
        self.fold.step(event);
        closed.into_iter().for_each(|part| self.closes(part));
        None
    }

    fn opens(&mut self, opening: &Opening<'_>) {
        match opening {
            Opening::Reasoning(_) => self.begins_piece = self.has_reasoned,
            Opening::Whole(Content::Text(text) | Content::Refusal(text)) => {
                self.show_text(&text.to_str());
            }
            Opening::Whole(Content::Reasoning(reasoning)) => {
                for piece in &reasoning.texts {
                    self.begins_piece = self.has_reasoned;
                    self.show_reasoning(&piece.to_str());
                }
            }
            _ => {}
        }
    }

    /// Shows more of a part, but for half a character at its end.
    fn grows(&mut self, part: PartId, mut text: Text<'_>) {
        if let Some(waiting) = self.halves.iter().position(|(of, _)| *of == part) {
            let (_, mut half) = self.halves.swap_remove(waiting);
            half.push(&text);
            text = half;
        }
        if let Some(half) = text.take_half_at_end() {
            self.halves.push((part, half));
        }
        match self.shown(part) {
            Some(Content::Text(_) | Content::Refusal(_)) => self.show_text(&text.to_str()),
            Some(Content::Reasoning(_)) => self.show_reasoning(&text.to_str()),
            _ => {}
        }
    }

    fn closes(&mut self, part: PartId) {
        if let Some(Content::ToolCall(call)) = self.shown(part) {
            let call = UnifiedCall::of(call);
            let call = self.names.restore(call);
            self.calls.push(call.clone());
            self.events.push_back(StreamEvent::ToolCall(call));
        }
    }

    /// What a part of the first candidate holds.
    fn shown(&self, part: PartId) -> Option<&Content<'static>> {
        let (candidate, part) = self.fold.opened(part)?;
        (candidate == 0).then(|| part.content())
    }

    fn show_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.events.push_back(StreamEvent::Text(text.to_owned()));
        }
    }

    fn show_reasoning(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let before = if std::mem::take(&mut self.begins_piece) { BETWEEN_PIECES } else { "" };
        self.has_reasoned = true;
        self.events.push_back(StreamEvent::Reasoning(format!("{before}{text}")));
    }

    fn end(&mut self) {
        let reply = UnifiedReply::of(self.fold.so_far());
        self.events.push_back(StreamEvent::End(reply.finish_reason));
    }
}

fn unreadable(protocol: Protocol, error: &sabir_wire::Error) -> Error {
    let text = format!("the stream is none of {}: {error}", protocol.as_str());
    Error::new(ErrorKind::Malformed, text)
}

/// Content stays out of logs.
impl std::fmt::Debug for StreamEvent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => write!(f, "Text({} bytes)", text.len()),
            Self::Reasoning(text) => write!(f, "Reasoning({} bytes)", text.len()),
            Self::ToolCall(call) => write!(f, "{call:?}"),
            Self::Usage(counts) => write!(f, "{counts:?}"),
            Self::End(reason) => write!(f, "End({reason})"),
        }
    }
}

#[cfg(test)]
mod tests;
