//! The rules on an answer, event by event: a call is held back until it is whole, where a rule has to see all of it, and
//! everything else passes at once.

use std::collections::HashMap;
use std::sync::Arc;

use sabir_wire::conversation::{Arguments, CallForm, Content, Finish, FinishKind};
use sabir_wire::json::Text;
use sabir_wire::protocol::{
    Closed, Delta, Event, NodeSemantics, Note, NoteAt, Open, Opening, PartId,
};
use sabir_wire::{Fault, FaultKind, LossKind, Report};

use crate::govern::arguments::{Checked, check};
use crate::govern::{ArgumentRule, Offer, UndeclaredRule, Violation};

/// How much of an answer's calls is held back at once. What is longer is not checked, or not shown in full.
const HELD_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Governs the calls of one answer.
#[derive(Debug)]
pub struct Governor {
    offer: Arc<Offer>,
    /// The number under which each part of the provider's goes on, by its own; none while or because it is held back.
    parts: Vec<Option<PartId>>,
    next: u32,
    held: HashMap<PartId, Held>,
    /// The bytes of their arguments.
    held_bytes: usize,
    /// The candidates with calls that passed, and with calls that did not: a bit for each, the last for all beyond.
    passed: u64,
    withheld: u64,
    report: Report,
    has_refused: bool,
}

/// A call that is held back.
#[derive(Debug)]
struct Held {
    open: Open<'static>,
    name: String,
    arguments: Text<'static>,
    bytes: usize,
    notes: Vec<Note<'static>>,
    why: Why,
}

/// Why a call is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// Its arguments are checked.
    Check,
    /// It may not pass: the client is told of it in words.
    Describe,
}

/// What becomes of a call, by its name.
enum Judged {
    Passes,
    Held(Why),
    Withheld,
    Refused(Violation),
}

impl Governor {
    pub fn new(offer: Arc<Offer>) -> Self {
        Self {
            offer,
            parts: Vec::new(),
            next: 0,
            held: HashMap::new(),
            held_bytes: 0,
            passed: 0,
            withheld: 0,
            report: Report::default(),
            has_refused: false,
        }
    }

