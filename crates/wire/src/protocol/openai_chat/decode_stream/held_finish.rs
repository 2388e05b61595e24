//! The finish reason of a choice. It is held back until the stream ends, since some servers send more after it.
//! Fixture `stream/usage/usage-after-finish`.

use std::mem::discriminant;

use crate::conversation::{Finish, FinishKind};
use crate::error::Result;
use crate::json::{Kind, Reader};
use crate::place::Place;
use crate::protocol::{Event, NoteKind};

/// How far the finish of a choice has come.
#[derive(Debug, Default)]
pub(super) enum FinishState {
    #[default]
    Open,
    /// Held back.
    Held {
        finish: Finish<'static>,
        place: Place,
        /// Whether more content came after it.
        is_outdated: bool,
    },
    /// Passed on: no part may follow.
    Passed,
}

impl FinishState {
    /// Holds a finish reason back. One that is merely repeated does not replace a more specific one.
    pub(super) fn hold(&mut self, finish: Finish<'_>, place: Place) {
        let is_better = match self {
            Self::Open => true,
            Self::Held { finish, is_outdated, .. } => {
                *is_outdated || finish.kind == FinishKind::Stop
            }
            Self::Passed => false,
        };
        if is_better {
            *self = Self::Held { finish: finish.into_owned(), place, is_outdated: false };
        }
    }

    /// Takes out the end that is held back.
    pub(super) fn pass(&mut self) -> Option<(Finish<'static>, Place)> {
        match std::mem::replace(self, Self::Passed) {
            Self::Held { finish, place, .. } => Some((finish, place)),
            before => {
                *self = before;
                None
            }
        }
    }
}

/// Events of the whole answer that came after a finish reason that is held back.
#[derive(Debug, Default)]
pub(super) struct HeldEvents(Vec<Event<'static>>);

/// So many are held one by one; a server that states a finish reason in every chunk must not fill the memory.
const HELD_MAX: usize = 16;

impl HeldEvents {
    pub(super) fn add(&mut self, event: Event<'_>) {
        let event = event.into_owned();
        if self.0.len() < HELD_MAX {
            return self.0.push(event);
        }
        let is_alike = |it: &&mut Event<'_>| discriminant(*it) == discriminant(&event);
        match (self.0.iter_mut().rev().find(is_alike), event) {
            (Some(Event::Usage(earlier)), Event::Usage(usage)) => earlier.update(usage),
            (Some(Event::Note(earlier)), Event::Note(later)) => {
                if let (NoteKind::Semantics(earlier), NoteKind::Semantics(later)) =
                    (&mut earlier.kind, later.kind)
                {
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

/// Whether a member of a delta has content: servers also send `null` and empty values.
/// Fixture `stream/usage/deepseek-usage-with-finish`.
pub(super) fn has_content(key: &str, reader: &Reader<'_>) -> Result<bool> {
    let mut reader = reader.checkpoint();
    let is_empty = match reader.kind()? {
        Kind::Null => true,
        Kind::String => key == "role" || reader.string()?.is_empty(),
        Kind::Array | Kind::Object => matches!(&*reader.raw()?.compact(), "[]" | "{}"),
        Kind::Boolean | Kind::Number => false,
    };
    Ok(!is_empty)
}
