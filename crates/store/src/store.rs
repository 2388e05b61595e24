//! The handle: opens a store by its URL. What the memory is asked is a method in the file of its subject.

mod conversations;
mod exchanges;
mod jobs;
mod messages;
mod responses;
mod turns;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

use crate::clock::{Clock, Time};
use crate::engine::{Activity, Durability, Engine, Postgres, Sqlite};
use crate::error::{Error, Kind, Result};
use crate::files::{Files, Form};
use crate::folder::Folder;
use crate::id::{Name, NodeId};
use crate::location::Location;
use crate::migration::{CheckTables, Migrate};
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
    access: Access,
    node: NodeId,
    clock: Clock,
    /// When this node last renewed its lease.
    renewed_at: AtomicI64,
    unopened: Arc<Unopened>,
    /// Changes with every deletion of messages that is known here.
    epoch: AtomicU64,
    /// Whether something was deleted that may still be found on disk. A process before this one may have left something.
    is_unerased: AtomicBool,
}

/// What can be done with a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Full,
    Reading,
}

impl Options {
    /// The conversations of a folder.
    fn files(&self, folder: Folder) -> Result<Files> {
        let form = self.form.clone().ok_or_else(|| Error::new(Kind::Url, NO_FORM))?;
        Ok(Files::new(folder, form))
    }
}

impl Store {
    /// Opens a store and brings its tables up to date.
    pub async fn open(url: &str, options: Options) -> Result<Self> {
        let mut files = None;
        let engine = match Location::parse(url, &options.data_folder)? {
            Location::Memory => Engine::Sqlite(Sqlite::in_memory()?),
            Location::Folder(path) => {
                let folder = Folder::new(path);
                folder.check()?;
                files = Some(options.files(folder)?);
                Engine::Sqlite(Sqlite::in_memory()?)
            }
            Location::File(path) => Engine::Sqlite(Sqlite::open(&path)?),
            Location::Postgres(url) => Engine::Postgres(Postgres::new(&url)?),
        };
        engine.write(Durability::Durable, Migrate).await?;
        Ok(Self::of(engine, files, options, Access::Full))
    }

    /// The same for whoever reads: one that cannot be written is opened as it is, and refuses to be written. One that is not
    /// there is empty, and not made: its place may be misspelt.
    pub async fn open_to_read(url: &str, options: Options) -> Result<Self> {
        if Location::parse(url, &options.data_folder)?.is_missing() {
            return Self::open_missing(url, options).await;
        }
        match Self::open(url, options.clone()).await {
            Err(error) if matches!(error.kind(), Kind::ReadOnly | Kind::Unavailable) => {
                let opened = Self::open_unwritable(url, options).await;
                opened
                    .map_err(|reason| if reason.kind() == Kind::NotFound { error } else { reason })
            }
            opened => opened,
        }
    }

    async fn open_missing(url: &str, options: Options) -> Result<Self> {
        let files = match Location::parse(url, &options.data_folder)? {
            Location::Folder(path) => Some(options.files(Folder::new(path))?),
            Location::Memory | Location::File(_) | Location::Postgres(_) => None,
        };
        let engine = Engine::Sqlite(Sqlite::in_memory()?);
        engine.write(Durability::Volatile, Migrate).await?;
        Ok(Self::of(engine, files, options, Access::Reading))
    }

    /// Opens what is there without writing anything.
    async fn open_unwritable(url: &str, options: Options) -> Result<Self> {
        let mut files = None;
        let engine = match Location::parse(url, &options.data_folder)? {
            Location::Folder(path) => {
                let folder = Folder::new(path);
                folder.list()?;
                files = Some(options.files(folder)?);
                let engine = Engine::Sqlite(Sqlite::in_memory()?);
                engine.write(Durability::Volatile, Migrate).await?;
                engine
            }
            Location::File(path) => Engine::Sqlite(Sqlite::open_unwritable(&path)?),
            Location::Postgres(url) => Engine::Postgres(Postgres::new(&url)?),
            Location::Memory => return Err(Error::not_found("store")),
        };
        engine.read(CheckTables).await?;
        Ok(Self::of(engine, files, options, Access::Reading))
    }

    fn of(engine: Engine, files: Option<Files>, options: Options, access: Access) -> Self {
        let Options { node, clock, .. } = options;
        let (renewed_at, unopened) = (AtomicI64::new(i64::MIN), Arc::default());
        let (epoch, is_unerased) = (AtomicU64::new(1), AtomicBool::new(true));
        let inner =
            Inner { engine, files, access, node, clock, renewed_at, unopened, epoch, is_unerased };
        Self { inner: Arc::new(inner) }
    }

    /// Whether nothing can be written.
    pub fn is_read_only(&self) -> bool {
        self.inner.access == Access::Reading
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

    /// Messages that were there in an epoch are there as long as it lasts, as far as this process knows: others may delete as well.
    /// It is never zero.
    pub fn epoch(&self) -> u64 {
        self.inner.epoch.load(Ordering::Acquire)
    }

    /// From here on, what was there may be gone.
    fn end_epoch(&self) {
        self.inner.epoch.fetch_add(1, Ordering::AcqRel);
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
