//! Artefacts that wait to be written. They are written at once, since the call that needs them may come to another node; nobody
//! waits for that.

use std::sync::{Mutex, MutexGuard, PoisonError};

use sabir_store::Artefact;
use tokio::sync::Notify;

/// How much waits at most, for as long as a store is away.
const BYTES_MAX: usize = 32 << 20;

/// What an artefact takes beside its record.
const ARTEFACT_BYTES: usize = 512;

#[derive(Debug, Default)]
pub(super) struct Unwritten {
    waiting: Mutex<Batch>,
    some: Notify,
}

#[derive(Debug, Default)]
struct Batch {
    artefacts: Vec<Artefact>,
    bytes: usize,
}

impl Unwritten {
    /// Takes artefacts, and returns how many of them found no room.
    pub(super) fn add(&self, artefacts: Vec<Artefact>) -> usize {
        let mut lost = 0;
        let mut waiting = self.waiting();
        for artefact in artefacts {
            let bytes = ARTEFACT_BYTES + artefact.record.as_bytes().len();
            if waiting.bytes + bytes > BYTES_MAX {
                lost += 1;
                continue;
            }
            waiting.bytes += bytes;
            waiting.artefacts.push(artefact);
        }
        drop(waiting);
        self.some.notify_one();
        lost
    }

    /// All that waits.
    pub(super) fn take(&self) -> Vec<Artefact> {
        std::mem::take(&mut *self.waiting()).artefacts
    }

    /// Waits until there is something.
    pub(super) async fn some(&self) {
        self.some.notified().await;
    }

    fn waiting(&self) -> MutexGuard<'_, Batch> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
