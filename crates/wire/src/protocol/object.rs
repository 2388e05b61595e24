//! Reading and writing the objects of a protocol so that undeclared fields and stated nulls come back.

use std::borrow::Cow;
use std::ops::{Deref, DerefMut};

use crate::conversation::{Content, Opaque, Part};
use crate::error::Result;
use crate::json::{Encode, Reader, Text, Writer};
use crate::protocol::Protocol;
use crate::protocol::semantics::{Extras, NodeSemantics};

/// Reads an object member by member; `scope` is its path inside its node, empty for the node itself.
///
/// Whatever `member` leaves unread is kept among the extras. So is a null, whatever its key: `member` never sees one.
pub(super) fn read_object<'a, E: Keep<'a>>(
    reader: &mut Reader<'a>,
    scope: &'static str,
    extras: &mut E,
    member: impl FnMut(&str, &mut Members<'_, 'a, E>) -> Result<()>,
) -> Result<()> {
    Unread::All.read(reader, scope, extras, member)
}

/// Where the fields go that nobody reads.
pub(super) trait Keep<'a> {
    /// Reads the value that comes next, which has this name.
    fn keep_next(
        &mut self,
        scope: &'static str,
        key: Cow<'a, str>,
        reader: &mut Reader<'a>,
    ) -> Result<()>;
}

impl<'a> Keep<'a> for Extras<'a> {
    #[inline]
    fn keep_next(
        &mut self,
        scope: &'static str,
        key: Cow<'a, str>,
        reader: &mut Reader<'a>,
    ) -> Result<()> {
        self.keep(scope, key, reader.raw()?);
        Ok(())
    }
}

/// A reader that stands before a member of an object, with the extras of the node that the object belongs to.
pub(super) struct Members<'m, 'a, E = Extras<'a>> {
    pub(super) reader: &'m mut Reader<'a>,
    pub(super) extras: &'m mut E,
}

impl<'a, E: Keep<'a>> Members<'_, 'a, E> {
    /// Reads the object that comes next as [`read_object`] does, into the extras of the same node.
    pub(super) fn inside(
        &mut self,
        scope: &'static str,
        member: impl FnMut(&str, &mut Members<'_, 'a, E>) -> Result<()>,
    ) -> Result<()> {
        read_object(self.reader, scope, self.extras, member)
    }
}

impl<'a, E> Deref for Members<'_, 'a, E> {
    type Target = Reader<'a>;

    fn deref(&self) -> &Reader<'a> {
        self.reader
    }
}

impl<'a, E> DerefMut for Members<'_, 'a, E> {
    fn deref_mut(&mut self) -> &mut Reader<'a> {
        self.reader
    }
}

/// Fills what may be there with a value that was read.
pub(crate) fn set<T>(slot: &mut Option<T>, value: Result<T>) -> Result<()> {
    *slot = Some(value?);
    Ok(())
}

/// Puts a value that was read in the place of another.
pub(crate) fn put<T>(slot: &mut T, value: Result<T>) -> Result<()> {
    *slot = value?;
    Ok(())
}

/// Reads the string member `name` of an object, its tag, wherever it stands; null counts as nothing. Mostly it
/// stands first, and then it has been passed.
pub(super) fn read_tag<'a>(
    reader: &mut Reader<'a>,
    name: &str,
) -> Result<(Option<Text<'a>>, Unread)> {
    match reader.enter_by_tag(name) {
        Some(tag) => Ok((Some(tag), Unread::BehindTag)),
        None => Ok((reader.peek_tag(name)?, Unread::All)),
    }
}

/// Reads the first member of an object, if it is the string `name` and `known` knows its value; else nothing is
/// consumed, and the member is left to those who read it wherever it stands.
pub(super) fn read_first<'a, T>(
    reader: &mut Reader<'a>,
    name: &str,
    known: impl FnOnce(&str) -> Option<T>,
) -> (Option<T>, Unread) {
    let start = reader.checkpoint();
    match reader.enter_by_tag(name).and_then(|word| known(&word.to_str())) {
        Some(known) => (Some(known), Unread::BehindTag),
        None => {
            *reader = start;
            (None, Unread::All)
        }
    }
}

/// Keeps the value that comes next whole, for what a protocol has no words for.
pub(super) fn read_opaque<'a>(
    reader: &mut Reader<'a>,
    (protocol, kind): (Protocol, Text<'a>),
    semantics: NodeSemantics<'a>,
) -> Result<Part<'a>> {
    let json = reader.raw()?;
    let opaque = Content::Opaque(Box::new(Opaque { protocol, kind, json }));
    Ok(Part::new(opaque).with_semantics(semantics))
}

/// The members of an object that are still to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unread {
    /// All of them: the object comes next.
    All,
    /// Those behind the tag, which was the first of them.
    BehindTag,
}

