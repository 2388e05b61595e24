//! Writing streams. Deltas leave at once; the text is kept too, because every part and the whole answer are repeated
//! when they are complete.

mod done;
mod item;
mod thought;

use std::collections::HashSet;

use crate::conversation::{Candidate, Finish, FinishKind, Message, Part, Response, Role, Usage};
use crate::fault::Fault;
use crate::json::{Json, Writer};
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::machine::EncodeStream;
use crate::protocol::openai_responses::encode_response::{
    EMPTY, End, ResponseEnd, is_call, is_refusal, report_finish, response_id, write_response,
};
use crate::protocol::openai_responses::encode_stream::item::OutItem;
use crate::protocol::openai_responses::fault::{message, own_code, response_code};
use crate::protocol::openai_responses::types::SELF;
use crate::protocol::openai_responses::usage::USAGE;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Extra, Extras, NodeSemantics};
use crate::protocol::tier::Asking;
use crate::protocol::{
    AnswerContext, Event, Note, NoteAt, NoteKind, PartId, Protocol, Start, tier,
};
use crate::sse::named_frame;

/// How many events have told of an answer in the background before its provider begins.
const EVENTS_BEFORE: u64 = 2;

/// Events in, frames out.
#[derive(Debug)]
pub(in super::super) struct Encoder<'a> {
    source: Protocol,
    context: AnswerContext<'a>,
    /// The frames of the step that is being taken.
    out: String,
    report: Report,
    sequence: u64,
    stage: Stage,
    start: Start<'static>,
    items: Vec<OutItem>,
    /// The items that were not complete when the last one began, and that one.
    unfinished: Vec<usize>,
    /// Where each part went, by its number.
    places: Vec<Placed>,
    /// The ids of the calls so far.
    taken: HashSet<String>,
    /// Parts that have no place here; the report names them.
    left_out: Vec<Part<'static>>,
    /// Whether something was left out behind the last item, so that no text behind it continues that.
    interrupted: bool,
    usage: Option<Usage<'static>>,
    finish: Option<Finish<'static>>,
    fault: Option<Fault<'static>>,
    /// Notes on the answer as one of several.
    candidate: NodeSemantics<'static>,
    /// The answers beside the first, which the report names.
    other_answers: Vec<u32>,
}

/// An item, and the place of a part in it.
type ItemPart = (usize, usize);

/// Where a part went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Placed {
    At(ItemPart),
    /// Among those left out, until it says something.
    Waiting(usize),
    /// It has no place here.
    Nowhere,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Before,
    Started,
    /// The terminal event has been written.
    Ended,
}

impl<'a> Encoder<'a> {
    pub(in super::super) fn new(source: Protocol, context: AnswerContext<'a>) -> Self {
        Self {
            source,
            context,
            out: String::new(),
            report: Report::default(),
            sequence: 0,
            stage: Stage::Before,
            start: Start::default(),
            items: Vec::new(),
            unfinished: Vec::new(),
            places: Vec::new(),
            taken: HashSet::new(),
            left_out: Vec::new(),
            interrupted: false,
            usage: None,
            finish: None,
            fault: None,
            candidate: NodeSemantics::default(),
            other_answers: Vec::new(),
        }
    }
}

impl EncodeStream for Encoder<'_> {
    fn step(&mut self, event: Event<'_>, out: &mut String) {
        std::mem::swap(&mut self.out, out);
        if self.stage != Stage::Ended {
            self.event(event);
        }
        std::mem::swap(&mut self.out, out);
    }

    fn end(mut self: Box<Self>, out: &mut String) -> Report {
        std::mem::swap(&mut self.out, out);
        self.begin_if_needed();
        if self.stage != Stage::Ended {
            self.finish_items();
            self.terminal();
        }
        self.report_whole();
        std::mem::swap(&mut self.out, out);
        self.report
    }
}

