//! The keys of one provider: they take turns, and one that the provider turns away rests for a while. A sole key has no turns
//! and no rest: whatever becomes of a request with it is the client's to know.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::time::Duration;

use sabir_backend::Secret;
use sabir_wire::FaultKind;

use crate::failure::Failure;
use crate::observe::KeySeen;
use crate::upstream::health::now_ms;

/// The rest of a key that has been used too much, where the provider does not state how long.
const REST: Duration = Duration::from_secs(60);

/// The longest rest that a provider can ask for.
const REST_MAX: Duration = Duration::from_secs(3_600);

/// The rest of a key that is not valid, not allowed or not paid for: somebody has to do something about it first.
const REST_REFUSED: Duration = Duration::from_secs(600);

/// The keys of a provider, in the order of the configuration; none where there is no choice.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    keys: Vec<Arc<Key>>,
    turn: AtomicUsize,
}

/// One of several keys, and how it has fared.
#[derive(Debug)]
pub(crate) struct Key {
    secret: Secret,
    /// Whose connections it may use: nobody else's.
    partition: u64,
    /// Until when it rests, in milliseconds since the start.
    until_ms: AtomicU64,
    requests: AtomicU64,
    rests: AtomicU64,
}

/// A key in its turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn<'k> {
    keys: &'k Keys,
    place: usize,
}

impl Keys {
    /// The keys of a configuration. Those that were there before go on as they were.
    pub(super) fn new(secrets: &[Secret], before: Option<&Self>, generation: u64) -> Self {
        if secrets.len() < 2 {
            return Self::default();
        }
        let known = |secret: &Secret| {
            let before = before.into_iter().flat_map(|before| &before.keys);
            before.into_iter().find(|key| key.secret == *secret).cloned()
        };
        let key = |(place, secret): (usize, &Secret)| {
            // Beyond all numbers of generations, which are the partitions of sole keys.
            let partition = (generation + 1) << 32 | place as u64;
            known(secret).unwrap_or_else(|| Arc::new(Key::new(secret.clone(), partition)))
        };
        let keys = secrets.iter().enumerate().map(key).collect();
        Self { keys, turn: AtomicUsize::new(0) }
    }

    /// The key whose turn it is, of those that do not rest; if all do, the one that has rested soonest. A conversation, known by
    /// its number, keeps its key while that does not rest. None if there are not several.
    pub(crate) fn take(&self, conversation: Option<u64>) -> Option<Turn<'_>> {
        if self.keys.is_empty() {
            return None;
        }
        let turn = self.take_at(now_ms(), conversation);
        turn.key().requests.fetch_add(1, Relaxed);
        Some(turn)
    }

    fn take_at(&self, now_ms: u64, conversation: Option<u64>) -> Turn<'_> {
        let count = self.keys.len();
        let first = match conversation {
            Some(number) => (number % count as u64) as usize,
            None => self.turn.fetch_add(1, Relaxed),
        };
        let places = (0..count).map(|step| (first % count + step) % count);
        let rest_ms = |place: &usize| self.keys[*place].rest_ms(now_ms);
        Turn { keys: self, place: places.min_by_key(rest_ms).unwrap_or_default() }
    }

    /// Whether there are several and none of them can be used now.
    pub(crate) fn all_rest(&self) -> bool {
        !self.keys.is_empty() && self.rest_ms(now_ms()) > 0
    }

    /// How long it is until one of them can be used.
    fn rest_ms(&self, now_ms: u64) -> u64 {
        self.keys.iter().map(|key| key.rest_ms(now_ms)).min().unwrap_or_default()
    }

    /// What is known of each.
    pub(crate) fn seen(&self) -> impl Iterator<Item = KeySeen> {
        let now_ms = now_ms();
        self.keys.iter().enumerate().map(move |(place, key)| KeySeen {
            number: place + 1,
            requests: key.requests.load(Relaxed),
            rests: key.rests.load(Relaxed),
            is_resting: key.rest_ms(now_ms) > 0,
        })
    }
}

impl Key {
    fn new(secret: Secret, partition: u64) -> Self {
        let (until_ms, requests, rests) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Self { secret, partition, until_ms, requests, rests }
    }

    pub(super) fn secret(&self) -> &Secret {
        &self.secret
    }

    pub(super) fn partition(&self) -> u64 {
        self.partition
    }

    fn rest_ms(&self, now_ms: u64) -> u64 {
        self.until_ms.load(Relaxed).saturating_sub(now_ms)
    }
}

impl<'k> Turn<'k> {
    pub(crate) fn key(self) -> &'k Key {
        &self.keys.keys[self.place]
    }

    /// The provider took the key.
    pub(crate) fn answered(self) {
        let key = self.key();
        if key.until_ms.load(Relaxed) != 0 {
            key.until_ms.store(0, Relaxed);
        }
    }

    /// Whether another key may do better: this one was turned away, and rests from now on. If none may, whoever was limited is
    /// told when the first of them has rested.
    pub(crate) fn is_turned_away(self, provider: &str, failure: &mut Failure) -> bool {
        let Some(rest) = rest(failure) else { return false };
        let wait_ms = self.rest(provider, rest);
        if wait_ms > 0 && failure.fault.kind == FaultKind::RateLimit {
            failure.fault.retry_after_s = Some(wait_ms.div_ceil(1_000));
        }
        wait_ms == 0
    }

    /// Whether another key may do better, where nothing is known but that the provider did not take this one.
    pub(crate) fn is_refused(self, provider: &str) -> bool {
        self.rest(provider, REST_REFUSED) == 0
    }

    /// Has the key rest, and returns how long it is until one of them can be used.
    fn rest(self, provider: &str, rest: Duration) -> u64 {
        let (number, seconds) = (self.place + 1, rest.as_secs());
        tracing::warn!(target: "sabir", provider, number, seconds, "a key rests");
        let now_ms = now_ms();
        self.rest_from(now_ms, rest);
        self.keys.rest_ms(now_ms)
    }

    fn rest_from(self, now_ms: u64, rest: Duration) {
        let until_ms = now_ms + u64::try_from(rest.as_millis()).unwrap_or_default();
        self.key().until_ms.store(until_ms, Relaxed);
        self.key().rests.fetch_add(1, Relaxed);
    }
}

