//! What was read of a session file, until it is a request.

use std::borrow::Cow;

use sabir_wire::Protocol;
use sabir_wire::json::{Json, Writer};

use super::error::SessionError;
use super::left_out::Tally;
use super::place::Place;

/// One element of the history, as its protocol spells it.
pub(super) struct Element {
    /// Where it begins.
    pub(super) place: Place,
    pub(super) json: String,
}

#[derive(Default)]
pub(super) struct Draft<'a> {
    pub(super) id: Option<Cow<'a, str>>,
    /// What the session is called.
    pub(super) name: Option<Cow<'a, str>>,
    /// What the user wrote first.
    pub(super) first_words: Option<Cow<'a, str>>,
    pub(super) elements: Vec<Element>,
    /// Members of the request beside its history.
    pub(super) settings: Vec<(&'static str, Json<'a>)>,
    /// When the instructions among them were given, if the file has some and says it.
    pub(super) instructed_at: Option<i64>,
    pub(super) left_out: Tally,
}

/// Characters of a title.
const TITLE_MAX: usize = 80;

impl Draft<'_> {
    pub(super) fn request(&self, protocol: Protocol) -> String {
        let bytes = self.elements.iter().map(|element| element.json.len() + 1).sum();
        let mut writer = Writer::with_capacity(bytes);
        writer.object(|request| {
            for (name, value) in &self.settings {
                request.field(name, value);
            }
            request.key(messages(protocol));
            request.array(|list| {
                for element in &self.elements {
                    list.value(&Json::parse(&*element.json).unwrap_or(Json::literal("null")));
                }
            });
        });
        writer.into_string()
    }

    /// Says in which line it stands what is wrong with the request.
    pub(super) fn misread(&self, protocol: Protocol, error: &sabir_wire::Error) -> SessionError {
        let pointer = error.pointer();
        let element = pointer.strip_prefix(protocol.facts().messages_pointer);
        let index = element.and_then(|rest| rest.split('/').nth(1)?.parse::<usize>().ok());
        let line = index.and_then(|index| self.elements.get(index)).map_or(1, |it| it.place.line);
        SessionError::at(line, format!("{} at {pointer} of its history", error.message()))
    }

    pub(super) fn title(&self) -> String {
        let words = self.name.as_deref().or(self.first_words.as_deref()).unwrap_or_default();
        let line = words.trim().lines().next().unwrap_or_default();
        line.chars().take(TITLE_MAX).collect()
    }

    /// Notes the user's first words. What agents add to them stands in tags.
    pub(super) fn note_first_words(&mut self, words: impl FnOnce() -> Option<Cow<'static, str>>) {
        if self.first_words.is_none() {
            self.first_words = words().filter(|words| is_typed(words));
        }
    }
}

/// Whether a person has written it.
pub(super) fn is_typed(words: &str) -> bool {
    let words = words.trim_start();
    !words.is_empty() && !words.starts_with('<')
}

fn messages(protocol: Protocol) -> &'static str {
    protocol.facts().messages_pointer.trim_start_matches('/')
}
