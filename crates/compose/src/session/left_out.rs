//! What a session file holds and its history does not, counted by kind.

use std::borrow::Cow;
use std::fmt;

/// A kind of what was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub count: usize,
    /// In plain words, such as "messages before a compaction".
    pub what: Cow<'static, str>,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {}", self.count, self.what)
    }
}

/// Different kinds that are told apart: a hostile file has a new one in every line.
const KINDS_MAX: usize = 24;
/// Bytes of a type that are quoted.
const TYPE_BYTES_MAX: usize = 40;

#[derive(Default)]
pub(super) struct Tally(Vec<LeftOut>);

impl Tally {
    pub(super) fn add(&mut self, what: &'static str) {
        self.add_many(what, 1);
    }

    pub(super) fn add_many(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            self.count(what.into(), count);
        }
    }

    /// A line whose type nobody knows.
    pub(super) fn add_unknown(&mut self, kind: Option<&str>) {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        let what = match kind {
            Some(kind) if kind.len() <= TYPE_BYTES_MAX && kind.bytes().all(is_plain) => {
                format!("lines of the unknown type `{kind}`").into()
            }
            _ => "lines of unknown types".into(),
        };
        self.count(what, 1);
    }

    fn count(&mut self, what: Cow<'static, str>, count: usize) {
        let what = match self.0.len() < KINDS_MAX || self.0.iter().any(|it| it.what == what) {
            true => what,
            false => "lines of unknown types".into(),
        };
        match self.0.iter_mut().find(|it| it.what == what) {
            Some(known) => known.count += count,
            None => self.0.push(LeftOut { count, what }),
        }
    }

    pub(super) fn into_list(self) -> Vec<LeftOut> {
        self.0
    }
}
