//! Shows a client that its conversation was compacted: the summary is the first part of the answer.

use sabir_wire::Protocol;
use sabir_wire::conversation::{Content, Opaque};
use sabir_wire::json::{Json, Text};
use sabir_wire::protocol::{
    AnswerContext, Closed, Event, NodeSemantics, Note, NoteAt, Open, Opening, PartId,
};

use crate::observe::Upstream;
use crate::surface::COMPACTION;
use crate::tap::{Head, Tap};

/// Puts a compaction before an answer.
pub(super) struct Announce {
    client: Protocol,
    item: Json<'static>,
    has_begun: bool,
}

impl Announce {
    pub(super) fn new(client: Protocol, item: Json<'static>) -> Self {
        Self { client, item, has_begun: false }
    }

    fn part(&self) -> Opening<'static> {
        Opening::Whole(Content::Opaque(Box::new(Opaque {
            protocol: self.client,
            kind: Text::literal(COMPACTION),
            json: self.item.clone(),
        })))
    }
}

const FIRST: PartId = PartId(0);

impl Tap for Announce {
    fn begin(
        &mut self,
        _head: &Head,
        _upstream: &Upstream,
        _asked: Option<&AnswerContext<'static>>,
    ) {
        self.has_begun = false;
    }

    fn event(&mut self, event: Event<'_>, emit: &mut dyn FnMut(Event<'_>)) {
        if !matches!(event, Event::Start(_)) || self.has_begun {
            return emit(renumbered(event));
        }
        self.has_begun = true;
        emit(event);
        let semantics = NodeSemantics::default;
        let opening = self.part();
        emit(Event::Open(Open { part: FIRST, candidate: 0, opening, semantics: semantics() }));
        emit(Event::Close(Closed { part: FIRST, semantics: semantics() }));
    }

    fn changes_events(&self) -> bool {
        true
    }
}

/// Parts are numbered in the order of their opening, and one has come before them.
fn renumbered(event: Event<'_>) -> Event<'_> {
    let next = |part: PartId| PartId(part.0.saturating_add(1));
    match event {
        Event::Open(open) => Event::Open(Open { part: next(open.part), ..open }),
        Event::Delta(part, delta) => Event::Delta(next(part), delta),
        Event::Close(closed) => Event::Close(Closed { part: next(closed.part), ..closed }),
        Event::Note(Note { at: NoteAt::Part(part), kind }) => {
            Event::Note(Note { at: NoteAt::Part(next(part)), kind })
        }
        Event::Note(_)
        | Event::Start(_)
        | Event::Usage(_)
        | Event::Finish { .. }
        | Event::Fault(_) => event,
    }
}
