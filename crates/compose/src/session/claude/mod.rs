//! Sessions of Claude Code: lines that each name the line before them, so that a file is a tree. One branch of it is the
//! conversation; newer versions also note what exactly they sent.

mod branch;
mod message;
mod sent;

use std::borrow::Cow;

use super::SessionReader;
use super::draft::{Draft, is_typed};
use super::error::SessionError;
use super::line::{Line, Members, list, text};
use super::place::Place;
use message::{Context, Piece, Speaker};
use sent::Sent;

/// A line of such a file.
pub(super) fn is_own(line: &Members<'_>) -> bool {
    let is_typed = line.text("type").is_some();
    is_typed && (line.text("sessionId").is_some() || line.text("leafUuid").is_some())
}

/// Lines by which the CLI remembers how it stands; none of them is said to the model.
const NOTES: [&str; 13] = [
    "queue-operation",
    "last-prompt",
    "atis-latch",
    "tools-used",
    "cost-state",
    "mode",
    "permission-mode",
    "file-history-snapshot",
    "progress",
    "pr-link",
    "tag",
    "agent-name",
    "agent-color",
];

/// One line of the tree.
pub(super) struct Node<'a> {
    place: Place,
    uuid: Option<Cow<'a, str>>,
    parent: Option<Cow<'a, str>>,
    /// Whether the conversation was compacted here: it goes on from a summary.
    is_compaction: bool,
    /// Whether a sub-agent's line.
    is_aside: bool,
    kind: NodeKind<'a>,
}

impl<'a> Node<'a> {
    fn piece(&self) -> Option<&Piece<'a>> {
        match &self.kind {
            NodeKind::Piece(piece) => Some(piece),
            NodeKind::Context(_) | NodeKind::Kept { .. } | NodeKind::Link => None,
        }
    }
}

enum NodeKind<'a> {
    Piece(Piece<'a>),
    /// What the CLI sends to the model beside what the user says.
    Context(Context<'a>),
    /// The lines that a compaction kept, and the line that they stand behind.
    Kept {
        anchor: Option<Cow<'a, str>>,
        lines: Vec<Cow<'a, str>>,
    },
    /// Nothing but a link between others.
    Link,
}

#[derive(Default)]
pub(super) struct Claude<'a> {
    draft: Draft<'a>,
    nodes: Vec<Node<'a>>,
    sent: Sent<'a>,
    /// The id of the sub-agent that the lines are of.
    agent_id: Option<Cow<'a, str>>,
}

impl<'a> SessionReader<'a> for Claude<'a> {
    fn line(&mut self, line: Line<'a>) -> Result<(), SessionError> {
        let members = &line.members;
        self.draft.id = members.text("sessionId").or(self.draft.id.take());
        let kind = members.text("type");
        match kind.as_deref() {
            Some("user") => self.add_piece(&line, Speaker::User)?,
            Some("assistant") => self.add_piece(&line, Speaker::Assistant)?,
            Some("attachment") => self.push(&line, NodeKind::Context(Context::of(members))),
            Some("system") => self.push(&line, kept(members)),
            Some("summary") => self.name(members.text("summary")),
            Some("custom-title") => self.name(members.text("customTitle")),
            Some("ai-title") => self.name(members.text("aiTitle")),
            Some("api-request") => self.sent.add_request(members),
            Some("api-request-blob") => self.sent.add_message(members),
            Some("api-request-shape") => self.sent.add_shape(members),
            Some(note) if NOTES.contains(&note) => {}
            other => self.draft.left_out.add_unknown(other),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Draft<'a>, SessionError> {
        if self.is_aside() {
            self.nodes.iter_mut().for_each(|node| node.is_aside = false);
            self.draft.id = self.agent_id.take().or(self.draft.id.take());
        }
        let all = self.nodes.iter().filter(|node| !node.is_aside).filter_map(Node::piece);
        self.draft.first_words = all.clone().find_map(first_words);
        let branch = branch::of(&self.nodes, &mut self.draft.left_out);
        self.draft.settings = self.sent.settings(branch.iter().filter_map(|node| node.piece()));
        let messages = message::merged(&branch);
        let exact = self.sent.history(&messages);
        self.draft.elements = match exact {
            Some(elements) => elements,
            None => {
                let unwritten = branch.iter().filter(|node| is_unrendered(node)).count();
                self.draft.left_out.add_many("notes to the model without their text", unwritten);
                message::with_context(&branch)
            }
        };
        Ok(self.draft)
    }
}

impl<'a> Claude<'a> {
    fn add_piece(&mut self, line: &Line<'a>, speaker: Speaker) -> Result<(), SessionError> {
        let message = line.object("message")?;
        if line.members.is_true("isApiErrorMessage") {
            self.draft.left_out.add("errors that the CLI showed");
            self.push(line, NodeKind::Link);
            return Ok(());
        }
        let Some(content) = message.get("content") else {
            return Err(SessionError::at(line.number, "expected `content` in `message`"));
        };
        let piece = Piece {
            place: line.place(),
            speaker,
            id: message.text("id"),
            request: line.members.text("requestRef"),
            blocks: message::blocks(content).ok_or_else(|| {
                SessionError::at(line.number, "expected a text or a list as `content` of `message`")
            })?,
        };
        self.push(line, NodeKind::Piece(piece));
        Ok(())
    }

    fn push(&mut self, line: &Line<'a>, kind: NodeKind<'a>) {
        let members = &line.members;
        self.agent_id = self.agent_id.take().or_else(|| members.text("agentId"));
        self.nodes.push(Node {
            place: line.place(),
            uuid: members.text("uuid"),
            parent: members.text("parentUuid"),
            is_compaction: members.text("subtype").is_some_and(|kind| kind == "compact_boundary"),
            is_aside: members.is_true("isSidechain"),
            kind,
        });
    }

    fn name(&mut self, name: Option<Cow<'a, str>>) {
        self.draft.name = name.or(self.draft.name.take());
    }

    /// Whether the file is a sub-agent's own.
    fn is_aside(&self) -> bool {
        self.nodes.iter().filter(|node| node.piece().is_some()).all(|node| node.is_aside)
    }
}

fn kept<'a>(line: &Members<'a>) -> NodeKind<'a> {
    let facts = line.object("compactMetadata");
    let Some(kept) = facts.and_then(|it| it.object("preservedMessages")) else {
        return NodeKind::Link;
    };
    let lines = kept.get("uuids").and_then(list).unwrap_or_default();
    NodeKind::Kept {
        anchor: kept.text("anchorUuid"),
        lines: lines.iter().filter_map(text).collect(),
    }
}

fn first_words<'a>(piece: &Piece<'a>) -> Option<Cow<'a, str>> {
    let texts = piece.blocks.iter().filter_map(message::text_of);
    texts.filter(|_| piece.speaker == Speaker::User).find(|words| is_typed(words))
}

/// Whether it sent the model something that the file does not hold.
fn is_unrendered(node: &Node<'_>) -> bool {
    matches!(&node.kind, NodeKind::Context(context) if context.is_unrendered())
}
