//! Reads along with an answer and takes the artefacts of its calls, with the thinking that they stand on.

use super::record::{Record, Thought};
use crate::conversation::{Arguments, Content, Part, Response, ToolCall};
use crate::json::Text;
use crate::protocol::event::grow;
use crate::protocol::history::call_meaning;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::{
    AnswerContext, Closed, Delta, Event, Note, NoteAt, NoteKind, Open, Opening, PartId,
};

/// So much is held of one answer, and so many parts: what has more is not remembered.
const BYTES_MAX: usize = 8 << 20;
const PARTS_MAX: usize = 4_096;

/// Takes the artefacts of an answer that is on its way to a client of another protocol.
///
/// It holds thinking and calls as long as they may belong together, and nothing of what is said.
#[derive(Debug)]
pub struct ArtefactCollector {
    /// The upstream's tool names and the client's own for them, where they differ.
    names: Vec<(Text<'static>, Text<'static>)>,
    /// What the ids of calls are made from that came without.
    seed: String,
    parts: Vec<Collected>,
    /// The parts that may still grow or be signed.
    growing: Vec<(PartId, usize)>,
    bytes: usize,
    /// Whether nothing more is wanted: the answer has ended, failed or grown too large.
    is_over: bool,
    calls: Vec<CallArtefacts>,
}

/// A part of an answer, as far as it matters here.
#[derive(Debug)]
enum Collected {
    /// Something was said.
    Words,
    Thought(Part<'static>),
    Call(Part<'static>),
}

/// A call of an answer, and what belongs to it.
#[derive(Clone, Debug)]
pub struct CallArtefacts {
    /// What the call is found by; see [`BareCall::ids`](crate::protocol::BareCall::ids).
    pub id: String,
    /// None if nothing has to come back with the call.
    pub sealed: Option<Sealed>,
}

/// What belongs to a call and only its issuer can read.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// What was called with which arguments, as bytes: an edited call has others.
    pub meaning: Vec<u8>,
    /// What [`DecodedRequest::put_back`](crate::protocol::DecodedRequest::put_back) takes.
    pub record: String,
    /// Whether it holds thinking in words.
    pub has_words: bool,
}

impl ArtefactCollector {
    /// A collector for the answer to a request; none where no tool can be called.
    pub fn of(context: &AnswerContext<'_>) -> Option<Box<Self>> {
        if !context.offers_tools {
            return None;
        }
        let own = |text: &Text<'_>| text.clone().into_owned();
        let names = context.names.iter().map(|(alias, name)| (own(alias), own(name)));
        Some(Box::new(Self {
            names: names.collect(),
            seed: context.seed.to_str().into_owned(),
            parts: Vec::new(),
            growing: Vec::new(),
            bytes: 0,
            is_over: false,
            calls: Vec::new(),
        }))
    }

    /// Reads an event.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>) {
        if self.is_over {
            return;
        }
        match event {
            Event::Delta(part, delta) => {
                if !self.growing.is_empty() {
                    self.grow(*part, delta);
                }
            }
            Event::Open(open) if open.candidate == 0 => self.open(open),
            Event::Note(Note { at: NoteAt::Part(part), kind: NoteKind::Semantics(later) }) => {
                self.sign(*part, later);
            }
            Event::Close(Closed { part, semantics }) => {
                self.sign(*part, semantics);
                self.growing.retain(|(growing, _)| growing != part);
            }
            Event::Finish { candidate: 0, .. } => self.finish(),
            Event::Fault(_) => self.give_up(),
            Event::Start(_)
            | Event::Open(_)
            | Event::Note(_)
            | Event::Usage(_)
            | Event::Finish { .. } => {}
        }
    }

    /// Reads an answer that is all there.
    pub fn response(&mut self, response: &Response<'_>) {
        let first = response.candidates.first();
        let parts = first.map(|first| &*first.message.parts).unwrap_or_default();
        if parts.iter().any(|part| matches!(part.content(), Content::ToolCall(_))) {
            parts.iter().for_each(|part| self.add(part.content(), part.semantics()));
        }
        self.finish();
    }

    /// The calls of an answer that has ended; once.
    pub fn take(&mut self) -> Vec<CallArtefacts> {
        std::mem::take(&mut self.calls)
    }

    fn open(&mut self, open: &Open<'_>) {
        let before = self.parts.len();
        match &open.opening {
            Opening::Text | Opening::Refusal => self.push(Collected::Words),
            Opening::Whole(content) => self.add(content, &open.semantics),
            opening @ (Opening::Reasoning(_) | Opening::ToolCall { .. }) => {
                self.add(&opening.clone().into_content(), &open.semantics);
            }
        }
        if self.parts.len() > before && !matches!(self.parts.last(), Some(Collected::Words)) {
            self.growing.push((open.part, before));
        }
    }

