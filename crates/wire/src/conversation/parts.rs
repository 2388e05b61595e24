//! The parts of a message or of a tool's answer. Most have one, and one takes no memory of its own.

use std::iter::Chain;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::option;
use std::slice;
use std::vec;

use crate::conversation::Part;

/// A list of parts, to be used like a vector of them.
#[derive(Clone, Debug, Default)]
pub struct Parts<'a>(Storage<'a>);

#[derive(Clone, Debug)]
enum Storage<'a> {
    One(Part<'a>),
    Several(Vec<Part<'a>>),
}

/// Room for those that have outgrown one part: mostly words and a call or two.
const SEVERAL: usize = 4;

impl<'a> Parts<'a> {
    #[inline]
    pub fn push(&mut self, part: Part<'a>) {
        match &mut self.0 {
            Storage::Several(parts) if parts.capacity() == 0 => self.0 = Storage::One(part),
            Storage::Several(parts) => parts.push(part),
            Storage::One(_) => self.push_second(part),
        }
    }

    fn push_second(&mut self, part: Part<'a>) {
        let mut parts = Vec::with_capacity(SEVERAL);
        if let Storage::One(first) = mem::take(&mut self.0) {
            parts.push(first);
        }
        parts.push(part);
        self.0 = Storage::Several(parts);
    }

    /// Keeps the parts of which `keep` says so.
    pub fn retain(&mut self, mut keep: impl FnMut(&Part<'a>) -> bool) {
        match &mut self.0 {
            Storage::One(part) if keep(part) => {}
            Storage::One(_) => self.0 = Storage::default(),
            Storage::Several(parts) => parts.retain(keep),
        }
    }

    pub fn into_vec(self) -> Vec<Part<'a>> {
        match self.0 {
            Storage::One(part) => vec![part],
            Storage::Several(parts) => parts,
        }
    }

    pub fn into_owned(self) -> Parts<'static> {
        self.into_iter().map(Part::into_owned).collect()
    }
}

impl Default for Storage<'_> {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

impl<'a> Deref for Parts<'a> {
    type Target = [Part<'a>];

    #[inline]
    fn deref(&self) -> &[Part<'a>] {
        match &self.0 {
            Storage::One(part) => slice::from_ref(part),
            Storage::Several(parts) => parts,
        }
    }
}

impl DerefMut for Parts<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.0 {
            Storage::One(part) => slice::from_mut(part),
            Storage::Several(parts) => parts,
        }
    }
}

impl<'a> From<Part<'a>> for Parts<'a> {
    fn from(part: Part<'a>) -> Self {
        Self(Storage::One(part))
    }
}

impl<'a> From<Vec<Part<'a>>> for Parts<'a> {
    fn from(parts: Vec<Part<'a>>) -> Self {
        Self(Storage::Several(parts))
    }
}

impl<'a> Extend<Part<'a>> for Parts<'a> {
    fn extend<I: IntoIterator<Item = Part<'a>>>(&mut self, more: I) {
        more.into_iter().for_each(|part| self.push(part));
    }
}

impl<'a> FromIterator<Part<'a>> for Parts<'a> {
    fn from_iter<I: IntoIterator<Item = Part<'a>>>(parts: I) -> Self {
        let mut held = Self::default();
        held.extend(parts);
        held
    }
}

impl<'a> IntoIterator for Parts<'a> {
    type Item = Part<'a>;
    type IntoIter = Chain<option::IntoIter<Part<'a>>, vec::IntoIter<Part<'a>>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, several) = match self.0 {
            Storage::One(part) => (Some(part), Vec::new()),
            Storage::Several(parts) => (None, parts),
        };
        one.into_iter().chain(several)
    }
}

impl<'p, 'a> IntoIterator for &'p Parts<'a> {
    type Item = &'p Part<'a>;
    type IntoIter = slice::Iter<'p, Part<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'p, 'a> IntoIterator for &'p mut Parts<'a> {
    type Item = &'p mut Part<'a>;
    type IntoIter = slice::IterMut<'p, Part<'a>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(parts: &[Part<'_>]) -> String {
        let parts = parts.iter().map(|part| match part.content() {
            crate::conversation::Content::Text(text) => text.to_str().into_owned(),
            _ => panic!("no text"),
        });
        parts.collect()
    }

    #[test]
    fn parts_stay_in_the_order_in_which_they_come() {
        let mut parts = Parts::default();
        let mut expected = String::new();
        assert_eq!(words(&parts), expected);
        for word in ["a", "b", "c", "d", "e", "f"] {
            parts.push(Part::text(word));
            expected.push_str(word);
            assert_eq!(words(&parts), expected);
            assert_eq!(words(&parts.clone().into_vec()), expected);
            assert_eq!(words(&parts.clone().into_iter().collect::<Vec<_>>()), expected);
            assert_eq!(words(&parts.clone().into_iter().collect::<Parts<'_>>()), expected);
        }
    }

    #[test]
    fn one_part_takes_no_memory_of_its_own() {
        let held = |parts: &Parts<'_>| matches!(parts.0, Storage::One(_));
        let mut parts: Parts<'_> = [Part::text("a")].into_iter().collect();
        assert!(held(&parts) && held(&Part::text("a").into()));
        parts.extend([Part::text("b")]);
        assert!(!held(&parts));
    }

    #[test]
    fn parts_that_are_not_to_be_kept_go() {
        for given in ["", "a", "x", "ax", "xa", "axbx"] {
            let mut parts: Parts<'_> = given.chars().map(|it| Part::text(it.to_string())).collect();
            parts.retain(|part| words(slice::from_ref(part)) != "x");
            assert_eq!(words(&parts), given.replace('x', ""));
        }
    }

    #[test]
    fn one_part_can_be_changed_like_several() {
        for count in 1..4 {
            let mut parts: Parts<'_> = (0..count).map(|_| Part::text("old")).collect();
            parts.iter_mut().for_each(|part| *part = Part::text("x"));
            assert_eq!(words(&parts), "x".repeat(count));
        }
    }
}
