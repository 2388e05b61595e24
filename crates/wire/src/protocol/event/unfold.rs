//! Unfolding: a whole response becomes the events of the stream it could have come as.

use crate::conversation::{Arguments, Candidate, Content, Part, Reasoning, Response};
use crate::json::Text;
use crate::protocol::event::{
    Closed, Delta, Event, Note, NoteAt, NoteKind, Open, Opening, PartId, Start,
};
use crate::protocol::semantics::NodeSemantics;

/// Emits a whole response event by event. Folding the events gives the response again.
pub fn unfold<'a>(response: Response<'a>, emit: &mut dyn FnMut(Event<'a>)) {
    let semantics = response.semantics().clone();
    let Response { id, model, created, candidates, usage, service_tier, fault, .. } = response;
    emit(Event::Start(Start { id, model, created, service_tier, semantics }));
    let mut next = 0;
    let mut finishes = Vec::with_capacity(candidates.len());
    for (index, candidate) in (0..).zip(candidates) {
        let (place, finish) = (candidate.semantics().place(), candidate.finish.clone());
        unfold_candidate(index, candidate, &mut next, emit);
        finishes.push((index, place, finish));
    }
    if let Some(usage) = usage {
        emit(Event::Usage(usage));
    }
    for (candidate, place, finish) in finishes {
        if let Some(finish) = finish {
            emit(Event::Finish { candidate, place, finish });
        }
    }
    if let Some(fault) = fault {
        emit(Event::Fault(fault));
    }
}

fn unfold_candidate<'a>(
    index: u32,
    candidate: Candidate<'a>,
    next: &mut u32,
    emit: &mut dyn FnMut(Event<'a>),
) {
    emit(Event::Note(Note {
        at: NoteAt::Candidate(index),
        kind: NoteKind::Semantics(candidate.semantics().clone()),
    }));
    for part in candidate.message.parts {
        unfold_part(PartId(*next), index, part, emit);
        *next += 1;
    }
}

fn unfold_part<'a>(id: PartId, candidate: u32, part: Part<'a>, emit: &mut dyn FnMut(Event<'a>)) {
    let semantics = part.semantics().clone();
    let open = |opening| Event::Open(Open { part: id, candidate, opening, semantics });
    match part.into_content() {
        Content::Text(text) => {
            emit(open(Opening::Text));
            emit_text(id, text, emit);
        }
        Content::Refusal(text) => {
            emit(open(Opening::Refusal));
            emit_text(id, text, emit);
        }
        Content::Reasoning(reasoning) => {
            let Reasoning { form, texts } = *reasoning;
            emit(open(Opening::Reasoning(form)));
            emit_pieces(id, texts, emit);
        }
        Content::ToolCall(call) => {
            let call = *call;
            emit(open(Opening::ToolCall { id: call.id, name: call.name, form: call.form }));
            emit_text(id, argument_text(call.arguments), emit);
        }
        content @ (Content::Media(_) | Content::ToolResult(_) | Content::Opaque(_)) => {
            emit(open(Opening::Whole(content)));
        }
    }
    emit(Event::Close(Closed { part: id, semantics: NodeSemantics::default() }));
}

fn emit_text<'a>(part: PartId, text: Text<'a>, emit: &mut dyn FnMut(Event<'a>)) {
    if !text.is_empty() {
        emit(Event::Delta(part, Delta::Text(text)));
    }
}

fn emit_pieces<'a>(part: PartId, texts: Vec<Text<'a>>, emit: &mut dyn FnMut(Event<'a>)) {
    for (index, text) in texts.into_iter().enumerate() {
        if index > 0 || text.is_empty() {
            emit(Event::Delta(part, Delta::NextPiece));
        }
        emit_text(part, text, emit);
    }
}

fn argument_text(arguments: Arguments<'_>) -> Text<'_> {
    match arguments {
        Arguments::Text(text) => text,
        Arguments::Json(json) => json.to_text().into_owned(),
    }
}
