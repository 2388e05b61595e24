//! A gateway: the snapshot in force, which another one may replace, and what they share.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::RwLock;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Acquire;

use crate::config::types::Config;
use crate::state::Shared;
use crate::state::Snapshot;

/// A gateway, apart from the sockets it listens on.
#[derive(Debug)]
pub struct Gateway {
    current: RwLock<Arc<Snapshot>>,
    /// How often the snapshot was replaced.
    version: AtomicU64,
    pub(crate) shared: Arc<Shared>,
}

impl Gateway {
    pub fn new(config: Config) -> Arc<Self> {
        let snapshot = Snapshot::new(config);
        let shared = Arc::clone(&snapshot.shared);
        let current = RwLock::new(Arc::new(snapshot));
        Arc::new(Self { current, version: AtomicU64::new(0), shared })
    }

    /// The configuration in force.
    pub fn config(&self) -> Arc<Config> {
        Arc::clone(&self.snapshot().directory.config)
    }

    /// What is in force. Threads that serve ask [`Latest`], which takes no lock.
    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The snapshot in force, as one thread knows it: a look at a number tells whether there is a newer one.
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
