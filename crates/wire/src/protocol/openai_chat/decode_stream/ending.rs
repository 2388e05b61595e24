//! The end of a choice. It is held back until the stream ends, since some servers say more behind the finish reason.

use crate::conversation::{Finish, FinishKind};
use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::place::Place;
use crate::protocol::{Event, Note, NoteKind};

/// How far the end of a choice has come.
#[derive(Debug, Default)]
pub(super) enum Ending {
    #[default]
    Untold,
    /// Held back.
    Told(Told),
    /// Passed on: no part may follow.
    Past,
}

/// An end that was told.
#[derive(Debug)]
pub(super) struct Told {
    finish: Finish<'static>,
    place: Place,
    /// Whether more was said after it.
    is_outdated: bool,
}

impl Ending {
    /// Takes an end. One that is merely told again does not replace a more telling one.
    pub(super) fn tell(&mut self, finish: Finish<'_>, place: Place) {
        let is_better = match self {
            Self::Untold => true,
            Self::Told(told) => told.is_outdated || told.finish.kind == FinishKind::Stop,
            Self::Past => false,
        };
        if is_better {
            *self = Self::Told(Told { finish: finish.into_owned(), place, is_outdated: false });
        }
    }

    /// Takes out the end that is held back.
    pub(super) fn pass(&mut self) -> Option<(Finish<'static>, Place)> {
        match std::mem::replace(self, Self::Past) {
            Self::Told(told) => Some((told.finish, told.place)),
            before => {
                *self = before;
                None
            }
        }
    }
}

impl Told {
    /// Notices a delta that says more.
    pub(super) fn hear(&mut self, delta: Option<&Reader<'_>>) -> Result<()> {
        let Some(delta) = delta else { return Ok(()) };
        delta.checkpoint().object(|key, reader| {
            self.is_outdated |= says_something(&key, reader)?;
            reader.skip()
        })
    }
}

/// What was said of the whole answer behind an end that is held back.
#[derive(Debug, Default)]
pub(super) struct Held(Vec<Event<'static>>);

/// So much is held apart; a server that states an end in every chunk must not fill the memory with what it says behind.
const HELD_MAX: usize = 16;

impl Held {
    pub(super) fn add(&mut self, event: Event<'_>) {
        let event = event.into_owned();
        if self.0.len() < HELD_MAX {
            return self.0.push(event);
        }
        match (self.0.iter_mut().rev().find(|it| are_alike(it, &event)), event) {
            (Some(Event::Usage(earlier)), Event::Usage(usage)) => earlier.update(usage),
            (
                Some(Event::Note(Note { kind: NoteKind::Semantics(earlier), .. })),
                Event::Note(note),
            ) => {
                if let NoteKind::Semantics(later) = note.kind {
                    earlier.merge(later);
                }
            }
            (_, event) => self.0.push(event),
        }
    }

    pub(super) fn release<'f>(&mut self, emit: &mut dyn FnMut(Event<'f>)) {
        self.0.drain(..).for_each(emit);
    }
}

fn are_alike(one: &Event<'_>, other: &Event<'_>) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

/// Whether a member of a delta says anything, or only stands there.
pub(super) fn says_something(key: &str, reader: &Reader<'_>) -> Result<bool> {
    let mut reader = reader.checkpoint();
    let is_empty = match reader.kind()? {
        Kind::Null => true,
        Kind::String => key == "role" || reader.string()?.is_empty(),
        Kind::Array | Kind::Object => matches!(&*reader.raw()?.compact(), "[]" | "{}"),
        Kind::Boolean | Kind::Number => false,
    };
    Ok(!is_empty)
}
