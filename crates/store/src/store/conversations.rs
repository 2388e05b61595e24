//! Conversations and their summaries.

use crate::conversation::{
    Addition, Append, Change, Conversation, Create, Delete, Deletion, Edit, Follow, Followed, Fork,
    ForkConversation, List, Listing, NewConversation, Page, ReadConversation,
};
use crate::engine::Durability;
use crate::error::Result;
use crate::id::{ConversationId, Hash, Owner};
use crate::record::Record;
use crate::store::Store;
use crate::summary::{PutSummary, ReadSummary, Summary};
use crate::touch::Touched;

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

    /// How many of these messages are kept, from the first on, and the conversation that goes on with them. Each hash is over
    /// the one before it.
    pub async fn follow(&self, owner: &Owner, hashes: Vec<Hash>) -> Result<Followed> {
        self.inner.engine.read(Follow { owner: owner.clone(), hashes }).await
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
