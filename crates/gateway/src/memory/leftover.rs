//! Turns that could not be ended while the store failed. As long as they stand, they hold their conversations.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sabir_store::{Begun, Owner, TurnId};

#[derive(Debug, Default)]
pub(super) struct Leftovers {
    turns: Mutex<Vec<Leftover>>,
}

/// A turn that is to be taken back.
#[derive(Clone, Debug)]
pub(super) struct Leftover {
    pub(super) owner: Owner,
    pub(super) turn: TurnId,
    pub(super) begun: Option<Begun>,
}

impl Leftovers {
    pub(super) fn add(&self, leftover: Leftover) {
        self.turns().push(leftover);
    }

    /// All of them; those that cannot be taken back now are to be added again.
    pub(super) fn take(&self) -> Vec<Leftover> {
        std::mem::take(&mut self.turns())
    }

    fn turns(&self) -> MutexGuard<'_, Vec<Leftover>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
