//! One conversation, turn by turn: who was asked, how it ended, what it cost and what it lost. No content.

use sabir_store::{PAGE_MAX, Status, Turn};
use sabir_wire::json::{Json, Writer};

use super::Archive;
use crate::failure::Result;
use crate::recall::found;
use crate::record::Details;

impl Archive<'_> {
    pub(super) async fn turns(&self, id: &str) -> Result<String> {
        let conversation = self.find(id).await?;
        let working = found(self.store.working_turn(&self.owner, &conversation.id).await)?;
        let working =
            working.flatten().filter(|it| Some(&it.id) != conversation.last_turn.as_ref());
        let mut turns: Vec<Turn> = working.into_iter().collect();
        let mut next = conversation.last_turn;
        while let Some(from) = next {
            let more = found(self.store.turns(&self.owner, &from, PAGE_MAX).await)?;
            let more = more.unwrap_or_default();
            next = more.last().and_then(|turn| turn.previous.clone());
            next = next.filter(|_| more.len() == PAGE_MAX as usize);
            turns.extend(more);
        }
        Ok(super::object(|it| {
            it.field("id", id);
            it.key("turns");
            it.array(|list| turns.iter().rev().for_each(|turn| write(list, turn)));
        }))
    }
}

fn write(list: &mut Writer, turn: &Turn) {
    let details = Details::read(&turn.details);
    let json = |text: &Option<String>| text.as_ref().and_then(|it| Json::parse(it.clone()).ok());
    list.object(|it| {
        it.field("id", turn.id.as_str());
        it.field("created_at", &turn.opened_at.0.div_euclid(1000));
        it.field("client_protocol", turn.protocol.as_str());
        it.field("provider", &turn.provider.as_ref().map(|name| name.as_str()));
        it.field("model", &turn.model.as_ref().map(|name| name.as_str()));
        it.field("status", word(turn.status));
        it.field("usage", &json(&details.usage));
        match json(&details.losses) {
            Some(losses) => it.field("losses", &losses),
            None => {
                it.key("losses");
                it.array(|_| {});
            }
        }
        it.field("exchange", &turn.exchange.as_ref().map(|id| id.as_str()));
        it.optional("compacted", details.compacted.as_deref());
        it.field("parent", &turn.previous.as_ref().map(|id| id.as_str()));
    });
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Opened => "opened",
        Status::Streaming => "streaming",
        Status::Finished => "finished",
        Status::Interrupted => "interrupted",
        Status::Failed => "failed",
    }
}
