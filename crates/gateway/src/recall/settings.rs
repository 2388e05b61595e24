//! Instructions and tools that go on being in force.

use sabir_store::{Conversation, Hash, Owner, Store, Turn};
use sabir_wire::Protocol;

use crate::failure::Result;
use crate::recall::base::found;
use crate::recalled::Settings;
use crate::record::read_record;

/// What the last turn of a conversation went by, or what the conversation was begun with.
pub(crate) async fn settings_in(
    store: &Store,
    owner: &Owner,
    conversation: &Conversation,
) -> Result<Option<Settings>> {
    if let Some(turn) = &conversation.last_turn
        && let Some(turn) = found(store.turn(owner, turn).await)?
    {
        return settings_of(store, owner, &turn).await.map(Some);
    }
    let system = setting(store, owner, conversation.system).await?;
    let tools = setting(store, owner, conversation.tools).await?;
    Ok((system.is_some() || tools.is_some()).then_some(Settings { system, tools }))
}

/// What a turn went by.
pub(super) async fn settings_of(store: &Store, owner: &Owner, turn: &Turn) -> Result<Settings> {
    let system = setting(store, owner, turn.system).await?;
    Ok(Settings { system, tools: setting(store, owner, turn.tools).await? })
}

async fn setting(
    store: &Store,
    owner: &Owner,
    hash: Option<Hash>,
) -> Result<Option<(Protocol, String)>> {
    let Some(hash) = hash else { return Ok(None) };
    let record = found(store.setting(owner, hash).await)?;
    let read = record.as_ref().and_then(read_record);
    Ok(read.map(|(protocol, text)| (protocol, text.to_owned())))
}
