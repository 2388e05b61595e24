//! What a turn goes on from: as it was told, or found when it is written.

use super::{Advance, Closing};
use crate::conversation::followed;
use crate::engine::{Param, Session, optional};
use crate::error::Result;
use crate::id::{Hash, Owner, TurnId};
use crate::message::{Place, Tip, base_at, known};

/// Where a turn stands.
pub(super) struct Origin {
    pub(super) previous: Option<TurnId>,
    pub(super) base: Option<Place>,
    /// How many of its messages stand before its base.
    pub(super) known: usize,
    pub(super) conversation: Option<Advance>,
}

impl Origin {
    pub(super) async fn of<S: Session>(session: &mut S, closing: &Closing) -> Result<Self> {
        let Closing { turn, messages, follows, conversation, .. } = closing;
        let Some(follows) = follows else {
            let (previous, conversation) = (turn.previous.clone(), conversation.clone());
            let base = base_at(session, &turn.owner, turn.base.as_ref()).await?;
            return Ok(Self { previous, base, known: 0, conversation });
        };
        let hashes: Vec<Hash> = messages.iter().take(follows.sent).map(|it| it.hash).collect();
        let known = known(session, &turn.owner, &hashes).await?;
        let base = known.checked_sub(1).map(|last| hashes[last]).or(turn.base);
        let base = base_at(session, &turn.owner, base.as_ref()).await?;
        let found = match base {
            Some(base) => followed(session, &turn.owner, base.tip).await?,
            None => None,
        };
        Ok(match found {
            Some(found) => Self {
                previous: found.last_turn,
                base,
                known,
                conversation: Some(Advance::after(found.id, found.tip)),
            },
            None => Self { previous: None, base, known, conversation: None },
        })
    }

    /// Puts a turn there that was opened before it was known.
    pub(super) async fn settle<S: Session>(
        &self,
        session: &mut S,
        (owner, turn): (&Owner, &TurnId),
    ) -> Result<()> {
        let sql = "UPDATE turn SET previous = $3, base = $4 WHERE owner = $1 AND id = $2";
        let (previous, base) = (optional(self.previous.as_ref()), self.base_column());
        session.execute(sql, &[owner.into(), turn.into(), previous, base]).await.map(|_| ())
    }

    /// The number of the message that it goes on from, for a column.
    pub(super) fn base_column(&self) -> Param<'static> {
        Tip::column(self.base.map(|base| base.tip))
    }
}