    /// Takes the next event of the answer, and emits what the client may see now.
    pub fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        if self.has_refused {
            return;
        }
        match event {
            Event::Open(open) => self.open(open, emit),
            Event::Delta(part, delta) => match self.emitted(part) {
                Some(part) => emit(Event::Delta(part, delta)),
                None => self.grow(part, delta, emit),
            },
            Event::Note(note) => self.note(note, emit),
            Event::Close(closed) => match self.emitted(closed.part) {
                Some(part) => emit(Event::Close(Closed { part, ..closed })),
                None => self.close(closed, emit),
            },
            Event::Finish { candidate, place, finish } => {
                let finish = self.finish(candidate, finish);
                emit(Event::Finish { candidate, place, finish });
            }
            Event::Start(_) | Event::Usage(_) | Event::Fault(_) => emit(event),
        }
    }

    /// Whether the answer was refused. Nothing of it passes any more.
    pub fn has_refused(&self) -> bool {
        self.has_refused
    }

    /// What was changed of the answer.
    pub fn take_report(&mut self) -> Report {
        std::mem::take(&mut self.report)
    }

    fn open(&mut self, open: Open<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        match self.judge(&open.opening) {
            Judged::Passes => {
                let part = self.pass(open.part);
                let is_call = is_call(&open.opening);
                let opening = match is_call {
                    true => self.in_clients_words(open.opening),
                    false => open.opening,
                };
                self.passed |= u64::from(is_call) * bit(open.candidate);
                emit(Event::Open(Open { part, opening, ..open }));
            }
            Judged::Held(why) => self.hold(open, why),
            Judged::Withheld => {
                let pointer = open.semantics.place().to_string();
                let reason = "a call that breaks off cannot be held against the gateway's rules";
                self.report.lose(pointer, LossKind::Dropped, reason);
                self.withheld |= bit(open.candidate);
            }
            Judged::Refused(violation) => self.refuse(&violation, emit),
        }
    }

    /// A call under the client's own name for its tool.
    fn in_clients_words<'o>(&self, opening: Opening<'o>) -> Opening<'o> {
        let own = |name: Text<'o>| match self.offer.client_name(&name.to_str()) {
            own if name == *own => name,
            own => Text::plain(own.to_owned()),
        };
        match opening {
            Opening::ToolCall { id, name, form } => Opening::ToolCall { id, name: own(name), form },
            Opening::Whole(Content::ToolCall(mut call)) => {
                call.name = own(call.name);
                Opening::Whole(Content::ToolCall(call))
            }
            other => other,
        }
    }

    fn judge(&self, opening: &Opening<'_>) -> Judged {
        let (name, form) = match opening {
            Opening::ToolCall { name, form, .. } => (name, *form),
            Opening::Whole(Content::ToolCall(call)) => (&call.name, call.form),
            // What names a tool and is no call cannot be held against a rule.
            Opening::Whole(Content::Opaque(opaque)) if opaque.is_broken_call() => {
                return Judged::Withheld;
            }
            Opening::Text | Opening::Refusal | Opening::Reasoning(_) | Opening::Whole(_) => {
                return Judged::Passes;
            }
        };
        let (name, rules) = (name.to_str(), &self.offer.rules);
        let offered = self.offer.tool(&name);
        let own = self.offer.client_name(&name);
        let is_denied = !self.offer.allows(own);
        match (rules.undeclared, offered) {
            (UndeclaredRule::Refuse, _) if is_denied || offered.is_none() => {
                Judged::Refused(Violation::Undeclared(own.to_owned()))
            }
            (UndeclaredRule::Text, None) => Judged::Held(Why::Describe),
            _ if is_denied => Judged::Held(Why::Describe),
            (_, Some(tool))
                if rules.arguments != ArgumentRule::Pass
                    && tool.takes_json
                    && form == CallForm::Function =>
            {
                Judged::Held(Why::Check)
            }
            _ => Judged::Passes,
        }
    }

    /// The number of a part that goes on.
    fn pass(&mut self, part: PartId) -> PartId {
        let emitted = PartId(self.next);
        self.next += 1;
        let index = part.0 as usize;
        if self.parts.len() <= index {
            self.parts.resize(index + 1, None);
        }
        self.parts[index] = Some(emitted);
        emitted
    }

    fn emitted(&self, part: PartId) -> Option<PartId> {
        self.parts.get(part.0 as usize).copied().flatten()
    }

    fn hold(&mut self, open: Open<'_>, why: Why) {
        let mut open = open.into_owned();
        let mut arguments = Text::default();
        if let Opening::Whole(Content::ToolCall(call)) = open.opening {
            arguments = match call.arguments {
                Arguments::Json(json) => json.to_text().into_owned(),
                Arguments::Text(text) => text,
            };
            open.opening = Opening::ToolCall { id: call.id, name: call.name, form: call.form };
        }
        let name = match &open.opening {
            Opening::ToolCall { name, .. } => name.to_str().into_owned(),
            _ => String::new(),
        };
        let bytes = arguments.len_hint();
        self.held_bytes += bytes;
        self.held.insert(open.part, Held { open, name, arguments, bytes, notes: Vec::new(), why });
    }

    fn grow(&mut self, part: PartId, delta: Delta<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        let (Some(held), Delta::Text(text)) = (self.held.get_mut(&part), delta) else { return };
        if self.held_bytes + text.len_hint() <= HELD_BYTES_MAX {
            self.held_bytes += text.len_hint();
            held.bytes += text.len_hint();
            return held.arguments.push(&text);
        }
        match held.why {
            Why::Describe => {}
            Why::Check if self.offer.rules.arguments == ArgumentRule::Refuse => {
                let name = self.offer.client_name(&held.name).to_owned();
                let reason = format!("they are longer than {HELD_BYTES_MAX} bytes");
                self.refuse(&Violation::Arguments { name, reason }, emit);
            }
            Why::Check => {
                let Some(held) = self.take(part) else { return };
                let pointer = held.open.semantics.place().to_string();
                let reason = "the arguments are too long to be checked by the gateway's rules";
                self.report.lose(pointer, LossKind::Approximated, reason);
                let part = self.release(held, emit);
                emit(Event::Delta(part, Delta::Text(text)));
            }
        }
    }

    fn note(&mut self, note: Note<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        let NoteAt::Part(part) = note.at else { return emit(Event::Note(note)) };
        if let Some(part) = self.emitted(part) {
            return emit(Event::Note(Note { at: NoteAt::Part(part), ..note }));
        }
        if let Some(held) = self.held.get_mut(&part) {
            held.notes.push(note.into_owned());
        }
    }

    fn take(&mut self, part: PartId) -> Option<Held> {
        let held = self.held.remove(&part)?;
        self.held_bytes -= held.bytes;
        Some(held)
    }

    /// A call that was held back is whole.
    fn close(&mut self, closed: Closed<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        let Some(mut held) = self.take(closed.part) else { return };
        match held.why {
            Why::Describe => self.describe(held, emit),
            Why::Check => {
                if let Err(violation) = self.check(&mut held) {
                    return self.refuse(&violation, emit);
                }
                let part = self.release(held, emit);
                emit(Event::Close(Closed { part, ..closed }));
            }
        }
    }

    /// Holds the arguments of a call against their schema, and mends them where that is wanted.
    fn check(&mut self, held: &mut Held) -> Result<(), Violation> {
        let Some(tool) = self.offer.tool(&held.name) else { return Ok(()) };
        let checked = check(&held.arguments.to_str(), self.offer.schema(tool));
        match (checked, self.offer.rules.arguments) {
            (Checked::Fits, _) | (_, ArgumentRule::Pass) => {}
            (Checked::Repaired(text), ArgumentRule::Repair) => {
                let pointer = held.open.semantics.place().to_string();
                let reason = "the arguments were not what the schema of the tool says";
                self.report.lose(pointer, LossKind::Repaired, reason);
                held.arguments = Text::plain(text);
            }
            // What cannot be mended passes as it came: the client can tell the model.
            (Checked::Wrong(_), ArgumentRule::Repair) => {}
            (Checked::Repaired(_), ArgumentRule::Refuse) => {
                let reason = "they are not what the schema says".to_owned();
                return Err(self.wrong(held, reason));
            }
            (Checked::Wrong(reason), ArgumentRule::Refuse) => return Err(self.wrong(held, reason)),
        }
        Ok(())
    }

    fn wrong(&self, held: &Held, reason: String) -> Violation {
        let name = self.offer.client_name(&held.name).to_owned();
        Violation::Arguments { name, reason }
    }

    /// Lets a call go on as far as it came.
    fn release(&mut self, held: Held, emit: &mut dyn FnMut(Event<'_>)) -> PartId {
        let Held { open, arguments, notes, .. } = held;
        self.passed |= bit(open.candidate);
        let part = self.pass(open.part);
        let opening = self.in_clients_words(open.opening);
        emit(Event::Open(Open { part, opening, ..open }));
        if !arguments.is_empty() {
            emit(Event::Delta(part, Delta::Text(arguments)));
        }
        for note in notes {
            emit(Event::Note(Note { at: NoteAt::Part(part), ..note }));
        }
        part
    }

    /// Puts words in the place of a call that may not pass.
    fn describe(&mut self, held: Held, emit: &mut dyn FnMut(Event<'_>)) {
        let Held { open, name, arguments, .. } = held;
        let pointer = open.semantics.place().to_string();
        let reason = "a call of a tool that is not offered is told as text";
        self.report.lose(pointer, LossKind::Approximated, reason);
        self.withheld |= bit(open.candidate);
        let (name, part) = (self.offer.client_name(&name).to_owned(), self.pass(open.part));
        let words = format!(
            "[The model called the tool `{name}`, which is not offered here, with {}]",
            arguments.to_str()
        );
        let semantics = NodeSemantics::default();
        let (candidate, opening) = (open.candidate, Opening::Text);
        emit(Event::Open(Open { part, candidate, opening, semantics }));
        emit(Event::Delta(part, Delta::Text(Text::plain(words))));
        emit(Event::Close(Closed { part, semantics: NodeSemantics::default() }));
    }

    /// An answer whose calls were all told as text or left out does not wait for their results.
    fn finish<'f>(&self, candidate: u32, finish: Finish<'f>) -> Finish<'f> {
        let waits = self.passed & bit(candidate) != 0 || self.withheld & bit(candidate) == 0;
        match finish.kind == FinishKind::ToolCalls && !waits {
            true => Finish { kind: FinishKind::Stop, raw: None, ..finish },
            false => finish,
        }
    }

    fn refuse(&mut self, violation: &Violation, emit: &mut dyn FnMut(Event<'_>)) {
        self.has_refused = true;
        self.held.clear();
        self.held_bytes = 0;
        let mut fault = Fault::new(FaultKind::Internal, Text::plain(violation.to_string()));
        fault.code = Some(Text::literal(violation.rule()));
        emit(Event::Fault(fault));
    }
}

fn is_call(opening: &Opening<'_>) -> bool {
    matches!(opening, Opening::ToolCall { .. } | Opening::Whole(Content::ToolCall(_)))
}

fn bit(candidate: u32) -> u64 {
    1 << candidate.min(u64::BITS - 1)
}
