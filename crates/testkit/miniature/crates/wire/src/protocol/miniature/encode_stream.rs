//! Writing streams: each frame is a piece of the answer.

use super::encode_response::{report_losses, write_end, write_usage};
use super::fault::write_fault;
use super::types::SELF;
use crate::json::Text;
use crate::loss::Report;
use crate::protocol::machine::EncodeStream;
use crate::protocol::{AnswerContext, Delta, Event, Fold, Note, NoteAt, NoteKind, Open, Opening, PartId, Protocol, Start};
use crate::protocol::event::Sequence;
use crate::protocol::reporter::Reporter;
use crate::protocol::object::Object;
use crate::sse;

/// Events in, frames out.
#[derive(Debug)]
pub(in super::super) struct Encoder<'a> {
    source: Protocol,
    context: AnswerContext<'a>,
    sequence: Sequence,
    /// The whole answer, for its end and for what is lost of it.
    fold: Fold,
    /// The texts of the first candidate.
    texts: Vec<PartId>,
    has_failed: bool,
}

impl<'a> Encoder<'a> {
    pub(in super::super) fn new(source: Protocol, context: AnswerContext<'a>) -> Self {
        let (sequence, fold) = (Sequence::default(), Fold::default());
        Self { source, context, sequence, fold, texts: Vec::new(), has_failed: false }
    }
}

impl EncodeStream for Encoder<'_> {
    fn step(&mut self, event: Event<'_>, out: &mut String) {
        self.fold.step(event.clone());
        let mut sequence = std::mem::take(&mut self.sequence);
        sequence.step(event, &mut |event| self.write(event, out));
        self.sequence = sequence;
    }

    fn end(mut self: Box<Self>, out: &mut String) -> Report {
        let mut sequence = std::mem::take(&mut self.sequence);
        sequence.flush(&mut |event| self.write(event, out));
        let mut report = Report::default();
        let response = self.fold.finish();
        if !self.has_failed {
            let finish = response.candidates.first().and_then(|first| first.finish.as_ref());
            sse::data_frame(out, |writer| {
                let mut frame = Object::open(writer, None);
                write_end(&mut frame, finish, self.source);
                write_usage(&mut frame, response.usage.as_ref(), self.source);
                frame.close();
            });
        }
        report_losses(&mut Reporter::new(self.source, SELF, &mut report), &response);
        report
    }
}

impl Encoder<'_> {
    fn write(&mut self, event: Event<'_>, out: &mut String) {
        match event {
            Event::Start(start) => self.start(&start, out),
            Event::Note(Note { at: NoteAt::Response, kind: NoteKind::Semantics(own) })
                if self.source == SELF =>
            {
                sse::data_frame(out, |writer| {
                    Object::open(writer, own.extras().map(|extras| (extras, ""))).close();
                });
            }
            Event::Open(Open { part, candidate: 0, opening, .. }) => match opening {
                Opening::Text | Opening::Refusal => self.texts.push(part),
                Opening::Reasoning(_) | Opening::ToolCall { .. } | Opening::Whole(_) => {}
            },
            Event::Delta(part, Delta::Text(text)) if self.texts.contains(&part) => write_delta(&text, out),
            Event::Fault(fault) => {
                self.has_failed = true;
                sse::data_frame(out, |writer| write_fault(writer, &fault));
            }
            // They are emitted at the end, or have been reported.
            Event::Open(_)
            | Event::Delta(..)
            | Event::Note(_)
            | Event::Close(_)
            | Event::Usage(_)
            | Event::Finish { .. } => {}
        }
    }

    fn start(&self, start: &Start<'_>, out: &mut String) {
        sse::data_frame(out, |writer| {
            let extras = start.semantics.extras().filter(|_| self.source == SELF);
            let mut frame = Object::open(writer, extras.map(|extras| (extras, "")));
            frame.optional("id", start.id.as_ref());
            frame.optional("model", self.context.model.as_ref().or(start.model.as_ref()));
            frame.close();
        });
    }
}

fn write_delta(text: &Text<'_>, out: &mut String) {
    sse::data_frame(out, |writer| {
        let mut frame = Object::open(writer, None);
        frame.field("text", text);
        frame.close();
    });
}
