//! Which version of a CLI runs, as its processes state it themselves when they begin. It is told when it is not the one before.

use std::sync::{Mutex, PoisonError};

/// The version that was stated last.
#[derive(Debug, Default)]
pub(super) struct Version(Mutex<Option<String>>);

/// No version has a longer name.
const VERSION_BYTES_MAX: usize = 64;

impl Version {
    /// Takes note of what a process states.
    pub(super) fn note(&self, program: &str, stated: Option<String>) {
        let Some(stated) = stated.filter(|it| it.len() <= VERSION_BYTES_MAX) else { return };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref() != Some(&stated) {
            tracing::info!(program, version = stated, "an agent CLI states its version");
            *known = Some(stated);
        }
    }

    pub(super) fn known(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
