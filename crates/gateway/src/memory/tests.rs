//! A memory from its opening to its end: what is refused, what is made on disk, and what is written when.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use sabir_backend::Secret;
use sabir_store::{Clock, Keep, Name, NodeId, Opening, Options, Owner, Status, Time, TurnId};
use sabir_wire::Protocol;
use sabir_wire::conversation::{Count, Counts};

use crate::config::types::{GatewayKey, Level, Store};
use crate::memory::health::{Duty, Health};
use crate::memory::queue::{Queue, ROWS_MAX};
use crate::memory::{AskedModel, Memory, Row, Try};
use crate::observe::Outcome;

/// A folder that is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static FOLDERS: AtomicUsize = AtomicUsize::new(0);
        let number = FOLDERS.fetch_add(1, Relaxed);
        let name = format!("sabir-memory-{}-{number}", std::process::id());
        let folder = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&folder.0).unwrap();
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn config(record: Level, data_folder: &Path) -> Store {
    Store { record, data_folder: Some(data_folder.to_owned()), ..Store::default() }
}

fn in_memory() -> Memory {
    let config = Store { url: Secret::new("memory:"), ..Store::default() };
    Memory::open(&config).unwrap().unwrap()
}

fn row(number: u64) -> Row {
    let mut counts = Counts::default();
    counts[Count::Input] = Some(number);
    counts[Count::CacheRead] = Some(2);
    Row {
        id: format!("ex_{number}"),
        began_ms: 86_400_000 * 3,
        key: None,
        turn: None,
        client: Protocol::OpenaiChat,
        outcome: Outcome::Answered,
        is_call: true,
        duration: Duration::from_millis(7),
        first_byte: Some(Duration::from_millis(5)),
        counts,
        losses: 1,
        asked: Some(asked("p", "m")),
        failed: Vec::new(),
        last_try: Some(Duration::from_millis(6)),
    }
}

fn asked(provider: &str, model: &str) -> AskedModel {
    AskedModel { provider: provider.into(), model: model.to_owned() }
}

fn key(name: &str) -> Arc<GatewayKey> {
    let (name, value) = (name.to_owned(), Secret::new("sesame"));
    Arc::new(GatewayKey { name, value, admin: false, tools: None })
}

#[test]
fn off_opens_nothing_and_makes_no_file() {
    let folder = Folder::new();
    let data = folder.path("data");
    assert!(Memory::open(&config(Level::Off, &data)).unwrap().is_none());
    assert!(!data.exists());
}

#[cfg(unix)]
#[test]
fn folder_and_file_are_the_users_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let data = folder.path("a/b");
    let memory = Memory::open(&config(Level::Stateful, &data)).unwrap().unwrap();
    assert_eq!(memory.level(), Level::Stateful);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(&folder.path("a")), mode(&data)], [0o700; 2]);
    for entry in fs::read_dir(&data).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn what_a_dead_node_left_has_ended_once_the_memory_is_open() {
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (owner, id) = (Owner::nobody(), TurnId::new("turn_dead").unwrap());
    runtime.block_on(async {
        // Its lease ended an hour ago; what is much older is deleted.
        let past = Clock::System.now().minus(Duration::from_secs(60 * 60));
        let clock = Clock::Manual(Arc::new(past.0.into()));
        let (node, data_folder) = (NodeId::new("dead").unwrap(), folder.0.clone());
        let options = Options { node, data_folder, clock, form: None };
        let url = format!("sqlite:{}", folder.path("sabir.db").display());
        let dead = sabir_store::Store::open(&url, options).await.unwrap();
        let (owner, id, protocol) = (owner.clone(), id.clone(), Name::new("openai-chat").unwrap());
        let opening = Opening { owner, id, previous: None, base: None, protocol, exchange: None };
        dead.open_turn(opening).await.unwrap();
        dead.flush().await.unwrap();
    });
    let memory = Memory::open(&config(Level::Stateful, &folder.0)).unwrap().unwrap();
    let turn = runtime.block_on(memory.store().turn(&owner, &id)).unwrap();
    assert_eq!(turn.status, Status::Interrupted);
}

#[test]
fn a_store_that_cannot_be_opened_says_where_and_what_to_do() {
    let folder = Folder::new();
    fs::write(folder.path("file"), "no folder").unwrap();
    fs::write(folder.path("sabir.db"), "no database at all, but long enough to have a header")
        .unwrap();
    let not_opened = |config: &Store| Memory::open(config).unwrap_err().to_string();
    for data in [folder.path("file"), folder.0.clone()] {
        let message = not_opened(&config(Level::Stateful, &data));
        let place = data.join("sabir.db").display().to_string();
        assert!(message.contains(&place), "{message}");
        assert!(message.contains("`url` in [store]"), "{message}");
        assert!(message.contains("`record = \"off\"`"), "{message}");
    }
    let message = not_opened(&Store::default());
    assert!(message.contains("neither SABIR_DATA_DIR nor HOME is set"), "{message}");
    let url = Secret::new("postgres://u:sesame@127.0.0.1:1/db?connect_timeout=1");
    let message = not_opened(&Store { url, ..Store::default() });
    assert!(message.contains("postgres://127.0.0.1:1/db"), "{message}");
    assert!(!message.contains("sesame"), "{message}");
}

