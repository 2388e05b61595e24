//! What the CLI says that it sent: each request as a list of messages, of which those that are written nowhere else stand in
//! lines of their own.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use sabir_wire::json::Json;

use super::super::draft::Element;
use super::super::line::{Members, text};
use super::super::place::Place;
use super::message::{Message, Piece, Speaker, answered_by, blocks, called_by, element, text_of};

#[derive(Default)]
pub(super) struct Sent<'a> {
    requests: HashMap<Cow<'a, str>, Request<'a>>,
    /// Messages that differ from what the lines say, by their hashes.
    messages: HashMap<Cow<'a, str>, Json<'a>>,
    /// Instructions and tools, by their hashes.
    shapes: HashMap<Cow<'a, str>, Members<'a>>,
}

/// A request by what it has in common with an earlier one.
struct Request<'a> {
    shape: Option<Cow<'a, str>>,
    base: Option<Cow<'a, str>>,
    /// How many messages of the base it begins with.
    keep: usize,
    /// The hashes of the others.
    tail: Vec<Cow<'a, str>>,
}

impl<'a> Sent<'a> {
    pub(super) fn add_request(&mut self, line: &Members<'a>) {
        let Some(id) = line.text("id") else { return };
        let request = Request {
            shape: line.text("shapeHash"),
            base: line.text("base"),
            keep: line.number("keep").and_then(|keep| keep.try_into().ok()).unwrap_or(0),
            tail: line.list("tail").unwrap_or_default().iter().filter_map(text).collect(),
        };
        self.requests.insert(id, request);
    }

    /// The hashes of all messages of a request.
    fn list(&self, id: &str) -> Option<Vec<&str>> {
        let mut requests = vec![self.requests.get(id)?];
        while let Some(base) = requests.last().and_then(|request| request.base.as_deref()) {
            if requests.len() > self.requests.len() {
                // Requests that go round in circles.
                return None;
            }
            requests.push(self.requests.get(base)?);
        }
        let mut list = Vec::new();
        for request in requests.into_iter().rev() {
            list.truncate(request.keep);
            list.extend(request.tail.iter().map(|hash| &**hash));
        }
        Some(list)
    }

    pub(super) fn add_message(&mut self, line: &Members<'a>) {
        if let (Some(hash), Some(message)) = (line.text("hash"), line.get("message")) {
            self.messages.insert(hash, message.clone());
        }
    }

    pub(super) fn add_shape(&mut self, line: &Members<'a>) {
        if let (Some(hash), Some(shape)) = (line.text("shapeHash"), line.object("shape")) {
            self.shapes.insert(hash, shape);
        }
    }

    /// Instructions and tools of the last request that was answered.
    pub(super) fn settings<'n>(
        &self,
        pieces: impl Iterator<Item = &'n Piece<'a>>,
    ) -> Vec<(&'static str, Json<'a>)>
    where
        'a: 'n,
    {
        let request =
            pieces.filter_map(|piece| self.requests.get(piece.request.as_deref()?)).last();
        let shape = request.and_then(|request| self.shapes.get(request.shape.as_deref()?));
        let Some(shape) = shape else { return Vec::new() };
        let settings = ["system", "tools"].into_iter();
        settings.filter_map(|name| Some((name, shape.get(name)?.clone()))).collect()
    }

    /// The history as it was sent, with what was said since; none if the file does not say how it was sent.
    pub(super) fn history(&self, merged: &[Message<'_, 'a>]) -> Option<Vec<Element>> {
        let (answer, id) = merged.iter().enumerate().rev().find_map(|(at, message)| {
            let known = message.requests.iter().find(|id| self.requests.contains_key(**id))?;
            Some((at, *known))
        })?;
        let (before, since) = merged.split_at(answer);
        let mut before = before.iter();
        let mut elements = Vec::new();
        for hash in self.list(id)? {
            let next = before.as_slice().first();
            let own = self.messages.get(hash).and_then(|json| own_message(json, next));
            match (own, next) {
                (Some(own), Some(next)) if covers(&own, next) => {
                    // An answer's lines say more: they have its thinking.
                    let is_answer = own.speaker == Speaker::Assistant;
                    elements.push(element(if is_answer { next } else { &own }));
                    before.next();
                }
                (Some(own), _) => elements.push(element(&own)),
                (None, Some(next)) if !self.messages.contains_key(hash) => {
                    elements.push(element(next));
                    before.next();
                }
                (None, _) => return None,
            }
        }
        let is_whole = before.as_slice().is_empty();
        elements.extend(since.iter().map(element));
        is_whole.then_some(elements)
    }
}

fn own_message<'n, 'a>(json: &Json<'a>, next: Option<&Message<'_, '_>>) -> Option<Message<'n, 'a>> {
    let members = Members::of(json)?;
    let speaker = Speaker::of(&members.text("role")?)?;
    let blocks = blocks(members.get("content")?)?;
    let place = next.map_or(Place::line(1), |next| next.place);
    Some(Message::new(place, speaker, blocks))
}

/// Blocks of a message whose texts are looked for in longer ones: more than a person sends.
const LOOKED_FOR_MAX: usize = 64;

/// Whether a message says all that another does.
fn covers(own: &Message<'_, '_>, other: &Message<'_, '_>) -> bool {
    let texts: Vec<Cow<'_, str>> = own.blocks.iter().filter_map(text_of).collect();
    let whole: HashSet<&str> = texts.iter().map(|text| text.trim()).collect();
    let ids: HashSet<Cow<'_, str>> = own.blocks.iter().filter_map(id_of).collect();
    let may_look = other.blocks.len() <= LOOKED_FOR_MAX;
    let is_part = |text: &str| may_look && texts.iter().any(|own| own.contains(text));
    let is_stated = |block: &Json<'_>| match (text_of(block), id_of(block)) {
        (_, Some(id)) => ids.contains(&id),
        (Some(text), None) => whole.contains(text.trim()) || is_part(text.trim()),
        (None, None) => true,
    };
    own.speaker == other.speaker && other.blocks.iter().all(is_stated)
}

fn id_of<'a>(block: &Json<'a>) -> Option<Cow<'a, str>> {
    called_by(block).or_else(|| answered_by(block))
}
