//! Turns on their way to the store, for which nobody waits. A call that goes on from one is to find it there.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sabir_store::{Hash, Owner};
use tokio::sync::watch;
use tokio::time::timeout;

/// How long a call waits for the turns before it: longer than a disk takes, and shorter than anybody minds.
const PATIENCE: Duration = Duration::from_secs(1);

/// A turn may be handed over just after the hurry.
const HURRIED_EVERY: Duration = Duration::from_millis(10);

/// By the end of what their calls stated, which is part of every history that goes on from them.
#[derive(Debug, Default)]
pub(crate) struct Underway {
    turns: Mutex<HashMap<Key, Vec<watch::Receiver<()>>>>,
}

type Key = (Owner, Hash);

/// One of them, until it is there or cannot be.
#[derive(Debug)]
pub(crate) struct Saving {
    underway: Arc<Underway>,
    key: Key,
    /// Whoever waits learns of its end.
    end: watch::Sender<()>,
}

impl Underway {
    /// A turn whose call ended with this is to be stored.
    pub(crate) fn begin(self: &Arc<Self>, owner: Owner, stated: Hash) -> Saving {
        let (end, ended) = watch::channel(());
        let key = (owner, stated);
        self.turns().entry(key.clone()).or_default().push(ended);
        Saving { underway: Arc::clone(self), key, end }
    }

    /// Waits until the turns are there that a history of these states goes on from. Whoever writes them is hurried.
    pub(crate) async fn settled(
        &self,
        owner: &Owner,
        states: &[Option<Hash>],
        hurry: impl AsyncFn(),
    ) {
        let waits = async {
            for mut ended in self.before(owner, states) {
                loop {
                    hurry().await;
                    // It is never sent anything, and ends.
                    if timeout(HURRIED_EVERY, ended.changed()).await.is_ok() {
                        break;
                    }
                }
            }
        };
        let _ = timeout(PATIENCE, waits).await;
    }

    fn before(&self, owner: &Owner, states: &[Option<Hash>]) -> Vec<watch::Receiver<()>> {
        let turns = self.turns();
        if turns.is_empty() {
            return Vec::new();
        }
        let stated = states.iter().flatten().map(|state| (owner.clone(), *state));
        stated.filter_map(|key| turns.get(&key)).flatten().cloned().collect()
    }

    fn turns(&self) -> MutexGuard<'_, HashMap<Key, Vec<watch::Receiver<()>>>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        let mut turns = self.underway.turns();
        if let Some(ends) = turns.get_mut(&self.key) {
            let own = self.end.subscribe();
            ends.retain(|end| !end.same_channel(&own));
            if ends.is_empty() {
                turns.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_waits_for_the_turns_that_it_goes_on_from() {
        let underway = Arc::<Underway>::default();
        let [stated, other] = ["stated", "other"].map(|text| Hash::of_bytes(text.as_bytes()));
        let nobody = Owner::nobody();
        let (first, second) =
            (underway.begin(nobody.clone(), stated), underway.begin(nobody.clone(), stated));
        let states = [None, Some(other), Some(stated)];
        assert_eq!(underway.before(&nobody, &states).len(), 2);
        assert!(underway.before(&nobody, &states[..2]).is_empty());
        assert!(underway.before(&Owner::key("ann").unwrap(), &states).is_empty());
        let began = tokio::time::Instant::now();
        let wait = underway.settled(&nobody, &states, async || {});
        let end = async {
            drop(first);
            tokio::task::yield_now().await;
            drop(second);
        };
        tokio::join!(wait, end);
        assert!(began.elapsed() < PATIENCE && underway.turns().is_empty());
        // A store that does not answer is not waited for.
        let _stuck = underway.begin(nobody.clone(), stated);
        underway.settled(&nobody, &states, async || {}).await;
        assert!(began.elapsed() >= PATIENCE);
    }
}
