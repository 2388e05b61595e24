//! Where the events of an answer go while it is read.

use crate::conversation::Content;
use crate::json::Text;
use crate::place::Place;
use crate::protocol::event::Emit;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{Delta, Event, Note, NoteAt, NoteKind, Open, Opening, PartId};

/// Where the events of one candidate go, and the number that the next part gets.
pub(super) struct Sink<'s, 'f> {
    pub(super) candidate: u32,
    /// Where what is being read stands.
    pub(super) place: Place,
    pub(super) next: &'s mut u32,
    pub(super) emit: Emit<'s, 'f>,
}

impl<'f> Sink<'_, 'f> {
    pub(super) fn send(&mut self, event: Event<'f>) {
        (self.emit)(event);
    }

    pub(super) fn open(&mut self, opening: Opening<'f>, semantics: NodeSemantics<'f>) -> PartId {
        let (part, candidate) = (PartId(*self.next), self.candidate);
        *self.next += 1;
        self.send(Event::Open(Open { part, candidate, opening, semantics }));
        part
    }

    /// Says something of a part, or of the candidate.
    pub(super) fn note(&mut self, part: Option<PartId>, kind: NoteKind<'f>) {
        let at = part.map_or(NoteAt::Candidate(self.candidate), NoteAt::Part);
        self.send(Event::Note(Note { at, kind }));
    }

    /// Passes on how the text of a part goes on.
    pub(super) fn grow(&mut self, part: PartId, text: Text<'f>) {
        if !text.is_empty() {
            self.send(Event::Delta(part, Delta::Text(text)));
        }
    }

    pub(super) fn close(&mut self, part: PartId) {
        self.send(Event::closed(part));
    }

    /// Opens and closes a part that comes in one piece.
    pub(super) fn whole(&mut self, content: Content<'f>, semantics: NodeSemantics<'f>) {
        let part = self.open(Opening::Whole(content), semantics);
        self.close(part);
    }
}
