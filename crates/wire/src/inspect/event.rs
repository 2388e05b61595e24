//! Streams, one event at a time.

use super::Show;
use super::fault::show_fault;
use super::optional;
use super::part::form_word;
use super::part::reasoning_word;
use super::part::show_content;
use super::response::show_usage;
use crate::json::Writer;
use crate::protocol::Closed;
use crate::protocol::Delta;
use crate::protocol::Event;
use crate::protocol::Note;
use crate::protocol::NoteAt;
use crate::protocol::NoteKind;
use crate::protocol::Open;
use crate::protocol::Opening;
use crate::protocol::PartId;
use crate::protocol::Start;

impl Show for Event<'_> {
    fn show(&self, writer: &mut Writer) {
        writer.object(|writer| show_event(self, writer));
    }
}

fn show_event(event: &Event<'_>, writer: &mut Writer) {
    match event {
        Event::Start(start) => show_start(start, writer),
        Event::Open(open) => show_open(open, writer),
        Event::Delta(part, delta) => show_delta(*part, delta, writer),
        Event::Note(note) => show_note(note, writer),
        Event::Close(closed) => show_closed(closed, writer),
        Event::Usage(usage) => {
            writer.field("event", "usage");
            show_usage(usage, writer);
        }
        Event::Finish { candidate, place: _, finish } => {
            writer.field("event", "finish");
            writer.field("candidate", candidate);
            optional(writer, "finish", Some(finish));
        }
        Event::Fault(fault) => {
            writer.field("event", "fault");
            show_fault(fault, writer);
        }
    }
}

fn show_start(start: &Start<'_>, writer: &mut Writer) {
    let Start { id, model, created, service_tier, semantics } = start;
    writer.field("event", "start");
    writer.optional("id", id.as_ref());
    writer.optional("model", model.as_ref());
    writer.optional("created", created.as_ref());
    writer.optional("serviceTier", service_tier.as_ref());
    semantics.show_members(writer);
}

fn show_open(open: &Open<'_>, writer: &mut Writer) {
    let Open { part, candidate, opening, semantics } = open;
    writer.field("event", "open");
    show_part(*part, writer);
    writer.field("candidate", candidate);
    show_opening(opening, writer);
    semantics.show_members(writer);
}

fn show_part(part: PartId, writer: &mut Writer) {
    let PartId(number) = part;
    writer.field("part", &number);
}

fn show_opening(opening: &Opening<'_>, writer: &mut Writer) {
    match opening {
        Opening::Text => writer.field("type", "text"),
        Opening::Refusal => writer.field("type", "refusal"),
        Opening::Reasoning(form) => {
            writer.field("type", "reasoning");
            writer.field("form", reasoning_word(*form));
        }
        Opening::ToolCall { id, name, form } => {
            writer.field("type", "toolCall");
            writer.optional("id", id.as_ref());
            writer.field("name", name);
            writer.field("form", form_word(*form));
        }
        Opening::Whole(content) => {
            writer.field("whole", &true);
            show_content(content, writer);
        }
    }
}

fn show_delta(part: PartId, delta: &Delta<'_>, writer: &mut Writer) {
    writer.field("event", "delta");
    show_part(part, writer);
    match delta {
        Delta::Text(text) => writer.field("text", text),
        Delta::NextPiece => writer.field("nextPiece", &true),
    }
}

fn show_note(note: &Note<'_>, writer: &mut Writer) {
    let Note { at, kind } = note;
    writer.field("event", "note");
    match at {
        NoteAt::Response => {}
        NoteAt::Candidate(candidate) => writer.field("candidate", candidate),
        NoteAt::Part(part) => show_part(*part, writer),
    }
    match kind {
        NoteKind::Citation(citation) => optional(writer, "citation", Some(citation)),
        NoteKind::Logprobs(logprobs) => writer.field("logprobs", &logprobs.entries()),
        NoteKind::Semantics(semantics) => semantics.show_members(writer),
    }
}

fn show_closed(closed: &Closed<'_>, writer: &mut Writer) {
    let Closed { part, semantics } = closed;
    writer.field("event", "close");
    show_part(*part, writer);
    semantics.show_members(writer);
}
