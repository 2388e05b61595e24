//! A request taken apart: what instructs, the tools, and the conversation element by element.

use std::borrow::Cow;

use super::meaning::{self, Element};
use crate::conversation::{Message, Part};
use crate::error::{Error, ErrorKind, Result};
use crate::json::{Kind, Reader, Writer};
use crate::protocol::{DecodedRequest, Protocol};

/// One element of a request's conversation.
#[derive(Clone, Debug, Default)]
pub struct Entry<'a> {
    /// The element as its protocol spells it: one JSON value.
    pub json: Cow<'a, str>,
    /// What it means, part by part: bytes to be hashed one after the other. None for an element that is nothing but
    /// thinking or artefacts.
    pub meanings: Vec<Vec<u8>>,
    /// The ids by which its calls and results name each other, as bytes: equal meanings whose ids differ are not to stand for
    /// each other.
    pub call_ids: Vec<u8>,
}

/// A request's conversation apart from its settings.
#[derive(Clone, Debug, Default)]
pub struct Entries<'a> {
    /// The leading instructions as members of a request, `"system":"…"` for example, separated by commas; none if there
    /// are none.
    pub system: Option<String>,
    /// The tools in the same form, empty or not; none if nothing is stated of them.
    pub tools: Option<String>,
    pub entries: Vec<Entry<'a>>,
}

impl DecodedRequest<'_> {
    /// What a request that nobody has edited says, element by element.
    pub fn entries(&self) -> Result<Entries<'_>> {
        let unedited = "expected a request that nobody has edited";
        let body = self.body().ok_or_else(|| Error::new(ErrorKind::Value, unedited))?;
        let mut members = Members::of(self.protocol(), body)?;
        let (messages, pointer) = (&self.request().messages, self.elements_pointer());
        let mut element = meaning::by_element(messages, pointer, members.elements.len());
        let leading = self.leading_elements(messages, pointer).min(members.elements.len());
        let instructions: Vec<Cow<'_, str>> = members.elements.drain(..leading).collect();
        members.keep_instructions(self.protocol(), &instructions);
        let entries = members.elements.into_iter().zip(element.drain(leading..));
        let entries = entries.map(|(json, Element { meanings, call_ids })| Entry {
            json,
            meanings,
            call_ids,
        });
        let entries = entries.collect();
        Ok(Entries { system: members.system, tools: members.tools, entries })
    }

    fn elements_pointer(&self) -> &'static str {
        self.protocol().facts().messages_pointer
    }

    /// How many elements of the list are the instructions. Where these have a field of their own, none is: what stands in
    /// the list is part of the conversation.
    fn leading_elements(&self, messages: &[Message<'_>], pointer: &str) -> usize {
        if self.protocol().facts().system.is_some() {
            return 0;
        }
        let leading = messages.iter().take_while(|message| message.role.instructs());
        let places = leading.filter_map(|message| message.semantics().place().element_of(pointer));
        places.last().map_or(0, |last| last + 1)
    }

    /// How many messages are the instructions.
    pub(super) fn leading_messages(&self) -> usize {
        let (pointer, facts) = (self.elements_pointer(), self.protocol().facts());
        let is_leading = |message: &&Message<'_>| {
            let is_element = message.semantics().place().element_of(pointer).is_some();
            message.role.instructs() && (facts.system.is_none() || !is_element)
        };
        self.request().messages.iter().take_while(is_leading).count()
    }
}

impl Entry<'_> {
    pub fn into_owned(self) -> Entry<'static> {
        let Self { json, meanings, call_ids } = self;
        Entry { json: Cow::Owned(json.into_owned()), meanings, call_ids }
    }
}

/// Which element a part stands in.
pub(super) fn element_of(message: &Message<'_>, part: &Part<'_>, pointer: &str) -> Option<usize> {
    let place = part.semantics().place().element_of(pointer);
    place.or_else(|| message.semantics().place().element_of(pointer))
}

/// The members of a body that hold the conversation.
#[derive(Default)]
struct Members<'a> {
    system: Option<String>,
    tools: Option<String>,
    elements: Vec<Cow<'a, str>>,
}

impl<'a> Members<'a> {
    fn of(protocol: Protocol, body: &'a str) -> Result<Self> {
        let facts = protocol.facts();
        let mut members = Self::default();
        Reader::new(body).object(|key, reader| {
            let is = |name: &str| is_named(protocol, &key, name);
            if is(facts.messages()) {
                members.elements = elements(reader)?;
            } else if facts.system.is_some_and(is) {
                keep(&mut members.system, &key, reader)?;
            } else if protocol.conventions().tool_members.iter().any(|name| is(name)) {
                keep(&mut members.tools, &key, reader)?;
            } else {
                reader.skip()?;
            }
            Ok(())
        })?;
        Ok(members)
    }

    /// Counts elements of the list among the instructions.
    fn keep_instructions(&mut self, protocol: Protocol, elements: &[Cow<'_, str>]) {
        if !elements.is_empty() {
            let list = format!("\"{}\":[{}]", protocol.facts().messages(), elements.join(","));
            add(&mut self.system, &list);
        }
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
        let mut writer = Writer::default();
        writer.field(key, &json);
        add(members, writer.as_str());
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
        Kind::Array => reader.list(|_, reader| Ok(reader.raw()?.into_cow())),
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
