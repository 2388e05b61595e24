//! Conversations whose truth is files. A database in memory is the index over those that are in use: it is brought up to what
//! a file says before each use, and a file to what the index says after each change.

mod form;
mod list;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use form::{Added, Content, Form, Outline};

use self::list::Outlines;
use crate::clock::Time;
use crate::conversation::{
    Append, Change, Conversation, Create, Delete, Deletion, Edit, Fork, Listing, Load,
    NewConversation, Page, ReadConversation,
};
use crate::engine::{Durability, Engine};
use crate::error::{Error, Kind, Result};
use crate::folder::{Folder, Replaces, SessionFile, SessionId, Stamp};
use crate::id::{ConversationId, Hash, Owner};
use crate::message::{Path, Window};
use crate::record::Record;
use crate::retention::Keep;
use crate::turn::Close;

/// How long the index knows what nobody uses. The files stay.
pub(crate) const INDEXED: Keep = Keep::For(Duration::from_secs(6 * 60 * 60));

/// A folder of conversations.
#[derive(Debug)]
pub(crate) struct Files {
    folder: Folder,
    form: Arc<dyn Form>,
    /// The version of each file that the index was brought up to.
    seen: Mutex<HashMap<ConversationId, Stamp>>,
    outlines: Arc<Mutex<Outlines>>,
}

impl Files {
    pub(crate) fn new(folder: Folder, form: Arc<dyn Form>) -> Self {
        Self { folder, form, seen: Mutex::default(), outlines: Arc::default() }
    }

    /// Brings the index up to what the file says.
    pub(crate) async fn refresh(
        &self,
        engine: &Engine,
        (owner, id): (&Owner, &ConversationId),
        now: Time,
    ) -> Result<()> {
        if *owner != Owner::nobody() {
            return Err(Error::not_found("conversation"));
        }
        let session = session(id).map_err(|_| Error::not_found("conversation"))?;
        let (folder, known) = (self.folder.clone(), session.clone());
        let stamp = on_disk(move || folder.stamp(&known)).await?;
        let read = ReadConversation { owner: owner.clone(), id: id.clone() };
        if stamp.is_some() && self.seen().get(id) == stamp.as_ref() {
            match engine.read(read).await {
                Err(error) if error.kind() == Kind::NotFound => {}
                indexed => return indexed.map(|_| ()),
            }
        }
        let Some((content, stamp)) = self.load(session).await? else {
            self.seen().remove(id);
            let (owner, id, deletion) = (owner.clone(), id.clone(), Deletion::Turns);
            let gone = engine.write(Durability::Volatile, Delete { owner, id, deletion }).await;
            return gone.and(Err(Error::not_found("conversation")));
        };
        let load = Load { owner: owner.clone(), id: id.clone(), content, now };
        engine.write(Durability::Volatile, load).await?;
        self.seen().insert(id.clone(), stamp);
        Ok(())
    }

    /// What a file says, and which version of it that is.
    async fn load(&self, session: SessionId) -> Result<Option<(Content, Stamp)>> {
        let (folder, form) = (self.folder.clone(), Arc::clone(&self.form));
        on_disk(move || {
            let Some(SessionFile { bytes, stamp }) = folder.read(&session)? else {
                return Ok(None);
            };
            let content = form.read(&bytes).map_err(|error| error.in_file(&folder.path(&session)));
            Ok(Some((content?, stamp)))
        })
        .await
    }

    pub(crate) async fn create(&self, engine: &Engine, create: Create) -> Result<Conversation> {
        let NewConversation { owner, id, metadata, .. } = &create.new;
        belongs_to_nobody(owner)?;
        refuse_metadata(Some(metadata))?;
        let (owner, id) = (owner.clone(), id.clone());
        match self.refresh(engine, (&owner, &id), create.now).await {
            Err(error) if error.kind() == Kind::NotFound => {}
            there => {
                there?;
                return engine.read(ReadConversation { owner, id }).await;
            }
        }
        let (folder, form, name) = (self.folder.clone(), Arc::clone(&self.form), session(&id)?);
        let empty = move || folder.write(&name, &form.empty(), Replaces::Version(None));
        let stamp = on_disk(empty).await?;
        let begun = engine.write(Durability::Volatile, create).await?;
        self.seen().insert(id, stamp);
        Ok(begun)
    }

