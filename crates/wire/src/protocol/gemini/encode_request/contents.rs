//! Writing the conversation: the system instruction and turns that alternate.

use std::collections::BTreeMap;
use std::ops::Deref;

use smallvec::SmallVec;

use crate::conversation::{Content, Message, Part, Role};
use crate::json::{Text, Writer};
use crate::protocol::calls::Position;
use crate::protocol::gemini::types::AMONG_TURNS;
use crate::protocol::object::Object;
use crate::protocol::placeholder::{omitted, placeholder};
use crate::roles::{PromptRole, ProviderType, wire_role};
use crate::target::LateSystem;

use super::Scribe;

/// One content: what is written of one message, or of several that follow each other on one side.
pub(super) struct Turn<'x> {
    pub(super) side: Side,
    /// The message whose undeclared fields come back, on the same protocol.
    pub(super) message: Option<&'x Message<'x>>,
    pub(super) pieces: Pieces<'x>,
    /// Whether the other side has spoken since, though none of it could be sent. What follows begins a turn of its own, so
    /// that a conversation that grows does not change what it began with.
    parted: bool,
    /// How many pieces there were whenever the model had its turn in between. They stay where they are for the same reason.
    sent: Vec<usize>,
    /// Whether there are words among them, behind which no result may stand.
    has_sent_words: bool,
}

impl<'x> Turn<'x> {
    fn of(side: Side, pieces: Pieces<'x>) -> Self {
        Self { side, message: None, pieces, parted: false, sent: Vec::new(), has_sent_words: false }
    }

    /// Whether more of the same side may stand in it. The results of one round must, whatever stood between them: the
    /// vendor wants as many in the next content as there were calls. Fixture `request/results/dropped-item-between-results`.
    fn takes(&self, pieces: &[Piece<'x>]) -> bool {
        let begins_with_result = |pieces: &[Piece<'_>]| pieces.first().is_some_and(is_result);
        let takes_results = begins_with_result(&self.pieces) && !self.has_sent_words;
        !self.parted || takes_results && begins_with_result(pieces)
    }

    /// The other side has its turn.
    fn send(&mut self) {
        let begin = self.sent.last().copied().unwrap_or_default();
        self.has_sent_words |= !self.pieces[begin..].iter().all(is_result);
        self.sent.push(self.pieces.len());
    }

    /// The pieces that were sent at once, and those behind them.
    fn rounds(&mut self) -> impl Iterator<Item = &mut [Piece<'x>]> {
        let (mut rest, mut begin) = (&mut *self.pieces, 0);
        let ends = self.sent.iter().copied().chain([usize::MAX]);
        ends.map(move |end| {
            let len = rest.len().min(end - begin);
            let (round, behind) = std::mem::take(&mut rest).split_at_mut(len);
            (rest, begin) = (behind, end);
            round
        })
    }
}

/// Most turns have one part or two, which need no memory of their own.
pub(super) type Pieces<'x> = SmallVec<[Piece<'x>; 2]>;

/// A part and where it stands in the request.
pub(super) struct Piece<'x> {
    pub(super) at: Position,
    pub(super) part: WrittenPart<'x>,
}

/// A part of the request, or one that is written in its place.
pub(super) enum WrittenPart<'x> {
    Own(&'x Part<'x>),
    Instead(Box<Part<'x>>),
}

impl<'x> WrittenPart<'x> {
    pub(super) fn instead(part: Part<'x>) -> Self {
        Self::Instead(Box::new(part))
    }
}

impl<'x> Deref for WrittenPart<'x> {
    type Target = Part<'x>;

    fn deref(&self) -> &Part<'x> {
        match self {
            Self::Own(part) => part,
            Self::Instead(part) => part,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    System,
    User,
    Model,
}

impl<'x> Scribe<'x, '_> {
    /// Sorts the messages into the system instruction and the turns.
    pub(super) fn turns(&mut self) -> (Option<Turn<'x>>, Vec<Turn<'x>>) {
        match self.is_same() {
            true => self.same_turns(),
            false => self.foreign_turns(),
        }
    }

