//! The grammar of events: which may follow which.

use std::collections::HashSet;

use crate::error::{Error, ErrorKind, Result};
use crate::protocol::event::{Event, NoteAt, Open, Opening, PartId};

/// Watches a stream of events and objects to the first that is out of order.
#[derive(Debug, Default)]
pub struct Order {
    started: bool,
    failed: bool,
    opened: u32,
    /// The open parts, with their candidates and whether they may grow.
    open: Vec<(PartId, u32, bool)>,
    finished: HashSet<u32>,
}

impl Order {
    /// Checks one more event.
    pub fn step(&mut self, event: &Event<'_>) -> Result<()> {
        match self.violated(event) {
            None => Ok(()),
            Some(expected) => Err(illegal(expected, event)),
        }
    }

    /// Takes note of an event; what was expected, if that was something else.
    fn violated(&mut self, event: &Event<'_>) -> Option<&'static str> {
        match event {
            _ if self.failed => Some("nothing after a fault"),
            Event::Start(_) => std::mem::replace(&mut self.started, true).then_some("one start"),
            Event::Fault(_) => {
                self.failed = true;
                None
            }
            _ if !self.started => Some("a start first"),
            Event::Open(open) => self.open(open),
            Event::Delta(part, _) => match self.find(*part) {
                Some(at) => (!self.open[at].2).then_some("a part that grows"),
                None => Some("an open part"),
            },
            Event::Close(closed) => match self.find(closed.part) {
                Some(at) => {
                    self.open.remove(at);
                    None
                }
                None => Some("an open part"),
            },
            Event::Note(note) => match note.at {
                NoteAt::Part(part) if part.0 >= self.opened => Some("a part that was opened"),
                NoteAt::Part(_) | NoteAt::Candidate(_) | NoteAt::Response => None,
            },
            Event::Usage(_) => None,
            Event::Finish { candidate, .. } => {
                if self.open.iter().any(|(_, of, _)| of == candidate) {
                    return Some("all parts of the candidate closed");
                }
                (!self.finished.insert(*candidate)).then_some("one end for each candidate")
            }
        }
    }

    fn open(&mut self, open: &Open<'_>) -> Option<&'static str> {
        if open.part.0 != self.opened {
            return Some("the next part number");
        }
        if self.finished.contains(&open.candidate) {
            return Some("a candidate that has not ended");
        }
        let grows = !matches!(open.opening, Opening::Whole(_));
        self.opened += 1;
        self.open.push((open.part, open.candidate, grows));
        None
    }

    fn find(&self, part: PartId) -> Option<usize> {
        self.open.iter().position(|(open, _, _)| *open == part)
    }
}

fn illegal(expected: &str, found: &Event<'_>) -> Error {
    let found = match found {
        Event::Start(_) => "a start",
        Event::Open(_) => "an opening",
        Event::Delta(..) => "a delta",
        Event::Note(_) => "a note",
        Event::Close(_) => "a close",
        Event::Usage(_) => "usage",
        Event::Finish { .. } => "a finish",
        Event::Fault(_) => "a fault",
    };
    Error::new(ErrorKind::Value, format!("expected {expected}, found {found}"))
}
