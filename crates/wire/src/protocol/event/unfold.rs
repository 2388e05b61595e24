//! Unfolding: a whole response becomes the events of the stream it could have come as.

use crate::conversation::{Candidate, Content, Part, Response, ToolCall};
use crate::json::Text;
use crate::protocol::event::{Delta, Event, NoteKind, Opening, Start};
use crate::protocol::sink::Sink;

/// Emits a whole response event by event. Folding the events gives the response again.
pub fn unfold<'a>(response: Response<'a>, emit: &mut dyn FnMut(Event<'a>)) {
    let Response { id, model, created, candidates, usage, service_tier, fault, semantics } =
        response;
    emit(Event::Start(Start { id, model, created, service_tier, semantics }));
    let mut next = 0;
    let mut finishes = Vec::with_capacity(candidates.len());
    for (candidate, Candidate { message, finish, semantics }) in (0..).zip(candidates) {
        let place = semantics.place();
        let mut sink = Sink { candidate, place, next: &mut next, emit };
        sink.note(None, NoteKind::Semantics(semantics));
        message.parts.into_iter().for_each(|part| unfold_part(part, &mut sink));
        finishes.extend(finish.map(|finish| Event::Finish { candidate, place, finish }));
    }
    if let Some(usage) = usage {
        emit(Event::Usage(usage));
    }
    finishes.into_iter().for_each(&mut *emit);
    if let Some(fault) = fault {
        emit(Event::Fault(fault));
    }
}

fn unfold_part<'a>(part: Part<'a>, sink: &mut Sink<'_, 'a>) {
    let (opening, text, pieces) = Opening::of(part.content);
    let part = sink.open(opening, part.semantics);
    sink.grow(part, text);
    for (index, piece) in pieces.into_iter().enumerate() {
        if index > 0 || piece.is_empty() {
            sink.send(Event::Delta(part, Delta::NextPiece));
        }
        sink.grow(part, piece);
    }
    sink.close(part);
}

impl<'a> Opening<'a> {
    /// How a part with this content begins, and what it grows by then: its text, or the pieces of a thought.
    pub(in super::super) fn of(content: Content<'a>) -> (Self, Text<'a>, Vec<Text<'a>>) {
        let (opening, text) = match content {
            Content::Text(text) => (Self::Text, text),
            Content::Refusal(text) => (Self::Refusal, text),
            Content::Reasoning(thought) => {
                return (Self::Reasoning(thought.form), Text::default(), thought.texts);
            }
            Content::ToolCall(call) => {
                let ToolCall { id, name, arguments, form } = *call;
                (Self::ToolCall { id, name, form }, arguments.into_text())
            }
            whole @ (Content::Media(_) | Content::ToolResult(_) | Content::Opaque(_)) => {
                (Self::Whole(whole), Text::default())
            }
        };
        (opening, text, Vec::new())
    }
}
