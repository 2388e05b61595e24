//! Signatures on texts and calls, towards protocols that have a field for them on thinking alone: each goes into the
//! thinking before its part, or into empty thinking that is put there. On the way back the part behind it takes it.

use std::borrow::Cow;

use crate::conversation::{Content, Part, ReasoningForm, Response};
use crate::place::Place;
use crate::protocol::semantics::{Artefact, NodeSemantics};
use crate::protocol::{Closed, Delta, Event, Note, NoteAt, Open, Opening, PartId, Protocol};

/// How a protocol carries the signatures of texts and calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Thinking without a signature takes that of the part behind it.
    Share,
    /// The same, but the protocol's own encoder sees to it. A text right behind another stays there without its signature,
    /// because clients take the last message for the whole answer.
    Leave,
}

impl Rule {
    /// How answers of `source` are written in `target`; none where signatures stay on their parts.
    pub(super) fn of(source: Protocol, target: Protocol) -> Option<Self> {
        target.codec().signatures.filter(|_| source != target)
    }
}

/// A whole answer whose signatures stand on thinking.
pub(super) fn handed<'r, 'a>(
    response: &'r Response<'a>,
    rule: Option<Rule>,
) -> Cow<'r, Response<'a>> {
    let parts = response.candidates.first().map(|first| &*first.message.parts).unwrap_or_default();
    let (Some(rule), true) = (rule, parts.iter().any(is_signed)) else {
        return Cow::Borrowed(response);
    };
    let mut response = response.clone();
    if let Some(first) = response.candidates.first_mut() {
        let parts = std::mem::take(&mut first.message.parts);
        first.message.parts = on_thinking(parts.into_iter().collect(), rule).into();
    }
    Cow::Owned(response)
}

fn on_thinking<'a>(parts: Vec<Part<'a>>, rule: Rule) -> Vec<Part<'a>> {
    let mut handed: Vec<Part<'a>> = Vec::with_capacity(parts.len() + 1);
    for mut part in parts {
        let follows_text = is_text(&part) && handed.last().is_some_and(is_text);
        let before = handed.last_mut().filter(|before| is_open_thought(before));
        match (before, rule) {
            _ if !is_signed(&part) => {}
            (Some(_), Rule::Leave) => {}
            (None, Rule::Leave) if follows_text => {}
            (Some(thought), Rule::Share) => {
                if let Some(artefact) = part.semantics_mut().take_artefact() {
                    thought.semantics_mut().set_artefact(artefact.handed());
                }
            }
            (None, Rule::Share | Rule::Leave) => {
                let semantics = part.semantics_mut();
                let place = semantics.place();
                let seal = semantics.take_artefact().map(|artefact| sealed(place, artefact));
                let thought = Opening::Reasoning(ReasoningForm::Summary).into_content();
                handed.extend(seal.map(|seal| Part::new(thought).with_semantics(seal)));
            }
        }
        handed.push(part);
    }
    handed
}

/// Whether a part is not blank, has a signature, and has no field for it where only thinking is signed.
fn is_signed(part: &Part<'_>) -> bool {
    let speaks = match part.content() {
        // Vendors refuse a blank text, so that nothing would take the signature back.
        Content::Text(text) => !text.is_blank(),
        Content::ToolCall(_) => true,
        Content::Media(_)
        | Content::ToolResult(_)
        | Content::Reasoning(_)
        | Content::Refusal(_)
        | Content::Opaque(_) => false,
    };
    speaks && part.semantics().artefact().is_some()
}

fn is_text(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Text(_))
}

fn is_open_thought(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Reasoning(_)) && part.semantics().artefact().is_none()
}

fn sealed<'a>(place: Place, artefact: Artefact<'a>) -> NodeSemantics<'a> {
    let mut semantics = NodeSemantics::at(place);
    semantics.set_artefact(artefact.handed());
    semantics
}

/// How many events of a blank text wait; a longer one counts as text.
const WAITING_MAX: usize = 1_024;

/// The same for a stream, event by event. Only the first answer is looked at: the protocols in question have no other.
#[derive(Debug)]
pub(super) struct Handing {
    rule: Rule,
    thought: Thought,
    /// The beginning of a signed text, until it is known whether the text is blank.
    waiting: Vec<Event<'static>>,
    /// The parts before which thinking was put, in their order: from each on, numbers are higher by one.
    put_before: Vec<PartId>,
}

/// The thinking right before what comes next.
#[derive(Debug)]
enum Thought {
    /// There is none, or it is signed.
    None,
    /// A text stands there instead.
    Text,
    /// Not signed so far.
    Open(PartId),
    /// Complete and not signed; its end waits for the part behind it, which may sign it.
    Held(Closed<'static>),
}

impl Handing {
    pub(super) fn new(rule: Rule) -> Self {
        Self { rule, thought: Thought::None, waiting: Vec::new(), put_before: Vec::new() }
    }

    pub(super) fn step(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        if self.waits_for(&event) {
            return self.waiting.push(event.into_owned());
        }
        match (&event, self.waiting_part()) {
            (_, None) => {}
            (Event::Delta(part, Delta::Text(_)), Some(first)) if *part == first => {
                self.begin_signed(emit);
            }
            (_, Some(_)) => self.begin_unsigned(emit),
        }
        match event {
            Event::Open(open) if open.candidate == 0 => self.open(open, emit),
            Event::Close(closed) => self.close(closed, emit),
            Event::Finish { .. } | Event::Fault(_) => {
                self.end_thought(None, emit);
                self.pass(event, emit);
            }
            event => self.pass(event, emit),
        }
    }

