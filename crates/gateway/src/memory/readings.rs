//! What was found out of histories that clients send again with every call: by a digest of all elements up to one, what a decoder
//! and a hash over all that is meant would find out once more. Nothing of a history itself is held.

use std::mem;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::lines::Step;
use crate::memory::digest::{ByMark, Digest, DigestKey, Mark};

/// How many elements are known in each of two generations: as many as fill a table of some 4 MB.
const STEPS_MAX: usize = 28_672;

#[derive(Debug)]
pub(crate) struct Readings {
    key: DigestKey,
    known: RwLock<Known>,
}

/// What was found out of an element.
#[derive(Clone, Copy, Debug)]
struct Reading {
    step: Step,
    /// The epoch of the store in which its line was last known to be kept; zero if never.
    kept_in: u64,
}

/// By the marks of elements in their places behind all that stand before them.
type Steps = ByMark<Reading>;

/// When the young ones have become too many they are the old, and those that were old are gone.
#[derive(Debug, Default)]
struct Known {
    young: Steps,
    old: Steps,
}

impl Default for Readings {
    fn default() -> Self {
        Self { key: DigestKey::random(), known: RwLock::default() }
    }
}

impl Readings {
    /// Where each element of a history stands. What the calls of one owner have left behind does not help those of another: who
    /// measures time learns nothing of others.
    pub(crate) fn marks<'e>(
        &self,
        owner_and_protocol: [&str; 2],
        elements: impl ExactSizeIterator<Item = &'e str>,
    ) -> Vec<Mark> {
        let add = |digest: Digest, text: &str| digest.with(&self.key, text.as_bytes());
        let mut digest = owner_and_protocol.into_iter().fold(Digest::EMPTY, add);
        let marks = elements.map(|element| {
            digest = add(digest, element);
            digest.mark()
        });
        marks.collect()
    }

    /// Looks at what is known of elements. What was found is known for longer.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Look<'_>) -> T) -> T {
        let known = self.read();
        let mut looking = Look { known: &known, ageing: Vec::new() };
        let seen = look(&mut looking);
        let ageing = looking.ageing;
        drop(known);
        if !ageing.is_empty() {
            let mut known = self.write();
            ageing.into_iter().for_each(|(mark, reading)| known.put(mark, reading));
        }
        seen
    }

    pub(crate) fn add(&self, steps: &[(Mark, Step)]) {
        if !steps.is_empty() {
            let mut known = self.write();
            for (mark, step) in steps {
                known.put(*mark, Reading { step: *step, kept_in: 0 });
            }
        }
    }

    /// Notes that the store had the line of an element in an epoch, with all before it.
    pub(crate) fn keep(&self, mark: Mark, epoch: u64) {
        let is_known = |reading: &Reading| reading.kept_in == epoch;
        if self.read().get(&mark).is_none_or(is_known) {
            return;
        }
        let mut known = self.write();
        if let Some(Reading { step, .. }) = known.get(&mark).copied() {
            known.put(mark, Reading { step, kept_in: epoch });
        }
    }

    /// Whether the store has the line of an element, as far as is known here.
    pub(crate) fn is_kept(&self, mark: Mark, epoch: u64) -> bool {
        self.read().get(&mark).is_some_and(|reading| reading.kept_in == epoch)
    }

    fn read(&self) -> RwLockReadGuard<'_, Known> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Known> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Readings {
    /// Forgets some of what is known.
    pub(crate) fn forget(&self, mut is_forgotten: impl FnMut() -> bool) {
        let mut known = self.known.write().unwrap();
        known.young.retain(|_, _| !is_forgotten());
    }
}

/// A look at what is known.
pub(crate) struct Look<'k> {
    known: &'k Known,
    /// What was found among the old.
    ageing: Vec<(Mark, Reading)>,
}

impl Look<'_> {
    pub(crate) fn step(&mut self, mark: &Mark) -> Option<Step> {
        let young = self.known.young.get(mark).copied();
        let reading = young.or_else(|| {
            let reading = self.known.old.get(mark).copied();
            self.ageing.extend(reading.map(|reading| (*mark, reading)));
            reading
        });
        reading.map(|reading| reading.step)
    }
}

impl Known {
    fn get(&self, mark: &Mark) -> Option<&Reading> {
        self.young.get(mark).or_else(|| self.old.get(mark))
    }

    fn put(&mut self, mark: Mark, reading: Reading) {
        if self.young.len() >= STEPS_MAX {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(mark, reading);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(readings: &Readings, owner: &str, elements: &[&str]) -> Vec<Mark> {
        readings.marks([owner, "protocol"], elements.iter().copied())
    }

    fn remember(readings: &Readings, marks: &[Mark]) {
        let steps: Vec<_> = marks.iter().map(|mark| (*mark, Step::Silent)).collect();
        readings.add(&steps);
    }

    /// How many of them are known.
    fn known(readings: &Readings, marks: &[Mark]) -> usize {
        readings.look(|look| marks.iter().filter(|mark| look.step(mark).is_some()).count())
    }

    #[test]
    fn a_history_is_known_as_far_as_nothing_of_it_changed() {
        let readings = Readings::default();
        remember(&readings, &marks(&readings, "me", &["a", "b", "c"]));
        let known =
            |owner: &str, elements: &[&str]| known(&readings, &marks(&readings, owner, elements));
        assert_eq!(known("me", &["a", "b", "c", "d"]), 3);
        assert_eq!(known("me", &["a", "B", "c", "d"]), 1);
        assert_eq!(known("me", &["b", "c"]), 0);
        assert_eq!(known("you", &["a", "b", "c"]), 0);
    }

    #[test]
    fn a_line_is_kept_as_long_as_nothing_is_deleted() {
        let readings = Readings::default();
        let [one, other] = ["one", "other"].map(|text| marks(&readings, "me", &[text])[0]);
        remember(&readings, &[one]);
        for (epoch, later) in [(1, 2), (2, 3)] {
            readings.keep(one, epoch);
            readings.keep(other, epoch);
            assert!(readings.is_kept(one, epoch) && !readings.is_kept(one, later));
            // Nothing is known of what was never read.
            assert!(!readings.is_kept(other, epoch));
        }
        assert_eq!(known(&readings, &[one, other]), 1);
    }

    #[test]
    fn a_mark_and_what_is_known_of_it_take_128_bytes() {
        assert_eq!(size_of::<(Mark, Reading)>(), 128);
    }

    #[test]
    fn what_is_used_outlives_what_is_not_within_a_bound() {
        let readings = Readings::default();
        let [used, unused] = ["used", "unused"].map(|text| marks(&readings, "me", &[text]));
        remember(&readings, &used);
        remember(&readings, &unused);
        for round in 0..8 {
            let others: Vec<String> =
                (0..STEPS_MAX / 2).map(|number| format!("{round} {number}")).collect();
            for other in &others {
                remember(&readings, &marks(&readings, "me", &[other]));
            }
            assert_eq!(known(&readings, &used), 1, "{round}");
            let held = readings.known.read().unwrap();
            assert!(held.young.len() <= STEPS_MAX && held.old.len() <= STEPS_MAX);
        }
        assert_eq!(known(&readings, &unused), 0);
    }
}
