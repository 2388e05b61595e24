//! Extras: fields that no contract declares, kept raw for transit. No logic may read them.
//!
//! A known field that was stated as null is an extra too, so that null and absent both come back as they were.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::json::Json;
use crate::json::push_key;

/// The extras of one node.
#[derive(Clone, Debug, Default)]
pub struct Extras<'a>(Vec<Extra<'a>>);

/// One field in transit.
#[derive(Clone, Debug)]
pub struct Extra<'a> {
    /// The object inside the node that the field stands in, as a path without slashes at its ends; empty for the node.
    pub scope: Cow<'static, str>,
    pub key: Cow<'a, str>,
    pub json: Json<'a>,
}

/// Up to so many fields, looking through all of them is faster than a table.
const FEW: usize = 8;

impl<'a> Extras<'a> {
    pub(in crate::protocol) fn keep(
        &mut self,
        scope: impl Into<Cow<'static, str>>,
        key: Cow<'a, str>,
        json: Json<'a>,
    ) {
        self.0.push(Extra { scope: scope.into(), key, json });
    }

    /// A later value for the same field takes the place of the earlier one.
    pub(in crate::protocol) fn update(&mut self, later: Extras<'a>) {
        if later.0.len() > FEW {
            self.0.extend(later.0);
            return self.keep_last();
        }
        for extra in later.0 {
            self.0.retain(|kept| kept.scope != extra.scope || kept.key != extra.key);
            self.0.push(extra);
        }
    }

    /// Keeps the last of several values for one field, in time that grows with their number only.
    fn keep_last(&mut self) {
        let mut seen = HashSet::with_capacity(self.0.len());
        let mut is_last: Vec<bool> =
            self.0.iter().rev().map(|extra| seen.insert((&*extra.scope, &*extra.key))).collect();
        drop(seen);
        self.0.retain(|_| is_last.pop().unwrap_or(true));
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Extra<'a>> {
        self.0.iter()
    }

    /// The fields that stand in one object of the node.
    pub(in crate::protocol) fn within(&self, scope: &str) -> impl Iterator<Item = &Extra<'a>> {
        self.0.iter().filter(move |extra| extra.scope == scope)
    }

    pub fn into_owned(self) -> Extras<'static> {
        let own = |extra: Extra<'a>| Extra {
            scope: extra.scope,
            key: Cow::Owned(extra.key.into_owned()),
            json: extra.json.into_owned(),
        };
        Extras(self.0.into_iter().map(own).collect())
    }
}

impl Extra<'_> {
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
