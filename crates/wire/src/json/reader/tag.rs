//! Telling objects apart by a member that says what they are. Mostly it leads its object.

use super::Reader;
use crate::error::Result;
use crate::json::{Text, scan, special};

impl<'a> Reader<'a> {
    /// Reads ahead in the object that comes next for its first member `name`, a string; null counts
    /// as absent.
    ///
    /// Nothing is consumed. The reading stops at the member, so a tag near the start costs little.
    #[inline]
    pub fn peek_tag(&self, name: &str) -> Result<Option<Text<'a>>> {
        match self.leading_tag(name) {
            Some(tag) => Ok(Some(Text::clean(tag))),
            None => self.find_tag(name),
        }
    }

    /// The tag, if it leads the object and nothing is unusual about its spelling.
    #[inline]
    fn leading_tag(&self, name: &str) -> Option<&'a str> {
        let rest = self.bytes().get(self.at..).filter(|_| self.depth < scan::DEPTH_MAX)?;
        let rest = rest.strip_prefix(b"{\"")?.strip_prefix(name.as_bytes())?;
        let start = self.source.len() - rest.strip_prefix(b"\":\"")?.len();
        let end = special::nearby(self.bytes(), start).ok()?;
        self.source.get(start..end).filter(|_| self.bytes()[end] == b'"')
    }

    #[inline(never)]
    fn find_tag(&self, name: &str) -> Result<Option<Text<'a>>> {
        let mut ahead = self.clone();
        if !ahead.enters_object()? {
            return Ok(None);
        }
        loop {
            if ahead.key()? == *name {
                return ahead.or_null(Reader::string).map_err(|error| error.under_key(name));
            }
            ahead.skip()?;
            if ahead.ends_member()? {
                return Ok(None);
            }
        }
    }

    /// Enters the object that comes next and passes its first member, if that is `name`, a string without escapes; else
    /// nothing is consumed.
    #[inline(always)]
    pub(crate) fn enter_by_tag(&mut self, name: &str) -> Option<Text<'a>> {
        let before = self.at;
        if self.depth < scan::DEPTH_MAX && self.peek() == Some(b'{') {
            self.at += 1;
            if let Some(tag) = self.tag_here(name) {
                self.depth += 1;
                return Some(tag);
            }
        }
        self.at = before;
        None
    }

    /// Passes the member behind one that was passed so, if it is `name`, a string without escapes; else nothing is consumed.
    #[inline]
    pub(crate) fn next_by_tag(&mut self, name: &str) -> Option<Text<'a>> {
        let before = self.at;
        if self.peek() == Some(b',') {
            self.at += 1;
            if let Some(tag) = self.tag_here(name) {
                return Some(tag);
            }
        }
        self.at = before;
        None
    }

    /// Passes the member that comes next, if it is `name`, a string without escapes; else the cursor may stand anywhere.
    #[inline(always)]
    fn tag_here(&mut self, name: &str) -> Option<Text<'a>> {
        self.peek();
        self.pass_key(name)?;
        self.clean_string().map(Text::clean)
    }

    /// Passes over the key `name`, if it comes next and is spelled without escapes and gaps.
    #[inline(always)]
    fn pass_key(&mut self, name: &str) -> Option<()> {
        let rest = self.bytes().get(self.at..)?;
        let value =
            rest.strip_prefix(b"\"")?.strip_prefix(name.as_bytes())?.strip_prefix(b"\":")?;
        self.at += rest.len() - value.len();
        Some(())
    }

    /// The key of the first member of the object that comes next; nothing is consumed.
    pub(crate) fn first_key(&self) -> Result<Option<Text<'a>>> {
        let mut ahead = self.clone();
        if ahead.enters_object()? { ahead.key().map(Some) } else { Ok(None) }
    }
}
