//! Writing the conversation: the system instruction and turns that alternate.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::conversation::{Content, Message, Part, Role};
use crate::json::{Text, Writer};
use crate::protocol::gemini::types::{AMONG_TURNS, SELF};
use crate::protocol::object::Object;
use crate::protocol::placeholder::placeholder;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::turns::{
    BEHIND_RESULTS, LAST_RESULT, Piece, Side, Spelling, Turns, marked, order,
};
use crate::protocol::words::in_words;
use crate::roles::{ProviderType, wire_role};
use crate::target::LateSystem;

use super::Scribe;

impl<'x> Scribe<'x, '_> {
    /// Sorts the messages of this protocol into the system instruction and the turns.
    pub(super) fn same_turns(&self) -> Turns<'x> {
        let request = &self.decoded.request;
        let mut turns = Turns::with_room_for(request);
        for (index, message) in request.messages.iter().enumerate() {
            let from = turns.admit(index, message, |_| Some(Spelling::Plain));
            match Side::of(message.role) {
                Side::System if is_slot(message) => turns.lift(from),
                Side::System | Side::User => {
                    turns.push(Side::User, from, Some(message.semantics()))
                }
                Side::Assistant => turns.push(Side::Assistant, from, Some(message.semantics())),
            }
        }
        turns
    }

    /// The same for those of another.
    pub(super) fn foreign_turns(&mut self) -> Turns<'x> {
        let request = &self.decoded.request;
        let mut turns = Turns::with_room_for(request);
        for (index, message) in request.messages.iter().enumerate() {
            let leading = turns.turns.is_empty();
            let instructs = message.role.instructs();
            if instructs && (leading || !self.inlines()) {
                self.instruct(leading, index, message, &mut turns);
                turns.part(Side::System);
                continue;
            }
            let side = if message.role == Role::Assistant { Side::Assistant } else { Side::User };
            if instructs {
                let reason = "instructions among the turns become marked text";
                self.reporter.approximated(message, reason);
            }
            let from = turns.admit(index, message, |part| match part.content() {
                Content::Text(_) if instructs => Some(Spelling::Marked),
                _ => self.spelling(part),
            });
            if from < turns.pieces.len() {
                turns.join(side, from);
                continue;
            }
            if turns.turns.last().is_some_and(|last| last.side != side) {
                turns.part(side);
            }
            if !message.is_blank() {
                self.reporter.dropped(message, "nothing of the message can be sent");
            }
        }
        self.reporter.turn_home();
        self.order_results(&mut turns);
        turns
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
        turns: &mut Turns<'x>,
    ) {
        let from = turns.admit(index, message, |part| self.spelling(part));
        if !turns.pieces[from..].iter().any(is_text) {
            self.reporter.implied(message, "a message without text is left out");
        } else if !leading {
            let reason = "instructions among the turns are lifted to the system instruction";
            self.reporter.approximated(message, reason);
        }
        for piece in turns.pieces[from..].iter().filter(|piece| !is_text(piece)) {
            self.reporter.dropped(piece.part, "the system instruction holds text alone");
        }
        turns.system.extend(turns.pieces.drain(from..).filter(is_text));
    }

    /// How a part of another protocol's message is written here; one that is not is reported.
    fn spelling(&mut self, part: &Part<'_>) -> Option<Spelling> {
        self.admits(part).then(|| match part.content() {
            Content::Opaque(opaque) if opaque.protocol != SELF => Spelling::InWords,
            _ => Spelling::Plain,
        })
    }

    /// Puts results first and in the order of their calls, which is how the vendor pairs them.
    /// Fixture `request/results/results-out-of-order-return-in-call-order`.
    fn order_results(&mut self, turns: &mut Turns<'x>) {
        let mut calls: Vec<&Text<'x>> = Vec::new();
        for turn in &turns.turns {
            let pieces = &mut turns.pieces[turn.pieces.clone()];
            if turn.side == Side::Assistant {
                calls.clear();
                calls.extend(pieces.iter().filter_map(call_id));
                continue;
            }
            if pieces.len() < 2 {
                continue;
            }
            // The first call of an id is the one that its result answers.
            let ranked = calls.iter().enumerate().rev().map(|(rank, id)| (*id, rank));
            let ranks: BTreeMap<_, _> = ranked.collect();
            let before = order(pieces, &turn.sent, |piece| rank(piece, &ranks));
            for (piece, before) in pieces.iter().zip(before.iter().flatten()) {
                if piece.at != before.at {
                    // A message of its own moves as a whole.
                    let place = written(piece).semantics().place().of_item();
                    self.reporter.renamed(place, "results come first, in the order of their calls");
                }
            }
        }
    }

    /// Writes the system instruction. One of this protocol stays, though it be empty.
    pub(super) fn system(&mut self, body: &mut Object<'_, '_>, pieces: &[Piece<'x>]) {
        let mut messages = self.decoded.request.messages.iter().filter(|_| self.is_same());
        let slot = messages.find(|message| is_slot(message)).map(Message::semantics);
        if slot.is_some() || !pieces.is_empty() {
            self.content(body.key("systemInstruction"), (Side::System, slot), pieces);
        }
    }

    /// Writes a turn, or the system instruction.
    pub(super) fn content(
        &mut self,
        writer: &mut Writer,
        (side, semantics): (Side, Option<&NodeSemantics<'_>>),
        pieces: &[Piece<'x>],
    ) {
        let extras = semantics.and_then(NodeSemantics::extras);
        let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
        if side != Side::System {
            object.word_unless_kept("role", wire_role(side.role(), ProviderType::Gemini));
        }
        object.key("parts").array(|parts| self.pieces(parts, pieces));
        object.close();
    }
}

/// Whether a message of this protocol stands in the slot for instructions.
fn is_slot(message: &Message<'_>) -> bool {
    message.role.instructs() && !message.semantics().has_shape(AMONG_TURNS)
}

/// The part that a piece is written as.
pub(super) fn written<'x>(piece: &Piece<'x>) -> Cow<'x, Part<'x>> {
    let instead = match (piece.spelling, piece.part.content()) {
        (Spelling::Omitted, _) => Some(placeholder(piece.part)),
        (Spelling::InWords, _) => in_words(piece.part),
        (Spelling::Marked, Content::Text(text)) => Some(Part::text(marked(text))),
        _ => None,
    };
    instead.map_or(Cow::Borrowed(piece.part), Cow::Owned)
}

fn is_text(piece: &Piece<'_>) -> bool {
    piece.spelling == Spelling::InWords || matches!(piece.part.content(), Content::Text(_))
}

fn call_id<'x>(piece: &Piece<'x>) -> Option<&'x Text<'x>> {
    match piece.part.content() {
        Content::ToolCall(call) => call.id.as_ref(),
        _ => None,
    }
}

/// Results by their calls, then everything else; equal ranks keep their order.
fn rank(piece: &Piece<'_>, calls: &BTreeMap<&Text<'_>, usize>) -> usize {
    match piece.part.content() {
        Content::ToolResult(result) => {
            let call = result.call_id.as_ref().and_then(|id| calls.get(id));
            call.copied().unwrap_or(LAST_RESULT)
        }
        _ => BEHIND_RESULTS,
    }
}
