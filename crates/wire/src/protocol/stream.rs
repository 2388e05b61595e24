//! Streams of any protocol: frames read into events, events written as frames.

use crate::error::Result;
use crate::fault::{Fault, FaultKind};
use crate::json::Text;
use crate::limit::OPEN_PARTS_MAX;
use crate::loss::Report;
use crate::protocol::estimate::UsageEstimate;
use crate::protocol::handing::{Handing, Rule};
use crate::protocol::machine::{DecodeStream, EncodeStream};
use crate::protocol::{AnswerContext, Delta, Event, Open, PartId, Protocol};
use crate::sse::Frame;

/// Reads a stream of one protocol, frame by frame; a step consumes its state and returns the next.
#[derive(Debug)]
pub struct StreamDecoder {
    machine: Box<dyn DecodeStream>,
}

impl StreamDecoder {
    pub fn new(protocol: Protocol) -> Self {
        Self { machine: (protocol.codec().stream_decoder)() }
    }

    /// Reads one frame. A frame that cannot be read is an error and ends the stream.
    pub fn step<'f>(mut self, frame: &Frame<'f>, emit: &mut dyn FnMut(Event<'f>)) -> Result<Self> {
        self.machine.step(frame, emit)?;
        Ok(self)
    }

    /// Whether the end of the answer has been read and is held back, since more may come before it; [`StreamDecoder::end`]
    /// tells it.
    pub fn is_ending(&self) -> bool {
        self.machine.is_ending()
    }

    /// Ends the stream: no frame follows. A stream that had not reached its end emits a fault of kind `Truncated`.
    pub fn end(self, emit: &mut dyn FnMut(Event<'static>)) {
        self.machine.end(emit);
    }
}

/// Writes a stream of one protocol, event by event.
#[derive(Debug)]
pub struct StreamEncoder<'a> {
    machine: Box<dyn EncodeStream + 'a>,
    /// Where the protocol signs thinking alone; boxed, because an encoder moves with every event.
    handing: Option<Box<Handing>>,
    /// How many parts are open; a hostile stream could open them without end.
    open: usize,
    /// Halves of characters at the ends of deltas, which wait for the other half: no client can read one alone.
    halves: Vec<(PartId, Text<'static>)>,
    is_over: bool,
    /// For counts that nobody states; boxed for the same reason.
    estimate: Option<Box<UsageEstimate>>,
    parties: (Protocol, Protocol),
}

impl<'a> StreamEncoder<'a> {
    /// An encoder into `protocol` of a stream that comes in `source`'s.
    pub fn new(protocol: Protocol, source: Protocol, context: AnswerContext<'a>) -> Self {
        let parties = (source, protocol);
        let estimate = UsageEstimate::of(&context, parties).filter(|_| context.include_usage);
        let estimate = estimate.map(Box::new);
        let machine = (protocol.codec().stream_encoder)(source, context);
        let handing = Rule::of(source, protocol).map(|rule| Box::new(Handing::new(rule)));
        Self { machine, handing, open: 0, halves: Vec::new(), is_over: false, estimate, parties }
    }

    /// Writes what an event makes of the stream, as complete SSE frames. Nothing follows a fault.
    pub fn step(mut self, mut event: Event<'_>, out: &mut String) -> Self {
        if self.is_over {
            return self;
        }
        if let Some(estimate) = &mut self.estimate {
            estimate.event(&event);
            if let Event::Usage(usage) = &mut event {
                estimate.complete(usage);
            }
        }
        match event {
            Event::Delta(part, Delta::Text(text)) => self.grow(part, text, out),
            Event::Open(open) => self.open(open, out),
            Event::Close(closed) => {
                self.open = self.open.saturating_sub(1);
                self.let_half_go(closed.part, out);
                self.pass(Event::Close(closed), out);
            }
            Event::Finish { .. } => {
                // Behind its end such an answer states no more of its usage.
                if !self.parties.0.conventions().has_late_usage {
                    self.count_owed(out);
                }
                self.pass(event, out);
            }
            event => {
                self.is_over = matches!(event, Event::Fault(_));
                self.pass(event, out);
            }
        }
        self
    }

    /// Passes a delta on, without half a character at its end and with the half that was left over before it.
    fn grow(&mut self, part: PartId, mut text: Text<'_>, out: &mut String) {
        if let Some(waiting) = self.halves.iter().position(|(of, _)| *of == part) {
            let (_, mut half) = self.halves.swap_remove(waiting);
            half.push(&text);
            text = half;
        }
        if let Some(half) = text.take_half_at_end() {
            self.halves.push((part, half));
            if text.is_empty() {
                return;
            }
        }
        self.pass(Event::Delta(part, Delta::Text(text)), out);
    }

    /// Passes an event on to the protocol's own encoder.
    fn pass(&mut self, event: Event<'_>, out: &mut String) {
        let Self { machine, handing, .. } = self;
        match handing {
            Some(handing) => handing.step(event, &mut |event| machine.step(event, out)),
            None => machine.step(event, out),
        }
    }

    /// Passes on the counts that an answer lacks which has ended.
    fn count_owed(&mut self, out: &mut String) {
        if let Some(usage) = self.estimate.as_mut().and_then(|it| it.owed()) {
            self.pass(Event::Usage(usage), out);
        }
    }

    /// Passes on a half whose other half never came.
    fn let_half_go(&mut self, part: PartId, out: &mut String) {
        if let Some(waiting) = self.halves.iter().position(|(of, _)| *of == part) {
            let (_, half) = self.halves.swap_remove(waiting);
            self.pass(Event::Delta(part, Delta::Text(half)), out);
        }
    }

    /// Counts the open parts and lets a stream fail that has too many.
    fn open(&mut self, open: Open<'_>, out: &mut String) {
        if self.open < OPEN_PARTS_MAX {
            self.open += 1;
            return self.pass(Event::Open(open), out);
        }
        self.is_over = true;
        let message = format!("expected at most {OPEN_PARTS_MAX} parts open at once");
        self.pass(Event::Fault(Fault::new(FaultKind::Internal, message)), out);
    }

    /// Writes what is still owed at the end of the stream, and returns the report.
    pub fn end(mut self, out: &mut String) -> Report {
        self.count_owed(out);
        let Self { machine, handing, .. } = &mut self;
        if let Some(handing) = handing {
            handing.end(&mut |event| machine.step(event, out));
        }
        let mut report = self.machine.end(out);
        if let Some(estimate) = self.estimate {
            estimate.report(self.parties, &mut report);
        }
        report
    }
}