    fn same_turns(&self) -> (Option<Turn<'x>>, Vec<Turn<'x>>) {
        let (mut system, mut turns) = (None, Vec::new());
        for (index, message) in self.decoded.request.messages.iter().enumerate() {
            let among_turns = message.semantics().has_shape(AMONG_TURNS);
            let side = match message.role {
                Role::System | Role::Developer if !among_turns => Side::System,
                Role::Assistant => Side::Model,
                Role::System | Role::Developer | Role::User | Role::Tool => Side::User,
            };
            let pieces = pieces(index, message).collect();
            let turn = Turn { message: Some(message), ..Turn::of(side, pieces) };
            match (side, &mut system) {
                (Side::System, None) => system = Some(turn),
                (Side::System, Some(first)) => first.pieces.extend(turn.pieces),
                (Side::User | Side::Model, _) => turns.push(turn),
            }
        }
        (system, turns)
    }

    fn foreign_turns(&mut self) -> (Option<Turn<'x>>, Vec<Turn<'x>>) {
        let mut system = Turn::of(Side::System, Pieces::new());
        let mut turns: Vec<Turn<'x>> = Vec::with_capacity(self.decoded.request.messages.len());
        for (index, message) in self.decoded.request.messages.iter().enumerate() {
            let leading = turns.is_empty();
            if message.role.instructs() && (leading || !self.inlines()) {
                self.instruct(leading, index, message, &mut system);
                if let Some(last) = turns.last_mut() {
                    last.parted = true;
                }
                continue;
            }
            let (side, pieces) = match message.role {
                Role::System | Role::Developer => {
                    let marked = self.marked(index, message);
                    (Side::User, self.admitted(marked.into_iter()))
                }
                Role::User | Role::Tool => {
                    let mut admitted = self.admitted(pieces(index, message));
                    if admitted.is_empty() {
                        let placeholders =
                            omitted(message).map(|(at, part)| (at, placeholder(part)));
                        let piece = |(at, part)| Piece {
                            at: (index, at),
                            part: WrittenPart::instead(part),
                        };
                        admitted.extend(placeholders.map(piece));
                    }
                    (Side::User, admitted)
                }
                Role::Assistant => (Side::Model, self.admitted(pieces(index, message))),
            };
            self.join(&mut turns, side, message, pieces);
        }
        self.reporter.turn_home();
        self.order_results(&mut turns);
        let system = (!system.pieces.is_empty()).then_some(system);
        (system, turns)
    }

    /// Whether late instructions stay in their place. Agents put one behind every tool result: lifted, each would change
    /// the prompt's first bytes and cost all of its cache.
    fn inlines(&self) -> bool {
        match self.target.late_system {
            LateSystem::Native => !self.decoded.request.tools.is_empty(),
            LateSystem::Inline => true,
            LateSystem::Lift => false,
        }
    }

    /// Puts instructions into the slot, late ones with a word about it.
    fn instruct(
        &mut self,
        leading: bool,
        index: usize,
        message: &'x Message<'x>,
        system: &mut Turn<'x>,
    ) {
        let pieces = self.admitted(pieces(index, message));
        if !pieces.iter().any(|piece| matches!(piece.part.content(), Content::Text(_))) {
            self.reporter.implied(message, "a message without text is left out");
        } else if !leading {
            let reason = "instructions among the turns are lifted to the system instruction";
            self.reporter.approximated(message, reason);
        }
        for piece in pieces {
            match piece.part.content() {
                Content::Text(_) => system.pieces.push(piece),
                _ => {
                    self.reporter.dropped(&*piece.part, "the system instruction holds text alone");
                }
            }
        }
    }

