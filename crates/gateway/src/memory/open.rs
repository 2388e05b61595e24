//! The handle to the memory: opened from the configuration, closed when the last request has ended.

use std::fmt;
use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use sabir_store::{Begun, Clock, Keep, NodeId, Options, Owner, Store, TurnId};
use tokio::runtime::Runtime;

use crate::config::types;
use crate::config::types::{GatewayKey, Level, StoreAccess};
use crate::memory::form::Transcripts;
use crate::memory::health::Health;
use crate::memory::leftover::{Leftover, Leftovers};
use crate::memory::queue::Queue;
use crate::memory::readings::Readings;
use crate::memory::row::Row;
use crate::memory::underway::Underway;
use crate::memory::unwritten::Unwritten;
use crate::memory::upkeep::Keeper;

/// The store with what is to be kept in it.
#[derive(Debug)]
pub(crate) struct Memory {
    store: Store,
    level: Level,
    keep: Keep,
    queue: Arc<Queue>,
    health: Arc<Health>,
    leftovers: Arc<Leftovers>,
    unwritten: Arc<Unwritten>,
    underway: Arc<Underway>,
    readings: Arc<Readings>,
    /// Ends once the queue is closed and empty.
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// How long the start waits for what dead nodes left.
const RECOVERY_MAX: Duration = Duration::from_secs(2);

/// Why the memory is not there, and what helps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotOpened(String);

impl Memory {
    /// Opens the configured store; none where nothing is to be kept.
    pub(crate) fn open(config: &types::Store) -> Result<Option<Self>, NotOpened> {
        if config.record == Level::Off {
            return Ok(None);
        }
        let place = config.place().map_err(|reason| NotOpened::new("", &reason))?;
        let failed = |reason: &dyn fmt::Display| NotOpened::new(&place, reason);
        let (queue, health) = (Arc::<Queue>::default(), Arc::<Health>::default());
        let (leftovers, unwritten) = (Arc::<Leftovers>::default(), Arc::<Unwritten>::default());
        let (url, options, access) =
            (config.url.expose().to_owned(), options(config), config.access);
        let (opened, is_open) = mpsc::sync_channel(1);
        let (waiting, noted, keep) = (Arc::clone(&queue), Arc::clone(&health), config.keep);
        let (undone, sealed) = (Arc::clone(&leftovers), Arc::clone(&unwritten));
        let thread = std::thread::Builder::new().name("sabir-memory".to_owned());
        // Connections to a database live as long as the runtime that they were made in, so it is not that of a request.
        let thread = thread.spawn(move || {
            let Some((runtime, store)) = open((&url, access), options, &opened) else { return };
            let keeper = Keeper {
                store,
                keep,
                queue: waiting,
                health: noted,
                leftovers: undone,
                unwritten: sealed,
            };
            runtime.block_on(keeper.run());
        });
        let thread = thread.map_err(|error| failed(&error))?;
        let store = is_open.recv().map_err(|error| failed(&error))?.map_err(|it| failed(&it))?;
        let (level, thread) = (config.record, Mutex::new(Some(thread)));
        Ok(Some(Self {
            store,
            level,
            keep,
            queue,
            health,
            leftovers,
            unwritten,
            underway: Arc::default(),
            readings: Arc::default(),
            thread,
        }))
    }

    /// Whether the store did what it was last asked to.
    pub(crate) fn is_up(&self) -> bool {
        self.health.is_up()
    }

    /// Keeps the row of an exchange, soon. One that finds no room is counted and gone.
    pub(crate) fn record(&self, row: Row) {
        // Files have no rows beside them, which the banner says.
        if self.store.is_of_files() {
            return;
        }
        if self.queue.push(row).is_err() {
            self.health.dropped(1);
        }
    }

    /// Takes back a turn that could not be ended, as soon as the store works: until then it holds its conversation.
    pub(crate) fn take_back(&self, owner: Owner, turn: TurnId, begun: Option<Begun>) {
        self.leftovers.add(Leftover { owner, turn, begun });
    }

    /// Writes what waits and ends the upkeep.
    pub(crate) fn close(&self) {
        self.queue.close();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    /// Adds its counters in the Prometheus text form.
    pub(crate) fn render(&self, out: &mut String) {
        self.health.render(out);
        let syncs = self.store.activity().durable_commits;
        let _ = writeln!(
            out,
            "# HELP sabir_store_syncs_total Commits that waited for the disk; many writes may share one.\n\
             # TYPE sabir_store_syncs_total counter\nsabir_store_syncs_total {syncs}"
        );
    }
}

/// For whoever records conversations.
impl Memory {
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn level(&self) -> Level {
        self.level
    }

    pub(crate) fn underway(&self) -> &Arc<Underway> {
        &self.underway
    }

    /// What is known of histories that clients send again.
    pub(crate) fn readings(&self) -> &Arc<Readings> {
        &self.readings
    }

    /// To whom belongs what a client with this key makes.
    pub(crate) fn owner(&self, key: Option<&Arc<GatewayKey>>) -> Owner {
        owner(key)
    }
}

/// For the memory of artefacts.
impl Memory {
    pub(super) fn keep(&self) -> Keep {
        self.keep
    }

    pub(super) fn unwritten(&self) -> &Arc<Unwritten> {
        &self.unwritten
    }

    pub(super) fn health(&self) -> &Arc<Health> {
        &self.health
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.queue.close();
    }
}

pub(super) fn owner(key: Option<&Arc<GatewayKey>>) -> Owner {
    let Some(key) = key else { return Owner::nobody() };
    Owner::key(key.name.as_str()).expect("the configuration takes no other names of keys")
}

/// Opens the store in a runtime of this thread, and notifies the one that waits.
fn open(
    (url, access): (&str, StoreAccess),
    options: Options,
    opened: &SyncSender<Result<Store, String>>,
) -> Option<(Runtime, Store)> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string());
    let both = runtime.and_then(|runtime| {
        let store = runtime.block_on(async {
            match access {
                StoreAccess::Full => {
                    let store = Store::open(url, options).await?;
                    recover(&store).await;
                    Ok(store)
                }
                StoreAccess::Reading => Store::open_to_read(url, options).await,
            }
        });
        store.map(|store| (runtime, store)).map_err(|error| error.to_string())
    });
    let stated = opened.send(both.as_ref().map(|(_, store)| store.clone()).map_err(String::clone));
    both.ok().filter(|_| stated.is_ok())
}

/// Ends what dead nodes left before anybody looks: the first reader would take a turn that nobody works on for one under way.
/// A store that fails or takes long is left to the upkeep, which says so.
async fn recover(store: &Store) {
    if !store.is_read_only() {
        let _ = tokio::time::timeout(RECOVERY_MAX, store.recover()).await;
    }
}

fn options(config: &types::Store) -> Options {
    // The standard library seeds its hashers at random: no two processes have the same id, whenever they start.
    let random = RandomState::new().hash_one(std::process::id());
    let node = NodeId::new(format!("node-{random:016x}")).expect("hexadecimal digits are an id");
    let data_folder = config.data_folder.clone().unwrap_or_else(|| PathBuf::from("."));
    Options { node, data_folder, clock: Clock::System, form: Some(Arc::new(Transcripts)) }
}

impl NotOpened {
    fn new(place: &str, reason: &dyn fmt::Display) -> Self {
        let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
        Self(format!(
            "the store{at} cannot be opened: {reason}; name another place as `url` in [store], another data folder with \
             --data, or set `record = \"off\"` in [store] to keep nothing"
        ))
    }
}

impl fmt::Display for NotOpened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotOpened {}
