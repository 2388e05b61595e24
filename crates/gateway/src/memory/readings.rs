//! What was found out of histories that clients send again with every call: by a digest of all elements up to one, what a decoder
//! and a hash over all that is meant would find out once more. Nothing of a history itself is held.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::mem;
use std::sync::{PoisonError, RwLock};

use crate::lines::Step;
use crate::memory::digest::{Digest, DigestKey};

/// How many elements are known in each of two generations: as many as fill a table of some 4 MB.
const STEPS_MAX: usize = 28_672;

#[derive(Debug)]
pub(crate) struct Readings {
    key: DigestKey,
    known: RwLock<Known>,
}

/// An element in its place behind all that stand before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Mark(u128);

type Steps = HashMap<Mark, Step, BuildHasherDefault<Bits>>;

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
        elements: impl Iterator<Item = &'e str>,
    ) -> Vec<Mark> {
        let add = |digest: Digest, text: &str| digest.with(&self.key, text.as_bytes());
        let start = owner_and_protocol.into_iter().fold(Digest::EMPTY, add);
        let marks = elements.scan(start, |digest, element| {
            *digest = add(*digest, element);
            Some(Mark(digest.bits()))
        });
        marks.collect()
    }

    /// Looks at what is known of elements. What was found is known for longer.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&mut Look<'_>) -> T) -> T {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let mut looking = Look { known: &known, ageing: Vec::new() };
        let seen = look(&mut looking);
        let ageing = looking.ageing;
        drop(known);
        self.add(&ageing);
        seen
    }

    pub(crate) fn add(&self, steps: &[(Mark, Step)]) {
        if !steps.is_empty() {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            steps.iter().for_each(|(mark, step)| known.put(*mark, *step));
        }
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
    ageing: Vec<(Mark, Step)>,
}

impl Look<'_> {
    pub(crate) fn step(&mut self, mark: &Mark) -> Option<Step> {
        let young = self.known.young.get(mark).copied();
        young.or_else(|| {
            let step = self.known.old.get(mark).copied();
            self.ageing.extend(step.map(|step| (*mark, step)));
            step
        })
    }
}

impl Known {
    fn put(&mut self, mark: Mark, step: Step) {
        if self.young.len() >= STEPS_MAX {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(mark, step);
    }
}

/// A mark is as good as random: its first bits will do to find it.
#[derive(Default)]
struct Bits(u64);

impl Hasher for Bits {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        let first = bytes.first_chunk().copied().map(u64::from_le_bytes);
        self.0 = first.unwrap_or_default();
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
