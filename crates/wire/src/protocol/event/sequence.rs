//! Sequencing: interleaved parts become one part after another, for protocols whose blocks may not overlap.

use std::collections::VecDeque;

use crate::protocol::event::Event;
use crate::protocol::event::NoteAt;
use crate::protocol::event::PartId;

/// Lets one part through at a time and holds the events of the others back until it closes.
#[derive(Debug, Default)]
pub(in crate::protocol) struct Sequence {
    current: Option<PartId>,
    held: VecDeque<Event<'static>>,
}

impl Sequence {
    /// Passes on what may go out now, in order. The part that is open keeps streaming; a finish, a fault and the
    /// usage wait for nothing but the parts opened before them.
    pub(in crate::protocol) fn step<'e>(
        &mut self,
        event: Event<'e>,
        emit: &mut dyn FnMut(Event<'_>),
    ) {
        if !self.admits(&event) {
            self.held.push_back(event.into_owned());
            return;
        }
        let closed = self.pass(event, emit);
        if closed {
            self.release(emit);
        }
    }

    /// Passes on everything that is still held; for the end of a stream.
    pub(in crate::protocol) fn flush(&mut self, emit: &mut dyn FnMut(Event<'_>)) {
        self.current = None;
        for event in self.held.drain(..) {
            emit(event);
        }
    }

    fn admits(&self, event: &Event<'_>) -> bool {
        let Some(current) = self.current else { return true };
        match event {
            Event::Open(_) => false,
            Event::Delta(part, _) => *part == current,
            Event::Close(closed) => closed.part == current,
            Event::Note(note) => match note.at {
                NoteAt::Part(part) => part <= current,
                NoteAt::Candidate(_) | NoteAt::Response => true,
            },
            Event::Finish { .. } => self.held.is_empty(),
            Event::Start(_) | Event::Usage(_) | Event::Fault(_) => true,
        }
    }

    /// Emits an event that is admitted; true if it closed the current part.
    fn pass<'e>(&mut self, event: Event<'e>, emit: &mut dyn FnMut(Event<'_>)) -> bool {
        let closes = matches!(&event, Event::Close(closed) if Some(closed.part) == self.current);
        match &event {
            Event::Open(open) => self.current = Some(open.part),
            Event::Close(_) if closes => self.current = None,
            _ => {}
        }
        emit(event);
        closes
    }

    /// Lets held events out in their order, part by part, until one part is open again.
    fn release(&mut self, emit: &mut dyn FnMut(Event<'_>)) {
        let mut waiting = std::mem::take(&mut self.held);
        while let Some(index) = waiting.iter().position(|event| self.admits(event)) {
            if let Some(event) = waiting.remove(index) {
                self.pass(event, emit);
            }
        }
        self.held = waiting;
    }
}
