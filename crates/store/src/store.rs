//! The handle: opens a store by its URL. What the memory is asked is a method in the file of its subject.

mod conversations;
mod exchanges;
mod jobs;
mod messages;
mod responses;
mod turns;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::clock::{Clock, Time};
use crate::engine::{Activity, Durability, Engine, Postgres, Sqlite};
use crate::error::{Error, Kind, Result};
use crate::files::{Files, Form};
use crate::folder::Folder;
use crate::id::{Name, NodeId};
use crate::location::Location;
use crate::migration::Migrate;
use crate::node::{Heartbeat, LEASE, Recover};
use crate::secret::{EnsureSecret, Secret};
use crate::turn::Unopened;

/// What a store needs to know of the process that opens it.
#[derive(Clone, Debug)]
pub struct Options {
    /// This process; no two that run have the same.
    pub node: NodeId,
    /// Where `sqlite:` without a path keeps its file.
    pub data_folder: PathBuf,
    pub clock: Clock,
    /// What the files of `files:` look like, where that may be asked for.
    pub form: Option<Arc<dyn Form>>,
}

/// The memory. Clones are handles to the same store.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    engine: Engine,
    /// Where conversations are files; the engine is then their index.
    files: Option<Files>,
    node: NodeId,
    clock: Clock,
    /// When this node last renewed its lease.
    renewed_at: AtomicI64,
    unopened: Arc<Unopened>,
}

impl Store {
    /// Opens a store and brings its tables up to date.
    pub async fn open(url: &str, options: Options) -> Result<Self> {
        let mut files = None;
        let engine = match Location::parse(url, &options.data_folder)? {
            Location::Memory => Engine::Sqlite(Sqlite::in_memory()?),
            Location::Folder(path) => {
                let form = options.form.ok_or_else(|| Error::new(Kind::Url, NO_FORM))?;
                let folder = Folder::new(path);
                folder.check()?;
                files = Some(Files::new(folder, form));
                Engine::Sqlite(Sqlite::in_memory()?)
            }
            Location::File(path) => Engine::Sqlite(Sqlite::open(&path)?),
            Location::Postgres(url) => Engine::Postgres(Postgres::new(&url)?),
        };
        engine.write(Durability::Durable, Migrate).await?;
        let Options { node, clock, .. } = options;
        let (renewed_at, unopened) = (AtomicI64::new(i64::MIN), Arc::default());
        let inner = Inner { engine, files, node, clock, renewed_at, unopened };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Whether conversations are files, which hold less than a database does.
    pub fn is_of_files(&self) -> bool {
        self.inner.files.is_some()
    }

    /// Where this URL keeps its data, without user and password; an error if it cannot be read. Nothing is opened.
    pub fn describe(url: &str, data_folder: &Path) -> Result<String> {
        Ok(match Location::parse(url, data_folder)? {
            Location::Memory => "in memory".to_owned(),
            Location::File(path) => path.display().to_string(),
            Location::Folder(path) => format!("files in {}", path.display()),
            Location::Postgres(url) => Postgres::describe(&url)?,
        })
    }

    pub fn now(&self) -> Time {
        self.inner.clock.now()
    }

    /// How much was written durably, and in how many syncs of the disk.
    pub fn activity(&self) -> Activity {
        self.inner.engine.activity()
    }
}

const NO_FORM: &str = "`files:` is not possible here: nobody says what its files look like";

/// Nodes: to be called every ten seconds while anything is open, and by somebody at least that often.
impl Store {
    /// Renews the lease of this node.
    pub async fn heartbeat(&self) -> Result<()> {
        let now = self.now();
        let heartbeat = Heartbeat { node: self.inner.node.clone(), now };
        self.inner.engine.write(Durability::Volatile, heartbeat).await?;
        self.inner.renewed_at.store(now.0, Ordering::Relaxed);
        Ok(())
    }

    /// Marks the open turns and jobs of dead nodes as interrupted, and ends what those nodes held. Returns the number of turns.
    pub async fn recover(&self) -> Result<u64> {
        self.inner.engine.write(Durability::Volatile, Recover { now: self.now() }).await
    }

    /// What is opened or held belongs to a node that is alive, from the first on.
    async fn stay_alive(&self) -> Result<()> {
        let due = self
            .inner
            .renewed_at
            .load(Ordering::Relaxed)
            .saturating_add(i64::try_from(LEASE.as_millis() / 2).unwrap_or(i64::MAX));
        let now = self.now();
        if now.0 < due {
            return Ok(());
        }
        let heartbeat = Heartbeat { node: self.inner.node.clone(), now };
        self.inner.engine.start(Durability::Volatile, heartbeat).await?;
        self.inner.renewed_at.store(now.0, Ordering::Relaxed);
        Ok(())
    }
}

/// What belongs to the store itself.
impl Store {
    /// The key of that name that all nodes share: `fresh`, unless somebody was earlier.
    pub async fn ensure_secret(&self, name: Name, fresh: Secret) -> Result<Secret> {
        self.inner.engine.write(Durability::Durable, EnsureSecret { name, fresh }).await
    }
}
