//! Uses, noted: what is used is kept.

use crate::clock::Time;
use crate::engine::{Session, Work};
use crate::error::Result;
use crate::id::{ConversationId, Owner, TurnId};

pub(crate) struct Touch {
    pub(crate) owner: Owner,
    pub(crate) what: Touched,
    pub(crate) now: Time,
}

pub(crate) enum Touched {
    Turn(TurnId),
    Conversation(ConversationId),
}

impl Work for Touch {
    type Output = ();

    /// What its owner deleted has no last use and gets none.
    async fn run<S: Session>(&self, session: &mut S) -> Result<()> {
        let (sql, id) = match &self.what {
            Touched::Turn(id) => (
                "UPDATE turn SET used_at = $3
                 WHERE owner = $1 AND id = $2 AND used_at < $3 AND used_at > 0",
                id.as_str(),
            ),
            Touched::Conversation(id) => (
                "UPDATE conversation SET used_at = $3
                 WHERE owner = $1 AND id = $2 AND used_at < $3",
                id.as_str(),
            ),
        };
        session.execute(sql, &[(&self.owner).into(), id.into(), self.now.into()]).await.map(|_| ())
    }
}
