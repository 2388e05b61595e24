//! Where the events of a stream go.

use crate::conversation::Content;
use crate::protocol::Closed;
use crate::protocol::Event;
use crate::protocol::Open;
use crate::protocol::Opening;
use crate::protocol::PartId;
use crate::protocol::semantics::NodeSemantics;

/// Where events go, and the number that the next part gets.
pub(super) struct Sink<'s, 'f> {
    pub(super) next: &'s mut u32,
    /// Whether anything was taken in that is told later: the events are not all that a chunk says.
    pub(super) has_gathered: &'s mut bool,
    pub(super) emit: &'s mut dyn FnMut(Event<'f>),
}

impl<'f> Sink<'_, 'f> {
    pub(super) fn send(&mut self, event: Event<'f>) {
        (self.emit)(event);
    }

    pub(super) fn open(
        &mut self,
        candidate: u32,
        opening: Opening<'f>,
        semantics: NodeSemantics<'f>,
    ) -> PartId {
        let part = PartId(*self.next);
        *self.next += 1;
        self.send(Event::Open(Open { part, candidate, opening, semantics }));
        part
    }

    pub(super) fn close(&mut self, part: PartId) {
        self.send(Event::Close(Closed { part, semantics: NodeSemantics::default() }));
    }

    /// Opens and closes a part that comes in one piece.
    pub(super) fn whole(
        &mut self,
        candidate: u32,
        content: Content<'f>,
        semantics: NodeSemantics<'f>,
    ) {
        let part = self.open(candidate, Opening::Whole(content), semantics);
        self.close(part);
    }
}
