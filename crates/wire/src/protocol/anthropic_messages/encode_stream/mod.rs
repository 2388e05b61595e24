//! Writing streams.

mod frames;
mod part;

use std::collections::{HashMap, HashSet};

use crate::conversation::{Finish, FinishKind, Usage};
use crate::fault::Fault;
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::anthropic_messages::encode_response::Answering;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::anthropic_messages::usage::{USAGE, report_absent_usage, report_early_usage};
use crate::protocol::event::Sequence;
use crate::protocol::machine::EncodeStream;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{
    AnswerContext, Event, Field, Note, NoteAt, NoteKind, PartId, Protocol, Start,
};

/// Events in, frames out.
#[derive(Debug)]
pub(in super::super) struct Encoder<'a> {
    /// Blocks may not overlap here.
    sequence: Sequence,
    writing: Writing<'a>,
}

/// A stream in the making, one part at a time.
#[derive(Debug)]
struct Writing<'a> {
    source: Protocol,
    context: AnswerContext<'a>,
    /// The frames of the step that is being taken.
    out: String,
    report: Report,
    state: State,
    /// A beginning that waits for the usage that comes with it.
    start: Option<Start<'static>>,
    usage: Option<Usage<'static>>,
    /// How the answer ended, and where that was stated.
    finish: Option<(Finish<'static>, Place)>,
    /// What was stated about the answer after it began.
    late: NodeSemantics<'static>,
    /// The parts of answers beside the first.
    others: HashSet<PartId>,
    other_answers: Vec<u32>,
    current: Option<part::Current>,
    /// Sealed thoughts of another vendor that wait for what they lead to.
    sealed: Vec<NodeSemantics<'static>>,
    blocks: u32,
    answering: Answering,
    /// Where the parts came from, in case something is stated about them when they are complete.
    places: HashMap<PartId, Place>,
    /// What is reported once of a part, however often it comes.
    reported: HashSet<(Field, Place)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Answering,
    Over,
}

impl<'a> Encoder<'a> {
    pub(in super::super) fn new(source: Protocol, context: AnswerContext<'a>) -> Self {
        let writing = Writing {
            source,
            context,
            out: String::new(),
            report: Report::default(),
            state: State::Waiting,
            start: None,
            usage: None,
            finish: None,
            late: NodeSemantics::default(),
            others: HashSet::new(),
            other_answers: Vec::new(),
            current: None,
            sealed: Vec::new(),
            blocks: 0,
            answering: Answering::default(),
            places: HashMap::new(),
            reported: HashSet::new(),
        };
        Self { sequence: Sequence::default(), writing }
    }
}

impl EncodeStream for Encoder<'_> {
    fn step(&mut self, event: Event<'_>, out: &mut String) {
        let Self { sequence, writing } = self;
        if writing.is_wanted(&event) {
            std::mem::swap(&mut writing.out, out);
            sequence.step(event, &mut |event| writing.event(event));
            std::mem::swap(&mut writing.out, out);
        }
    }

    fn end(mut self: Box<Self>, out: &mut String) -> Report {
        let Self { sequence, writing } = &mut *self;
        std::mem::swap(&mut writing.out, out);
        sequence.flush(&mut |event| writing.event(event));
        writing.end();
        std::mem::swap(&mut writing.out, out);
        self.writing.report
    }
}

