//! Artefacts, exchanges and what is deleted.

use std::sync::atomic::Ordering;

use crate::artefact::{Artefact, PutArtefacts, ReadArtefacts};
use crate::clock::Time;
use crate::engine::Durability;
use crate::error::{Error, Result};
use crate::exchange::{
    DayUsage, Exchange, GroupUsage, Grouping, ReadExchange, ReadUsage, RecordExchanges, SumUsage,
};
use crate::files::INDEXED;
use crate::id::{ExchangeId, Name, Owner};
use crate::limit;
use crate::limit::ITEMS_MAX;
use crate::retention::{Keep, Sweep, Swept};
use crate::store::Store;

impl Store {
    /// Keeps artefacts. Those that were kept before are kept as they are now.
    pub async fn put_artefacts(&self, artefacts: Vec<Artefact>) -> Result<()> {
        self.inner.engine.write(Durability::Volatile, PutArtefacts { artefacts }).await
    }

    /// What an issuer sealed with calls of these ids.
    pub async fn artefacts(
        &self,
        owner: &Owner,
        issuer: &Name,
        calls: Vec<Name>,
    ) -> Result<Vec<Artefact>> {
        limit::count("calls", calls.len(), ITEMS_MAX)?;
        let (owner, issuer, now) = (owner.clone(), issuer.clone(), self.now());
        self.inner.engine.read(ReadArtefacts { owner, issuer, calls, now }).await
    }

    /// Records calls and adds them to their days. What was recorded before is not counted again.
    pub async fn record(&self, exchanges: Vec<Exchange>) -> Result<()> {
        if self.is_of_files() {
            return Err(Error::unsupported("there are no rows of calls beside them"));
        }
        self.inner.engine.write(Durability::Volatile, RecordExchanges { exchanges }).await
    }

    /// A call that was recorded, with its attempts.
    pub async fn exchange(&self, owner: &Owner, id: &ExchangeId) -> Result<Exchange> {
        self.inner.engine.read(ReadExchange { owner: owner.clone(), id: id.clone() }).await
    }

    /// The sums of the days from this time on.
    pub async fn usage(&self, owner: &Owner, from: Time) -> Result<Vec<DayUsage>> {
        self.inner.engine.read(ReadUsage { owner: owner.clone(), from }).await
    }

    /// The same summed up, the most used first; days the newest first. A thousand groups at most.
    pub async fn usage_by(
        &self,
        owner: &Owner,
        by: Grouping,
        from: Time,
    ) -> Result<Vec<GroupUsage>> {
        self.inner.engine.read(SumUsage { owner: owner.clone(), from, by }).await
    }

    /// Deletes some of what is not to be kept. To be called again while there is more; the last step leaves nothing of it on disk.
    pub async fn sweep(&self, keep: Keep) -> Result<Swept> {
        // Files are their owner's to delete.
        let keep = if self.is_of_files() { INDEXED } else { keep };
        let sweep = Sweep { keep, now: self.now() };
        self.end_epoch();
        let swept = self.inner.engine.write(Durability::Volatile, sweep).await;
        // Whoever looked meanwhile may have seen what is gone now.
        if swept.as_ref().map_or(true, |swept| swept.contents > 0) {
            self.end_epoch();
        }
        let swept = swept?;
        self.erase_behind(swept).await;
        Ok(swept)
    }

    /// A log still says what was deleted, until it is emptied. If somebody reads it just now, that is done after a later step.
    async fn erase_behind(&self, swept: Swept) {
        let is_unerased = &self.inner.is_unerased;
        is_unerased.fetch_or(swept.more, Ordering::Relaxed);
        if !swept.more && is_unerased.swap(false, Ordering::Relaxed) {
            let settled = self.inner.engine.settle().await;
            is_unerased.fetch_or(settled.is_err(), Ordering::Relaxed);
        }
    }
}
