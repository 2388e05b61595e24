//! The items of a conversation: listed in pages, added, read and taken out one by one.

use http::Uri;
use sabir_store::{Conversation, Order as Direction};
use sabir_wire::FaultKind;
use sabir_wire::json::{Text, Writer};

use super::contents::Placed;
use super::item::Item;
use super::page::Page;
use super::placing::{Appended, Placeable};
use super::{Sent, Shelf, conversations, page};
use crate::failure::{Failure, Result};
use crate::recall::{derived_id, own_id};

/// How often somebody else may be quicker.
const TRIES: usize = 5;

impl Shelf<'_> {
    pub(super) async fn list_items(&self, id: &str, uri: &Uri) -> Result<String> {
        let page = Page::of(uri)?;
        let conversation = self.conversation(id).await?;
        let mut items = self.contents(&conversation).await?.items;
        if page.order == Direction::Descending {
            items.reverse();
        }
        let first = match &page.after {
            None => 0,
            Some(after) => {
                let at = items.iter().position(|placed| placed.item.id == *after);
                at.ok_or_else(|| page.unknown_cursor())? + 1
            }
        };
        let rest = items.into_iter().skip(first).map(|placed| placed.item);
        let mut items: Vec<Item> = rest.take(page.limit as usize + 1).collect();
        let has_more = items.len() > page.limit as usize;
        items.truncate(page.limit as usize);
        Ok(page::written(&items, has_more)?)
    }

    /// Answers with the items as they are from now on.
    pub(super) async fn add_items(&self, id: &str, sent: &Sent<'_>) -> Result<String> {
        let items = self.order(sent).await?.into_items()?;
        let items: Vec<String> = items.iter().map(|item| item.as_str().to_owned()).collect();
        let placeable = self.placeable(&items, "items").await?;
        let mut tries = 0;
        loop {
            let conversation = self.conversation(id).await?;
            self.check_ids(&conversation, &placeable).await?;
            match self.append(&conversation, conversation.tip, &placeable).await {
                Ok(appended) => {
                    self.entitle(&conversation, &placeable).await;
                    let items = self.added(&conversation, &placeable, &appended).await?;
                    return Ok(page::written(&items, false)?);
                }
                Err(failure) => {
                    tries += 1;
                    self.check_moved(&conversation, failure, tries).await?;
                }
            }
        }
    }

    pub(super) async fn read_item(&self, id: &str, item: &str) -> Result<String> {
        let conversation = self.conversation(id).await?;
        let contents = self.contents(&conversation).await?;
        let at = contents.position(item).ok_or_else(|| unknown(item))?;
        let mut writer = Writer::default();
        contents.items[at].item.write(&mut writer)?;
        Ok(writer.into_string())
    }

    /// Answers with the conversation. Nothing is taken out of the log: what followed the item is written anew behind what
    /// stood before it.
    pub(super) async fn delete_item(&self, id: &str, item: &str) -> Result<String> {
        let mut tries = 0;
        loop {
            let conversation = self.conversation(id).await?;
            let contents = self.contents(&conversation).await?;
            let at = contents.position(item).ok_or_else(|| unknown(item))?;
            let (before, depth) = (contents.items[at].before, contents.items[at].depth);
            let others = contents.items.iter().enumerate().filter(|(index, _)| *index != at);
            let rest = others.map(|(_, placed)| placed).filter(|placed| placed.depth >= depth);
            let placeable = self.placeable(&texts(rest)?, "items").await?;
            match self.append(&conversation, before, &placeable).await {
                Ok(_) => return Ok(conversations::written(&conversation)),
                Err(failure) => {
                    tries += 1;
                    self.check_moved(&conversation, failure, tries).await?;
                }
            }
        }
    }

    /// Nobody may add an item twice: clients name items by their ids.
    async fn check_ids(&self, conversation: &Conversation, items: &Placeable) -> Result<()> {
        let ids: Vec<String> = items.texts().filter_map(own_id).collect();
        if ids.is_empty() {
            return Ok(());
        }
        let contents = self.contents(conversation).await?;
        let again = ids
            .iter()
            .enumerate()
            .find(|(index, id)| ids[..*index].contains(id) || contents.position(id).is_some());
        match again {
            Some((_, id)) => Err(duplicate(id)),
            None => Ok(()),
        }
    }

    /// Whether it is worth another try: somebody else changed the conversation meanwhile, and is done.
    async fn check_moved(
        &self,
        seen: &Conversation,
        failure: Box<Failure>,
        tries: usize,
    ) -> Result<()> {
        let now = self.conversation(seen.id.as_str()).await?;
        let has_moved = now.tip != seen.tip || now.last_turn != seen.last_turn;
        if has_moved && tries < TRIES { Ok(()) } else { Err(failure) }
    }

    async fn added(
        &self,
        before: &Conversation,
        items: &Placeable,
        appended: &Appended,
    ) -> Result<Vec<Item>> {
        if appended.is_known {
            let now = self.conversation(before.id.as_str()).await?;
            let count = items.texts().count();
            let contents = self.contents(&now).await?;
            let first = contents.items.len().saturating_sub(count);
            return Ok(contents.items.into_iter().skip(first).map(|placed| placed.item).collect());
        }
        let named = items.texts().zip(&appended.lines.places).map(|(text, (line, part))| {
            let mut item = Item::new(own_id(text).unwrap_or_default(), text.to_owned());
            if item.id.is_empty() {
                item.id = derived_id((line, *part), item.text());
            }
            item
        });
        Ok(named.collect())
    }
}

/// Items as they are shown, each with its id.
fn texts<'p>(items: impl Iterator<Item = &'p Placed>) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for placed in items {
        let mut writer = Writer::default();
        placed.item.write(&mut writer)?;
        texts.push(writer.into_string());
    }
    Ok(texts)
}

fn unknown(id: &str) -> Box<Failure> {
    Failure::client(FaultKind::NotFound, format!("Item with id '{id}' not found."))
}

fn duplicate(id: &str) -> Box<Failure> {
    let message = format!(
        "Duplicate item found with id {id}. Remove duplicate items from your input and try again."
    );
    let mut failure = Failure::client(FaultKind::BadRequest, message);
    failure.fault.param = Some(Text::literal("items"));
    failure
}
