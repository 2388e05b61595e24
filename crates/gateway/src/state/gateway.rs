//! A gateway: the snapshot in force, which another one may replace, and what they share.

use std::cell::RefCell;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::config::types::Config;
use crate::memory::{Memory, NotOpened};
use crate::state::{Shared, Snapshot, Source};
use crate::upstream::Endpoint;

/// A gateway, apart from the sockets it listens on.
#[derive(Debug)]
pub struct Gateway {
    current: RwLock<Arc<Snapshot>>,
    /// How often the snapshot was replaced.
    version: AtomicU64,
    pub(super) source: Option<Source>,
    /// Held while another configuration is read.
    pub(super) reloading: Mutex<()>,
    pub(crate) shared: Arc<Shared>,
}

impl Gateway {
    /// A gateway with its store opened, if it is to keep anything. With a source it reads its configuration again when it is
    /// asked to, or when the file changes.
    pub fn open(config: Config, source: Option<Source>) -> Result<Arc<Self>, NotOpened> {
        let memory = Memory::open(&config.store)?;
        Ok(Self::of(Arc::new(Snapshot::with_memory(config, memory)), source))
    }

    /// A gateway that keeps nothing, whatever the configuration says.
    pub fn new(config: Config) -> Arc<Self> {
        Self::of(Arc::new(Snapshot::new(config)), None)
    }

    pub(crate) fn of(snapshot: Arc<Snapshot>, source: Option<Source>) -> Arc<Self> {
        let shared = Arc::clone(&snapshot.shared);
        let current = RwLock::new(snapshot);
        let (version, reloading) = (AtomicU64::new(0), Mutex::default());
        Arc::new(Self { current, version, source, reloading, shared })
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.snapshot().directory.config)
    }

    /// Puts another configuration in force. Nothing waits any more for calls of providers that are gone: a thread that serves nobody may
    /// know the old configuration for long.
    pub(super) fn replace(&self, config: Config) {
        let generation = self.version.load(Acquire) + 1;
        let old = self.snapshot();
        let next = Arc::new(old.next(config, generation));
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&next);
        self.version.store(generation, Release);
        let stays = |it: &Arc<_>| next.directory.providers.iter().any(|new| Arc::ptr_eq(new, it));
        let gone = old.directory.providers.iter().filter(|it| !stays(it));
        gone.flat_map(|it| &it.endpoints).for_each(Endpoint::close);
    }

    /// The file that the configuration is read from.
    pub(crate) fn config_file(&self) -> Option<&Path> {
        self.source.as_ref().map(|source| source.file.as_path())
    }

    /// What is in force. Threads that serve ask [`Latest`], which takes no lock.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The snapshot in force, as one thread knows it: a counter says whether there is a newer one.
#[derive(Debug)]
pub(crate) struct Latest {
    gateway: Arc<Gateway>,
    known: RefCell<(u64, Arc<Snapshot>)>,
}

impl Latest {
    pub(crate) fn of(gateway: Arc<Gateway>) -> Self {
        let version = gateway.version.load(Acquire);
        let known = RefCell::new((version, gateway.snapshot()));
        Self { gateway, known }
    }

    pub(crate) fn gateway(&self) -> &Arc<Gateway> {
        &self.gateway
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        let version = self.gateway.version.load(Acquire);
        let mut known = self.known.borrow_mut();
        if known.0 != version {
            *known = (version, self.gateway.snapshot());
        }
        Arc::clone(&known.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_serves_takes_no_lock_while_nothing_changes() {
        let gateway = Gateway::new(Config::default());
        let latest = Latest::of(Arc::clone(&gateway));
        let known = latest.snapshot();
        let writing = gateway.current.write().unwrap();
        assert!(Arc::ptr_eq(&known, &latest.snapshot()));
        drop(writing);
        gateway.replace(Config::default());
        assert!(!Arc::ptr_eq(&known, &latest.snapshot()));
    }
}