    /// Passes on what is still held back.
    pub(super) fn end(&mut self, emit: &mut dyn FnMut(Event<'_>)) {
        self.begin_unsigned(emit);
        self.end_thought(None, emit);
    }

    /// Whether an event belongs to a signed text that is still blank.
    fn waits_for(&self, event: &Event<'_>) -> bool {
        let begins = |open: &Open<'_>| {
            let is_text = matches!(open.opening, Opening::Text);
            is_text && open.candidate == 0 && open.semantics.artefact().is_some()
        };
        match (event, self.waiting_part()) {
            (Event::Open(open), None) => begins(open),
            (Event::Note(Note { at: NoteAt::Part(part), .. }), Some(first)) => *part == first,
            (Event::Delta(part, Delta::Text(text)), Some(first)) => {
                *part == first && text.is_blank() && self.waiting.len() < WAITING_MAX
            }
            _ => false,
        }
    }

    fn waiting_part(&self) -> Option<PartId> {
        match self.waiting.first() {
            Some(Event::Open(open)) => Some(open.part),
            _ => None,
        }
    }

    /// Begins the text that waits, which is not blank: its signature goes before it.
    fn begin_signed(&mut self, emit: &mut dyn FnMut(Event<'_>)) {
        for event in std::mem::take(&mut self.waiting) {
            match event {
                Event::Open(open) => self.sign(open, emit),
                event => self.pass(event, emit),
            }
        }
    }

    /// Begins the text that waits as it is, if one does: a blank text is not signed elsewhere.
    fn begin_unsigned(&mut self, emit: &mut dyn FnMut(Event<'_>)) {
        for event in std::mem::take(&mut self.waiting) {
            if matches!(event, Event::Open(_)) {
                self.end_thought(None, emit);
            }
            self.pass(event, emit);
        }
    }

    fn open(&mut self, open: Open<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        let is_signed = open.semantics.artefact().is_some();
        match open.opening {
            Opening::ToolCall { .. } if is_signed => return self.sign(open, emit),
            Opening::Reasoning(_) if !is_signed => {
                self.end_thought(None, emit);
                self.thought = Thought::Open(open.part);
            }
            Opening::Text => {
                self.end_thought(None, emit);
                self.thought = Thought::Text;
            }
            Opening::Refusal
            | Opening::Reasoning(_)
            | Opening::ToolCall { .. }
            | Opening::Whole(_) => self.end_thought(None, emit),
        }
        self.pass(Event::Open(open), emit);
    }

    /// Begins a signed part, with its signature on the thinking before it.
    fn sign(&mut self, mut open: Open<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        let is_text = matches!(open.opening, Opening::Text);
        match (&self.thought, self.rule) {
            (Thought::Held(_), _) => {
                let place = open.semantics.sealed_at();
                let artefact = open.semantics.take_artefact().map(|artefact| (artefact, place));
                self.end_thought(artefact, emit);
            }
            (Thought::Open(_), Rule::Leave) => {}
            (Thought::Text, Rule::Leave) if is_text => {}
            (Thought::Open(_), Rule::Share) | (Thought::None | Thought::Text, _) => {
                if let Some(artefact) = open.semantics.take_artefact() {
                    self.put_thought(open.part, sealed(open.semantics.place(), artefact), emit);
                }
            }
        }
        self.thought = if is_text { Thought::Text } else { Thought::None };
        self.pass(Event::Open(open), emit);
    }

    /// Puts empty thinking with a signature before a part.
    fn put_thought(
        &mut self,
        before: PartId,
        semantics: NodeSemantics<'_>,
        emit: &mut dyn FnMut(Event<'_>),
    ) {
        let part = self.number(before);
        self.put_before.push(before);
        let opening = Opening::Reasoning(ReasoningForm::Summary);
        emit(Event::Open(Open { part, candidate: 0, opening, semantics }));
        emit(Event::Close(Closed { part, semantics: NodeSemantics::default() }));
    }

    fn close(&mut self, closed: Closed<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        let is_thought = matches!(self.thought, Thought::Open(part) if part == closed.part);
        match (is_thought, closed.semantics.artefact().is_some(), self.rule) {
            (true, true, _) => self.thought = Thought::None,
            (true, false, Rule::Share) => {
                self.thought = Thought::Held(closed.into_owned());
                return;
            }
            (true, false, Rule::Leave) | (false, ..) => {}
        }
        self.pass(Event::Close(closed), emit);
    }

    /// Ends the thinking that waited for a signature, with that of the part at a place or without.
    fn end_thought(
        &mut self,
        artefact: Option<(Artefact<'_>, Place)>,
        emit: &mut dyn FnMut(Event<'_>),
    ) {
        if let Thought::Held(mut closed) = std::mem::replace(&mut self.thought, Thought::None) {
            if let Some((artefact, place)) = artefact {
                closed.semantics.hand_artefact(artefact.into_owned().handed(), place);
            }
            self.pass(Event::Close(closed), emit);
        }
    }

    fn pass(&self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        if self.put_before.is_empty() {
            return emit(event);
        }
        emit(match event {
            Event::Open(open) => Event::Open(Open { part: self.number(open.part), ..open }),
            Event::Delta(part, delta) => Event::Delta(self.number(part), delta),
            Event::Close(it) => Event::Close(Closed { part: self.number(it.part), ..it }),
            Event::Note(Note { at: NoteAt::Part(part), kind }) => {
                Event::Note(Note { at: NoteAt::Part(self.number(part)), kind })
            }
            event @ (Event::Start(_)
            | Event::Note(_)
            | Event::Usage(_)
            | Event::Finish { .. }
            | Event::Fault(_)) => event,
        });
    }

    /// The number of a part among those that are passed on.
    fn number(&self, part: PartId) -> PartId {
        let shift = self.put_before.partition_point(|before| *before <= part);
        PartId(part.0.saturating_add(u32::try_from(shift).unwrap_or(u32::MAX)))
    }
}
