//! A conversation brought up to what somebody else wrote of it: its history begins anew, its hold stays.

use super::read::read;
use super::{Create, NewConversation, Origin, searchable};
use crate::clock::Time;
use crate::engine::{Session, Work};
use crate::error::{Kind as ErrorKind, Result};
use crate::files::Content;
use crate::id::{ConversationId, Owner};
use crate::message::{Tip, append};
use crate::record::Record;
use crate::retention::{Kind, suspect_orphan};
use crate::setting::{Setting, keep};
use crate::turn::drop_reference;

pub(crate) struct Load {
    pub(crate) owner: Owner,
    pub(crate) id: ConversationId,
    pub(crate) content: Content,
    pub(crate) now: Time,
}

impl Work for Load {
    type Output = ();

    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let was = match read(session, &self.owner, &self.id).await {
            Err(error) if error.kind() == ErrorKind::NotFound => self.begin(session).await?,
            was => was?,
        };
        let Content { messages, system, outline } = &self.content;
        let tip = append(session, &self.owner, None, messages, self.now).await?;
        let system = keep(session, &self.owner, system.as_ref()).await?;
        let search = searchable(&self.id, &outline.title);
        let sql = "UPDATE conversation SET
                tip = $3, last_turn = NULL, system = $4, tools = NULL,
                title = $5, search = $6, created_at = $7, updated_at = $8, used_at = $8,
                turns = $9
            WHERE owner = $1 AND id = $2";
        let params = [
            (&self.owner).into(),
            (&self.id).into(),
            Tip::column(tip),
            Setting::column(system),
            (&outline.title).into(),
            search.as_str().into(),
            outline.created_at.unwrap_or(was.created_at).into(),
            self.now.into(),
            outline.turns.cast_signed().into(),
        ];
        session.execute(sql, &params).await?;
        drop_reference(session, &self.owner, was.last_turn.as_ref()).await?;
        let old = was.tip.filter(|old| Some(*old) != tip.map(|tip| tip.hash));
        suspect_orphan(session, &self.owner, Kind::Message, old.as_ref()).await?;
        let old = was.system.filter(|old| Some(*old) != system.map(|system| system.hash));
        suspect_orphan(session, &self.owner, Kind::Setting, old.as_ref()).await
    }
}

impl Load {
    async fn begin<S: Session>(&self, session: &mut S) -> Result<super::Conversation> {
        let new = NewConversation {
            owner: self.owner.clone(),
            id: self.id.clone(),
            title: self.content.outline.title.clone(),
            metadata: Record::default(),
            origin: Origin::Asked,
        };
        Create { new, now: self.now }.run(session).await
    }
}
