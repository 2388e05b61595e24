//! Artefacts of calls in memory, within bounds of number and bytes: the next call of a tool loop comes milliseconds later, and
//! where nothing is kept this is all there is.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use sabir_store::Hash;
use tokio::time::Instant;

use crate::memory::digest::{ByMark, Mark};

/// How long what nobody asks for is known.
const LASTS: Duration = Duration::from_secs(60 * 60);

/// How long a call is taken for one of which the store has nothing: another node may be about to write it.
const MISSING_LASTS: Duration = Duration::from_secs(60);

/// How much is known at most.
const ENTRIES_MAX: usize = 65_536;
const BYTES_MAX: usize = 32 << 20;

/// What an entry takes beside its records.
const ENTRY_BYTES: usize = 256;

/// How many calls with one id are told apart: some servers count from one in every answer.
const VARIANTS_MAX: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Cache {
    entries: ByMark<Entry>,
    /// The mark of every entry, once; the first is the next to go, unless it was asked for meanwhile.
    clock: VecDeque<Mark>,
    bytes: usize,
}

#[derive(Debug)]
struct Entry {
    /// None if nothing belongs to calls of this id.
    variants: Vec<Variant>,
    until: Instant,
    source: Source,
    /// Whether it was asked for since the clock last passed it.
    is_used: bool,
}

/// What belongs to the call of an id that means this. `Debug` shows how much.
#[derive(Clone)]
pub(super) struct Variant {
    pub(super) digest: Hash,
    pub(super) record: Arc<str>,
}

/// Where else it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Nowhere: it lasts as long as it is asked for.
    Here,
    /// In the store, which is asked again when it is over here.
    Store,
    /// The store was asked and has nothing.
    Missing,
}

impl Cache {
    /// Keeps what belongs to a call; none says that nothing does.
    pub(super) fn put(
        &mut self,
        call: Mark,
        variant: Option<Variant>,
        (source, now): (Source, Instant),
    ) {
        let mut variants = self.take_variants(call, now);
        if let Some(variant) = variant {
            variants.retain(|it| it.digest != variant.digest);
            variants.truncate(VARIANTS_MAX - 1);
            variants.insert(0, variant);
        }
        let lasts = if source == Source::Missing { MISSING_LASTS } else { LASTS };
        let entry = Entry { variants, until: now + lasts, source, is_used: false };
        self.bytes += bytes(&entry);
        self.entries.insert(call, entry);
        self.tidy(now);
    }

    /// What is known of calls of an id; none if nothing is, not even that there is nothing.
    pub(super) fn find(&mut self, call: Mark, now: Instant) -> Option<&[Variant]> {
        let entry = self.entries.get_mut(&call).filter(|entry| entry.until > now)?;
        entry.is_used = true;
        if entry.source == Source::Here {
            entry.until = now + LASTS;
        }
        Some(&entry.variants)
    }

    /// Takes out what is known of a call, which has its place in the clock from here on.
    fn take_variants(&mut self, call: Mark, now: Instant) -> Vec<Variant> {
        let Some(entry) = self.take(call) else {
            self.clock.push_back(call);
            return Vec::new();
        };
        if entry.until > now { entry.variants } else { Vec::new() }
    }

    fn take(&mut self, call: Mark) -> Option<Entry> {
        let entry = self.entries.remove(&call)?;
        self.bytes -= bytes(&entry);
        Some(entry)
    }

    /// Lets go of what is over, a little at a time, and of what has been longest without use while there is too much.
    fn tidy(&mut self, now: Instant) {
        self.pass(now);
        self.pass(now);
        while self.entries.len() > ENTRIES_MAX || self.bytes > BYTES_MAX {
            self.pass(now);
        }
    }

    /// Looks at the next entry of the clock.
    fn pass(&mut self, now: Instant) {
        let Some(call) = self.clock.pop_front() else { return };
        let is_full = self.entries.len() > ENTRIES_MAX || self.bytes > BYTES_MAX;
        let Some(entry) = self.entries.get_mut(&call) else { return };
        let may_stay = !is_full || std::mem::replace(&mut entry.is_used, false);
        match entry.until > now && may_stay {
            true => self.clock.push_back(call),
            false => drop(self.take(call)),
        }
    }
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variant({:?}, {} bytes)", self.digest, self.record.len())
    }
}

