//! Items put into a conversation: as lines of the log behind those that are there, or in the place of some of them.

use sabir_store::{
    Addition, Change, Conversation, ConversationId, Direction, Hash, Kind as StoreKind, Title,
};
use sabir_wire::Protocol;
use sabir_wire::protocol::Entry;

use super::Shelf;
use crate::failure::{Failure, Result};
use crate::pool::Wanted;
use crate::recall::{found, out_of_order, resolve_references, title, trouble};
use crate::record::{Lines, lines};
use crate::surface::Trouble;
use crate::{ingress, surface};

/// Items that can be kept.
pub(super) struct Placeable {
    entries: Vec<Entry<'static>>,
    /// What a conversation is called that begins with them.
    title: String,
}

/// What was done.
pub(super) struct Appended {
    pub(super) lines: Lines,
    /// Whether some of the lines were there already, as somebody else had spelled them.
    pub(super) is_known: bool,
}

/// An element that instructs is one of the conversation only if something stands before it; else it would be a setting.
const OPENING: &str = r#"{"role":"user","content":"."}"#;

impl Placeable {
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| &*entry.json)
    }
}

impl Shelf<'_> {
    /// Reads items as a call would have them. `name` is what the client calls their list.
    pub(super) async fn placeable(
        &self,
        items: &[String],
        name: &'static str,
    ) -> Result<Placeable> {
        let list = surface::of(self.client).state.messages;
        let body = format!(
            "{{\"{list}\":[{OPENING}{}]}}",
            items.iter().map(|it| format!(",{it}")).collect::<String>()
        );
        let place = (&self.store, &self.owner);
        let resolved =
            resolve_references(&self.snapshot.shared.pool, place, self.client, body).await?;
        let body = resolved.map_err(|id| trouble(self.client, &Trouble::UnknownItem(&id)))?;
        let (client, bytes) = (self.client, body.len());
        let work = move |_: &Wanted| {
            ingress::survey(&body)?;
            read(client, &body).map_err(|error| misplaced(&error, (list, name)))
        };
        self.snapshot.shared.pool.run_on(bytes, work).await
    }

    /// Puts items behind `base` and moves the conversation's end from where it was seen.
    pub(super) async fn append(
        &self,
        conversation: &Conversation,
        base: Option<Hash>,
        items: &Placeable,
    ) -> Result<Appended> {
        let invalid = |error: sabir_store::Error| out_of_order(&error);
        let mut added = lines(self.client, base, &items.entries).map_err(invalid)?;
        let hashes = added.messages.iter().map(|message| message.hash).collect();
        let known = self.store.known(&self.owner, hashes).await.map_err(invalid)?;
        let is_known = known > 0;
        if is_known && added.ids.iter().any(Option::is_some) {
            let apart = with_ids(&items.entries, &added.ids);
            added = lines(self.client, base, &apart).map_err(invalid)?;
        }
        let (messages, items) =
            (added.messages.clone(), added.named(Direction::Input).map_err(invalid)?);
        let addition = Addition { base, messages, items, ..Addition::default() };
        let appended = self.store.append(&self.owner, &conversation.id, conversation.tip, addition);
        match appended.await {
            Ok(_) => Ok(Appended { lines: added, is_known }),
            Err(error) if error.kind() == StoreKind::Conflict => Err(self.locked()),
            Err(error) => Err(out_of_order(&error)),
        }
    }

    /// Calls a conversation after its first items, if nothing else was said of it.
    pub(super) async fn entitle(&self, conversation: &Conversation, items: &Placeable) {
        if conversation.title.as_str().is_empty() && !items.title.is_empty() {
            let change = Change { title: Some(Title::new(&items.title)), ..Change::default() };
            // A conversation without a title is one all the same.
            let _ = self.store.change_conversation(&self.owner, &conversation.id, change).await;
        }
    }

    pub(super) fn locked(&self) -> Box<Failure> {
        trouble(self.client, &Trouble::Locked)
    }

    /// The conversation of that id.
    pub(super) async fn conversation(&self, id: &str) -> Result<Conversation> {
        let missing = || trouble(self.client, &Trouble::UnknownConversation(id));
        let known = ConversationId::new(id).map_err(|_| missing())?;
        found(self.store.conversation(&self.owner, &known).await)?.ok_or_else(missing)
    }
}

fn read(client: Protocol, body: &str) -> sabir_wire::Result<Placeable> {
    let decoded = client.decode_request_text(body)?;
    let title = title(decoded.request().messages.get(1..).unwrap_or_default());
    let entries = decoded.entries()?.entries.into_iter().skip(1);
    Ok(Placeable { entries: entries.map(Entry::into_owned).collect(), title })
}

/// The same elements, different from others that mean the same under another id: the log has each line once.
fn with_ids(entries: &[Entry<'static>], ids: &[Option<String>]) -> Vec<Entry<'static>> {
    let named = entries.iter().zip(ids).map(|(entry, id)| {
        let mut entry = entry.clone();
        entry.content.meanings.extend(id.as_ref().map(|id| format!("id {id}").into_bytes()));
        entry
    });
    named.collect()
}

/// An item that cannot be read, by its place in the client's list.
fn misplaced(error: &sabir_wire::Error, (list, name): (&str, &str)) -> Box<Failure> {
    let pointer = error.pointer();
    let below = pointer.strip_prefix('/').and_then(|it| it.strip_prefix(list)?.strip_prefix('/'));
    let place = below.map(|below| below.split_once('/').unwrap_or((below, "")));
    let Some((Ok(index), rest)) = place.map(|(index, rest)| (index.parse::<usize>(), rest)) else {
        return error.clone().into();
    };
    let rest = if rest.is_empty() { String::new() } else { format!(".{}", rest.replace('/', ".")) };
    let param = format!("{name}[{}]{rest}", index.saturating_sub(1));
    let mut failure: Box<Failure> = error.clone().into();
    failure.fault.message =
        sabir_wire::json::Text::plain(format!("{} at {param}", error.message()));
    failure.fault.param = Some(sabir_wire::json::Text::plain(param));
    failure
}