    pub(crate) async fn append(&self, engine: &Engine, append: Append) -> Result<Option<Hash>> {
        if !append.addition.items.is_empty() {
            return Err(Error::unsupported("parts of messages have no ids"));
        }
        let (owner, id, now) = (append.owner.clone(), append.id.clone(), append.now);
        self.refresh(engine, (&owner, &id), now).await?;
        let after = kept(engine, &append).await?;
        let messages = append.addition.messages.clone();
        let changed = engine.write(Durability::Volatile, append).await?;
        self.extend(&id, move |form, file| {
            let after = after.as_deref();
            form.extend(file, &Added { system: None, after, messages: &messages, now })
        })
        .await?;
        Ok(changed)
    }

    pub(crate) async fn change(&self, engine: &Engine, edit: Edit) -> Result<Conversation> {
        // A file says itself when it began.
        let Change { title, metadata, system, tools, created_at: _ } = &edit.change;
        if title.is_some() || tools.as_ref().is_some_and(Option::is_some) {
            return Err(Error::unsupported("they have no titles and no tools of their own"));
        }
        refuse_metadata(metadata.as_ref())?;
        let (owner, id, now, system) =
            (edit.owner.clone(), edit.id.clone(), edit.now, system.clone());
        self.refresh(engine, (&owner, &id), now).await?;
        let changed = engine.write(Durability::Volatile, edit).await?;
        if let Some(system) = system {
            self.extend(&id, move |form, file| {
                let system = Some(system.as_ref());
                form.extend(file, &Added { system, after: None, messages: &[], now })
            })
            .await?;
        }
        Ok(changed)
    }

    /// Ends a turn in the index and in the file. If the file cannot be written, the index forgets what it says of it.
    pub(crate) async fn close(&self, engine: &Engine, mut close: Close) -> Result<()> {
        let closing = &mut close.closing;
        belongs_to_nobody(&closing.turn.owner)?;
        let Some(advance) = closing.conversation.clone() else {
            return Err(Error::unsupported("a call that belongs to no conversation is not kept"));
        };
        if closing.begins.is_some() || closing.beside.is_some() {
            return Err(Error::unsupported("none begins that nobody asked for"));
        }
        if !closing.responses.is_empty() || !closing.items.is_empty() {
            return Err(Error::unsupported("answers cannot be found by their ids"));
        }
        if closing.turn.base != advance.from {
            return Err(Error::unsupported("messages are added to their end alone"));
        }
        closing.tools = None;
        let (system, messages, now) = (closing.system.clone(), closing.messages.clone(), close.now);
        engine.write(Durability::Volatile, close).await?;
        self.extend(&advance.id, move |form, file| {
            // Without instructions, what stands where they would are messages.
            let system = system.as_ref().map(Some);
            form.extend(file, &Added { system, after: None, messages: &messages, now })
        })
        .await
    }

    /// A second file that says the same.
    pub(crate) async fn fork(
        &self,
        engine: &Engine,
        fork: Fork,
        now: Time,
    ) -> Result<Conversation> {
        let Fork { owner, from, after, id } = fork;
        if after.is_some() {
            return Err(Error::unsupported("they are forked at their end alone"));
        }
        self.refresh(engine, (&owner, &from), now).await?;
        let (folder, names) = (self.folder.clone(), (session(&from)?, session(&id)?));
        on_disk(move || {
            let file = folder.read(&names.0)?.ok_or_else(|| Error::not_found("conversation"))?;
            folder.write(&names.1, &file.bytes, Replaces::Version(None))
        })
        .await?;
        self.refresh(engine, (&owner, &id), now).await?;
        engine.read(ReadConversation { owner, id }).await
    }