fn bytes(entry: &Entry) -> usize {
    let records: usize = entry.variants.iter().map(|it| it.record.len()).sum();
    ENTRY_BYTES + records
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::digest::{Digest, DigestKey};

    /// A cache, and the marks of calls by their ids.
    fn cache() -> (Cache, impl Fn(&str) -> Mark) {
        let key = DigestKey::random();
        (Cache::default(), move |id| Digest::EMPTY.with(&key, id.as_bytes()).mark())
    }

    fn variant(text: &str) -> Variant {
        let digest = Hash::of_bytes(&text.as_bytes()[..text.len().min(8)]);
        Variant { digest, record: text.into() }
    }

    fn records(cache: &mut Cache, call: Mark, now: Instant) -> Option<Vec<String>> {
        let found = cache.find(call, now)?;
        Some(found.iter().map(|it| it.record.to_string()).collect())
    }

    #[test]
    fn what_is_known_only_here_lasts_an_hour_from_its_last_use() {
        let ((mut cache, of), now) = (cache(), Instant::now());
        let minutes = |count: u64| now + Duration::from_secs(60 * count);
        cache.put(of("here"), Some(variant("a")), (Source::Here, now));
        cache.put(of("stored"), Some(variant("b")), (Source::Store, now));
        cache.put(of("missing"), None, (Source::Missing, now));
        assert_eq!(records(&mut cache, of("missing"), now), Some(Vec::new()));
        assert_eq!(records(&mut cache, of("missing"), minutes(1)), None);
        for minute in [59, 118] {
            assert!(records(&mut cache, of("here"), minutes(minute)).is_some());
        }
        assert!(records(&mut cache, of("stored"), minutes(59)).is_some());
        assert_eq!(records(&mut cache, of("stored"), minutes(60)), None);
        assert_eq!(records(&mut cache, of("here"), minutes(178)), None);
        // What is over goes when something comes.
        for minute in [200, 201] {
            cache.put(of("other"), None, (Source::Store, minutes(minute)));
        }
        assert_eq!((cache.entries.len(), cache.bytes), (1, ENTRY_BYTES));
    }

    #[test]
    fn debug_output_shows_no_content() {
        let (mut cache, of) = cache();
        cache.put(of("id"), Some(variant("secret")), (Source::Here, Instant::now()));
        let shown = format!("{cache:?}");
        assert!(shown.contains("6 bytes") && !shown.contains("secret"), "{shown}");
    }

    #[test]
    fn calls_of_one_id_are_told_apart_up_to_a_number() {
        let ((mut cache, of), now) = (cache(), Instant::now());
        for number in 0..20 {
            cache.put(of("id"), Some(variant(&number.to_string())), (Source::Here, now));
        }
        cache.put(of("id"), Some(variant("15")), (Source::Here, now));
        let found = records(&mut cache, of("id"), now).unwrap();
        assert_eq!(found, ["15", "19", "18", "17", "16", "14", "13", "12"]);
        assert_eq!((cache.bytes, cache.clock.len()), (ENTRY_BYTES + 16, 1));
    }

    #[test]
    fn neither_many_nor_long_entries_take_more_than_the_bounds() {
        for (count, record) in [(ENTRIES_MAX + 1_000, "s".to_owned()), (100, "s".repeat(1 << 20))] {
            let ((mut cache, of), now) = (cache(), Instant::now());
            for number in 0..count {
                let variant = Some(variant(&record));
                cache.put(of(&number.to_string()), variant, (Source::Here, now));
                // What is asked for all the time outlives what is not.
                assert!(cache.find(of("0"), now).is_some(), "{number}");
            }
            assert!(cache.entries.len() <= ENTRIES_MAX && cache.bytes <= BYTES_MAX);
            assert!(cache.entries.len() > ENTRIES_MAX / 2 || cache.bytes > BYTES_MAX / 2);
            assert!(cache.find(of(&(count - 1).to_string()), now).is_some());
            assert_eq!(cache.clock.len(), cache.entries.len());
        }
    }
}
