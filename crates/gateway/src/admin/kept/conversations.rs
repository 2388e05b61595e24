//! Conversations: begun, read, given other metadata, and forgotten by name.

use sabir_store::{Change, Conversation, ConversationId, Deletion, NewConversation, Origin, Title};
use sabir_wire::json::Writer;

use super::{Sent, Shelf, metadata, present};
use crate::failure::Result;
use crate::recall::{out_of_order, trouble};
use crate::surface::Trouble;

impl Shelf<'_> {
    pub(super) async fn create_conversation(&self, sent: &Sent<'_>) -> Result<String> {
        let order = self.order(sent).await?;
        let metadata = metadata::record(order.metadata.as_ref())?;
        let items = order.items.unwrap_or_default();
        let items: Vec<String> = items.iter().map(|item| item.as_str().to_owned()).collect();
        let placeable = self.placeable(&items, "items").await?;
        let id = format!("conv_{}", sent.exchange.trim_start_matches("ex_"));
        let new = NewConversation {
            owner: self.owner.clone(),
            id: ConversationId::new(id).map_err(|error| out_of_order(&error))?,
            title: Title::default(),
            metadata,
            origin: Origin::Asked,
        };
        let begun = self.store.ensure_conversation(new).await;
        let conversation = begun.map_err(|error| out_of_order(&error))?;
        if !items.is_empty() {
            self.append(&conversation, None, &placeable).await?;
            self.entitle(&conversation, &placeable).await;
        }
        Ok(written(&conversation))
    }

    pub(super) async fn read_conversation(&self, id: &str) -> Result<String> {
        Ok(written(&self.conversation(id).await?))
    }

    pub(super) async fn change_conversation(&self, id: &str, sent: &Sent<'_>) -> Result<String> {
        let order = self.order(sent).await?;
        let metadata = Some(metadata::record(Some(order.metadata()?))?);
        let known = self.conversation(id).await?;
        let change = Change { metadata, ..Change::default() };
        let changed = self.store.change_conversation(&self.owner, &known.id, change).await;
        Ok(written(&present(changed, || trouble(self.client, &Trouble::UnknownConversation(id)))?))
    }

    /// What was said stays under the ids of its answers.
    pub(super) async fn delete_conversation(&self, id: &str) -> Result<String> {
        let known = self.conversation(id).await?;
        let deleted = self.store.delete_conversation(&self.owner, &known.id, Deletion::Name).await;
        present(deleted, || trouble(self.client, &Trouble::UnknownConversation(id)))?;
        let mut writer = Writer::default();
        writer.object(|it| {
            it.field("id", id);
            it.field("object", "conversation.deleted");
            it.field("deleted", &true);
        });
        Ok(writer.into_string())
    }
}

/// A conversation as its client sees it.
pub(super) fn written(conversation: &Conversation) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("id", conversation.id.as_str());
        it.field("object", "conversation");
        it.field("created_at", &conversation.created_at.0.div_euclid(1000));
        it.field("metadata", &metadata::read(&conversation.metadata));
    });
    writer.into_string()
}
