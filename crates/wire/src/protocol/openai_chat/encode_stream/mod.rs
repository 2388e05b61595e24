//! Writing streams: chunks in the framing and order that clients of this protocol rely on.

mod choice;
mod part;

use std::collections::BTreeSet;

use crate::conversation::Usage;
use crate::index::Index;
use crate::json::Writer;
use crate::loss::{LossKind, Report};
use crate::place::Place;
use crate::protocol::machine::EncodeStream;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_response::Head;
use crate::protocol::openai_chat::encode_stream::choice::{Choice, Part};
use crate::protocol::openai_chat::fault;
use crate::protocol::openai_chat::types::SELF;
use crate::protocol::openai_chat::usage::USAGE;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Extras, NodeSemantics};
use crate::protocol::{
    AnswerContext, Delta, Event, Note, NoteAt, NoteKind, PartId, Protocol, Start,
};
use crate::sse;

/// Events in, frames out.
#[derive(Debug)]
pub(in super::super) struct Encoder<'a> {
    source: Protocol,
    context: AnswerContext<'a>,
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
    losses: Losses,
}

/// The report of a stream, in which the same thing stands once however many frames it fills.
#[derive(Debug)]
struct Losses {
    source: Protocol,
    report: Report,
    seen: BTreeSet<(NoteAt, LossKind, String)>,
}

impl Losses {
    /// Reports what `report` finds of what stands there, unless an earlier frame had it too.
    fn add(&mut self, at: NoteAt, report: impl FnOnce(&mut Reporter<'_>)) {
        if self.source == SELF {
            return;
        }
        let mut found = Report::default();
        report(&mut Reporter::new(self.source, SELF, &mut found));
        for loss in found.entries() {
            let below = loss.pointer.splitn(3, '/').nth(2).unwrap_or_default();
            if self.seen.insert((at, loss.kind, below.to_owned())) {
                self.report.lose(loss.pointer.clone(), loss.kind, loss.reason.clone());
            }
        }
    }
}

impl<'a> Encoder<'a> {
    pub(in super::super) fn new(source: Protocol, context: AnswerContext<'a>) -> Self {
        Self {
            source,
            context,
            head: String::new(),
            extras: Extras::default(),
            choices: Vec::new(),
            numbers: Index::default(),
            parts: Vec::new(),
            usage: None,
            failed: false,
            losses: Losses { source, report: Report::default(), seen: BTreeSet::new() },
        }
    }
}

impl EncodeStream for Encoder<'_> {
    fn step(&mut self, event: Event<'_>, out: &mut String) {
        if self.failed {
            return;
        }
        match event {
            Event::Start(start) => self.start(start, out),
            Event::Open(open) => self.open(open, out),
            Event::Delta(part, Delta::Text(text)) => self.delta(part, &text, out),
            Event::Delta(part, Delta::NextPiece) => self.next_piece(part, out),
            Event::Note(note) => self.note(note, out),
            Event::Close(closed) => self.close(closed, out),
            Event::Usage(usage) => self.count(usage),
            Event::Finish { candidate, place, finish } => {
                self.finish((candidate, place), &finish, out);
            }
            Event::Fault(fault) => {
                self.failed = true;
                sse::data_frame(out, |writer| fault::write_body(writer, &fault));
            }
        }
    }

    fn end(mut self: Box<Self>, out: &mut String) -> Report {
        self.report_usage();
        if !self.failed {
            self.begin_if_needed(out);
            let usage = self.usage.take().filter(|_| self.context.include_usage);
            if let Some(usage) = &usage {
                self.losses.add(NoteAt::Response, |reporter| USAGE.report(usage, reporter));
            }
            let stating = USAGE.stating(self.source);
            if usage.is_some() || !self.extras.is_empty() {
                self.frame(out, |writer| {
                    writer.array_field("choices", |_| {});
                    if let Some(usage) = &usage {
                        writer.key(USAGE.member);
                        USAGE.write(writer, usage, None, stating);
                    }
                });
            }
            out.push_str("data: [DONE]\n\n");
        }
        self.losses.report
    }
}

impl Encoder<'_> {
    fn is_same(&self) -> bool {
        self.source == SELF
    }

    fn start(&mut self, start: Start<'_>, out: &mut String) {
        let Start { id, model, created, service_tier, semantics } = &start;
        let (id, model, created, tier) =
            (id.as_ref(), model.as_ref(), created.as_ref(), service_tier.as_ref());
        let head = Head { id, model, created, tier };
        let mut writer = Writer::default();
        let mut object = Object::open(&mut writer, None);
        head.write(&mut object, "chat.completion.chunk", &self.context, self.source);
        object.close();
        let members = writer.into_string();
        self.head = members[1..members.len() - 1].to_owned();
        self.losses.add(NoteAt::Response, |reporter| {
            head.report(semantics.place(), &self.context, reporter);
            reporter.semantics(semantics);
        });
        self.keep_head(start.semantics);
        self.choice(0, out);
    }

    /// Keeps vendor fields of this protocol's own for the next chunk.
    fn keep_head(&mut self, semantics: NodeSemantics<'_>) {
        if let Some(extras) = semantics.extras().filter(|_| self.is_same()) {
            self.extras.update(extras.clone().into_owned());
        }
    }

    /// Writes one chunk: what every chunk begins with, then `rest`.
    fn frame(&mut self, out: &mut String, rest: impl FnOnce(&mut Writer)) {
        sse::data_frame(out, |writer| {
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
    fn begin_if_needed(&mut self, out: &mut String) {
        if self.head.is_empty() {
            self.start(Start::default(), out);
        }
    }

    fn note(&mut self, note: Note<'_>, out: &mut String) {
        match (note.at, note.kind) {
            (NoteAt::Response, NoteKind::Semantics(semantics)) => {
                self.losses.add(NoteAt::Response, |reporter| reporter.semantics(&semantics));
                self.keep_head(semantics);
            }
            (NoteAt::Candidate(index), NoteKind::Semantics(semantics)) => {
                self.note_choice(index, &semantics, out);
            }
            (NoteAt::Part(part), kind) => self.note_part(part, kind, out),
            // Nobody says such things of a whole answer.
            (NoteAt::Response | NoteAt::Candidate(_), _) => {}
        }
    }

    /// Takes a usage report; a later one adds to it. What is lost of them all is reported at the end.
    fn count(&mut self, usage: Usage<'_>) {
        match &mut self.usage {
            Some(known) => known.update(usage.into_owned()),
            None => self.usage = Some(usage.into_owned()),
        }
    }

    fn report_usage(&mut self) {
        if let Some(usage) = &self.usage {
            self.losses.add(NoteAt::Response, |reporter| reporter.usage(usage));
        }
    }

    fn place(&self, part: PartId) -> Place {
        self.parts.get(part.0 as usize).map(|part| part.place).unwrap_or_default()
    }
}
