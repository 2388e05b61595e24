//! The handle: opens a store by its URL, and has a method for each thing that the memory is asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::artefact::{Artefact, ArtefactKey, PutArtefacts, ReadArtefacts};
use crate::clock::{Clock, Time};
use crate::conversation::{
    Append, Change, Conversation, Create, Delete, Deletion, Edit, Fork, ForkConversation, List,
    Listing, NewConversation, Page, ReadConversation,
};
use crate::engine::{Activity, Durability, Engine, Postgres, Sqlite};
use crate::error::Result;
use crate::exchange::{DayUsage, Exchange, ReadExchange, ReadUsage, RecordExchanges};
use crate::hold::{Held, Purpose, Release, Take};
use crate::id::{ConversationId, ExchangeId, Hash, ItemId, NodeId, Owner, ResponseId, TurnId};
use crate::location::Location;
use crate::message;
use crate::message::{History, Known, NewMessage, Window};
use crate::migration::Migrate;
use crate::node::{Heartbeat, LEASE, Recover};
use crate::record::Record;
use crate::response::{
    DeleteResponse, Item, ItemPage, ListItems, ReadItems, ReadResponse, Response,
};
use crate::retention::{Keep, Sweep, Swept};
use crate::setting::ReadSetting;
use crate::summary::{PutSummary, ReadSummary, Summary};
use crate::touch::{Touch, Touched};
use crate::turn::{
    Abandon, Close, Closing, Open, Opening, ReadTurn, Stream, Turn, Turns, USE_RESOLUTION,
};

/// What a store needs to know of the process that opens it.
#[derive(Clone, Debug)]
pub struct Options {
    /// This process; no two that run have the same.
    pub node: NodeId,
    /// Where `sqlite:` without a path keeps its file.
    pub data_folder: PathBuf,
    pub clock: Clock,
}

/// The memory. Clones are handles to the same store.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    engine: Engine,
    node: NodeId,
    clock: Clock,
    /// When this node last renewed its lease.
    renewed_at: AtomicI64,
}

impl Store {
    /// Opens a store and brings its tables up to date.
    pub async fn open(url: &str, options: Options) -> Result<Self> {
        let engine = match Location::parse(url, &options.data_folder)? {
            Location::Memory => Engine::Sqlite(Sqlite::in_memory()?),
            Location::File(path) => Engine::Sqlite(Sqlite::open(&path)?),
            Location::Postgres(url) => Engine::Postgres(Postgres::new(&url)?),
        };
        engine.write(Durability::Durable, Migrate).await?;
        let Options { node, clock, .. } = options;
        let renewed_at = AtomicI64::new(i64::MIN);
        Ok(Self { inner: Arc::new(Inner { engine, node, clock, renewed_at }) })
    }