impl Writing<'_> {
    fn is_own(&self) -> bool {
        self.source == SELF
    }

    fn reporter(&mut self) -> Reporter<'_> {
        Reporter::new(self.source, SELF, &mut self.report)
    }

    /// Whether an event belongs to the first answer; the others have no place in this protocol.
    fn is_wanted(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Open(open) if open.candidate > 0 => {
                self.others.insert(open.part);
                self.report_answer(open.candidate, open.semantics.place());
                false
            }
            Event::Finish { candidate, place, .. } => {
                self.report_answer(*candidate, *place);
                *candidate == 0
            }
            Event::Note(Note { at: NoteAt::Candidate(candidate), .. }) => *candidate == 0,
            event => event.part().is_none_or(|part| !self.others.contains(&part)),
        }
    }

    /// Reports an answer beside the first, once.
    fn report_answer(&mut self, candidate: u32, place: Place) {
        if candidate > 0 && !self.other_answers.contains(&candidate) {
            self.other_answers.push(candidate);
            let place = place.of_candidate();
            self.reporter().dropped(place, "Messages returns one answer");
        }
    }

    fn event(&mut self, event: Event<'_>) {
        if self.state == State::Over {
            return self.report_after(event);
        }
        match event {
            Event::Start(start) => {
                self.start = Some(start.into_owned());
                if !self.is_own() {
                    self.flush_start();
                }
            }
            Event::Usage(usage) => {
                usage.add_to(&mut self.usage);
                self.flush_start();
                if self.has_ended_well() {
                    self.close();
                }
            }
            Event::Finish { finish, place, .. } => {
                self.flush_start();
                self.finish = Some((finish.into_owned(), place));
                // Other vendors may send the usage after the end. Fixture `stream/usage/usage-after-finish`.
                if self.is_own() {
                    self.close();
                }
            }
            Event::Fault(fault) => {
                self.flush_start();
                self.fail(&fault);
            }
            Event::Open(open) => {
                self.flush_start();
                self.places.insert(open.part, open.semantics.place());
                self.open(open);
            }
            Event::Delta(part, delta) => self.grow(part, delta),
            Event::Note(note) => {
                self.flush_start();
                self.note(note);
            }
            Event::Close(closed) => self.close_part(closed),
        }
    }

    /// Reports what comes after the end was emitted.
    fn report_after(&mut self, event: Event<'_>) {
        match event {
            Event::Usage(usage) => self.reporter().usage(&usage),
            Event::Note(Note { kind: NoteKind::Semantics(semantics), .. }) => {
                self.reporter().semantics(&semantics);
            }
            _ => {}
        }
    }

    /// Whether the answer has ended, and not by a failure that is yet to be emitted.
    fn has_ended_well(&self) -> bool {
        self.finish.as_ref().is_some_and(|(finish, _)| finish.kind != FinishKind::Failed)
    }

    /// Writes the beginning, if it is still owed.
    fn flush_start(&mut self) {
        if self.state != State::Waiting {
            return;
        }
        self.state = State::Answering;
        let start = self.start.take().unwrap_or_default();
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        reporter.semantics(&start.semantics);
        let estimate = match (&self.usage, self.context.estimated_input) {
            (None, Some(input)) => {
                report_early_usage(&mut reporter);
                Some(Usage::of_input(input))
            }
            (Some(_), _) | (None, None) => None,
        };
        let usage = self.usage.as_ref().or(estimate.as_ref());
        frames::start(&mut self.out, &start, &self.context, (usage, &mut reporter));
    }

    fn note(&mut self, note: Note<'_>) {
        match (note.at, note.kind) {
            (NoteAt::Part(part), NoteKind::Citation(citation)) => self.cite(part, &citation),
            (NoteAt::Part(part), NoteKind::Semantics(semantics)) => {
                self.report_late(&semantics);
                self.learn(part, semantics);
            }
            (at, NoteKind::Logprobs(logprobs)) => {
                self.report_once(at, Field::PartLogprobs, logprobs.place());
            }
            (at, NoteKind::Citation(citation)) => {
                self.report_once(at, Field::Citations, citation.place());
            }
            (NoteAt::Response | NoteAt::Candidate(_), NoteKind::Semantics(semantics)) => {
                if self.is_own() {
                    self.late.merge(semantics.into_owned());
                } else {
                    self.reporter().semantics(&semantics);
                }
            }
        }
    }

    /// Reports a field of a part that never arrives, once, where it stands if that is known.
    fn report_once(&mut self, at: NoteAt, field: Field, stands: Option<Place>) {
        let place = match at {
            NoteAt::Part(part) => self.places.get(&part).copied(),
            NoteAt::Response | NoteAt::Candidate(_) => None,
        };
        let place = place.unwrap_or_default();
        if !self.reported.insert((field, place)) {
            return;
        }
        let reason = "the stream is past the point where it could be sent";
        match stands {
            Some(stands) => self.reporter().dropped(stands, reason),
            None => self.reporter().dropped((place, field), reason),
        }
    }

    /// Writes the end of the answer, now that all is known.
    fn close(&mut self) {
        let Some((finish, place)) = self.finish.take() else { return };
        self.state = State::Over;
        self.report_sealed();
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        reporter.finish(place, &finish);
        match &self.usage {
            Some(usage) => {
                reporter.usage(usage);
                USAGE.report(usage, &mut reporter);
            }
            None => report_absent_usage(Place::default(), &mut reporter),
        }
        self.write_end(&finish, place);
    }

    fn fail(&mut self, fault: &Fault<'_>) {
        self.state = State::Over;
        // An end that was emitted before and waits for the usage is none any more.
        self.finish = None;
        // Fixture `stream/thinking/sealed-thinking-before-a-failure`.
        self.report_sealed();
        frames::error(&mut self.out, fault);
    }

    fn end(&mut self) {
        if self.start.is_some() {
            self.flush_start();
        }
        if self.has_ended_well() {
            self.close();
        }
        if self.state == State::Answering {
            self.fail(&Fault::truncated());
        }
    }
}
