//! Writing streams: every frame is a response object whose parts go on where the last ones ended.

mod ending;
mod frame;
mod part;

use crate::conversation::{Finish, Usage};
use crate::fault::Fault;
use crate::json::Text;
use crate::limit::CANDIDATES_MAX;
use crate::loss::Report;
use crate::protocol::gemini::encode_response::{finish_fate, report_finish, report_usageless_tier};
use crate::protocol::gemini::fault::write_fault;
use crate::protocol::gemini::types::SELF;
use crate::protocol::machine::EncodeStream;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::stream_losses::StreamLosses;
use crate::protocol::tier::{self, Asking};
use crate::protocol::{AnswerContext, Event, Note, NoteAt, NoteKind, PartId, Protocol, Start};
use crate::sse;

use crate::protocol::gemini::usage::USAGE;
use ending::CandidateEnd;
use part::OpenPart;

/// Events in, frames out.
///
/// Text goes out at once. A call goes out whole, since the protocol has no pieces of one, and the last frame waits for
/// the end, since finish reason and usage stand in it together.
#[derive(Debug)]
pub(in super::super) struct Encoder<'a> {
    source: Protocol,
    context: AnswerContext<'a>,
    losses: StreamLosses,
    id: Option<Text<'static>>,
    model: Option<Text<'static>>,
    tier: Option<Text<'static>>,
    semantics: NodeSemantics<'static>,
    /// The parts that are open, or whose sources may still come.
    parts: Vec<OpenPart>,
    /// Those that are closed and have log probabilities which have not gone out.
    late: Vec<PartId>,
    endings: Vec<CandidateEnd>,
    usage: Option<Usage<'static>>,
    failed: bool,
}

impl<'a> Encoder<'a> {
    pub(in super::super) fn new(source: Protocol, context: AnswerContext<'a>) -> Self {
        Self {
            source,
            context,
            losses: StreamLosses::new(source, SELF),
            id: None,
            model: None,
            tier: None,
            semantics: NodeSemantics::default(),
            parts: Vec::new(),
            late: Vec::new(),
            endings: Vec::new(),
            usage: None,
            failed: false,
        }
    }
}

impl EncodeStream for Encoder<'_> {
    fn step(&mut self, event: Event<'_>, out: &mut String) {
        if self.failed {
            return;
        }
        match event {
            Event::Start(start) => self.start(start),
            Event::Open(open) => self.open(open, out),
            Event::Delta(part, delta) => self.delta(part, delta, out),
            Event::Note(note) => self.note(note),
            Event::Close(closed) => self.close(closed, out),
            Event::Usage(usage) => usage.add_to(&mut self.usage),
            Event::Finish { candidate, place, finish } => self.finish(candidate, place, finish),
            Event::Fault(fault) => self.fault(&fault, out),
        }
    }

    fn end(mut self: Box<Self>, out: &mut String) -> Report {
        if self.failed {
            return self.losses.into_report();
        }
        if let Some(usage) = &self.usage {
            self.losses.add(NoteAt::Response, |reporter| {
                reporter.usage(usage);
                USAGE.report(usage, reporter);
            });
        } else if self.tier.is_some() {
            let place = self.semantics.place();
            self.losses.add(NoteAt::Response, |reporter| report_usageless_tier(reporter, place));
        }
        (0..self.endings.len() as u32).for_each(|candidate| self.release(candidate, out));
        if self.endings.iter().any(CandidateEnd::is_finished) {
            self.last_frame(out);
        }
        self.losses.into_report()
    }
}

impl Encoder<'_> {
    fn is_same(&self) -> bool {
        self.source == SELF
    }

    fn start(&mut self, start: Start<'_>) {
        let Start { id, model, created: _, service_tier, semantics } = start.into_owned();
        let asking = Asking::Answer(semantics.place());
        self.losses.add(NoteAt::Response, |reporter| reporter.semantics(&semantics));
        let seed = (!self.is_same()).then(|| self.context.seed.clone().into_owned());
        self.id = id.or(seed);
        self.model = self.context.model.clone().map(Text::into_owned).or(model);
        if let Some(tier) = service_tier {
            self.losses.add(NoteAt::Response, |reporter| tier::report(&tier, asking, reporter));
            self.tier = tier::word(&tier, asking, self.source, SELF).map(Text::into_owned);
        }
        self.semantics = semantics;
    }

    fn note(&mut self, note: Note<'_>) {
        let Note { at, kind } = note;
        match (at, kind) {
            (NoteAt::Response, NoteKind::Semantics(semantics)) => {
                self.losses.add(NoteAt::Response, |reporter| reporter.semantics(&semantics));
                self.semantics.merge(semantics.into_owned());
            }
            (NoteAt::Candidate(candidate), NoteKind::Semantics(semantics)) => {
                self.losses
                    .add(NoteAt::Candidate(candidate), |reporter| reporter.semantics(&semantics));
                self.ending(candidate).semantics.merge(semantics.into_owned());
            }
            (NoteAt::Part(part), NoteKind::Semantics(semantics)) => self.add(part, semantics),
            (NoteAt::Part(part), NoteKind::Citation(citation)) => self.cite(part, citation),
            (NoteAt::Part(part), NoteKind::Logprobs(more)) => self.weigh(part, &more),
            (NoteAt::Response | NoteAt::Candidate(_), _) => {}
        }
    }

    fn finish(&mut self, candidate: u32, place: crate::Place, finish: Finish<'_>) {
        let CandidateEnd { calls, refused, .. } = *self.ending(candidate);
        let fate = finish_fate(&finish, calls, refused);
        self.losses.add_once(|reporter| {
            reporter.finish(place, &finish);
            if let Some(change) = fate {
                report_finish(reporter, (place, &finish), change);
            }
        });
        self.ending(candidate).finish = Some(finish.into_owned());
    }

    fn fault(&mut self, fault: &Fault<'_>, out: &mut String) {
        self.failed = true;
        sse::guarded_frame(out, |writer| write_fault(writer, fault));
    }

    fn ending(&mut self, candidate: u32) -> &mut CandidateEnd {
        let index = (candidate as usize).min(CANDIDATES_MAX - 1);
        while self.endings.len() <= index {
            self.endings.push(CandidateEnd::default());
        }
        &mut self.endings[index]
    }
}