    fn add(&mut self, content: &Content<'_>, semantics: &NodeSemantics<'_>) {
        let sealed = || sealed_part(content, semantics);
        match content {
            Content::Text(_) | Content::Refusal(_) | Content::Media(_) | Content::Opaque(_) => {
                self.push(Collected::Words);
            }
            Content::Reasoning(_) => self.push(Collected::Thought(sealed())),
            Content::ToolCall(_) => self.push(Collected::Call(sealed())),
            Content::ToolResult(_) => {}
        }
    }

    fn push(&mut self, part: Collected) {
        if let (Some(Collected::Words), Collected::Words) = (self.parts.last(), &part) {
            return;
        }
        self.bytes += part.bytes();
        match self.parts.len() < PARTS_MAX && self.bytes <= BYTES_MAX {
            true => self.parts.push(part),
            false => self.give_up(),
        }
    }

    fn grow(&mut self, part: PartId, delta: &Delta<'_>) {
        if let Delta::Text(text) = delta {
            self.bytes += text.len_hint();
        }
        if self.bytes > BYTES_MAX {
            return self.give_up();
        }
        if let Some(part) = self.growing(part) {
            grow(part, delta.clone());
        }
    }

    /// Takes an artefact that became known later than its part.
    fn sign(&mut self, part: PartId, later: &NodeSemantics<'_>) {
        let Some(artefact) = later.artefact() else { return };
        self.bytes += artefact.data().len_hint();
        if let Some(part) = self.growing(part) {
            part.semantics_mut().set_artefact(artefact.clone().into_owned());
        }
    }

    fn growing(&mut self, part: PartId) -> Option<&mut Part<'static>> {
        let (_, index) = self.growing.iter().rev().find(|(growing, _)| *growing == part)?;
        match self.parts.get_mut(*index)? {
            Collected::Words => None,
            Collected::Thought(part) | Collected::Call(part) => Some(part),
        }
    }

    fn give_up(&mut self) {
        self.is_over = true;
        self.parts = Vec::new();
        self.growing = Vec::new();
    }

    /// The answer has ended: what stands before each call belongs to it.
    fn finish(&mut self) {
        let parts = std::mem::take(&mut self.parts);
        self.give_up();
        let (mut record, mut has_words_before) = (Record::default(), false);
        for part in parts {
            match part {
                Collected::Words => has_words_before = true,
                Collected::Thought(part) => {
                    let thoughts =
                        if has_words_before { &mut record.last } else { &mut record.first };
                    thoughts.extend(thought(part));
                }
                Collected::Call(part) => {
                    let belonging = std::mem::take(&mut record);
                    has_words_before = false;
                    self.calls.extend(self.call(part, belonging));
                }
            }
        }
    }

    fn call(&self, mut part: Part<'static>, mut record: Record) -> Option<CallArtefacts> {
        record.seal = part.semantics_mut().take_artefact();
        let Content::ToolCall(mut call) = part.into_content() else { return None };
        let own = call.id.as_ref().filter(|id| !id.is_empty());
        let id = own.map_or_else(|| self.seed.clone(), |id| id.to_str().into_owned());
        if record.is_empty() {
            return Some(CallArtefacts { id, sealed: None });
        }
        if let Some((_, name)) = self.names.iter().find(|(alias, _)| *alias == call.name) {
            call.name = name.clone();
        }
        let (meaning, has_words) = (call_meaning(&call), record.has_words());
        Some(CallArtefacts {
            id,
            sealed: Some(Sealed { meaning, record: record.write(), has_words }),
        })
    }
}

impl Collected {
    fn bytes(&self) -> usize {
        let (Self::Thought(part) | Self::Call(part)) = self else { return 0 };
        let artefact = part.semantics().artefact().map_or(0, |it| it.data().len_hint());
        let content = match part.content() {
            Content::Reasoning(reasoning) => reasoning.texts.iter().map(Text::len_hint).sum(),
            Content::ToolCall(call) => arguments_len(call),
            _ => 0,
        };
        artefact + content
    }
}

fn arguments_len(call: &ToolCall<'_>) -> usize {
    match &call.arguments {
        Arguments::Json(json) => json.as_str().len(),
        Arguments::Text(text) => text.len_hint(),
    }
}

/// Content with its artefact and nothing else that rode on it.
fn sealed_part(content: &Content<'_>, semantics: &NodeSemantics<'_>) -> Part<'static> {
    let mut kept = NodeSemantics::default();
    if let Some(artefact) = semantics.artefact() {
        kept.set_artefact(artefact.clone().into_owned());
    }
    Part::new(content.clone().into_owned()).with_semantics(kept)
}

/// Thinking that its issuer takes back; what nobody sealed is only for people.
fn thought(mut part: Part<'static>) -> Option<Thought> {
    let artefact = part.semantics_mut().take_artefact()?;
    match part.into_content() {
        Content::Reasoning(reasoning) => Some(Thought { reasoning: *reasoning, artefact }),
        _ => None,
    }
}
