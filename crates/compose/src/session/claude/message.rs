//! Lines as messages of the protocol: each line holds one block of an answer, or some of what the user's side says.

use std::borrow::Cow;

use sabir_wire::json::{Json, Kind};

use super::super::draft::Element;
use super::super::line::{Members, list, text};
use super::super::object;
use super::super::place::Place;
use super::{Node, NodeKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    System,
}

impl Speaker {
    pub(super) fn of(role: &str) -> Option<Self> {
        [Self::User, Self::Assistant, Self::System].into_iter().find(|it| it.as_str() == role)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}

/// What a line says: a block of an answer, or some of what the user's side says.
pub(super) struct Piece<'a> {
    pub(super) place: Place,
    pub(super) speaker: Speaker,
    /// The answer that it is part of.
    pub(super) id: Option<Cow<'a, str>>,
    /// The request that was answered.
    pub(super) request: Option<Cow<'a, str>>,
    pub(super) blocks: Vec<Json<'a>>,
}

/// What the CLI says by itself.
pub(super) struct Context<'a> {
    speaker: Speaker,
    texts: Vec<Json<'a>>,
    kind: Option<Cow<'a, str>>,
}

/// Lines of context that are not for the model.
const SILENT: [&str; 2] = ["prompt_snapshot", "session_context"];

impl<'a> Context<'a> {
    pub(super) fn of(line: &Members<'a>) -> Self {
        let role = line.text("renderedRole");
        let rendered = line.list("rendered").unwrap_or_default();
        let rendered = rendered.iter().filter_map(|it| Members::of(it)?.get("content").cloned());
        Self {
            speaker: role.and_then(|role| Speaker::of(&role)).unwrap_or(Speaker::User),
            texts: rendered.flat_map(|content| blocks(&content).unwrap_or_default()).collect(),
            kind: line.object("attachment").and_then(|it| it.text("type")),
        }
    }

    pub(super) fn is_unrendered(&self) -> bool {
        self.texts.is_empty() && !self.kind.as_deref().is_some_and(|kind| SILENT.contains(&kind))
    }
}

/// A message of the protocol.
pub(super) struct Message<'n, 'a> {
    pub(super) place: Place,
    pub(super) speaker: Speaker,
    /// The requests that its lines answer.
    pub(super) requests: Vec<&'n str>,
    pub(super) blocks: Vec<Json<'a>>,
}

impl<'a> Message<'_, 'a> {
    pub(super) fn new(place: Place, speaker: Speaker, blocks: Vec<Json<'a>>) -> Self {
        Self { place, speaker, requests: Vec::new(), blocks }
    }
}

/// What was said, the lines of one speaker in a row as one message.
pub(super) fn merged<'n, 'a>(branch: &[&'n Node<'a>]) -> Vec<Message<'n, 'a>> {
    let mut messages = Vec::new();
    for node in branch {
        if let NodeKind::Piece(piece) = &node.kind {
            add(&mut messages, piece);
        }
    }
    messages
}

/// The same, with what the CLI said by itself before the user's own words, or behind them as the system.
pub(super) fn with_context(branch: &[&Node<'_>]) -> Vec<Element> {
    let mut history = History::default();
    for node in branch {
        match &node.kind {
            NodeKind::Context(context) => history.add_context(context),
            NodeKind::Piece(piece) => {
                if piece.speaker == Speaker::Assistant && !history.is_answering() {
                    history.close(node.place);
                }
                add(&mut history.open, piece);
            }
            NodeKind::Kept { .. } | NodeKind::Link => {}
        }
    }
    history.elements.extend(history.open.iter().map(element));
    history.elements
}

#[derive(Default)]
struct History<'n, 'a> {
    elements: Vec<Element>,
    /// Messages that context may still be added to.
    open: Vec<Message<'n, 'a>>,
    /// What the CLI says in the user's name.
    asides: Vec<Json<'a>>,
    instructions: Vec<Json<'a>>,
}

impl<'a> History<'_, 'a> {
    fn add_context(&mut self, context: &Context<'a>) {
        let texts = match context.speaker {
            Speaker::System => &mut self.instructions,
            Speaker::User | Speaker::Assistant => &mut self.asides,
        };
        texts.extend(context.texts.iter().cloned());
    }

    fn is_answering(&self) -> bool {
        self.open.last().is_some_and(|message| message.speaker == Speaker::Assistant)
    }

    /// Ends the user's side of a turn.
    fn close(&mut self, place: Place) {
        if !self.asides.is_empty() {
            if self.open.last().is_none_or(|message| message.speaker != Speaker::User) {
                self.open.push(Message::new(place, Speaker::User, Vec::new()));
            }
            if let Some(open) = self.open.last_mut() {
                open.blocks.splice(0..0, self.asides.drain(..));
            }
        }
        self.elements.extend(self.open.drain(..).map(|message| element(&message)));
        if !self.instructions.is_empty() {
            let blocks = std::mem::take(&mut self.instructions);
            self.elements.push(element(&Message::new(place, Speaker::System, blocks)));
        }
    }
}

fn add<'n, 'a>(messages: &mut Vec<Message<'n, 'a>>, piece: &'n Piece<'a>) {
    let blocks = piece.blocks.iter().cloned();
    match messages.last_mut() {
        Some(open) if open.speaker == piece.speaker => {
            open.blocks.extend(blocks);
            open.requests.extend(piece.request.as_deref());
        }
        _ => messages.push(Message {
            place: piece.place,
            speaker: piece.speaker,
            requests: piece.request.as_deref().into_iter().collect(),
            blocks: blocks.collect(),
        }),
    }
}

/// The blocks of a content; a text by itself stays one. None if it is neither a text nor a list.
pub(super) fn blocks<'a>(content: &Json<'a>) -> Option<Vec<Json<'a>>> {
    match content.kind() {
        Kind::String => Some(vec![content.clone()]),
        Kind::Array => list(content),
        _ => None,
    }
}

/// The text of a block, or of a content that is one.
pub(super) fn text_of<'a>(block: &Json<'a>) -> Option<Cow<'a, str>> {
    text(block).or_else(|| Members::of(block)?.text("text"))
}

/// The call that a block answers.
pub(super) fn answered_by<'a>(block: &Json<'a>) -> Option<Cow<'a, str>> {
    Members::of(block)?.text("tool_use_id")
}

/// The call that a block makes.
pub(super) fn called_by<'a>(block: &Json<'a>) -> Option<Cow<'a, str>> {
    let block = Members::of(block)?;
    block.text("id").filter(|_| block.text("type").is_some_and(|kind| kind == "tool_use"))
}

pub(super) fn element(message: &Message<'_, '_>) -> Element {
    let Message { place, speaker, blocks, .. } = message;
    let json = object(|it| {
        it.field("role", speaker.as_str());
        it.key("content");
        match &blocks[..] {
            [one] if one.kind() == Kind::String => it.value(one),
            // Results stand before whatever else is said with them.
            _ => it.array(|list| {
                let (results, others): (Vec<_>, Vec<_>) =
                    blocks.iter().partition(|block| answered_by(block).is_some());
                for block in results.into_iter().chain(others) {
                    match block.kind() {
                        Kind::String => list.object(|text| {
                            text.field("type", "text");
                            text.field("text", block);
                        }),
                        _ => list.value(block),
                    }
                }
            }),
        }
    });
    Element { place: *place, json }
}
