//! How a part goes on: its text, what is noted of it, and its end.

use std::slice::from_ref;

use crate::conversation::{Arguments, CallForm};
use crate::json::Text;
use crate::loss::LossKind;
use crate::protocol::object::{IsWritten, Object};
use crate::protocol::openai_chat::encode_request::content::write_thinking;
use crate::protocol::openai_chat::encode_request::message::{
    call_signature, words, write_signature,
};
use crate::protocol::openai_chat::encode_response;
use crate::protocol::openai_chat::encode_stream::Encoder;
use crate::protocol::openai_chat::encode_stream::choice::{Part, PartKind};
use crate::protocol::openai_chat::types::SELF;
use crate::protocol::semantics::{Extras, NodeSemantics, add_to};
use crate::protocol::{Citation, Closed, Logprobs, NoteAt, NoteKind, PartId, arguments};

/// Why what is said of a text without characters is left out.
const EMPTY: &str = "an empty text has no effect";

impl Encoder<'_> {
    pub(super) fn delta(&mut self, id: PartId, text: &Text<'_>) {
        if text.is_empty() {
            return;
        }
        self.part_reasonings(id);
        let Some(part) = self.parts.get_mut(id.0 as usize) else { return };
        let candidate = part.candidate;
        let logprobs = part.logprobs.take();
        part.is_emitted = true;
        match &mut part.kind {
            PartKind::Text => {
                self.count_emitted(candidate, text);
                self.write_text(candidate, ("content", text), logprobs);
            }
            PartKind::Refusal => {
                if let Some(choice) = self.find_choice(candidate) {
                    self.choices[choice].refused = true;
                }
                self.write_text(candidate, ("refusal", text), logprobs);
            }
            PartKind::Reasoning("content") => self.write_thinking(candidate, text),
            PartKind::Reasoning(key) => {
                let key = *key;
                self.chunk(candidate, |delta| delta.field(key, text));
            }
            PartKind::Call { number, form, grown } => {
                *grown = true;
                let (number, form) = (*number, *form);
                self.write_arguments(candidate, (number, form), text);
            }
            PartKind::Legacy => self.chunk(candidate, |delta| {
                delta.object_field("function_call", |it| it.field("arguments", text));
            }),
            PartKind::Wrapped { number: _, arguments } => arguments.push(text),
            PartKind::Hidden => {}
        }
    }

    /// Counts the text of a foreign answer, whose citations speak of stretches of their own part.
    fn count_emitted(&mut self, candidate: u32, text: &Text<'_>) {
        if self.is_same() {
            return;
        }
        if let Some(choice) = self.find_choice(candidate) {
            self.choices[choice].emitted += text.to_str().chars().count() as u64;
        }
    }

    /// Begins a new paragraph where one reasoning follows another: clients see all of it as one text.
    fn part_reasonings(&mut self, id: PartId) {
        let Some(Part { kind: PartKind::Reasoning(key), candidate, .. }) =
            self.parts.get(id.0 as usize)
        else {
            return;
        };
        let (key, candidate) = (*key, *candidate);
        let Some(choice) = self.find_choice(candidate) else { return };
        let before = self.choices[choice].reasoned.replace(id);
        if before.is_some_and(|before| before != id) && !self.is_same() {
            self.chunk(candidate, |delta| delta.field(key, "\n\n"));
        }
    }

    fn write_text(
        &mut self,
        index: u32,
        (key, text): (&'static str, &Text<'_>),
        logprobs: Option<Logprobs<'_>>,
    ) {
        let Some(logprobs) = logprobs else {
            return self.chunk(index, |delta| {
                delta.literal_key(key);
                delta.value(text);
            });
        };
        self.choice_frame(index, |choice| {
            choice.object_field("delta", |delta| delta.field(key, text));
            choice.object_field("logprobs", |it| it.field(key, &logprobs.entries()));
            choice.key("finish_reason");
            choice.null();
        });
    }

    /// Keeps log probabilities for the text that follows them; none follows in a part that is closed.
    fn note_logprobs(&mut self, id: PartId, logprobs: Logprobs<'_>) {
        let place = self.place(id);
        self.losses.add(NoteAt::Part(id), |reporter| reporter.logprobs(place, &logprobs));
        let Some(part) = self.parts.get_mut(id.0 as usize) else { return };
        add_to(&mut part.logprobs, logprobs.into_owned());
        if part.is_closed {
            self.write_waiting_logprobs(id);
        }
    }

    /// Writes log probabilities that came after all of the text they speak of, unless a foreign answer has none of it: a
    /// stream has no empty texts. Fixture `stream/logprobs/log-probabilities-of-an-empty-text`.
    fn write_waiting_logprobs(&mut self, id: PartId) {
        let Some(part) = self.parts.get_mut(id.0 as usize) else { return };
        let key = match part.kind {
            PartKind::Text => "content",
            PartKind::Refusal => "refusal",
            _ => return,
        };
        let (candidate, place, is_emitted) = (part.candidate, part.place, part.is_emitted);
        let Some(logprobs) = part.logprobs.take() else { return };
        if !is_emitted && !self.is_same() {
            return self.losses.add(NoteAt::Part(id), |reporter| {
                reporter.weights(place, &logprobs, (LossKind::Dropped, EMPTY));
            });
        }
        self.write_text(candidate, (key, &Text::default()), Some(logprobs));
    }

    /// Writes thinking as the chunk of content that some servers give.
    fn write_thinking(&mut self, index: u32, text: &Text<'_>) {
        self.chunk(index, |delta| {
            delta.array_field("content", |writer| {
                writer.object(|chunk| {
                    chunk.field("type", "thinking");
                    chunk.key("thinking");
                    write_thinking(chunk, from_ref(text));
                });
            });
        });
    }

    fn write_arguments(&mut self, index: u32, (number, form): (u32, CallForm), text: &Text<'_>) {
        let (kind, key) = words(form);
        self.write_fragment((index, number), None, |call| {
            call.key(kind).object(|payload| payload.field(key, text));
        });
    }

    /// Writes how a call begins or goes on.
    pub(super) fn write_fragment(
        &mut self,
        (candidate, number): (u32, u32),
        extras: Option<&Extras<'_>>,
        members: impl FnOnce(&mut Object<'_, '_>),
    ) {
        self.chunk(candidate, |delta| {
            delta.array_field("tool_calls", |writer| {
                let mut call = Object::open(writer, extras.map(|extras| (extras, "")));
                call.field("index", &number);
                members(&mut call);
                call.close();
            });
        });
    }

    /// A new piece of reasoning begins a new paragraph: this protocol has one text for all pieces.
    pub(super) fn next_piece(&mut self, id: PartId) {
        if let Some(Part { kind: PartKind::Reasoning(_), place, .. }) =
            self.parts.get(id.0 as usize)
        {
            let place = *place;
            self.losses.add(NoteAt::Part(id), |reporter| {
                reporter.renamed(place, encode_response::ONE_THOUGHT);
            });
            self.delta(id, &Text::plain("\n\n"));
        }
    }

    pub(super) fn close(&mut self, closed: Closed<'_>) {
        let Closed { part: id, semantics } = closed;
        let same = self.is_same();
        let placed = semantics.stated_of(self.place(id));
        self.report_late(id, &placed);
        self.cite_waiting(id);
        self.write_waiting_logprobs(id);
        self.emit_details(id, &placed);
        let Some(part) = self.parts.get_mut(id.0 as usize) else { return };
        part.is_closed = true;
        let candidate = part.candidate;
        match &mut part.kind {
            // Clients parse the arguments, and no arguments at all are not JSON.
            // Fixture `stream/tools/anthropic-call-without-deltas`.
            PartKind::Call { number, form: CallForm::Function, grown: false } if !same => {
                let call = (*number, CallForm::Function);
                self.write_arguments(candidate, call, &Text::literal("{}"));
            }
            PartKind::Wrapped { number, arguments } => {
                let number = *number;
                let arguments = Arguments::Text(std::mem::take(arguments));
                let input = arguments::custom_input(&arguments);
                let input = input.unwrap_or_else(|| arguments.into_text());
                self.write_arguments(candidate, (number, CallForm::Custom), &input);
            }
            PartKind::Reasoning(_) if !part.is_emitted => {
                let place = part.place;
                self.losses.add(NoteAt::Part(id), |reporter| {
                    reporter.withheld(place, "only its issuer can read it");
                });
            }
            _ => {}
        }
    }

    /// Reports what became known of a part after it began.
    fn report_late(&mut self, id: PartId, semantics: &NodeSemantics<'_>) {
        let kind = self.parts.get(id.0 as usize).map(|part| &part.kind);
        let is_call = matches!(kind, Some(PartKind::Call { .. } | PartKind::Wrapped { .. }));
        self.losses.add(NoteAt::Part(id), |reporter| match is_call {
            true => reporter.call_semantics(semantics),
            false => reporter.semantics(semantics),
        });
    }

    /// Writes what came late of what a server wants back: its own thinking, or the signature of a call.
    fn emit_details(&mut self, id: PartId, semantics: &NodeSemantics<'_>) {
        let Some(part) = self.parts.get(id.0 as usize) else { return };
        if let PartKind::Call { number, .. } | PartKind::Wrapped { number, .. } = &part.kind
            && call_signature(semantics).is_some()
        {
            let extras = semantics.extras().filter(|_| self.is_same());
            return self.write_fragment((part.candidate, *number), None, |call| {
                write_signature(call, semantics, extras);
            });
        }
        let reasons = matches!(part.kind, PartKind::Reasoning(_));
        if reasons && self.write_details(part.candidate, semantics) == IsWritten::Yes {
            self.parts[id.0 as usize].is_emitted = true;
        }
    }

    pub(super) fn note_part(&mut self, id: PartId, kind: NoteKind<'_>) {
        let place = self.place(id);
        match kind {
            NoteKind::Citation(citation) => {
                self.losses.add(NoteAt::Part(id), |reporter| {
                    encode_response::report_citations(place, from_ref(&citation), reporter);
                });
                self.cite(id, citation);
            }
            NoteKind::Logprobs(more) => self.note_logprobs(id, more),
            NoteKind::Semantics(semantics) => {
                let placed = semantics.stated_of(place);
                self.report_late(id, &placed);
                self.emit_details(id, &placed);
            }
        }
    }

    /// Emits a citation; one that covers all of its part, or comes before any of it, waits for the part's end.
    pub(super) fn cite(&mut self, id: PartId, citation: Citation<'_>) {
        let Some(part) = self.parts.get_mut(id.0 as usize) else { return };
        if !encode_response::is_cited(&citation) {
            return;
        }
        let waits = citation.span().is_none() || !part.is_emitted;
        if waits && citation.protocol() != SELF {
            return part.citations.push(citation.into_owned());
        }
        let (candidate, from) = (part.candidate, part.from);
        self.write_citation(candidate, &citation, (from, from));
    }

    /// Emits the citations of all of a part, unless nothing of the part was: a stream has no empty texts.
    /// Fixture `stream/hosted/citation-of-an-empty-text`.
    fn cite_waiting(&mut self, id: PartId) {
        let Some(part) = self.parts.get_mut(id.0 as usize) else { return };
        let (candidate, from) = (part.candidate, part.from);
        let waiting = std::mem::take(&mut part.citations);
        if !part.is_emitted {
            let (place, Some(first)) = (part.place, waiting.first()) else { return };
            return self.losses.add(NoteAt::Part(id), |reporter| {
                reporter.citation(place, first, (LossKind::Dropped, EMPTY));
            });
        }
        let choice = self.find_choice(candidate);
        let emitted = choice.map_or(from, |choice| self.choices[choice].emitted);
        for citation in waiting {
            self.write_citation(candidate, &citation, (from, emitted));
        }
    }

    fn write_citation(&mut self, candidate: u32, citation: &Citation<'_>, stretch: (u64, u64)) {
        self.chunk(candidate, |delta| {
            delta.array_field("annotations", |writer| {
                encode_response::write_annotation(writer, citation, stretch)
            });
        });
    }
}
