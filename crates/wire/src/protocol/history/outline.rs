//! A request taken apart without being decoded: what instructs, the tools, and the conversation element by element.

use std::borrow::Cow;
use std::ops::Range;

use super::meaning::Element;
use crate::conversation::Message;
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Kind, Reader, Survey, Writer};
use crate::protocol::Protocol;
use crate::protocol::object::messages_expected;

/// A request's conversation as it is spelled, apart from its settings.
#[derive(Clone, Debug)]
pub struct Outline<'a> {
    protocol: Protocol,
    /// The instructions that have a member of their own.
    pub(super) system: Option<String>,
    pub(super) tools: Option<String>,
    pub(super) elements: Vec<Cow<'a, str>>,
}

/// What elements that stand one after another say.
#[derive(Debug)]
pub struct Contents {
    /// How many of them are instructions, if nothing else stands before them.
    pub leading: usize,
    /// Of each of them.
    pub elements: Vec<Element>,
}

impl<'a> Outline<'a> {
    /// Passes over a body of which something may be known already.
    pub fn of(protocol: Protocol, body: &'a Survey<'a>) -> Result<Self> {
        Self::read(protocol, Reader::surveyed(body))
    }

    pub(super) fn read(protocol: Protocol, mut reader: Reader<'a>) -> Result<Self> {
        let facts = protocol.facts();
        let mut outline = Self { protocol, system: None, tools: None, elements: Vec::new() };
        reader.object(|key, reader| {
            let is = |name: &str| is_named(protocol, &key, name);
            if is(facts.messages()) {
                outline.elements = elements(reader)?;
            } else if facts.system.is_some_and(is) {
                keep(&mut outline.system, &key, reader)?;
            } else if protocol.conventions().tool_members.iter().any(|name| is(name)) {
                keep(&mut outline.tools, &key, reader)?;
            } else {
                reader.skip()?;
            }
            Ok(())
        })?;
        Ok(outline)
    }

    /// The elements, leading instructions among them.
    pub fn elements(&self) -> &[Cow<'a, str>] {
        &self.elements
    }

    /// What the elements from this one on say. What stands before them has no part in it.
    pub fn contents_from(&self, first: usize) -> Result<Contents> {
        self.read_block(first..self.elements.len(), |_, contents| contents)
    }

    /// What some of the elements say, and the messages that they are: a block of a history that is too long to be decoded at once.
    pub fn read_block<T>(
        &self,
        block: Range<usize>,
        read: impl FnOnce(&[Message<'_>], Contents) -> T,
    ) -> Result<T> {
        let elements = self.elements.get(block.clone()).unwrap_or_default();
        let body = self.protocol.body_of(&elements.join(","));
        let decoded = self.protocol.decode_request_text(&body);
        let decoded = decoded
            .map_err(|error| error.behind(self.protocol.facts().messages_pointer, block.start))?;
        Ok(read(&decoded.request().messages, decoded.contents(elements.len())))
    }

    /// The instructions as members of a request, so many elements among them.
    pub fn system(&self, leading: usize) -> Option<String> {
        let mut system = self.system.clone();
        let elements = self.elements.get(..leading).unwrap_or_default();
        if !elements.is_empty() {
            let list = self.protocol.facts().messages();
            add(&mut system, &format!("\"{list}\":[{}]", elements.join(",")));
        }
        system
    }

    /// The tools as members of a request; none if nothing is stated of them.
    pub fn tools(&self) -> Option<&str> {
        self.tools.as_deref()
    }
}

impl Protocol {
    /// What is found first in an element of a request's conversation. Nothing behind it is read.
    pub fn find_in_elements<T>(
        self,
        body: &Survey<'_>,
        mut find: impl FnMut(&str) -> Option<T>,
    ) -> Option<T> {
        let mut found = None;
        // The error ends the reading; another one says that there is nothing more to be read.
        let _ = Reader::surveyed(body).object(|key, reader| {
            let is_list = is_named(self, &key, self.facts().messages());
            if !is_list || reader.kind()? != Kind::Array {
                return reader.skip();
            }
            reader.array(|_, reader| {
                found = find(reader.raw()?.as_str());
                match found {
                    Some(_) => Err(Error::new(ErrorKind::Value, "found")),
                    None => Ok(()),
                }
            })
        });
        found
    }
}

/// Whether a member has this name, in a protocol whose names may have several spellings.
fn is_named(protocol: Protocol, key: &str, name: &str) -> bool {
    let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
    key == name || protocol.conventions().respelling.is_some() && plain(key) == plain(name)
}

/// Keeps a member as it is, unless it says nothing.
fn keep(members: &mut Option<String>, key: &str, reader: &mut Reader<'_>) -> Result<()> {
    let json = reader.raw()?;
    if !json.is_null() {
        add(members, &Writer::written(|writer| writer.field(key, &json)));
    }
    Ok(())
}

fn add(members: &mut Option<String>, member: &str) {
    match members {
        Some(members) => {
            members.push(',');
            members.push_str(member);
        }
        None => *members = Some(member.to_owned()),
    }
}

/// The elements of a list. The one object that a vendor takes for a list is its only element, and so is the message that a
/// string stands for.
fn elements<'a>(reader: &mut Reader<'a>) -> Result<Vec<Cow<'a, str>>> {
    match reader.kind()? {
        Kind::Array => {
            let mut elements = Vec::with_capacity(messages_expected(reader));
            reader.array(|_, reader| {
                elements.push(reader.raw()?.into_cow());
                Ok(())
            })?;
            Ok(elements)
        }
        Kind::String => {
            let text = reader.raw()?;
            let message = format!(r#"{{"role":"user","content":{}}}"#, text.as_str());
            Ok(vec![Cow::Owned(message)])
        }
        Kind::Object => Ok(vec![reader.raw()?.into_cow()]),
        Kind::Null | Kind::Boolean | Kind::Number => {
            reader.skip()?;
            Ok(Vec::new())
        }
    }
}
