//! Streams, one event at a time.

use super::{Show, show};
use crate::json::Writer;
use crate::protocol::{Closed, Delta, Event, Note, NoteAt, NoteKind, Open, Opening, PartId, Start};

impl Show for Event<'_> {
    fn members(&self, writer: &mut Writer) {
        let (name, value): (&str, &dyn Show) = match self {
            Event::Start(start) => ("start", start),
            Event::Open(open) => ("open", open),
            Event::Delta(_, delta) => ("delta", delta),
            Event::Note(note) => ("note", note),
            Event::Close(closed) => ("close", closed),
            Event::Usage(usage) => ("usage", usage),
            Event::Finish { candidate: _, place: _, finish } => ("finish", finish),
            Event::Fault(fault) => ("fault", fault),
        };
        writer.field("event", name);
        match self {
            Event::Delta(part, _) => part.member(writer, "part"),
            Event::Finish { candidate, place: _, finish: _ } => {
                writer.field("candidate", candidate);
                return value.member(writer, "finish");
            }
            _ => {}
        }
        value.members(writer);
    }
}

show! {
    Start { id, model, created, service_tier, semantics }
    Open { part, candidate, opening, semantics }
    Note { at, kind }
    Closed { part, semantics }
}

impl Show for PartId {
    fn show(&self, writer: &mut Writer) {
        let PartId(number) = self;
        writer.value(number);
    }
}

impl Show for Opening<'_> {
    fn member(&self, writer: &mut Writer, _key: &str) {
        match self {
            Opening::Text => writer.field("type", "text"),
            Opening::Refusal => writer.field("type", "refusal"),
            Opening::Reasoning(form) => {
                writer.field("type", "reasoning");
                form.member(writer, "form");
            }
            Opening::ToolCall { id, name, form } => {
                writer.field("type", "toolCall");
                writer.optional("id", id.as_ref());
                writer.field("name", name);
                form.member(writer, "form");
            }
            Opening::Whole(content) => {
                writer.field("whole", &true);
                content.members(writer);
            }
        }
    }
}

impl Show for Delta<'_> {
    fn members(&self, writer: &mut Writer) {
        match self {
            Delta::Text(text) => writer.field("text", text),
            Delta::NextPiece => writer.field("nextPiece", &true),
        }
    }
}

impl Show for NoteAt {
    fn member(&self, writer: &mut Writer, _key: &str) {
        match self {
            NoteAt::Response => {}
            NoteAt::Candidate(candidate) => writer.field("candidate", candidate),
            NoteAt::Part(part) => part.member(writer, "part"),
        }
    }
}

impl Show for NoteKind<'_> {
    fn member(&self, writer: &mut Writer, _key: &str) {
        match self {
            NoteKind::Citation(citation) => citation.member(writer, "citation"),
            NoteKind::Logprobs(logprobs) => writer.field("logprobs", &logprobs.entries()),
            NoteKind::Semantics(semantics) => semantics.show_members(writer),
        }
    }
}