    /// Where this URL keeps its data, without user and password; an error if it cannot be read. Nothing is opened.
    pub fn describe(url: &str, data_folder: &Path) -> Result<String> {
        Ok(match Location::parse(url, data_folder)? {
            Location::Memory => "in memory".to_owned(),
            Location::File(path) => path.display().to_string(),
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

    /// Marks the open turns of dead nodes as interrupted, and ends what those nodes held. Returns the number of turns.
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
        self.inner.engine.start(heartbeat).await?;
        self.inner.renewed_at.store(now.0, Ordering::Relaxed);
        Ok(())
    }
}

/// Messages and settings.
impl Store {
    /// How many of these messages are kept, from the first on. Each hash is over the one before it.
    pub async fn known(&self, owner: &Owner, hashes: Vec<Hash>) -> Result<usize> {
        self.inner.engine.read(Known { owner: owner.clone(), hashes }).await
    }

    /// The messages up to `tip`, the oldest first.
    pub async fn history(&self, owner: &Owner, tip: Hash, window: Window) -> Result<History> {
        self.inner.engine.read(message::Path { owner: owner.clone(), tip, window }).await
    }

    /// A system prompt or tools, by the hash that a turn or a conversation has of them.
    pub async fn setting(&self, owner: &Owner, hash: Hash) -> Result<Record> {
        self.inner.engine.read(ReadSetting { owner: owner.clone(), hash }).await
    }
}

/// Turns.
impl Store {
    /// Opens a turn without waiting for the disk. While the store is in trouble, its error comes back at once.
    pub async fn open_turn(&self, opening: Opening) -> Result<()> {
        self.stay_alive().await?;
        let open = Open { opening, node: self.inner.node.clone(), now: self.now() };
        self.inner.engine.start(open).await
    }

    /// The first event of the answer is there.
    pub async fn stream_turn(&self, owner: &Owner, turn: &TurnId) -> Result<()> {
        let stream = Stream { owner: owner.clone(), turn: turn.clone() };
        self.inner.engine.start(stream).await
    }

    /// Ends a turn with all that it leaves. It is on disk when this returns.
    pub async fn close_turn(&self, closing: Closing) -> Result<()> {
        let close = Close { closing, node: self.inner.node.clone(), now: self.now() };
        self.inner.engine.write(Durability::Durable, close).await
    }

    /// Takes a turn back that got no answer, and ends what it held.
    pub async fn abandon_turn(&self, owner: &Owner, turn: &TurnId) -> Result<()> {
        let abandon = Abandon { owner: owner.clone(), turn: turn.clone() };
        self.inner.engine.write(Durability::Volatile, abandon).await
    }

    pub async fn turn(&self, owner: &Owner, turn: &TurnId) -> Result<Turn> {
        let read = ReadTurn { owner: owner.clone(), turn: turn.clone() };
        let turn = self.inner.engine.read(read).await?;
        self.touch(owner, turn.used_at, || Touched::Turn(turn.id.clone())).await;
        Ok(turn)
    }

    /// This turn and those that it continues, the newest first.
    pub async fn turns(&self, owner: &Owner, from: &TurnId, limit: u32) -> Result<Vec<Turn>> {
        let turns = Turns { owner: owner.clone(), from: from.clone(), limit };
        self.inner.engine.read(turns).await
    }

    /// Holds a conversation, or the one continuation of a turn, for a turn that is about to be opened.
    pub async fn hold(&self, owner: &Owner, purpose: Purpose, turn: &TurnId) -> Result<Held> {
        self.stay_alive().await?;
        let take = Take {
            owner: owner.clone(),
            purpose,
            turn: turn.clone(),
            node: self.inner.node.clone(),
            now: self.now(),
        };
        self.inner.engine.write(Durability::Volatile, take).await
    }

    /// Ends whatever this turn holds.
    pub async fn release(&self, owner: &Owner, turn: &TurnId) -> Result<()> {
        let release = Release { owner: owner.clone(), turn: turn.clone() };
        self.inner.engine.write(Durability::Volatile, release).await
    }

    /// Notes the use of something, if it was noted long ago. A note that fails is made at the next use.
    async fn touch(&self, owner: &Owner, used_at: Time, what: impl FnOnce() -> Touched) {
        let now = self.now();
        if used_at.plus(USE_RESOLUTION) < now {
            let touch = Touch { owner: owner.clone(), what: what(), now };
            let _ = self.inner.engine.start(touch).await;
        }
    }
}

/// Responses and items.
impl Store {
    pub async fn response(&self, owner: &Owner, id: &ResponseId) -> Result<Response> {
        let read = ReadResponse { owner: owner.clone(), id: id.clone() };
        self.inner.engine.read(read).await
    }

    pub async fn delete_response(&self, owner: &Owner, id: &ResponseId) -> Result<()> {
        let delete = DeleteResponse { owner: owner.clone(), id: id.clone() };
        self.inner.engine.write(Durability::Durable, delete).await
    }

    /// Items by their ids, in the order of the ids; `None` for those that nobody knows.
    pub async fn items(&self, owner: &Owner, ids: Vec<ItemId>) -> Result<Vec<Option<Item>>> {
        self.inner.engine.read(ReadItems { owner: owner.clone(), ids }).await
    }

    /// A page of a turn's items.
    pub async fn list_items(
        &self,
        owner: &Owner,
        turn: &TurnId,
        page: ItemPage,
    ) -> Result<Vec<Item>> {
        let list = ListItems { owner: owner.clone(), turn: turn.clone(), page };
        self.inner.engine.read(list).await
    }
}

/// Conversations and their summaries.
impl Store {
    /// The owner's conversation of this id, made if there is none.
    pub async fn ensure_conversation(&self, new: NewConversation) -> Result<Conversation> {
        let create = Create { new, now: self.now() };
        self.inner.engine.write(Durability::Durable, create).await
    }

    pub async fn conversation(&self, owner: &Owner, id: &ConversationId) -> Result<Conversation> {
        let read = ReadConversation { owner: owner.clone(), id: id.clone() };
        let conversation = self.inner.engine.read(read).await?;
        self.touch(owner, conversation.used_at, || Touched::Conversation(id.clone())).await;
        Ok(conversation)
    }

    /// Puts messages after `base` and moves the conversation's tip from `from` to the last of them. Without messages the
    /// tip moves to `base`: that is how the newest are taken away.
    pub async fn append(
        &self,
        owner: &Owner,
        id: &ConversationId,
        from: Option<Hash>,
        after: (Option<Hash>, Vec<NewMessage>),
    ) -> Result<Option<Hash>> {
        let (base, messages) = after;
        let (owner, id, now) = (owner.clone(), id.clone(), self.now());
        let append = Append { owner, id, from, base, messages, now };
        self.inner.engine.write(Durability::Durable, append).await
    }

    pub async fn change_conversation(
        &self,
        owner: &Owner,
        id: &ConversationId,
        change: Change,
    ) -> Result<Conversation> {
        let edit = Edit { owner: owner.clone(), id: id.clone(), change, now: self.now() };
        self.inner.engine.write(Durability::Durable, edit).await
    }

    pub async fn fork(&self, fork: Fork) -> Result<Conversation> {
        let fork = ForkConversation { fork, now: self.now() };
        self.inner.engine.write(Durability::Durable, fork).await
    }

    pub async fn delete_conversation(
        &self,
        owner: &Owner,
        id: &ConversationId,
        deletion: Deletion,
    ) -> Result<()> {
        let delete = Delete { owner: owner.clone(), id: id.clone(), deletion };
        self.inner.engine.write(Durability::Durable, delete).await
    }

    /// The owner's conversations, the newest first.
    pub async fn list_conversations(&self, owner: &Owner, page: Page) -> Result<Listing> {
        self.inner.engine.read(List { owner: owner.clone(), page }).await
    }

    /// Keeps a summary, which is in force until the next.
    pub async fn put_summary(
        &self,
        owner: &Owner,
        conversation: &ConversationId,
        covers: Hash,
        record: Record,
    ) -> Result<()> {
        let (owner, conversation, now) = (owner.clone(), conversation.clone(), self.now());
        let put = PutSummary { owner, conversation, covers, record, now };
        self.inner.engine.write(Durability::Durable, put).await
    }

    /// The summary in force.
    pub async fn summary(
        &self,
        owner: &Owner,
        conversation: &ConversationId,
    ) -> Result<Option<Summary>> {
        let read = ReadSummary { owner: owner.clone(), conversation: conversation.clone() };
        self.inner.engine.read(read).await
    }
}

/// Artefacts, exchanges and what is deleted.
impl Store {
    /// Keeps artefacts, without waiting where that is possible.
    pub async fn put_artefacts(&self, owner: &Owner, artefacts: Vec<Artefact>) -> Result<()> {
        self.inner.engine.start(PutArtefacts { owner: owner.clone(), artefacts }).await
    }

    /// Artefacts by their keys, in the order of the keys.
    pub async fn artefacts(
        &self,
        owner: &Owner,
        keys: Vec<ArtefactKey>,
    ) -> Result<Vec<Option<Record>>> {
        let read = ReadArtefacts { owner: owner.clone(), keys, now: self.now() };
        self.inner.engine.read(read).await
    }

    /// Records calls and adds them to their days. What was recorded before is not counted again.
    pub async fn record(&self, exchanges: Vec<Exchange>) -> Result<()> {
        self.inner.engine.write(Durability::Volatile, RecordExchanges { exchanges }).await
    }

    /// A call that was recorded, with its attempts.
    pub async fn exchange(&self, owner: &Owner, id: &ExchangeId) -> Result<Exchange> {
        self.inner.engine.read(ReadExchange { owner: owner.clone(), id: id.clone() }).await
    }

    /// The sums of the days from this time on.
    pub async fn usage(&self, owner: &Owner, from: Time) -> Result<Vec<DayUsage>> {
        self.inner.engine.read(ReadUsage { owner: owner.clone(), from }).await
    }

    /// Deletes some of what is not to be kept. To be called again while there is more.
    pub async fn sweep(&self, keep: Keep) -> Result<Swept> {
        self.inner.engine.write(Durability::Volatile, Sweep { keep, now: self.now() }).await
    }
}