#[tokio::test]
async fn rows_are_written_before_the_end_and_the_day_has_their_sums() {
    let memory = in_memory();
    (1..=1_200).for_each(|number| memory.record(row(number)));
    // Those that come again, as after a write of which nobody knows whether it happened, count once.
    memory.record(row(7));
    memory.record(Row { key: Some(key("ci")), ..row(3) });
    memory.close();
    let store = memory.store();
    let nobody = store.usage(&Owner::nobody(), Time(0)).await.unwrap();
    assert_eq!(nobody.len(), 1);
    assert_eq!((nobody[0].day, nobody[0].calls), (3, 1_200));
    assert_eq!((nobody[0].provider.as_str(), nobody[0].model.as_str()), ("p", "m"));
    let tokens = nobody[0].tokens;
    assert_eq!((tokens.input, tokens.cache_read), ((1..=1_200).sum(), 2_400));
    let owner = memory.owner(Some(&key("ci")));
    assert_eq!(owner, Owner::key("ci").unwrap());
    assert_eq!(store.usage(&owner, Time(0)).await.unwrap()[0].calls, 1);
}

#[test]
fn every_try_of_an_exchange_is_in_its_row() {
    let failed = vec![Try { asked: asked("first", "a"), duration: Duration::from_millis(3) }];
    let exchange = Row { failed, outcome: Outcome::Cancelled, ..row(1) }.to_exchange();
    let tries = exchange.attempts.iter();
    let tries: Vec<_> =
        tries.map(|it| (it.provider.as_str(), it.outcome.as_str(), it.milliseconds)).collect();
    assert_eq!(tries, [("first", "failed", 3), ("p", "cancelled", 6)]);
    let unreached = Row { asked: None, last_try: None, ..row(1) }.to_exchange();
    assert!(unreached.attempts.is_empty() && unreached.provider.is_none());
}

#[test]
fn any_name_of_a_model_can_be_kept() {
    let kept = |model: &str| {
        let row = Row { asked: Some(asked("p", model)), ..row(1) };
        row.to_exchange().model.unwrap().as_str().to_owned()
    };
    assert_eq!(kept("a\nb"), "ab");
    assert_eq!(kept(""), "?");
    assert_eq!(kept(&"ü".repeat(400)).len(), 512);
}

#[test]
fn a_full_queue_takes_no_more() {
    let queue = Queue::default();
    (0..ROWS_MAX as u64).for_each(|number| queue.push(row(number)).unwrap());
    assert!(queue.push(row(0)).is_err());
    assert_eq!(queue.take().len(), ROWS_MAX);
    assert!(queue.push(row(0)).is_ok());
}

#[test]
fn a_store_is_up_when_all_that_is_written_to_it_succeeds() {
    let health = Health::default();
    let failed = || sabir_store::Owner::key("").map(|_| ());
    let note = |duty, written: sabir_store::Result<()>| {
        health.note(duty, &written);
        health.is_up()
    };
    assert!(health.is_up());
    assert!(!note(Duty::Rows, failed()));
    assert!(!note(Duty::Lease, Ok(())));
    assert!(note(Duty::Rows, Ok(())));
    health.dropped(3);
    let mut text = String::new();
    health.render(&mut text);
    for line in [
        "sabir_store_up 1",
        "sabir_store_rows_dropped_total 3",
        "sabir_store_write_failures_total 1",
    ] {
        assert!(text.lines().any(|it| it == line), "{text}");
    }
}

#[test]
fn what_is_kept_is_said_in_a_line() {
    let store = config(Level::Stateful, Path::new("/data"));
    assert_eq!(store.summary(), "stateful, /data/sabir.db, kept 30 days");
    let store = Store { keep: Keep::Forever, record: Level::Full, ..store };
    assert_eq!(store.summary(), "full, /data/sabir.db, kept forever");
    let store = Store { url: Secret::new("postgres://u:sesame@h/db"), ..store };
    assert_eq!(store.summary(), "full, postgres://h:5432/db, kept forever");
    let store =
        Store { keep: Keep::For(Duration::from_secs(3_600)), url: Secret::new("memory:"), ..store };
    assert_eq!(store.summary(), "full, in memory, kept 1 hour, gone when the gateway ends");
    assert_eq!(Store { record: Level::Off, ..store }.summary(), "off, nothing is kept");
}
