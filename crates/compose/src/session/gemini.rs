//! Chats of Gemini CLI: messages that later lines replace, rewind or set anew; in the first versions one document. Calls stand
//! in the answer that made them, with their results.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use sabir_wire::json::{Json, Kind, Writer};

use super::draft::{Draft, Element, is_typed};
use super::error::SessionError;
use super::line::{Line, Members, list, text};
use super::place::Place;
use super::{SessionReader, object};

/// A first line of such a file, or the whole of an old one.
pub(super) fn is_own(line: &Members<'_>) -> bool {
    line.text("sessionId").is_some() && line.text("projectHash").is_some()
}

#[derive(Default)]
pub(super) struct Gemini<'a> {
    draft: Draft<'a>,
    messages: Vec<Message<'a>>,
    /// Where each message stands.
    places: HashMap<Cow<'a, str>, usize>,
}

struct Message<'a> {
    place: Place,
    members: Members<'a>,
}

impl<'a> SessionReader<'a> for Gemini<'a> {
    fn line(&mut self, line: Line<'a>) -> Result<(), SessionError> {
        let Line { number, members } = line;
        if let Some(id) = members.text("$rewindTo") {
            self.rewind(&id);
        } else if let Some(set) = members.object("$set") {
            self.set(number, &set);
        } else if is_own(&members) {
            self.set(number, &members);
        } else if let Some(id) = members.text("id") {
            self.put(id, Message { place: Place::of(number, &members), members });
        } else {
            self.draft.left_out.add_unknown(members.text("type").as_deref());
        }
        Ok(())
    }

    fn finish(self) -> Result<Draft<'a>, SessionError> {
        let mut history = History { draft: self.draft, ..History::default() };
        for message in &self.messages {
            history.add(message)?;
        }
        history.close();
        Ok(history.draft)
    }
}

impl<'a> Gemini<'a> {
    fn put(&mut self, id: Cow<'a, str>, message: Message<'a>) {
        match self.places.get(&id) {
            Some(&place) => self.messages[place] = message,
            None => {
                self.places.insert(id, self.messages.len());
                self.messages.push(message);
            }
        }
    }

    /// Facts of the session, and perhaps all of its messages anew.
    fn set(&mut self, line: usize, facts: &Members<'a>) {
        self.draft.id = self.draft.id.take().or_else(|| facts.text("sessionId"));
        self.draft.name = facts.text("summary").or(self.draft.name.take());
        let Some(messages) = facts.list("messages") else { return };
        self.places.clear();
        self.messages.clear();
        for members in messages.iter().filter_map(Members::of) {
            if let Some(id) = members.text("id") {
                self.put(id, Message { place: Place::of(line, &members), members });
            }
        }
    }

    /// Takes back a message and all behind it; one that nobody knows takes back everything.
    fn rewind(&mut self, id: &str) {
        let from = self.places.get(id).copied().unwrap_or(0);
        let taken_back = self.messages.split_off(from).len();
        self.places.retain(|_, place| *place < from);
        self.draft.left_out.add_many("messages that were rewound", taken_back);
    }
}

/// The contents of the history, of which neighbours of one role are one.
#[derive(Default)]
struct History<'a> {
    draft: Draft<'a>,
    open: Option<Content>,
    /// The calls that have a result.
    answered: HashSet<String>,
}

struct Content {
    place: Place,
    role: &'static str,
    parts: Vec<String>,
}

const USER: &str = "user";
const MODEL: &str = "model";

