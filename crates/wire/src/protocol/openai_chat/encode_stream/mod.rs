//! Writing streams: chunks in the framing and order that clients of this protocol rely on.

mod choice;
mod part;

use crate::conversation::Usage;
use crate::index::Index;
use crate::json::Writer;
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::machine::EncodeStream;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_response::{report_head, write_head};
use crate::protocol::openai_chat::encode_stream::choice::{Choice, Part};
use crate::protocol::openai_chat::fault;
use crate::protocol::openai_chat::types::SELF;
use crate::protocol::openai_chat::usage::USAGE;
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::stream_losses::StreamLosses;
use crate::protocol::{
    AnswerContext, Delta, Event, Note, NoteAt, NoteKind, PartId, Protocol, Start,
};
use crate::sse;

/// Events in, frames out.
#[derive(Debug)]
pub(in super::super) struct Encoder<'a> {
    source: Protocol,
    context: AnswerContext<'a>,
    /// The frames of the step that is being taken.
    out: String,
    /// The members that every chunk begins with, behind an opening brace.
    head: String,
    /// Vendor fields of this protocol's own answer, which the next chunk has.
    extras: Extras<'static>,
    choices: Vec<Choice>,
    /// Which of them has which number.
    numbers: Index<u32>,
    parts: Vec<Part>,
    usage: Option<Usage<'static>>,
    failed: bool,
    losses: StreamLosses,
}

impl<'a> Encoder<'a> {
    pub(in super::super) fn new(source: Protocol, context: AnswerContext<'a>) -> Self {
        Self {
            source,
            context,
            out: String::new(),
            head: String::new(),
            extras: Extras::default(),
            choices: Vec::new(),
            numbers: Index::default(),
            parts: Vec::new(),
            usage: None,
            failed: false,
            losses: StreamLosses::new(source, SELF),
        }
    }
}

impl EncodeStream for Encoder<'_> {
    fn step(&mut self, event: Event<'_>, out: &mut String) {
        std::mem::swap(&mut self.out, out);
        if !self.failed {
            self.event(event);
        }
        std::mem::swap(&mut self.out, out);
    }

    fn end(mut self: Box<Self>, out: &mut String) -> Report {
        std::mem::swap(&mut self.out, out);
        if let Some(usage) = &self.usage {
            self.losses.add(NoteAt::Response, |reporter| reporter.usage(usage));
        }
        if !self.failed {
            self.begin_if_needed();
            let usage = self.usage.take().filter(|_| self.context.include_usage);
            if let Some(usage) = &usage {
                self.losses.add(NoteAt::Response, |reporter| USAGE.report(usage, reporter));
            }
            let stating = USAGE.stating(self.source);
            if usage.is_some() || !self.extras.is_empty() {
                self.frame(|writer| {
                    writer.array_field("choices", |_| {});
                    if let Some(usage) = &usage {
                        writer.key(USAGE.member);
                        USAGE.write(writer, usage, None, stating);
                    }
                });
            }
            self.out.push_str("data: [DONE]\n\n");
        }
        std::mem::swap(&mut self.out, out);
        self.losses.into_report()
    }
}

impl Encoder<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(start) => self.start(start),
            Event::Open(open) => self.open(open),
            Event::Delta(part, Delta::Text(text)) => self.delta(part, &text),
            Event::Delta(part, Delta::NextPiece) => self.next_piece(part),
            Event::Note(note) => self.note(note),
            Event::Close(closed) => self.close(closed),
            // What is lost of all reports is reported at the end.
            Event::Usage(usage) => usage.add_to(&mut self.usage),
            Event::Finish { candidate, place, finish } => {
                self.finish((candidate, place), &finish);
            }
            Event::Fault(fault) => {
                self.failed = true;
                sse::data_frame(&mut self.out, |writer| fault::write_body(writer, &fault));
            }
        }
    }

    fn is_same(&self) -> bool {
        self.source == SELF
    }

    fn start(&mut self, start: Start<'_>) {
        let members = Writer::written(|writer| {
            let mut object = Object::open(writer, None);
            let parties = (&self.context, self.source);
            write_head(&mut object, "chat.completion.chunk", &start, parties);
            object.close();
        });
        self.head = members[1..members.len() - 1].to_owned();
        self.losses.add(NoteAt::Response, |reporter| {
            report_head(&start, start.semantics.place(), &self.context, reporter);
            reporter.semantics(&start.semantics);
        });
        self.keep_head(start.semantics);
        self.choice(0);
    }

    /// Keeps vendor fields of this protocol's own for the next chunk.
    fn keep_head(&mut self, semantics: NodeSemantics<'_>) {
        if let Some(extras) = semantics.extras().filter(|_| self.is_same()) {
            self.extras.update(extras.clone().into_owned());
        }
    }

    /// Writes one chunk: what every chunk begins with, then `rest`.
    fn frame(&mut self, rest: impl FnOnce(&mut Writer)) {
        sse::data_frame(&mut self.out, |writer| {
            writer.object(|writer| {
                writer.raw_members(&self.head);
                for extra in std::mem::take(&mut self.extras).within("") {
                    writer.field(&extra.key, &extra.json);
                }
                rest(writer);
            });
        });
    }

    /// The answers that had no event still begin.
    fn begin_if_needed(&mut self) {
        if self.head.is_empty() {
            self.start(Start::default());
        }
    }

    fn note(&mut self, note: Note<'_>) {
        match (note.at, note.kind) {
            (NoteAt::Response, NoteKind::Semantics(semantics)) => {
                self.losses.add(NoteAt::Response, |reporter| reporter.semantics(&semantics));
                self.keep_head(semantics);
            }
            (NoteAt::Candidate(index), NoteKind::Semantics(semantics)) => {
                self.note_choice(index, &semantics);
            }
            (NoteAt::Part(part), kind) => self.note_part(part, kind),
            // Nobody says such things of a whole answer.
            (NoteAt::Response | NoteAt::Candidate(_), _) => {}
        }
    }

    fn place(&self, part: PartId) -> Place {
        self.parts.get(part.0 as usize).map(|part| part.place).unwrap_or_default()
    }
}
