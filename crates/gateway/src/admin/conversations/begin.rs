//! Conversations that begin here: with nothing, with a transcript, or as a fork of another. And their end.

use sabir_store::{
    Change, Conversation, ConversationId, Deletion, Fork, Kind as StoreKind, NewConversation,
    Title, TurnId,
};
use sabir_wire::FaultKind;
use sabir_wire::json::{Json, Kind, Reader};

use super::transcript::{Import, import};
use super::{Archive, list, unknown};
use crate::admin::kept::metadata;
use crate::admin::kept::metadata::{invalid, mistyped};
use crate::failure::{Failure, Result};
use crate::pool::Wanted;
use crate::recall::{found, out_of_order};

/// What a conversation is to begin with.
#[derive(Default)]
struct Order {
    id: Option<String>,
    metadata: Option<Json<'static>>,
    transcript: Option<Json<'static>>,
}

impl Archive<'_> {
    pub(super) async fn begin(&self, body: &str) -> Result<String> {
        let order = Order::read(body)?;
        let metadata = metadata::record(order.metadata.as_ref())?;
        let import = match order.transcript {
            Some(transcript) => {
                let work = move |_: &Wanted| import(&transcript);
                Some(self.pool.run_on(body.len(), work).await?)
            }
            None => None,
        };
        let id = match &order.id {
            Some(id) => self.free(id).await?,
            None => self.made_id(),
        };
        let title = import.as_ref().map(|import| &*import.title).unwrap_or_default();
        let new = NewConversation {
            owner: self.owner.clone(),
            id: ConversationId::new(id).map_err(|error| out_of_order(&error))?,
            title: Title::new(title),
            metadata,
        };
        let begun = self.store.ensure_conversation(new).await;
        let mut conversation = begun.map_err(|error| out_of_order(&error))?;
        if let Some(import) = import {
            conversation = self.fill(&conversation, import).await?;
        }
        Ok(list::written(&conversation))
    }

    /// A name that the owner has not given yet.
    async fn free(&self, id: &str) -> Result<String> {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let is_name = (1..=64).contains(&id.len()) && id.bytes().all(is_fit);
        if !is_name || id.starts_with("conv_") || id == "new" {
            let message = "Invalid 'id': expected up to 64 letters, digits, `_` or `-`, neither `new` nor beginning with `conv_`.";
            return Err(invalid("id", message.to_owned(), "invalid_value"));
        }
        let known = ConversationId::new(id).map_err(|_| unknown(id))?;
        match found(self.store.conversation(&self.owner, &known).await)? {
            None => Ok(id.to_owned()),
            Some(_) => Err(taken(id)),
        }
    }

    /// Puts a transcript into a conversation that has just begun.
    async fn fill(&self, conversation: &Conversation, import: Import) -> Result<Conversation> {
        let id = &conversation.id;
        let appended =
            self.store.append(&self.owner, id, None, (None, import.lines.messages)).await;
        appended.map_err(|error| match error.kind() {
            StoreKind::Conflict => taken(id.as_str()),
            _ => out_of_order(&error),
        })?;
        let change = Change { system: Some(import.system), ..Change::default() };
        let changed = self.store.change_conversation(&self.owner, id, change).await;
        changed.map_err(|error| out_of_order(&error))
    }

    pub(super) async fn fork(&self, id: &str, body: &str) -> Result<String> {
        let after = read_after(body)?;
        let from = self.find(id).await?.id;
        let missing = || {
            let turn = after.as_deref().unwrap_or_default();
            let message = format!("Turn with id '{turn}' not found.");
            Failure::client(FaultKind::NotFound, message).with_param("after")
        };
        let fork = Fork {
            owner: self.owner.clone(),
            from,
            after: after.as_deref().map(TurnId::new).transpose().map_err(|_| missing())?,
            id: ConversationId::new(self.made_id()).map_err(|error| out_of_order(&error))?,
        };
        let forked = found(self.store.fork(fork).await)?;
        Ok(list::written(&forked.ok_or_else(missing)?))
    }

    /// What was said goes with it, as far as nothing else goes on from it.
    pub(super) async fn delete(&self, id: &str) -> Result<String> {
        let known = self.find(id).await?.id;
        let deleted = self.store.delete_conversation(&self.owner, &known, Deletion::Turns).await;
        found(deleted)?.ok_or_else(|| unknown(id))?;
        Ok(super::object(|it| {
            it.field("id", id);
            it.field("deleted", &true);
        }))
    }
}

impl Order {
    fn read(body: &str) -> Result<Self> {
        let mut order = Self::default();
        let mut id = None;
        members(body, |key, value| match key {
            "id" => id = Some(value),
            "metadata" => order.metadata = Some(value),
            "transcript" => order.transcript = Some(value).filter(|value| !value.is_null()),
            _ => {}
        })?;
        order.id = text("id", id)?;
        Ok(order)
    }
}

fn read_after(body: &str) -> Result<Option<String>> {
    let mut after = None;
    members(body, |key, value| {
        if key == "after" {
            after = Some(value);
        }
    })?;
    text("after", after)
}

/// The members of a body. One without any text has none.
fn members(body: &str, mut take: impl FnMut(&str, Json<'static>)) -> Result<()> {
    if body.trim().is_empty() {
        return Ok(());
    }
    Reader::new(body).object(|key, reader| {
        take(&key, reader.raw()?.into_owned());
        Ok(())
    })?;
    Ok(())
}

fn text(param: &'static str, value: Option<Json<'_>>) -> Result<Option<String>> {
    match value.filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) if value.kind() == Kind::String => {
            Ok(Some(value.reader().string()?.to_str().into_owned()))
        }
        Some(value) => Err(mistyped(param, "a string", value.kind())),
    }
}

fn taken(id: &str) -> Box<Failure> {
    let message = format!("A conversation with id '{id}' exists already.");
    Failure::client(FaultKind::Conflict, message).with_param("id").with_code("conversation_exists")
}
