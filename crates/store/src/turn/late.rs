//! Turns that are to be opened before long. One that ends before is written once, with its end.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Open, Opening};
use crate::clock::Time;
use crate::engine::{Session, Work};
use crate::error::Result;
use crate::id::{Owner, TurnId};

/// Turns whose opening is not written yet, and when they were opened.
#[derive(Debug, Default)]
pub(crate) struct Unopened {
    turns: Mutex<HashMap<(Owner, TurnId), Time>>,
}

/// Opens a turn, unless it has ended meanwhile.
pub(crate) struct OpenLate {
    open: Open,
    unopened: Arc<Unopened>,
    /// It may be run again from the start.
    is_begun: AtomicBool,
}

impl Unopened {
    /// When a turn was opened that nobody is to open from here on; none if its opening is written.
    pub(crate) fn take(&self, turn: &Opening) -> Option<Time> {
        self.forget(&turn.owner, &turn.id)
    }

    /// The same for a turn that is known by its id alone.
    pub(crate) fn forget(&self, owner: &Owner, turn: &TurnId) -> Option<Time> {
        let mut turns = self.turns();
        if turns.is_empty() {
            return None;
        }
        turns.remove(&(owner.clone(), turn.clone()))
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<(Owner, TurnId), Time>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenLate {
    pub(crate) fn new(open: Open, unopened: &Arc<Unopened>) -> Self {
        let Opening { owner, id, .. } = &open.opening;
        unopened.turns().insert((owner.clone(), id.clone()), open.now);
        Self { open, unopened: Arc::clone(unopened), is_begun: AtomicBool::new(false) }
    }
}

impl Work for OpenLate {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let is_first = self.unopened.take(&self.open.opening).is_some();
        if is_first || self.is_begun.load(Ordering::Relaxed) {
            self.is_begun.store(true, Ordering::Relaxed);
            return self.open.run(session).await;
        }
        Ok(())
    }
}

/// What was never run is no longer waited for either.
impl Drop for OpenLate {
    fn drop(&mut self) {
        self.unopened.take(&self.open.opening);
    }
}