impl History<'_> {
    fn add(&mut self, message: &Message<'_>) -> Result<(), SessionError> {
        let Message { place, members } = message;
        match members.text("type").as_deref() {
            Some("user") => self.user(*place, members),
            Some("gemini") => self.model(*place, members),
            Some("info" | "warning" | "error") => {
                self.draft.left_out.add("notes that the CLI showed");
            }
            other => self.draft.left_out.add_unknown(other),
        }
        Ok(())
    }

    fn user(&mut self, place: Place, message: &Members<'_>) {
        let parts = parts(message);
        let words = || parts.iter().find_map(|part| typed(part)).map(Cow::Owned);
        self.draft.note_first_words(words);
        // A session that was resumed has results once in the answer and once more behind it.
        let results: Vec<String> = parts.iter().filter_map(result_of).collect();
        if !results.is_empty() && results.iter().all(|id| self.answered.contains(id)) {
            return;
        }
        self.answered.extend(results);
        self.add_parts(place, USER, parts.iter().map(renamed));
    }

    fn model(&mut self, place: Place, message: &Members<'_>) {
        let content = parts(message);
        let is_whole = |part: &Json<'_>| {
            Members::of(part)
                .is_some_and(|it| it.get("functionCall").is_some() || it.is_true("thought"))
        };
        let calls: Vec<Members<'_>> =
            message.list("toolCalls").unwrap_or_default().iter().filter_map(Members::of).collect();
        let mut stated = Vec::new();
        if content.iter().any(is_whole) {
            stated.extend(content.iter().map(renamed));
        } else {
            let thoughts = message.list("thoughts").unwrap_or_default();
            stated.extend(thoughts.iter().filter_map(Members::of).map(|it| thought(&it)));
            stated.extend(content.iter().filter(|part| !is_empty(part)).map(renamed));
            stated.extend(calls.iter().map(call));
        }
        self.add_parts(place, MODEL, stated.into_iter());
        let results: Vec<String> = calls.iter().flat_map(|call| self.results(call)).collect();
        self.add_parts(place, USER, results.into_iter());
    }

    /// The parts by which a call is answered.
    fn results(&mut self, call: &Members<'_>) -> Vec<String> {
        let (Some(id), Some(result)) = (call.text("id"), call.get("result")) else {
            return Vec::new();
        };
        self.answered.insert(id.clone().into_owned());
        match result.kind() {
            Kind::Array => list(result).unwrap_or_default().iter().map(renamed).collect(),
            Kind::Object => vec![renamed(result)],
            _ => vec![response(call, result)],
        }
    }

    fn add_parts(&mut self, place: Place, role: &'static str, parts: impl Iterator<Item = String>) {
        let mut parts = parts.peekable();
        if parts.peek().is_none() {
            return;
        }
        if self.open.as_ref().is_none_or(|open| open.role != role) {
            self.close();
        }
        let open = self.open.get_or_insert(Content { place, role, parts: Vec::new() });
        open.parts.extend(parts);
    }

    fn close(&mut self) {
        let Some(Content { place, role, parts }) = self.open.take() else { return };
        let json = object(|content| {
            content.field("role", role);
            content.key("parts");
            content.array(|list| {
                for part in &parts {
                    list.value(&Json::parse(&**part).unwrap_or(Json::literal("null")));
                }
            });
        });
        self.draft.elements.push(Element { place, json });
    }
}

/// What a message says: a text, a part or several.
fn parts<'a>(message: &Members<'a>) -> Vec<Json<'a>> {
    let Some(content) = message.get("content") else { return Vec::new() };
    match content.kind() {
        Kind::Array => list(content).unwrap_or_default(),
        _ => vec![content.clone()],
    }
}

fn is_empty(part: &Json<'_>) -> bool {
    text(part).is_some_and(|text| text.is_empty())
}

fn typed(part: &Json<'_>) -> Option<String> {
    let words = text(part).or_else(|| Members::of(part)?.text("text"))?;
    is_typed(&words).then(|| words.into_owned())
}

/// The call that a part answers.
fn result_of(part: &Json<'_>) -> Option<String> {
    let id = Members::of(part)?.object("functionResponse")?.text("id")?;
    Some(id.into_owned())
}

fn thought(thought: &Members<'_>) -> String {
    let description = thought.text("description").unwrap_or_default();
    let text = match thought.text("subject").filter(|subject| !subject.is_empty()) {
        Some(subject) => Cow::Owned(format!("**{subject}** {description}")),
        None => description,
    };
    object(|part| {
        part.field("text", &text);
        part.field("thought", &true);
    })
}

fn call(call: &Members<'_>) -> String {
    object(|part| {
        part.key("functionCall");
        part.object(|it| write_some(it, call, |name| matches!(name, "id" | "name" | "args")));
    })
}

/// The text that a tool gave, as the model got it.
fn response(call: &Members<'_>, result: &Json<'_>) -> String {
    object(|part| {
        part.key("functionResponse");
        part.object(|it| {
            write_some(it, call, |name| matches!(name, "id" | "name"));
            it.key("response");
            it.object(|response| response.field("output", result));
        });
    })
}

/// A part with the ids that the provider gave its calls; a text by itself is a part of text.
fn renamed(part: &Json<'_>) -> String {
    if part.kind() == Kind::String {
        return object(|it| it.field("text", part));
    }
    let Some(members) = Members::of(part) else { return part.as_str().to_owned() };
    object(|it| {
        for (name, value) in members.iter() {
            let is_named = matches!(name, "functionCall" | "functionResponse");
            match Members::of(value).filter(|_| is_named) {
                Some(named) => {
                    it.key(name);
                    it.object(|it| write_some(it, &named, |_| true));
                }
                None => it.field(name, value),
            }
        }
    })
}

/// Some members of a call or a result. The CLI writes the tool's name before every id, and sends it without.
fn write_some(it: &mut Writer, call: &Members<'_>, is_wanted: fn(&str) -> bool) {
    let prefix = call.text("name").map(|name| format!("{name}__")).unwrap_or_default();
    for (name, value) in call.iter().filter(|(name, _)| is_wanted(name)) {
        let id = text(value).filter(|_| name == "id");
        match id.as_deref().and_then(|id| id.strip_prefix(&*prefix)) {
            Some(own) => it.field(name, own),
            None => it.field(name, value),
        }
    }
}