impl Unread {
    /// Reads them as [`read_object`] does.
    pub(super) fn read<'a, E: Keep<'a>>(
        self,
        reader: &mut Reader<'a>,
        scope: &'static str,
        extras: &mut E,
        mut member: impl FnMut(&str, &mut Members<'_, 'a, E>) -> Result<()>,
    ) -> Result<()> {
        let has_more = match self {
            Self::All => reader.enters_object()?,
            Self::BehindTag => reader.has_next_member()?,
        };
        if !has_more {
            return Ok(());
        }
        reader.members_to_end(|key, reader| {
            let is_null = reader.is_before_null();
            let start = reader.position();
            if !is_null {
                member(&key, &mut Members { reader, extras })?;
            }
            match reader.position() == start {
                true => extras.keep_next(scope, key, reader),
                false => Ok(()),
            }
        })
    }
}

/// How many messages a list that comes next is likely to hold, by what is left of the input: with room for so many they
/// seldom move while it is read.
pub(super) fn messages_expected(reader: &Reader<'_>) -> usize {
    const FEW: usize = 8;
    const MANY: usize = 1024;
    const BYTES_EACH: usize = 1024;
    (FEW + reader.bytes_ahead() / BYTES_EACH).min(MANY)
}

/// Whether there was anything to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IsWritten {
    Yes,
    No,
}

/// Writes an object of which some fields are ours and the rest are extras that came with it.
pub(super) struct Object<'w, 'e> {
    writer: &'w mut Writer,
    extras: Option<(&'e Extras<'e>, &'static str)>,
    /// The keys written so far; kept only where there are extras that they could shadow.
    written: Vec<&'static str>,
}

impl<'w, 'e> Object<'w, 'e> {
    /// Opens an object. `extras` are those of the node and the scope inside it that this object is.
    pub(super) fn open(
        writer: &'w mut Writer,
        extras: Option<(&'e Extras<'e>, &'static str)>,
    ) -> Self {
        writer.begin_object();
        Self { writer, extras, written: Vec::new() }
    }

    pub(super) fn key(&mut self, key: &'static str) -> &mut Writer {
        if self.extras.is_some() {
            self.written.push(key);
        }
        self.writer.literal_key(key);
        self.writer
    }

    pub(super) fn field(&mut self, key: &'static str, value: &(impl Encode + ?Sized)) {
        self.key(key).value(value);
    }

    /// Writes a field whose value is a word of the protocol.
    pub(super) fn word(&mut self, key: &'static str, value: &'static str) {
        if self.extras.is_some() {
            self.written.push(key);
        }
        self.writer.word(key, value);
    }

    /// Writes a field unless an undeclared value of that name came with the input, which then stays.
    pub(super) fn unless_kept(&mut self, key: &'static str, value: &(impl Encode + ?Sized)) {
        if !self.is_kept(key) {
            self.field(key, value);
        }
    }

    /// The same for a field whose value is a word of the protocol.
    pub(super) fn word_unless_kept(&mut self, key: &'static str, value: &'static str) {
        if !self.is_kept(key) {
            self.word(key, value);
        }
    }

    pub(super) fn optional(&mut self, key: &'static str, value: Option<&(impl Encode + ?Sized)>) {
        if let Some(value) = value {
            self.field(key, value);
        }
    }

    /// Writes an object inside this one, and takes it back if nothing stands in it. `extras` are as in [`Object::open`].
    pub(super) fn unless_empty<'i>(
        &mut self,
        key: &'static str,
        extras: Option<(&'i Extras<'i>, &'static str)>,
        members: impl FnOnce(&mut Object<'_, 'i>),
    ) {
        let (before, written) = (self.writer.len(), self.written.len());
        let mut inside = Object::open(self.key(key), extras);
        let empty = inside.writer.len();
        members(&mut inside);
        inside.close();
        if self.writer.len() == empty + "}".len() {
            self.writer.take_back(before);
            self.written.truncate(written);
        }
    }

    /// Writes a list inside this object, and takes it back if nothing stands in it.
    pub(super) fn list_unless_empty(
        &mut self,
        key: &'static str,
        elements: impl FnOnce(&mut Writer),
    ) -> IsWritten {
        let (before, written) = (self.writer.len(), self.written.len());
        let writer = self.key(key);
        writer.begin_array();
        let empty = writer.len();
        elements(writer);
        if writer.len() == empty {
            writer.take_back(before);
            self.written.truncate(written);
            return IsWritten::No;
        }
        writer.end_array();
        IsWritten::Yes
    }

    /// Leaves out the extras of a name, but for a null.
    pub(super) fn only_null(&mut self, key: &'static str) {
        let Some((extras, scope)) = self.extras else { return };
        let mut kept = extras.within(scope).filter(|extra| extra.key == key);
        match kept.find(|extra| extra.json.is_null()) {
            Some(null) => self.field(key, &null.json),
            None => self.written.push(key),
        }
    }

    /// Whether the field came with another value than the usual one, which is among the extras.
    pub(super) fn is_kept(&self, key: &str) -> bool {
        let extras = self.extras.into_iter();
        extras.flat_map(|(extras, scope)| extras.within(scope)).any(|extra| extra.key == key)
    }

    /// Writes the extras that no field took the place of, and closes the object.
    pub(super) fn close(self) {
        if let Some((extras, scope)) = self.extras {
            for extra in extras.within(scope) {
                if !self.written.iter().any(|key| *key == extra.key) {
                    self.writer.field(&extra.key, &extra.json);
                }
            }
        }
        self.writer.end_object();
    }
}
