//! Turns, and what only one of them at a time may do.

use crate::clock::Time;
use crate::engine::Durability;
use crate::error::Result;
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
        self.inner.engine.start(Durability::Volatile, open).await
    }

    /// The same for a turn that nobody waits for: it is written before long, with others. If it ends before, that alone is
    /// written.
    pub async fn open_turn_late(&self, opening: Opening) -> Result<()> {
        self.stay_alive().await?;
        let open = Open { opening, node: self.inner.node.clone(), now: self.now() };
        let late = OpenLate::new(open, &self.inner.unopened);
        self.inner.engine.start(Durability::Late, late).await
    }

    /// The first event of the answer is there.
    pub async fn stream_turn(&self, owner: &Owner, turn: &TurnId) -> Result<()> {
        let stream = Stream { owner: owner.clone(), turn: turn.clone() };
        self.inner.engine.start(Durability::Volatile, stream).await
    }

    /// Ends a turn with all that it leaves. It is on disk when this returns.
    pub async fn close_turn(&self, closing: Closing) -> Result<()> {
        self.close(Durability::Durable, closing).await
    }

    /// The same for a turn that nobody waits for. It is there when this returns, and a crash of the machine may undo it.
    pub async fn close_turn_late(&self, closing: Closing) -> Result<()> {
        self.close(Durability::Late, closing).await
    }

    async fn close(&self, durability: Durability, closing: Closing) -> Result<()> {
        let unopened_since = self.inner.unopened.take(&closing.turn);
        let (node, now) = (self.inner.node.clone(), self.now());
        let close = Close { closing, node, now, unopened_since };
        if let Some(files) = &self.inner.files {
            return files.close(&self.inner.engine, close).await;
        }
        self.inner.engine.write(durability, close).await
    }

    /// Writes what was to be written late.
    pub async fn flush(&self) -> Result<()> {
        self.inner.engine.flush().await
    }

    /// Leaves nothing beside what a backup copies: all of a log is in its file then. Blocks; for whoever ends.
    pub fn settle(&self) -> Result<()> {
        self.inner.engine.settle()
    }

    /// Takes a turn back that got no answer, and ends what it held.
    pub async fn abandon_turn(&self, owner: &Owner, turn: &TurnId) -> Result<()> {
        let abandon = Abandon { owner: owner.clone(), turn: turn.clone() };
        self.inner.engine.write(Durability::Volatile, abandon).await
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
