//! A request taken apart: what instructs, the tools, and the conversation element by element.

use std::borrow::Cow;

use super::meaning::{self, Element};
use super::outline::{Contents, Outline};
use crate::conversation::{Message, Part};
use crate::error::{Error, ErrorKind, Result};
use crate::json::Reader;
use crate::protocol::DecodedRequest;

/// One element of a request's conversation.
#[derive(Clone, Debug, Default)]
pub struct Entry<'a> {
    /// The element as its protocol spells it: one JSON value.
    pub json: Cow<'a, str>,
    pub content: Element,
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
        let outline = Outline::read(self.protocol(), Reader::new(body))?;
        let Contents { leading, elements } = self.contents(outline.elements.len());
        let system = outline.system(leading);
        let entries = outline.elements.into_iter().zip(elements).skip(leading);
        let entries = entries.map(|(json, content)| Entry { json, content }).collect();
        Ok(Entries { system, tools: outline.tools, entries })
    }

    /// What each of so many elements says.
    pub(super) fn contents(&self, count: usize) -> Contents {
        let (messages, pointer) =
            (&self.request().messages, self.protocol().facts().messages_pointer);
        let elements = meaning::by_element(messages, pointer, count);
        Contents { leading: self.leading_elements(messages, pointer).min(count), elements }
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
        let facts = self.protocol().facts();
        let is_leading = |message: &&Message<'_>| {
            let place = message.semantics().place();
            let is_element = place.element_of(facts.messages_pointer).is_some();
            message.role.instructs() && (facts.system.is_none() || !is_element)
        };
        self.request().messages.iter().take_while(is_leading).count()
    }
}

impl Entry<'_> {
    pub fn into_owned(self) -> Entry<'static> {
        Entry { json: Cow::Owned(self.json.into_owned()), content: self.content }
    }
}

impl Element {
    /// Whether the user says something in it, apart from results of tools and from what agents say in tags.
    pub fn is_from_user(&self) -> bool {
        let is_tagged = |text: &str| text.trim_start().starts_with('<');
        let users = self.meanings.iter().filter(|meaning| meaning::is_users(meaning));
        users.map(|meaning| meaning::text_of(meaning)).any(|text| !text.is_some_and(is_tagged))
    }

    /// Whether it has results of tools.
    pub fn has_results(&self) -> bool {
        self.meanings.iter().any(|meaning| meaning::is_result(meaning))
    }

    /// Whether it is media of the user's side without a word.
    pub fn is_media_alone(&self) -> bool {
        !self.meanings.is_empty() && self.meanings.iter().all(|it| meaning::is_users_media(it))
    }
}

/// Which element a part stands in.
pub(super) fn element_of(message: &Message<'_>, part: &Part<'_>, pointer: &str) -> Option<usize> {
    let place = part.semantics().place().element_of(pointer);
    place.or_else(|| message.semantics().place().element_of(pointer))
}