    pub(crate) async fn delete(&self, engine: &Engine, delete: Delete, now: Time) -> Result<()> {
        let is_indexed = match self.refresh(engine, (&delete.owner, &delete.id), now).await {
            Ok(()) => true,
            Err(error) if error.kind() == Kind::NotFound => return Err(error),
            // Whoever wants a file gone need not be able to read it.
            Err(_) => false,
        };
        let (folder, session) = (self.folder.clone(), session(&delete.id)?);
        on_disk(move || folder.delete(&session)).await?;
        self.seen().remove(&delete.id);
        match engine.write(Durability::Volatile, delete).await {
            Err(error) if error.kind() == Kind::NotFound && !is_indexed => Ok(()),
            gone => gone,
        }
    }

    /// Takes away the file of a conversation that the index has no more, unless somebody else has changed it.
    pub(crate) async fn withdraw(&self, id: &ConversationId) -> Result<()> {
        let Some(stamp) = self.seen().remove(id) else { return Ok(()) };
        let (folder, session) = (self.folder.clone(), session(id)?);
        on_disk(move || match folder.stamp(&session)? == Some(stamp) {
            true => folder.delete(&session).map(|_| ()),
            false => Ok(()),
        })
        .await
    }

    pub(crate) async fn list(&self, owner: &Owner, page: Page) -> Result<Listing> {
        if *owner != Owner::nobody() {
            return Ok(Listing { data: Vec::new(), next: None });
        }
        let (folder, form) = (self.folder.clone(), Arc::clone(&self.form));
        let outlines = Arc::clone(&self.outlines);
        on_disk(move || {
            let mut outlines = outlines.lock().unwrap_or_else(PoisonError::into_inner);
            outlines.page((&folder, &*form), &page)
        })
        .await
    }

    /// Replaces the version of a file that the index knows. Another one is a conflict: then the file is read again before its
    /// next use.
    async fn extend(
        &self,
        id: &ConversationId,
        extend: impl FnOnce(&dyn Form, &[u8]) -> Result<Vec<u8>> + Send + 'static,
    ) -> Result<()> {
        let expected = self.seen().remove(id);
        let (folder, form, session) = (self.folder.clone(), Arc::clone(&self.form), session(id)?);
        let written = on_disk(move || {
            let file = folder.read(&session)?.filter(|file| Some(file.stamp) == expected);
            let file = file.ok_or_else(|| Error::conflict(CHANGED))?;
            let bytes = extend(&*form, &file.bytes)?;
            folder.write(&session, &bytes, Replaces::Version(Some(file.stamp)))
        });
        let stamp = written.await?;
        self.seen().insert(id.clone(), stamp);
        Ok(())
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<ConversationId, Stamp>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const CHANGED: &str = "the conversation's file was changed by somebody else";

/// What something is put behind, where that is not the end.
async fn kept(engine: &Engine, append: &Append) -> Result<Option<Vec<Record>>> {
    let Append { owner, from, addition, .. } = append;
    match addition.base {
        base if base == *from => Ok(None),
        None => Ok(Some(Vec::new())),
        Some(tip) => {
            let path = Path { owner: owner.clone(), tip, window: Window::default() };
            let history = engine.read(path).await?;
            Ok(Some(history.messages.into_iter().map(|message| message.record).collect()))
        }
    }
}

/// Files know no owners.
fn belongs_to_nobody(owner: &Owner) -> Result<()> {
    match *owner == Owner::nobody() {
        true => Ok(()),
        false => Err(Error::unsupported("they have no owners, so no keys can be told apart")),
    }
}

fn refuse_metadata(metadata: Option<&Record>) -> Result<()> {
    match metadata.map_or(&b""[..], Record::as_bytes) {
        b"" | b"{}" => Ok(()),
        _ => Err(Error::unsupported("they have no metadata")),
    }
}

/// A conversation whose id is no name of a folder cannot be there.
fn session(id: &ConversationId) -> Result<SessionId> {
    SessionId::new(id.as_str())
}

/// Waits for the disk on a thread that may wait.
async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(_) => Err(Error::new(Kind::Unavailable, "the disk was not waited for")),
    }
}
