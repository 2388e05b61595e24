//! The owner's conversations, the newest first.

use http::Uri;
use sabir_store::{After, Conversation, Name, Overview, Page, Search};
use sabir_wire::json::Writer;

use super::{Archive, unknown};
use crate::admin::kept::page::{limit, parameter};
use crate::failure::Result;
use crate::recall::found;

impl Archive<'_> {
    pub(super) async fn list(&self, uri: &Uri) -> Result<String> {
        let after = parameter(uri, "after");
        let missing = || unknown(after.as_deref().unwrap_or_default());
        let page = Page {
            after: after.as_deref().map(After::parse).transpose().map_err(|_| missing())?,
            limit: limit(uri)?,
            search: parameter(uri, "query").as_deref().map(Search::new),
        };
        let listing = found(self.store.list_conversations(&self.owner, page).await)?;
        let listing = listing.ok_or_else(missing)?;
        Ok(super::object(|it| {
            it.key("data");
            it.array(|list| {
                listing.data.iter().for_each(|overview| list.object(|it| write(it, overview)));
            });
            it.field("has_more", &listing.next.is_some());
            it.optional("next", listing.next.as_ref().map(ToString::to_string).as_deref());
        }))
    }
}

/// One conversation as lists show it.
pub(super) fn written(conversation: &Conversation) -> String {
    written_with(conversation, |_| {})
}

/// The same with more members.
pub(super) fn written_with(conversation: &Conversation, more: impl FnOnce(&mut Writer)) -> String {
    let Conversation { id, title, created_at, updated_at, turns, protocols, models, .. } =
        conversation.clone();
    let unreadable = None;
    let overview =
        Overview { id, title, created_at, updated_at, turns, protocols, models, unreadable };
    super::object(|it| {
        write(it, &overview);
        more(it);
    })
}

fn write(it: &mut Writer, overview: &Overview) {
    it.field("id", overview.id.as_str());
    it.field("title", overview.title.as_str());
    it.field("created_at", &overview.created_at.0.div_euclid(1000));
    it.field("updated_at", &overview.updated_at.0.div_euclid(1000));
    it.field("turns", &overview.turns);
    write_names(it, "protocols", &overview.protocols);
    write_names(it, "models", &overview.models);
    it.optional("unreadable", overview.unreadable.as_deref());
}

fn write_names(it: &mut Writer, key: &str, names: &[Name]) {
    it.key(key);
    it.array(|list| names.iter().for_each(|name| list.value(name.as_str())));
}
