//! The handle: opens a store by its URL, and has a method for each thing that the memory is asked.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::artefact::{Artefact, PutArtefacts, ReadArtefacts};
use crate::clock::{Clock, Time};
use crate::conversation::{
    Addition, Append, Change, Conversation, Create, Delete, Deletion, Edit, Fork, ForkConversation,
    List, Listing, NewConversation, Page, ReadConversation, ReadFollowed,
};
use crate::engine::{Activity, Durability, Engine, Postgres, Sqlite};
use crate::error::{Error, Kind, Result};
use crate::exchange::{
    DayUsage, Exchange, GroupUsage, Grouping, ReadExchange, ReadUsage, RecordExchanges, SumUsage,
};
use crate::files::{Files, Form, INDEXED};
use crate::folder::Folder;
use crate::hold::{Held, Purpose, Release, Take};
use crate::id::{
    ConversationId, ExchangeId, Hash, ItemId, Name, NodeId, Owner, ResponseId, TurnId,
};
use crate::job::{
    AddJob, AddPiece, BeginJob, EndJob, Job, JobStatus, NewJob, Piece, ReadJob, ReadPieces,
};
use crate::limit;
use crate::limit::ITEMS_MAX;
use crate::location::Location;
use crate::message;
use crate::message::{Beginning, History, Known, Message, Window};
use crate::migration::Migrate;
use crate::node::{Heartbeat, LEASE, Recover};
use crate::record::Record;
use crate::response::{
    DeleteResponse, Item, ItemPage, ListItems, ReadItems, ReadResponse, Response,
};
use crate::retention::{Keep, Sweep, Swept};
use crate::secret::{EnsureSecret, Secret};
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
        let renewed_at = AtomicI64::new(i64::MIN);
        Ok(Self { inner: Arc::new(Inner { engine, files, node, clock, renewed_at }) })
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
        self.inner.engine.start(heartbeat).await?;
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

    /// The message whose hash begins with these bytes; the first of them, should there be more.
    pub async fn message_beginning(&self, owner: &Owner, bytes: &[u8]) -> Result<Message> {
        let beginning = Beginning { owner: owner.clone(), bytes: bytes.to_vec() };
        self.inner.engine.read(beginning).await
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
        if let Some(files) = &self.inner.files {
            return files.close(&self.inner.engine, close).await;
        }
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

/// Answers that are worked on while nobody waits.
impl Store {
    /// Adds one that is about to be worked on. It is on disk when this returns.
    pub async fn add_job(&self, job: NewJob) -> Result<()> {
        self.stay_alive().await?;
        let add = AddJob { job, node: self.inner.node.clone(), now: self.now() };
        self.inner.engine.write(Durability::Durable, add).await
    }

    pub async fn job(&self, owner: &Owner, id: &ResponseId) -> Result<Job> {
        self.inner.engine.read(ReadJob { owner: owner.clone(), id: id.clone() }).await
    }

    /// Somebody begins to work on it, which changes what it is so far. False if it is no longer wanted.
    pub async fn begin_job(&self, owner: &Owner, id: &ResponseId, body: Record) -> Result<bool> {
        let begin = BeginJob { owner: owner.clone(), id: id.clone(), body };
        self.inner.engine.write(Durability::Volatile, begin).await
    }

    /// Ends it without an answer. False if it has ended before.
    pub async fn end_job(
        &self,
        owner: &Owner,
        id: &ResponseId,
        status: JobStatus,
        body: Record,
    ) -> Result<bool> {
        let (owner, id, now) = (owner.clone(), id.clone(), self.now());
        let end = EndJob { owner, id, status, body, now };
        self.inner.engine.write(Durability::Durable, end).await
    }

    /// Adds what was said. False, and nothing added, if nobody wants it any more.
    pub async fn add_piece(&self, owner: &Owner, id: &ResponseId, piece: Piece) -> Result<bool> {
        let add = AddPiece { owner: owner.clone(), id: id.clone(), piece };
        self.inner.engine.write(Durability::Volatile, add).await
    }

    /// Some of what was said, from the event of this number on.
    pub async fn pieces(&self, owner: &Owner, id: &ResponseId, from: u64) -> Result<Vec<Piece>> {
        let read = ReadPieces { owner: owner.clone(), id: id.clone(), from };
        self.inner.engine.read(read).await
    }
}

/// Conversations and their summaries.
impl Store {
    /// The owner's conversation of this id, made if there is none.
    pub async fn ensure_conversation(&self, new: NewConversation) -> Result<Conversation> {
        let create = Create { new, now: self.now() };
        if let Some(files) = &self.inner.files {
            return files.create(&self.inner.engine, create).await;
        }
        self.inner.engine.write(Durability::Durable, create).await
    }

    pub async fn conversation(&self, owner: &Owner, id: &ConversationId) -> Result<Conversation> {
        if let Some(files) = &self.inner.files {
            files.refresh(&self.inner.engine, (owner, id), self.now()).await?;
        }
        let read = ReadConversation { owner: owner.clone(), id: id.clone() };
        let conversation = self.inner.engine.read(read).await?;
        self.touch(owner, conversation.used_at, || Touched::Conversation(id.clone())).await;
        Ok(conversation)
    }

    /// The conversation that nobody asked for and that ends with one of these messages, looked for from the last on.
    pub async fn followed_conversation(
        &self,
        owner: &Owner,
        hashes: Vec<Hash>,
    ) -> Result<Option<Conversation>> {
        self.inner.engine.read(ReadFollowed { owner: owner.clone(), hashes }).await
    }

    /// Puts messages after their base and moves the conversation's tip from `from` to the last of them. Without messages the
    /// tip moves to the base: that is how the newest are taken away.
    pub async fn append(
        &self,
        owner: &Owner,
        id: &ConversationId,
        from: Option<Hash>,
        addition: Addition,
    ) -> Result<Option<Hash>> {
        let (owner, id, now) = (owner.clone(), id.clone(), self.now());
        let append = Append { owner, id, from, addition, now };
        if let Some(files) = &self.inner.files {
            return files.append(&self.inner.engine, append).await;
        }
        self.inner.engine.write(Durability::Durable, append).await
    }

    pub async fn change_conversation(
        &self,
        owner: &Owner,
        id: &ConversationId,
        change: Change,
    ) -> Result<Conversation> {
        let edit = Edit { owner: owner.clone(), id: id.clone(), change, now: self.now() };
        if let Some(files) = &self.inner.files {
            return files.change(&self.inner.engine, edit).await;
        }
        self.inner.engine.write(Durability::Durable, edit).await
    }

    pub async fn fork(&self, fork: Fork) -> Result<Conversation> {
        if let Some(files) = &self.inner.files {
            return files.fork(&self.inner.engine, fork, self.now()).await;
        }
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
        if let Some(files) = &self.inner.files {
            return files.delete(&self.inner.engine, delete, self.now()).await;
        }
        self.inner.engine.write(Durability::Durable, delete).await
    }

    /// The owner's conversations, the newest first.
    pub async fn list_conversations(&self, owner: &Owner, page: Page) -> Result<Listing> {
        if let Some(files) = &self.inner.files {
            return files.list(owner, page).await;
        }
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
    /// Keeps artefacts. Those that were kept before are kept as they are now.
    pub async fn put_artefacts(&self, artefacts: Vec<Artefact>) -> Result<()> {
        self.inner.engine.write(Durability::Volatile, PutArtefacts { artefacts }).await
    }

    /// What an issuer sealed with calls of these ids.
    pub async fn artefacts(
        &self,
        owner: &Owner,
        issuer: &Name,
        calls: Vec<Name>,
    ) -> Result<Vec<Artefact>> {
        limit::count("calls", calls.len(), ITEMS_MAX)?;
        let (owner, issuer, now) = (owner.clone(), issuer.clone(), self.now());
        self.inner.engine.read(ReadArtefacts { owner, issuer, calls, now }).await
    }

    /// Records calls and adds them to their days. What was recorded before is not counted again.
    pub async fn record(&self, exchanges: Vec<Exchange>) -> Result<()> {
        if self.is_of_files() {
            return Err(Error::unsupported("there are no rows of calls beside them"));
        }
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

    /// The same summed up, the most used first; days the newest first. A thousand groups at most.
    pub async fn usage_by(
        &self,
        owner: &Owner,
        by: Grouping,
        from: Time,
    ) -> Result<Vec<GroupUsage>> {
        self.inner.engine.read(SumUsage { owner: owner.clone(), from, by }).await
    }

    /// Deletes some of what is not to be kept. To be called again while there is more.
    pub async fn sweep(&self, keep: Keep) -> Result<Swept> {
        // Files are their owner's to delete.
        let keep = if self.is_of_files() { INDEXED } else { keep };
        self.inner.engine.write(Durability::Volatile, Sweep { keep, now: self.now() }).await
    }
}
