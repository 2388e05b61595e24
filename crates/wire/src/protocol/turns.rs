//! Turns: the messages of a request for protocols in which users and models speak by turns, and results come first.

use std::ops::Range;

use crate::conversation::{Content, Message, Part, Request, Role};
use crate::json::Text;
use crate::protocol::calls::Position;
use crate::protocol::placeholder::omitted;
use crate::protocol::semantics::NodeSemantics;
use crate::roles::PromptRole;

/// The conversation in turns, with the system prompt apart.
#[derive(Default)]
pub(super) struct Turns<'r> {
    pub(super) system: Vec<Piece<'r>>,
    pub(super) turns: Vec<Turn<'r>>,
    /// The pieces of all turns, one turn behind the other.
    pub(super) pieces: Vec<Piece<'r>>,
}

pub(super) struct Turn<'r> {
    pub(super) side: Side,
    /// Where its pieces stand among those of all turns.
    pub(super) pieces: Range<usize>,
    /// What rides on the message that it is, if that came in the protocol that is written.
    pub(super) semantics: Option<&'r NodeSemantics<'r>>,
    /// Whether a message behind it had nothing to say here. What follows stays apart, so that what was sent before stays as
    /// it was.
    pub(super) is_parted: bool,
    /// How many pieces there were whenever the model had its turn in between and said nothing that can be sent. They stay
    /// where they are for the same reason.
    pub(super) sent: Vec<usize>,
    /// Whether there are words among them, behind which no result may stand.
    has_sent_words: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    User,
    Assistant,
    System,
}

impl Side {
    pub(super) fn of(role: Role) -> Self {
        match role {
            Role::System | Role::Developer => Self::System,
            Role::User | Role::Tool => Self::User,
            Role::Assistant => Self::Assistant,
        }
    }

    pub(super) fn role(self) -> PromptRole {
        match self {
            Self::User => PromptRole::User,
            Self::Assistant => PromptRole::Assistant,
            Self::System => PromptRole::System,
        }
    }
}

/// A part that will be written, and how.
#[derive(Clone, Copy)]
pub(super) struct Piece<'r> {
    pub(super) at: Position,
    pub(super) part: &'r Part<'r>,
    pub(super) spelling: Spelling,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    Plain,
    /// A system message among the user's words, marked as one.
    Marked,
    /// Without the whitespace at its end.
    Trimmed,
    /// What cannot be sent, named by its kind.
    Omitted,
    /// Without its citations.
    Uncited,
    /// A block of another protocol by its words.
    InWords,
}

impl Piece<'_> {
    pub(super) fn is_call(&self) -> bool {
        matches!(self.part.content(), Content::ToolCall(_))
    }

    pub(super) fn is_result(&self) -> bool {
        matches!(self.part.content(), Content::ToolResult(_))
    }
}

/// A system text with the mark that shows what it is among the user's words.
/// Fixture `request/results/system-messages-behind-tool-results`.
pub(super) fn marked(text: &Text<'_>) -> Text<'static> {
    let mut marked = Text::plain("[system]\n");
    marked.push(text);
    marked
}

impl<'r> Turns<'r> {
    /// Room for what a request has to say.
    pub(super) fn with_room_for(request: &Request<'_>) -> Self {
        let parts = request.messages.iter().map(|message| message.parts.len()).sum();
        let turns = Vec::with_capacity(request.messages.len());
        Self { system: Vec::new(), turns, pieces: Vec::with_capacity(parts) }
    }

    pub(super) fn pieces_of(&self, turn: &Turn<'_>) -> &[Piece<'r>] {
        &self.pieces[turn.pieces.clone()]
    }

    /// Puts those parts of a message behind all pieces that `spelling` has one for, and answers from which number on they stand
    /// there. Of a user from whom nothing can be sent placeholders are left.
    #[inline]
    pub(super) fn admit(
        &mut self,
        index: usize,
        message: &'r Message<'r>,
        mut spelling: impl FnMut(&'r Part<'r>) -> Option<Spelling>,
    ) -> usize {
        let from = self.pieces.len();
        let piece = |at, part, spelling| Piece { at: (index, at), part, spelling };
        for (at, part) in message.parts.iter().enumerate() {
            if let Some(spelling) = spelling(part) {
                self.pieces.push(piece(at, part, spelling));
            }
        }
        if self.pieces.len() == from {
            let omitted = omitted(message);
            self.pieces.extend(omitted.map(|(at, part)| piece(at, part, Spelling::Omitted)));
        }
        from
    }

    /// Puts the pieces from a number on into the system prompt.
    pub(super) fn lift(&mut self, from: usize) {
        self.system.extend(self.pieces.drain(from..));
    }

    /// Makes a turn of the pieces from a number on.
    #[inline]
    pub(super) fn push(
        &mut self,
        side: Side,
        from: usize,
        semantics: Option<&'r NodeSemantics<'r>>,
    ) {
        let (pieces, sent) = (from..self.pieces.len(), Vec::new());
        let (is_parted, has_sent_words) = (false, false);
        self.turns.push(Turn { side, pieces, semantics, is_parted, sent, has_sent_words });
    }

    /// Makes a turn of the pieces from a number on, or adds them to the last. The results of one round share a turn, whatever
    /// stood between them. Fixture `request/results/dropped-item-between-results`.
    #[inline]
    pub(super) fn join(&mut self, side: Side, from: usize) {
        let begins_with_result = |at: usize| self.pieces.get(at).is_some_and(Piece::is_result);
        let takes_results = |turn: &Turn<'_>| {
            !turn.has_sent_words
                && begins_with_result(turn.pieces.start)
                && begins_with_result(from)
        };
        match self.turns.last_mut() {
            // What a model says in a row is one turn, whatever stood between: nobody was asked there.
            Some(turn)
                if turn.side == side
                    && (side == Side::Assistant || !turn.is_parted || takes_results(turn)) =>
            {
                turn.pieces.end = self.pieces.len();
            }
            _ => self.push(side, from, None),
        }
    }

    /// A side has its turn, and nothing of it can be sent.
    pub(super) fn part(&mut self, side: Side) {
        let Some(turn) = self.turns.last_mut() else { return };
        turn.is_parted = true;
        if side == Side::Assistant {
            let pieces = &self.pieces[turn.pieces.clone()];
            let begin = turn.sent.last().copied().unwrap_or_default();
            turn.has_sent_words |= !pieces[begin..].iter().all(Piece::is_result);
            turn.sent.push(pieces.len());
        }
    }
}

/// The rank of what is no result.
pub(super) const BEHIND_RESULTS: usize = usize::MAX;

/// The rank of a result without a call.
pub(super) const LAST_RESULT: usize = usize::MAX - 1;

/// Puts the pieces of a turn in the order of their ranks, those that were sent before the others; answers how they stood, if
/// any has moved.
pub(super) fn order<'r>(
    pieces: &mut [Piece<'r>],
    sent: &[usize],
    mut rank: impl FnMut(&Piece<'r>) -> usize,
) -> Option<Vec<Piece<'r>>> {
    let round = |index: usize| sent.partition_point(|end| *end <= index);
    let key = |(index, piece)| (round(index), rank(piece));
    let keys: Vec<(usize, usize)> = pieces.iter().enumerate().map(key).collect();
    if keys.is_sorted() {
        return None;
    }
    let before = pieces.to_vec();
    let mut order: Vec<usize> = (0..before.len()).collect();
    order.sort_by_key(|index| keys[*index]);
    pieces.iter_mut().zip(order).for_each(|(piece, index)| *piece = before[index]);
    Some(before)
}