/// How long a key rests that a provider answered so; none if that was not about the key.
fn rest(failure: &Failure) -> Option<Duration> {
    failure.upstream.as_ref()?;
    let stated = failure.fault.retry_after_s.map(|it| Duration::from_secs(it).min(REST_MAX));
    match failure.fault.kind {
        FaultKind::RateLimit => Some(stated.unwrap_or(REST)),
        FaultKind::Authentication | FaultKind::Permission | FaultKind::Billing => {
            Some(stated.unwrap_or_default().max(REST_REFUSED))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;
    use sabir_wire::Protocol;

    use super::*;
    use crate::failure::{Refusal, Whose};

    fn keys(secrets: &[&str]) -> Keys {
        let secrets: Vec<Secret> = secrets.iter().copied().map(Secret::new).collect();
        Keys::new(&secrets, None, 0)
    }

    fn taken_at(keys: &Keys, now_ms: u64, times: usize) -> Vec<usize> {
        (0..times).map(|_| keys.take_at(now_ms, None).place).collect()
    }

    fn refused(kind: FaultKind, retry_after_s: Option<u64>) -> Box<Failure> {
        let mut failure = Failure::new(Whose::Upstream, kind, "no");
        failure.fault.retry_after_s = retry_after_s;
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        failure.upstream = Some(Refusal { protocol: Protocol::ALL[0], status: 429, headers, body });
        failure
    }

    #[test]
    fn keys_take_turns_and_rest_when_they_are_turned_away() {
        let keys = keys(&["a", "b", "c"]);
        assert_eq!(taken_at(&keys, 0, 6), [0, 1, 2, 0, 1, 2]);
        let of_conversation = |now_ms| keys.take_at(now_ms, Some(4)).place;
        assert_eq!([of_conversation(0), of_conversation(0)], [1, 1], "it keeps its key");
        Turn { keys: &keys, place: 1 }.rest_from(0, REST);
        assert!(!taken_at(&keys, 59_999, 6).contains(&1));
        assert_eq!([of_conversation(59_999), of_conversation(60_000)], [2, 1], "while it can");
        assert!(taken_at(&keys, 60_000, 3).contains(&1), "it has rested");
        Turn { keys: &keys, place: 0 }.rest_from(0, REST_REFUSED);
        Turn { keys: &keys, place: 2 }.rest_from(0, 2 * REST);
        assert_eq!(taken_at(&keys, 30_000, 3), [1, 1, 1], "all rest, and it has rested soonest");
    }

    #[test]
    fn a_key_is_spent_limited_or_refused_and_other_failures_are_not_its() {
        let rest = |kind, stated| rest(&refused(kind, stated)).map(|rest| rest.as_secs());
        assert_eq!(rest(FaultKind::RateLimit, None), Some(60));
        assert_eq!(rest(FaultKind::RateLimit, Some(7)), Some(7));
        assert_eq!(rest(FaultKind::RateLimit, Some(u64::MAX)), Some(3_600));
        assert_eq!(rest(FaultKind::Authentication, None), Some(600));
        assert_eq!(rest(FaultKind::Permission, Some(1)), Some(600));
        assert_eq!(rest(FaultKind::Billing, None), Some(600));
        for kind in [FaultKind::Overloaded, FaultKind::BadRequest, FaultKind::Internal] {
            assert_eq!(rest(kind, Some(1)), None);
        }
        let own = Failure::new(Whose::Gateway, FaultKind::RateLimit, "too many of yours");
        assert!(super::rest(&own).is_none());
    }

    #[test]
    fn who_finds_no_key_learns_when_the_first_has_rested() {
        let keys = keys(&["a", "b"]);
        let [one, other] = [0, 1].map(|place| Turn { keys: &keys, place });
        let mut failure = refused(FaultKind::RateLimit, Some(20));
        assert!(one.is_turned_away("p", &mut failure));
        assert!(!keys.all_rest());
        let mut failure = refused(FaultKind::RateLimit, Some(900));
        assert!(!other.is_turned_away("p", &mut failure));
        assert!(keys.all_rest());
        assert!(failure.fault.retry_after_s.is_some_and(|seconds| seconds <= 20));
        one.answered();
        assert!(!keys.all_rest());
        let seen: Vec<_> = keys.seen().map(|it| (it.number, it.rests, it.is_resting)).collect();
        assert_eq!(seen, [(1, 1, false), (2, 1, true)]);
    }

    #[test]
    fn keys_that_stay_go_on_as_they_were_and_share_no_connections() {
        let before = keys(&["a", "b"]);
        before.keys[1].until_ms.store(u64::MAX, Relaxed);
        let secrets = ["b", "c"].map(Secret::new);
        let after = Keys::new(&secrets, Some(&before), 7);
        assert!(Arc::ptr_eq(&after.keys[0], &before.keys[1]));
        let partitions = [&before.keys[0], &before.keys[1], &after.keys[1]].map(|it| it.partition);
        assert_eq!(partitions.iter().collect::<std::collections::HashSet<_>>().len(), 3);
        assert!(partitions.iter().all(|it| *it > u64::from(u32::MAX)));
        assert!(keys(&["a"]).take(None).is_none() && !keys(&["a"]).all_rest());
    }
}
