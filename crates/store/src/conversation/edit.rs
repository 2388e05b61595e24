//! How a conversation begins, changes and ends.

use super::advance::{Step, begin};
use super::read::read;
use super::{Begun, Change, Conversation, Deletion, NewConversation, searchable};
use crate::clock::Time;
use crate::engine::{Param, Session, Work, optional};
use crate::error::{Kind as Trouble, Result};
use crate::hold;
use crate::id::{ConversationId, Hash, Owner, TurnId};
use crate::response::forget_items;
use crate::retention::{Kind, suspect_orphan};
use crate::setting::keep;
use crate::turn::drop_reference;

/// Makes a conversation unless the owner has one of this id, and returns it either way.
pub(crate) struct Create {
    pub(crate) new: NewConversation,
    pub(crate) now: Time,
}

pub(crate) struct Edit {
    pub(crate) owner: Owner,
    pub(crate) id: ConversationId,
    pub(crate) change: Change,
    pub(crate) now: Time,
}

pub(crate) struct Delete {
    pub(crate) owner: Owner,
    pub(crate) id: ConversationId,
    pub(crate) deletion: Deletion,
}

impl Work for Create {
    type Output = Conversation;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Conversation> {
        begin(session, &self.new, &Step::none(self.now)).await?;
        read(session, &self.new.owner, &self.new.id).await
    }
}

impl Work for Edit {
    type Output = Conversation;

    async fn run<S: Session>(&self, session: &mut S) -> Result<Conversation> {
        let was = read(session, &self.owner, &self.id).await?;
        let title = self.change.title.as_ref().unwrap_or(&was.title);
        let metadata = self.change.metadata.as_ref().unwrap_or(&was.metadata);
        let system = self.setting(session, self.change.system.as_ref(), was.system).await?;
        let tools = self.setting(session, self.change.tools.as_ref(), was.tools).await?;
        let search = searchable(&self.id, title);
        let sql = "UPDATE conversation SET title = $3, search = $4, metadata = $5,
                system = (SELECT number FROM setting WHERE owner = $1 AND hash = $6),
                tools = (SELECT number FROM setting WHERE owner = $1 AND hash = $7), used_at = $8,
                created_at = $9
            WHERE owner = $1 AND id = $2";
        let params = [
            (&self.owner).into(),
            (&self.id).into(),
            title.into(),
            search.as_str().into(),
            metadata.into(),
            optional(system.as_ref()),
            optional(tools.as_ref()),
            self.now.into(),
            self.change.created_at.unwrap_or(was.created_at).into(),
        ];
        session.execute(sql, &params).await?;
        read(session, &self.owner, &self.id).await
    }
}

impl Edit {
    async fn setting<S: Session>(
        &self,
        session: &mut S,
        change: Option<&Option<crate::Record>>,
        was: Option<Hash>,
    ) -> Result<Option<Hash>> {
        let Some(change) = change else {
            return Ok(was);
        };
        let now = keep(session, &self.owner, change.as_ref()).await?.map(|it| it.hash);
        if now != was {
            suspect_orphan(session, &self.owner, Kind::Setting, was.as_ref()).await?;
        }
        Ok(now)
    }
}

impl Work for Delete {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let conversation = read(session, &self.owner, &self.id).await?;
        delete(session, &self.owner, &conversation, self.deletion).await
    }
}

/// Deletes a conversation and lets go of what it held.
pub(crate) async fn delete<S: Session>(
    session: &mut S,
    owner: &Owner,
    conversation: &Conversation,
    deletion: Deletion,
) -> Result<()> {
    let key: [Param<'_>; 2] = [owner.into(), (&conversation.id).into()];
    let sql = "DELETE FROM conversation WHERE owner = $1 AND id = $2";
    if session.execute(sql, &key).await? == 0 {
        return Ok(());
    }
    let sql = "DELETE FROM summary WHERE owner = $1 AND conversation = $2";
    session.execute(sql, &key).await?;
    let sql = "DELETE FROM hold WHERE owner = $1 AND id = $2 AND purpose = $3";
    let [owner_key, id] = key;
    session.execute(sql, &[owner_key, id, hold::CONVERSATION.into()]).await?;
    forget_items(session, owner, &conversation.id).await?;
    let last = conversation.last_turn.as_ref();
    drop_reference(session, owner, last).await?;
    if let (Deletion::Turns, Some(last)) = (deletion, last) {
        let sql = "UPDATE turn SET used_at = 0 WHERE owner = $1 AND id = $2 AND refs = 0";
        session.execute(sql, &[owner.into(), last.into()]).await?;
    }
    suspect_orphan(session, owner, Kind::Message, conversation.tip.as_ref()).await?;
    suspect_orphan(session, owner, Kind::Setting, conversation.system.as_ref()).await?;
    suspect_orphan(session, owner, Kind::Setting, conversation.tools.as_ref()).await
}

/// Deletes a conversation that began with a turn which never was, if the turn still holds it and nothing was added. Says whether
/// it did.
pub(crate) async fn withdraw<S: Session>(
    session: &mut S,
    (owner, turn): (&Owner, &TurnId),
    begun: &Begun,
) -> Result<bool> {
    let sql = "SELECT 1 FROM hold WHERE owner = $1 AND id = $2 AND purpose = $3 AND turn = $4";
    let key = [owner.into(), (&begun.id).into(), hold::CONVERSATION.into(), turn.into()];
    if session.first(sql, &key).await?.is_none() {
        return Ok(false);
    }
    let conversation = match read(session, owner, &begun.id).await {
        Err(error) if error.kind() == Trouble::NotFound => return Ok(false),
        conversation => conversation?,
    };
    if conversation.tip != begun.tip {
        return Ok(false);
    }
    delete(session, owner, &conversation, Deletion::Name).await?;
    Ok(true)
}
