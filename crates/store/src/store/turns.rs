//! Turns, and what only one of them at a time may do.

use crate::clock::Time;
use crate::conversation::Begun;
use crate::engine::Durability;
use crate::error::{Kind, Result};
use crate::hold::{Held, Purpose, Release, Take, Working};
use crate::id::{ConversationId, Owner, TurnId};
use crate::store::Store;
use crate::touch::{Touch, Touched};
use crate::turn::{
    Abandon, Close, Closing, Open, OpenLate, Opening, ReadTurn, Stream, Turn, Turns, USE_RESOLUTION,
};

impl Store {
    /// Opens a turn without waiting for the disk. While the store is in trouble, its error comes back at once.
    pub async fn open_turn(&self, opening: Opening) -> Result<()> {
        self.stay_alive().await?;
        let open = Open { opening, node: self.inner.node.clone(), now: self.now() };
        self.inner.engine.start(Durability::Volatile, Box::new(open)).await
    }

    /// The same for a turn that nothing else in the store knows of before it ends: it is written before long, with others. If it
    /// ends before, that alone is written.
    pub async fn open_turn_late(&self, opening: Opening) -> Result<()> {
        self.stay_alive().await?;
        let open = Open { opening, node: self.inner.node.clone(), now: self.now() };
        let late = OpenLate::new(open, &self.inner.unopened);
        self.inner.engine.start(Durability::Late, Box::new(late)).await
    }

    /// The first event of the answer is there.
    pub async fn stream_turn(&self, owner: &Owner, turn: &TurnId) -> Result<()> {
        let stream = Stream { owner: owner.clone(), turn: turn.clone() };
        self.inner.engine.start(Durability::Volatile, stream).await
    }

    /// Ends a turn with all that it leaves. It is on disk when this returns.
    pub async fn close_turn(&self, closing: impl Into<Box<Closing>>) -> Result<()> {
        self.close(Durability::Durable, closing.into()).await
    }

    /// The same for a turn that nobody waits for. It is there when this returns, and a crash of the machine may undo it.
    pub async fn close_turn_late(&self, closing: impl Into<Box<Closing>>) -> Result<()> {
        self.close(Durability::Late, closing.into()).await
    }

    async fn close(&self, durability: Durability, closing: Box<Closing>) -> Result<()> {
        let unopened_since = self.inner.unopened.take(&closing.turn);
        let (node, now) = (self.inner.node.clone(), self.now());
        let close = Close { closing, node, now, unopened_since };
        if let Some(files) = &self.inner.files {
            return Box::pin(files.close(&self.inner.engine, close)).await;
        }
        let closed = self.inner.engine.write(durability, close).await;
        if closed.as_ref().is_err_and(|error| error.kind() == Kind::NotFound) {
            self.end_epoch();
        }
        closed
    }

    /// Writes what was to be written late.
    pub async fn flush(&self) -> Result<()> {
        self.inner.engine.flush().await
    }

    /// Leaves nothing beside what a backup copies: all of a log is in its file then. For whoever ends.
    pub async fn settle(&self) -> Result<()> {
        self.inner.engine.settle().await
    }

    /// Takes a turn back that got no answer, and ends what it held. A conversation that began with it goes, too, unless somebody
    /// has put something there.
    pub async fn abandon_turn(
        &self,
        owner: &Owner,
        turn: &TurnId,
        begun: Option<&Begun>,
    ) -> Result<()> {
        // What was not opened is not to be.
        self.inner.unopened.forget(owner, turn);
        let abandon = Abandon { owner: owner.clone(), turn: turn.clone(), begun: begun.cloned() };
        let is_withdrawn = self.inner.engine.write(Durability::Volatile, abandon).await?;
        match (&self.inner.files, begun) {
            (Some(files), Some(begun)) if is_withdrawn => files.withdraw(&begun.id).await,
            _ => Ok(()),
        }
    }

    pub async fn turn(&self, owner: &Owner, turn: &TurnId) -> Result<Turn> {
        let read = ReadTurn { owner: owner.clone(), turn: turn.clone() };
        let turn = self.inner.engine.read(read).await?;
        self.touch(owner, turn.used_at, || Touched::Turn(turn.id.clone())).await;
        Ok(turn)
    }

    /// This turn and those that it continues, the newest first.
    pub async fn turns(&self, owner: &Owner, from: &TurnId, limit: u32) -> Result<Vec<Turn>> {
        let turns = Turns { owner: owner.clone(), from: from.clone(), limit };
        self.inner.engine.read(turns).await
    }

    /// The turn that works on a conversation, if one does.
    pub async fn working_turn(&self, owner: &Owner, id: &ConversationId) -> Result<Option<Turn>> {
        let working = Working { owner: owner.clone(), conversation: id.clone() };
        self.inner.engine.read(working).await
    }

    /// Holds a conversation, or the one continuation of a turn, for a turn that is about to be opened.
    pub async fn hold(&self, owner: &Owner, purpose: Purpose, turn: &TurnId) -> Result<Held> {
        self.stay_alive().await?;
        let take = Take {
            owner: owner.clone(),
            purpose,
            turn: turn.clone(),
            node: self.inner.node.clone(),
            now: self.now(),
        };
        self.inner.engine.write(Durability::Volatile, take).await
    }

    /// Ends whatever this turn holds.
    pub async fn release(&self, owner: &Owner, turn: &TurnId) -> Result<()> {
        let release = Release { owner: owner.clone(), turn: turn.clone() };
        self.inner.engine.write(Durability::Volatile, release).await
    }

    /// Notes the use of something, if it was noted long ago. A note that fails is made at the next use.
    pub(super) async fn touch(&self, owner: &Owner, used_at: Time, what: impl FnOnce() -> Touched) {
        let now = self.now();
        if used_at.plus(USE_RESOLUTION) < now {
            let touch = Touch { owner: owner.clone(), what: what(), now };
            let _ = self.inner.engine.start(Durability::Volatile, touch).await;
        }
    }
}
