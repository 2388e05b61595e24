//! The grammar of events: which may follow which.

use std::collections::HashSet;

use crate::error::{Error, ErrorKind, Result};
use crate::protocol::event::{Event, NoteAt, Opening, PartId};

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
        if self.failed {
            return Err(illegal("nothing after a fault", event));
        }
        match event {
            Event::Start(_) if self.started => Err(illegal("one start", event)),
            Event::Start(_) => {
                self.started = true;
                Ok(())
            }
            Event::Fault(_) => {
                self.failed = true;
                Ok(())
            }
            _ if !self.started => Err(illegal("a start first", event)),
            Event::Open(open) => {
                let grows = !matches!(open.opening, Opening::Whole(_));
                self.open(open.part, open.candidate, grows, event)
            }
            Event::Delta(part, _) => match self.find(*part) {
                Some((_, _, true)) => Ok(()),
                Some(_) => Err(illegal("a part that grows", event)),
                None => Err(illegal("an open part", event)),
            },
            Event::Close(closed) => self.close(closed.part, event),
            Event::Note(note) => match note.at {
                NoteAt::Part(part) if part.0 >= self.opened => {
                    Err(illegal("a part that was opened", event))
                }
                NoteAt::Part(_) | NoteAt::Candidate(_) | NoteAt::Response => Ok(()),
            },
            Event::Usage(_) => Ok(()),
            Event::Finish { candidate, .. } => self.finish(*candidate, event),
        }
    }

    fn open(&mut self, part: PartId, candidate: u32, grows: bool, event: &Event<'_>) -> Result<()> {
        if part.0 != self.opened {
            return Err(illegal("the next part number", event));
        }
        if self.finished.contains(&candidate) {
            return Err(illegal("a candidate that has not ended", event));
        }
        self.opened += 1;
        self.open.push((part, candidate, grows));
        Ok(())
    }

    fn close(&mut self, part: PartId, event: &Event<'_>) -> Result<()> {
        let before = self.open.len();
        self.open.retain(|(open, _, _)| *open != part);
        if self.open.len() == before {
            return Err(illegal("an open part", event));
        }
        Ok(())
    }

    fn finish(&mut self, candidate: u32, event: &Event<'_>) -> Result<()> {
        if self.open.iter().any(|(_, of, _)| *of == candidate) {
            return Err(illegal("all parts of the candidate closed", event));
        }
        if !self.finished.insert(candidate) {
            return Err(illegal("one end for each candidate", event));
        }
        Ok(())
    }

    fn find(&self, part: PartId) -> Option<(PartId, u32, bool)> {
        self.open.iter().copied().find(|(open, _, _)| *open == part)
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