impl Encoder<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(start) => self.begin(start.into_owned()),
            Event::Open(open) => {
                self.begin_if_needed();
                self.open(open.into_owned());
            }
            Event::Delta(part, delta) => self.grow(part, delta),
            Event::Note(note) => self.note(note),
            Event::Close(closed) => self.close(closed.part, closed.semantics.into_owned()),
            Event::Usage(usage) => usage.add_to(&mut self.usage),
            Event::Finish { candidate: 0, place, finish } => {
                self.finish((finish.into_owned(), place));
            }
            Event::Finish { candidate, place, .. } => self.report_answer(candidate, place),
            Event::Fault(fault) => {
                self.begin_if_needed();
                self.fail(fault.into_owned());
            }
        }
    }

    fn is_same(&self) -> bool {
        self.source == SELF
    }

    /// Writes one frame with the next sequence number.
    fn frame(&mut self, kind: &str, members: impl FnOnce(&mut Writer)) {
        let sequence = self.sequence;
        self.sequence += 1;
        named_frame(&mut self.out, kind, |writer| {
            writer.object(|writer| {
                writer.field("type", kind);
                writer.field("sequence_number", &sequence);
                members(writer);
            });
        });
    }

    fn begin_if_needed(&mut self) {
        if self.stage == Stage::Before {
            self.begin(Start::default());
        }
    }

    fn begin(&mut self, mut start: Start<'static>) {
        if self.stage != Stage::Before {
            return;
        }
        self.stage = Stage::Started;
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        if let Some(tier) = &start.service_tier {
            tier::report(tier, Asking::Answer(start.semantics.place()), &mut reporter);
        }
        start.id = Some(response_id(&reporter, &self.context, start.id.as_ref()).into_owned());
        self.start = start;
        let ending = ResponseEnd::with("in_progress");
        let end = End { ending, usage: None, output: Some(&EMPTY) };
        let response = self.response(&end);
        let mut kinds: &[&str] = &["response.created", "response.in_progress"];
        if self.context.in_background {
            kinds = &kinds[1..];
            self.sequence = EVENTS_BEFORE;
        }
        for kind in kinds {
            self.frame(kind, |writer| writer.field("response", &response));
        }
    }

    /// The response object as it stands.
    fn response(&self, end: &End<'_>) -> Json<'static> {
        let mut unread = Report::default();
        let reporter = Reporter::new(self.source, SELF, &mut unread);
        let start = (&self.start, &self.start.semantics, end);
        Json::written(|writer| write_response(writer, &reporter, &self.context, start))
    }

    fn note(&mut self, note: Note<'_>) {
        let Note { at, kind } = note.into_owned();
        match (at, kind) {
            (NoteAt::Response, NoteKind::Semantics(later)) if self.is_same() => {
                self.start.semantics.merge(later);
            }
            (NoteAt::Response, NoteKind::Semantics(later)) => {
                Reporter::new(self.source, SELF, &mut self.report).semantics(&later);
            }
            (NoteAt::Candidate(0), NoteKind::Semantics(later)) => self.note_answer(later),
            (NoteAt::Part(part), kind) => self.note_part(part, kind),
            (NoteAt::Response | NoteAt::Candidate(_), _) => {}
        }
    }

    /// Keeps the notes on the answer, and reports its undeclared fields where each came first.
    fn note_answer(&mut self, later: NodeSemantics<'static>) {
        let mut news = Extras::default();
        for extra in later.extras().into_iter().flat_map(Extras::iter) {
            let known = self.candidate.extras_mut().find(&extra.scope, &extra.key);
            if known.is_none_or(Extra::is_void) {
                news.keep(extra.scope.clone(), extra.key.clone(), extra.json.clone());
            }
        }
        Reporter::new(self.source, SELF, &mut self.report).extras(later.place(), &news);
        self.candidate.merge(later);
    }

    fn finish(&mut self, (finish, place): (Finish<'static>, Place)) {
        if self.candidate.place().is_root() {
            self.candidate = std::mem::take(&mut self.candidate).stated_of(place);
        }
        let failed = finish.kind == FinishKind::Failed;
        self.finish = Some(finish);
        if failed {
            // The fault that follows says why.
            return;
        }
        self.finish_items();
        if self.usage.is_some() && !self.source.conventions().has_late_usage {
            self.terminal();
        }
    }

    /// A failure. Items that are not complete stay so: a client must not act on half a call. What came of them is emitted with
    /// the failure. Fixture `stream/tools/truncated-in-tool-arguments`.
    fn fail(&mut self, fault: Fault<'static>) {
        for index in 0..self.items.len() {
            if self.items[index].is_closed() && !self.is_half(index) {
                self.finish_item(index);
            } else {
                self.break_item(index);
            }
        }
        if self.finish.is_none() {
            let code = match own_code(&fault) {
                Some(code) => code.clone(),
                None => response_code(&fault),
            };
            self.frame("error", |writer| {
                writer.field("code", &code);
                writer.field("message", &message(&fault));
                writer.field("param", &fault.param);
            });
        }
        self.fault = Some(fault);
        self.terminal();
    }

    fn terminal(&mut self) {
        self.stage = Stage::Ended;
        let items = self.items.iter().filter_map(|item| item.json.as_ref());
        let output = Json::of_list(|list| items.for_each(|item| list.value(item)));
        let ending = self.ending();
        let kind = ending.event();
        let end = End { ending, usage: self.usage.as_ref(), output: Some(&output) };
        let response = self.response(&end);
        self.frame(kind, |writer| writer.field("response", &response));
    }

    /// How the answer ends, as far as is known.
    fn ending(&self) -> ResponseEnd<'_> {
        let is_refusal_stated = |finish: &Finish<'_>| finish.kind == FinishKind::Refusal;
        let refused =
            self.finish.as_ref().is_some_and(is_refusal_stated) && self.parts().any(is_refusal);
        let ending = ResponseEnd::of(self.finish.as_ref(), self.fault.as_ref(), refused);
        if ending.status.is_some() { ending } else { ResponseEnd::with("completed") }
    }

    fn parts(&self) -> impl Iterator<Item = &Part<'static>> {
        self.items.iter().flat_map(|item| &item.parts)
    }

    /// Reports what of the whole answer did not come through; each thing once, whatever the number of its frames.
    fn report_whole(&mut self) {
        if self.is_same() {
            return;
        }
        let items = std::mem::take(&mut self.items);
        let mut parts: Vec<Part<'static>> = items.into_iter().flat_map(|item| item.parts).collect();
        // What left a text behind when it began to say something stood nowhere.
        let is_real = |part: &Part<'_>| !part.semantics().place().is_root() || !part.is_blank();
        parts.extend(self.left_out.drain(..).filter(is_real));
        let (message, finish) = (Message::new(Role::Assistant, parts), self.finish.take());
        let mut candidate =
            Candidate { message, finish, semantics: std::mem::take(&mut self.candidate) };
        // Its undeclared fields were reported as they came.
        *candidate.semantics_mut().extras_mut() = Extras::default();
        let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
        if let Some(finish) = &candidate.finish {
            let called = candidate.message.parts.iter().any(is_call);
            report_finish(&mut reporter, (candidate.semantics().place(), called), finish);
        }
        if let Some(usage) = self.usage.take() {
            USAGE.report(&usage, &mut reporter);
            reporter.usage(&usage);
        }
        let semantics = std::mem::take(&mut self.start.semantics);
        reporter.response(&Response {
            candidates: vec![candidate],
            semantics,
            ..Response::default()
        });
    }

    /// Leaves out a part of an answer beside the first, or one that has no place here.
    fn leave_out(&mut self, part: Part<'static>, candidate: u32) {
        if candidate > 0 {
            self.report_answer(candidate, part.semantics().place());
        } else {
            self.left_out.push(part);
            self.interrupted = true;
        }
        self.places.push(Placed::Nowhere);
    }

    /// Reports an answer beside the first, once.
    fn report_answer(&mut self, candidate: u32, place: Place) {
        if !self.other_answers.contains(&candidate) {
            self.other_answers.push(candidate);
            let mut reporter = Reporter::new(self.source, SELF, &mut self.report);
            reporter.dropped(place.of_candidate(), "Responses gives one answer");
        }
    }

    /// The part of that number and the item it is in, unless that is complete.
    fn find(&self, part: PartId) -> Option<ItemPart> {
        match self.places.get(part.0 as usize)? {
            Placed::At(seat) => Some(*seat).filter(|(item, _)| self.items[*item].json.is_none()),
            Placed::Waiting(_) | Placed::Nowhere => None,
        }
    }
}
