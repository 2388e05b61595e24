//! What the memory needs while the gateway runs: a sign of life, care for what dead nodes left, deletion of what is old, and
//! rows written in batches. A store that fails is asked again at the next turn; nothing here ends the gateway.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use sabir_store::{Artefact, Keep, Store};
use tokio::time::MissedTickBehavior;

use crate::memory::health::{Duty, Health};
use crate::memory::leftover::{Leftover, Leftovers};
use crate::memory::queue::Queue;
use crate::memory::row::Row;
use crate::memory::unwritten::Unwritten;

/// How often a node says that it lives; the store takes it for dead after 25 seconds.
const BEAT_EVERY: Duration = Duration::from_secs(10);

/// How often dead nodes are looked for: with the 25 seconds, nothing of theirs is left after 30.
const RECOVER_EVERY: Duration = Duration::from_secs(4);
/// How often what is old is looked for.
const SWEEP_EVERY: Duration = Duration::from_secs(60);

/// Between two steps of deletion, so that whoever writes meanwhile has its turn.
const SWEEP_PAUSE: Duration = Duration::from_millis(50);

/// How long a row waits at most, and how often a store that failed is tried again.
const WRITE_EVERY: Duration = Duration::from_secs(1);

/// Rows of a transaction: few enough that a client whose state is being written does not wait long behind them.
const BATCH: usize = 500;

/// How long the end of the gateway waits for the last rows.
const FLUSH_MAX: Duration = Duration::from_secs(5);

/// The upkeep of a store.
pub(super) struct Keeper {
    pub(super) store: Store,
    pub(super) keep: Keep,
    pub(super) queue: Arc<Queue>,
    pub(super) health: Arc<Health>,
    pub(super) leftovers: Arc<Leftovers>,
    pub(super) unwritten: Arc<Unwritten>,
}

impl Keeper {
    /// Keeps the store until its queue is closed, then writes what is left.
    pub(super) async fn run(self) {
        if self.store.is_read_only() {
            return self.queue.closed().await;
        }
        let mut rows = VecDeque::new();
        tokio::select! {
            () = self.queue.closed() => {}
            () = self.write(&mut rows) => {}
            () = self.keep_artefacts() => {}
            () = self.beat() => {}
            () = self.recover() => {}
            () = self.sweep() => {}
        }
        let _ = tokio::time::timeout(FLUSH_MAX, async {
            let _ = self.store.flush().await;
            self.write_artefacts().await;
            self.flush(&mut rows).await;
            self.forget().await;
        })
        .await;
        self.health.dropped(rows.len());
        // What cannot be brought into the file stays in its log, which the next start reads.
        let _ = self.store.settle().await;
    }

    async fn beat(&self) {
        let mut turns = tokio::time::interval(BEAT_EVERY);
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            turns.tick().await;
            self.health.note(Duty::Lease, &self.store.heartbeat().await);
        }
    }

    /// Ends what dead nodes left open.
    async fn recover(&self) {
        let mut turns = tokio::time::interval(RECOVER_EVERY);
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            turns.tick().await;
            self.health.note(Duty::Recovery, &self.store.recover().await);
        }
    }

    async fn sweep(&self) {
        let mut turns = tokio::time::interval(SWEEP_EVERY);
        turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            turns.tick().await;
            while self.sweep_some().await {
                tokio::time::sleep(SWEEP_PAUSE).await;
            }
        }
    }

    /// Deletes some of what is old, and says whether there is more.
    async fn sweep_some(&self) -> bool {
        let swept = self.store.sweep(self.keep).await;
        self.health.note(Duty::Sweep, &swept);
        swept.is_ok_and(|swept| swept.more)
    }

    /// Deletes what its owners have deleted; what is left of it is for the next gateway.
    async fn forget(&self) {
        while self.store.sweep(Keep::Forever).await.is_ok_and(|swept| swept.more) {}
    }

    /// Writes rows for ever. What is left in `rows` when it is given up may be written, and may be written again.
    async fn write(&self, rows: &mut VecDeque<Row>) {
        loop {
            let _ = tokio::time::timeout(WRITE_EVERY, self.queue.many()).await;
            self.take_back().await;
            self.flush(rows).await;
        }
    }

    /// Ends what could not be ended before. A store that still fails is asked once.
    async fn take_back(&self) {
        let mut leftovers = self.leftovers.take().into_iter();
        while let Some(leftover) = leftovers.next() {
            let Leftover { owner, turn, begun } = &leftover;
            let ended = self.store.abandon_turn(owner, turn, begun.as_ref()).await;
            if ended.is_err_and(|error| error.is_outage()) {
                self.leftovers.add(leftover);
                leftovers.by_ref().for_each(|it| self.leftovers.add(it));
            }
        }
    }

    /// Writes artefacts for ever, as they come.
    async fn keep_artefacts(&self) {
        loop {
            self.unwritten.some().await;
            while !self.write_artefacts().await {
                tokio::time::sleep(WRITE_EVERY).await;
            }
        }
    }

    /// Writes the artefacts that wait; false if the store fails and they wait on.
    async fn write_artefacts(&self) -> bool {
        let mut artefacts = self.unwritten.take().into_iter().peekable();
        while artefacts.peek().is_some() {
            let batch: Vec<Artefact> = artefacts.by_ref().take(BATCH).collect();
            let written = self.store.put_artefacts(batch.clone()).await;
            self.health.note(Duty::Artefacts, &written);
            match written {
                Ok(()) => {}
                Err(error) if error.is_outage() => {
                    let waiting = batch.into_iter().chain(artefacts).collect();
                    self.health.dropped(self.unwritten.add(waiting));
                    return false;
                }
                // It would be refused again for ever.
                Err(_) => self.health.dropped(batch.len()),
            }
        }
        true
    }

    /// Writes what was not written before, then what waits.
    async fn flush(&self, rows: &mut VecDeque<Row>) {
        self.write_batches(rows).await;
        if rows.is_empty() {
            *rows = self.queue.take().into();
            self.write_batches(rows).await;
        }
    }

    /// Writes rows until none is left or the store fails.
    async fn write_batches(&self, rows: &mut VecDeque<Row>) {
        while !rows.is_empty() {
            let count = rows.len().min(BATCH);
            let batch = rows.iter().take(count).map(Row::to_exchange).collect();
            let written = self.store.record(batch).await;
            self.health.note(Duty::Rows, &written);
            match written {
                Ok(()) => {}
                Err(error) if error.is_outage() => return,
                // It would be refused again for ever.
                Err(_) => self.health.dropped(count),
            }
            rows.drain(..count);
        }
    }
}