    /// Late instructions where they stand, as text with a visible mark.
    fn marked(&mut self, index: usize, message: &'x Message<'x>) -> Vec<Piece<'x>> {
        let reason = "instructions among the turns become marked text";
        self.reporter.approximated(message, reason);
        let mark = |piece: Piece<'x>| match piece.part.content() {
            Content::Text(text) => {
                let mut marked = Text::plain(SYSTEM_MARK);
                marked.push(text);
                Piece { at: piece.at, part: WrittenPart::instead(Part::text(marked)) }
            }
            _ => piece,
        };
        pieces(index, message).map(mark).collect()
    }

    /// Adds a message to the turn before it, if that is on the same side, else begins a turn.
    fn join(
        &mut self,
        turns: &mut Vec<Turn<'x>>,
        side: Side,
        message: &'x Message<'x>,
        pieces: Pieces<'x>,
    ) {
        if pieces.is_empty() {
            let other = turns.last_mut().filter(|last| last.side != side);
            if let Some(other) = other {
                other.parted = true;
                if side == Side::Model {
                    other.send();
                }
            }
            if !message.is_blank() {
                let reason = "nothing of the message can be sent";
                self.reporter.dropped(message, reason);
            }
            return;
        }
        match turns.last_mut() {
            // What a model says in a row is one turn, whatever stood between: nobody was asked there.
            Some(last) if last.side == side && (side == Side::Model || last.takes(&pieces)) => {
                last.pieces.extend(pieces);
            }
            // Others stay apart, so that what was sent before stays as it was.
            _ => turns.push(Turn::of(side, pieces)),
        }
    }

    /// Puts results first and in the order of their calls, which is how the vendor pairs them.
    /// Fixture `request/results/results-out-of-order-return-in-call-order`.
    fn order_results(&mut self, turns: &mut [Turn<'x>]) {
        let mut calls: Vec<&Text<'x>> = Vec::new();
        for turn in turns {
            if turn.side == Side::Model {
                calls.clear();
                calls.extend(turn.pieces.iter().filter_map(call_id));
                continue;
            }
            if turn.pieces.len() < 2 {
                continue;
            }
            // The first call of an id is the one that its result answers.
            let ranked = calls.iter().enumerate().rev().map(|(rank, id)| (*id, rank));
            let ranks: BTreeMap<_, _> = ranked.collect();
            if turn.pieces.is_sorted_by_key(|piece| rank(piece, &ranks)) {
                continue;
            }
            let before: Vec<Position> = turn.pieces.iter().map(|piece| piece.at).collect();
            turn.rounds().for_each(|round| round.sort_by_cached_key(|piece| rank(piece, &ranks)));
            for (piece, at) in turn.pieces.iter().zip(before) {
                if piece.at != at {
                    // A message of its own moves as a whole.
                    let place = piece.part.semantics().place().of_item();
                    self.reporter.renamed(place, "results come first, in the order of their calls");
                }
            }
        }
    }

    /// Writes a turn, or the system instruction.
    pub(super) fn content(&mut self, writer: &mut Writer, turn: &Turn<'x>) {
        let extras = turn.message.and_then(|message| message.semantics().extras());
        let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
        let role = match turn.side {
            Side::System => None,
            Side::User => Some(PromptRole::User),
            Side::Model => Some(PromptRole::Assistant),
        };
        if let Some(role) = role {
            object.unless_kept("role", wire_role(role, ProviderType::Gemini));
        }
        let parts = object.key("parts");
        parts.begin_array();
        self.pieces(parts, &turn.pieces);
        parts.end_array();
        object.close();
    }
}

/// What stands before instructions that are written into a user's turn.
/// Fixture `request/results/system-messages-behind-tool-results`.
const SYSTEM_MARK: &str = "[system]\n";

fn pieces<'x>(index: usize, message: &'x Message<'x>) -> impl ExactSizeIterator<Item = Piece<'x>> {
    let piece = move |(at, part)| Piece { at: (index, at), part: WrittenPart::Own(part) };
    message.parts.iter().enumerate().map(piece)
}

pub(super) fn is_result(piece: &Piece<'_>) -> bool {
    matches!(piece.part.content(), Content::ToolResult(_))
}

fn call_id<'x>(piece: &Piece<'x>) -> Option<&'x Text<'x>> {
    let WrittenPart::Own(part) = piece.part else { return None };
    match part.content() {
        Content::ToolCall(call) => call.id.as_ref(),
        _ => None,
    }
}

/// Results by their calls, then everything else; equal ranks keep their order.
fn rank(piece: &Piece<'_>, calls: &BTreeMap<&Text<'_>, usize>) -> usize {
    match piece.part.content() {
        Content::ToolResult(result) => {
            let call = result.call_id.as_ref().and_then(|id| calls.get(id));
            call.copied().unwrap_or(usize::MAX - 1)
        }
        _ => usize::MAX,
    }
}
