//! Extras: fields that no contract declares, kept raw for transit. No logic may read them.
//!
//! A known field that was stated as null is an extra too, so that null and absent both come back as they were.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use crate::json::{Json, push_key};
use crate::place::Place;

/// The extras of one node.
#[derive(Clone, Debug, Default)]
pub struct Extras<'a> {
    fields: Vec<Extra<'a>>,
    /// Where the fields stand, once there are many and more are added by and by.
    places: Option<Box<Places>>,
}

/// One field in transit.
#[derive(Clone, Debug)]
pub struct Extra<'a> {
    /// The object inside the node that the field stands in, as a path without slashes at its ends; empty for the node.
    pub scope: Cow<'static, str>,
    pub key: Cow<'a, str>,
    pub json: Json<'a>,
    /// Where the node stood that held the field, if that is not where the node of the extras stood. Boxed because only
    /// streams have such.
    pub(super) later: Option<Box<Place>>,
}

/// Up to so many fields, looking through all of them is faster than a table.
const FEW: usize = 8;

impl<'a> Extras<'a> {
    pub(in super::super) fn keep(
        &mut self,
        scope: impl Into<Cow<'static, str>>,
        key: Cow<'a, str>,
        json: Json<'a>,
    ) {
        self.fields.push(Extra { scope: scope.into(), key, json, later: None });
    }

    /// A later value for the same field takes the place of the earlier one. The time grows with the number of later fields
    /// only, however many there are already: a stream may add a few with each of its events.
    pub(in super::super) fn update(&mut self, later: Extras<'a>) {
        let more = later.fields.len();
        if self.fields.len() + more <= FEW {
            for extra in later.fields {
                self.fields.retain(|kept| !kept.is_named(&extra.scope, &extra.key));
                self.fields.push(extra);
            }
        } else if more >= self.fields.len() {
            self.places = None;
            self.fields.extend(later.fields);
            self.keep_last();
        } else {
            self.put(later.fields);
        }
    }

    /// The same on a node that stands elsewhere; those that were moved before stay where they stood.
    pub(super) fn moved_from(mut self, place: Place) -> Self {
        for extra in self.fields.iter_mut().filter(|extra| extra.later.is_none()) {
            extra.later = Some(Box::new(place));
        }
        self
    }

    /// The field of this name.
    pub(in super::super) fn find(&mut self, scope: &str, key: &str) -> Option<&Extra<'a>> {
        let place = match self.fields.len() <= FEW {
            true => self.fields.iter().rposition(|other| other.is_named(scope, key)),
            false => {
                let places = self.places.get_or_insert_default();
                places.cover(&self.fields);
                places.find(&self.fields, (scope, key))
            }
        };
        place.map(|place| &self.fields[place])
    }

    /// Keeps the last of several values for one field.
    fn keep_last(&mut self) {
        let mut seen = HashSet::with_capacity(self.fields.len());
        let fields = self.fields.iter().rev();
        let mut is_last: Vec<bool> =
            fields.map(|extra| seen.insert((&*extra.scope, &*extra.key))).collect();
        drop(seen);
        self.fields.retain(|_| is_last.pop().unwrap_or(true));
    }

    /// Puts each field where the earlier one of its name stands, else behind all.
    fn put(&mut self, later: Vec<Extra<'a>>) {
        let places = self.places.get_or_insert_default();
        places.cover(&self.fields);
        for extra in later {
            match places.find(&self.fields, (&extra.scope, &extra.key)) {
                Some(place) => self.fields[place] = extra,
                None => {
                    self.fields.push(extra);
                    places.cover(&self.fields);
                }
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Extra<'a>> {
        self.fields.iter()
    }

    /// The fields that stand in one object of the node.
    pub(in super::super) fn within(&self, scope: &str) -> impl Iterator<Item = &Extra<'a>> {
        self.fields.iter().filter(move |extra| extra.scope == scope)
    }

    pub fn into_owned(self) -> Extras<'static> {
        let own = |extra: Extra<'a>| Extra {
            scope: extra.scope,
            key: Cow::Owned(extra.key.into_owned()),
            json: extra.json.into_owned(),
            later: extra.later,
        };
        Extras { fields: self.fields.into_iter().map(own).collect(), places: self.places }
    }
}

/// Where fields stand, by the hash of their names.
#[derive(Clone, Debug, Default)]
struct Places {
    hasher: RandomState,
    by_hash: HashMap<u64, usize>,
    /// So many fields have been taken in.
    covered: usize,
}

impl Places {
    /// Takes in the fields that have been added.
    fn cover(&mut self, fields: &[Extra<'_>]) {
        for (place, extra) in fields.iter().enumerate().skip(self.covered) {
            self.by_hash.insert(self.hash((&extra.scope, &extra.key)), place);
        }
        self.covered = fields.len();
    }

    /// Where a field of this name stands. Two names may have one hash, though that is next to impossible.
    fn find(&self, fields: &[Extra<'_>], (scope, key): (&str, &str)) -> Option<usize> {
        let place = *self.by_hash.get(&self.hash((scope, key)))?;
        match fields[place].is_named(scope, key) {
            true => Some(place),
            false => fields.iter().rposition(|other| other.is_named(scope, key)),
        }
    }

    fn hash(&self, name: (&str, &str)) -> u64 {
        self.hasher.hash_one(name)
    }
}

impl Extra<'_> {
    fn is_named(&self, scope: &str, key: &str) -> bool {
        self.key == key && self.scope == scope
    }

    /// Where the node stood that held the field, of extras on a node that stood at `place`.
    pub fn place(&self, place: Place) -> Place {
        self.later.as_deref().copied().unwrap_or(place)
    }

    /// The path of the field below its node, with a leading slash.
    pub fn pointer(&self) -> String {
        let mut pointer = String::with_capacity(self.scope.len() + self.key.len() + 2);
        if !self.scope.is_empty() {
            pointer.push('/');
            pointer.push_str(&self.scope);
        }
        push_key(&mut pointer, &self.key);
        pointer
    }

    /// Whether the field says nothing: null, or an empty string, list or object.
    pub fn is_void(&self) -> bool {
        matches!(&*self.json.compact(), "null" | "\"\"" | "[]" | "{}")
    }
}
