//! A store to test with: an engine, a clock that the test moves, and short ways to make what is kept.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use sabir_store::{
    Clock, Closing, ConversationId, Ending, Hash, Kind, Name, NewConversation, NewMessage, NodeId,
    Opening, Options, Origin, Owner, Record, Store, Title, TurnId,
};

/// The engines of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Memory,
    File,
    Postgres,
    /// Conversations as files, of whatever form.
    Files,
}

pub(crate) struct Bench {
    pub(crate) store: Store,
    pub(crate) owner: Owner,
    pub(crate) clock: Arc<AtomicI64>,
    pub(crate) place: Place,
}

/// Where a store is, and what goes when the test ends.
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) folder: PathBuf,
}

/// A test for every database. Files do otherwise, and their manual says how.
macro_rules! each_engine {
    ($($(#[$doc:meta])* async fn $name:ident($bench:ident) $body:block)*) => {$(
        mod $name {
            use super::*;

            async fn check($bench: Bench) $body

            #[tokio::test]
            async fn memory() {
                check(Bench::open(Engine::Memory).await).await;
            }

            #[tokio::test]
            async fn sqlite() {
                check(Bench::open(Engine::File).await).await;
            }

            #[tokio::test]
            async fn postgres() {
                if crate::postgres::is_there() {
                    check(Bench::open(Engine::Postgres).await).await;
                }
            }
        }
    )*};
}
pub(crate) use each_engine;

/// A test for every engine and for files, of what files can hold.
macro_rules! each_engine_and_files {
    ($($(#[$doc:meta])* async fn $name:ident($bench:ident) $body:block)*) => {
        each_engine! { $($(#[$doc])* async fn $name($bench) $body)* }

        mod files {
            use super::*;

            $(
                #[tokio::test]
                async fn $name() {
                    let $bench = Bench::open(Engine::Files).await;
                    $body
                }
            )*
        }
    };
}
pub(crate) use each_engine_and_files;

/// A test for every engine, of what files have no room for: they refuse it and say so, rather than leave something out.
macro_rules! each_engine_refused_by_files {
    ($($(#[$doc:meta])* async fn $name:ident($bench:ident) $body:block)*) => {
        each_engine! { $($(#[$doc])* async fn $name($bench) $body)* }

        mod refused_by_files {
            use super::*;

            $(
                #[tokio::test]
                async fn $name() {
                    let $bench = Bench::open(Engine::Files).await;
                    crate::bench::assert_refused(async move { $body }).await;
                }
            )*
        }
    };
}
pub(crate) use each_engine_refused_by_files;

/// Whether a test comes no further than to a clear refusal.
pub(crate) async fn assert_refused(test: impl Future<Output = ()> + 'static) {
    let tasks = tokio::task::LocalSet::new();
    let test = tasks.spawn_local(test);
    let ended = tasks.run_until(test).await;
    let panic = ended.expect_err("files have no room for it").into_panic();
    let words = panic.downcast_ref::<String>().expect("a failed `unwrap` or `assert`");
    assert!(words.contains(&format!("{:?}", Kind::Unsupported)), "{words}");
}

static NUMBER: AtomicU64 = AtomicU64::new(0);

impl Bench {
    pub(crate) async fn open(engine: Engine) -> Self {
        let clock = Arc::new(AtomicI64::new(1_800_000_000_000));
        let place = Place::new(engine).await;
        let store = open(&place, "node-1", &clock).await;
        let owner = match engine {
            Engine::Files => Owner::nobody(),
            Engine::Memory | Engine::File | Engine::Postgres => Owner::key("ann").unwrap(),
        };
        Self { store, owner, clock, place }
    }

    /// The same database, opened by another process; memory has no other.
    pub(crate) async fn another_node(&self) -> Option<Store> {
        match self.place.url.as_str() {
            "memory:" => None,
            _ => Some(open(&self.place, "node-2", &self.clock).await),
        }
    }

    pub(crate) fn wait(&self, duration: Duration) {
        let milliseconds = i64::try_from(duration.as_millis()).unwrap();
        self.clock.fetch_add(milliseconds, Ordering::Relaxed);
    }

    pub(crate) fn opening(&self, id: &str) -> Opening {
        Opening {
            owner: self.owner.clone(),
            id: turn_id(id),
            previous: None,
            base: None,
            protocol: name("openai-chat"),
            exchange: None,
        }
    }

    /// A turn that adds these texts after `previous`, with its tip.
    pub(crate) fn closing(
        &self,
        id: &str,
        previous: Option<(&str, Hash)>,
        texts: &[&str],
    ) -> Closing {
        let mut turn = self.opening(id);
        turn.previous = previous.map(|(id, _)| turn_id(id));
        turn.base = previous.map(|(_, base)| base);
        let messages = chain(turn.base, texts);
        Closing {
            turn,
            ending: Ending::Finished,
            provider: Some(name("provider")),
            model: Some(name("model")),
            messages,
            system: None,
            tools: None,
            details: record("details"),
            responses: Vec::new(),
            items: Vec::new(),
            conversation: None,
            begins: None,
            beside: None,
            follows: None,
            job: None,
        }
    }

    /// Opens and closes such a turn, and returns its tip.
    pub(crate) async fn turn(
        &self,
        id: &str,
        previous: Option<(&str, Hash)>,
        texts: &[&str],
    ) -> Hash {
        let closing = self.closing(id, previous, texts);
        let tip = closing.messages.last().unwrap().hash;
        self.store.open_turn(closing.turn.clone()).await.unwrap();
        self.store.close_turn(closing).await.unwrap();
        tip
    }

    pub(crate) async fn conversation(&self, id: &str) -> ConversationId {
        let new = NewConversation {
            owner: self.owner.clone(),
            id: conversation_id(id),
            title: Title::new(id),
            metadata: record("{}"),
            origin: Origin::Asked,
        };
        self.store.ensure_conversation(new).await.unwrap().id
    }
}

impl Place {
    pub(crate) async fn new(engine: Engine) -> Self {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("store-{}-{number}", std::process::id());
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let url = match engine {
            Engine::Memory => "memory:".to_owned(),
            Engine::File => "sqlite:".to_owned(),
            Engine::Files => format!("files:{}", folder.display()),
            Engine::Postgres => crate::postgres::new_schema(&format!("test_{number}")).await,
        };
        Self { url, folder }
    }

    pub(crate) fn options(&self, node: &str, clock: Clock) -> Options {
        let form = Some(Arc::new(crate::sessions::Plain) as Arc<dyn sabir_store::Form>);
        let node = NodeId::new(node).unwrap();
        Options { node, data_folder: self.folder.clone(), clock, form }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

async fn open(place: &Place, node: &str, clock: &Arc<AtomicI64>) -> Store {
    let options = place.options(node, Clock::Manual(Arc::clone(clock)));
    Store::open(&place.url, options).await.unwrap()
}

pub(crate) fn other() -> Owner {
    Owner::key("bob").unwrap()
}

pub(crate) fn turn_id(id: &str) -> TurnId {
    TurnId::new(id).unwrap()
}

pub(crate) fn conversation_id(id: &str) -> ConversationId {
    ConversationId::new(id).unwrap()
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn record(text: &str) -> Record {
    Record::new(text).unwrap()
}

/// Messages with these texts, each after the one before it.
pub(crate) fn chain(base: Option<Hash>, texts: &[&str]) -> Vec<NewMessage> {
    let mut parent = base;
    let mut messages = Vec::new();
    for text in texts {
        let hash = Hash::of_message(parent.as_ref(), text.as_bytes());
        messages.push(NewMessage { hash, record: record(text) });
        parent = Some(hash);
    }
    messages
}

pub(crate) fn texts(history: &sabir_store::History) -> Vec<&str> {
    history.messages.iter().map(|it| std::str::from_utf8(it.record.as_bytes()).unwrap()).collect()
}
