//! Puts artefacts back into a request whose client did not return them: on the call that they came with, or as the thinking
//! before it.

use std::borrow::Cow;
use std::sync::Arc;

use super::record::{Record, Thought};
use crate::conversation::{Content, Message, Part, Role, ToolCall};
use crate::json::Text;
use crate::loss::{LossKind, Report};
use crate::place::Place;
use crate::protocol::calls::{Position, remove_part};
use crate::protocol::history::call_meaning;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{DecodedRequest, Protocol};

/// A call in a request that came back without anything that its issuer sealed.
#[derive(Clone, Copy, Debug)]
pub struct BareCall<'r> {
    call: &'r ToolCall<'r>,
}

impl BareCall<'_> {
    /// What its artefacts may be kept under: its id, and what that was made from if the issuer had given none.
    pub fn ids(&self) -> impl Iterator<Item = Cow<'_, str>> {
        let id = self.call.id.as_ref().map(Text::to_str);
        let seed = id.as_deref().and_then(seed_of).map(|seed| Cow::Owned(seed.to_owned()));
        id.into_iter().chain(seed)
    }

    /// What is called with which arguments, as bytes: an edited call has others.
    pub fn meaning(&self) -> Vec<u8> {
        call_meaning(self.call)
    }
}

/// What an id was made from, if it has the form of those that are made: a word, the seed and a number.
fn seed_of(id: &str) -> Option<&str> {
    let (_, rest) = id.split_once('_')?;
    let (seed, number) = rest.rsplit_once('_')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !seed.is_empty()).then_some(seed)
}

/// What belongs to a call, and where.
struct Found {
    /// Where the assistant's words before the call begin, behind the call before it.
    from: Position,
    /// The thinking among them, which nobody sealed.
    thoughts: Vec<Position>,
    call: Position,
    record: Record,
}

impl DecodedRequest<'_> {
    /// Puts back what `find` has for calls that came back bare, as it was collected from answers of `issuer`'s protocol. The
    /// report says where.
    pub fn put_back(
        &mut self,
        issuer: Protocol,
        find: &mut dyn FnMut(BareCall<'_>) -> Option<Arc<str>>,
    ) -> Report {
        let found = found(&self.request().messages, issuer, find);
        let mut report = Report::default();
        if found.is_empty() {
            return report;
        }
        let messages = &mut self.edit().messages;
        for one in &found {
            report.lose(place(messages, one.call).to_string(), LossKind::Synthesised, PUT_BACK);
        }
        // From the last on, so that the positions of the others stay what they are.
        found.into_iter().rev().for_each(|one| put(messages, one));
        report
    }
}

const PUT_BACK: &str =
    "what the provider sealed with this call was put back, since the client did not return it";

fn found(
    messages: &[Message<'_>],
    issuer: Protocol,
    find: &mut dyn FnMut(BareCall<'_>) -> Option<Arc<str>>,
) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut before = Before::default();
    for (index, message) in messages.iter().enumerate() {
        if message.role != Role::Assistant {
            before = Before::default();
            continue;
        }
        for (at, part) in message.parts.iter().enumerate() {
            let at = (index, at);
            before.add(at, part, issuer);
            if let Content::ToolCall(call) = part.content() {
                let Before { from, thoughts, is_sealed, last } = std::mem::take(&mut before);
                let record = (!is_sealed).then(|| find(BareCall { call })).flatten();
                // Equal calls of one answer may be known by one record, and only the first was sealed.
                let record = record.filter(|it| !last.is_some_and(|last| Arc::ptr_eq(&last, it)));
                before.from = Some((at.0, at.1 + 1));
                before.last = record.clone();
                let record = record.and_then(|record| Record::read(&record).ok());
                let from = from.unwrap_or(at);
                found.extend(record.map(|record| Found { from, thoughts, call: at, record }));
            }
        }
    }
    found
}

/// What the assistant said since its last call.
#[derive(Default)]
struct Before {
    from: Option<Position>,
    thoughts: Vec<Position>,
    is_sealed: bool,
    /// What was found for the call before it.
    last: Option<Arc<str>>,
}

impl Before {
    fn add(&mut self, at: Position, part: &Part<'_>, issuer: Protocol) {
        self.from.get_or_insert(at);
        match part.semantics().artefact() {
            // What another vendor sealed, or a placeholder for that, says nothing of what this one did.
            Some(artefact) => self.is_sealed |= artefact.issuer() == issuer,
            None if matches!(part.content(), Content::Reasoning(_)) => self.thoughts.push(at),
            None => {}
        }
    }
}

fn place(messages: &[Message<'_>], (message, part): Position) -> Place {
    messages[message].parts[part].semantics().place()
}

fn put(messages: &mut Vec<Message<'_>>, found: Found) {
    let Found { from, thoughts, call, record: Record { first, last, seal } } = found;
    let place = place(messages, call);
    if let Some(seal) = seal {
        messages[call.0].parts[call.1].semantics_mut().set_artefact(seal);
    }
    if first.is_empty() && last.is_empty() {
        return;
    }
    let part = |thought: Thought| thought.into_part(NodeSemantics::at(place));
    insert(messages, call, last.into_iter().map(part).collect());
    // Thinking that the client kept without what sealed it comes back whole.
    thoughts.into_iter().rev().for_each(|thought| remove_part(messages, thought));
    insert(messages, from, first.into_iter().map(part).collect());
}

fn insert<'a>(messages: &mut [Message<'a>], (message, at): Position, new: Vec<Part<'a>>) {
    if !new.is_empty() {
        let mut parts = std::mem::take(&mut messages[message].parts).into_vec();
        parts.splice(at..at, new);
        messages[message].parts = parts.into();
    }
}
