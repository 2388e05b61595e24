//! Turns: the messages of another protocol as this one wants them, users and assistants by turns.

use super::media;
use crate::conversation::{Content, Message, Part, Request, Role};
use crate::json::Text;
use crate::loss::LossKind;
use crate::protocol::Field;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::turns::{Piece, Side, Spelling, Turns};
use crate::target::{LateSystem, Target};

impl<'r> Turns<'r> {
    pub(super) fn of(
        request: &'r Request<'r>,
        target: &'r Target,
        reporter: &mut Reporter<'_>,
    ) -> Self {
        let turns = Self::with_room_for(request);
        let mut gathering = Gathering { target, reporter, turns, held: Vec::new(), moved: 0 };
        let leading = request.messages.iter().take_while(|it| it.role.instructs()).count();
        for (index, message) in request.messages.iter().enumerate() {
            gathering.reporter.turn_to(message.semantics().place());
            if index < leading {
                gathering.report_role(message);
                gathering.lift(index, message);
            } else {
                gathering.add(index, message);
            }
        }
        gathering.settle();
        gathering.end();
        gathering.reporter.turn_home();
        gathering.turns
    }

    /// Whether the last turn of the assistant calls tools without having thought.
    pub(super) fn lack_thinking(&self) -> bool {
        let last = self.turns.iter().rfind(|turn| turn.side == Side::Assistant);
        let pieces = last.map_or(&[] as &[_], |turn| self.pieces_of(turn));
        let thinks = |piece: &Piece<'_>| matches!(piece.part.content(), Content::Reasoning(_));
        pieces.iter().any(Piece::is_call) && !pieces.iter().any(thinks)
    }

    /// How many cache marks there are.
    pub(super) fn marks(&self) -> usize {
        self.system.iter().chain(&self.pieces).map(|piece| marks_of(piece.part)).sum()
    }
}

fn marks_of(part: &Part<'_>) -> usize {
    let inner = match part.content() {
        Content::ToolResult(result) => result.output.parts().iter().map(marks_of).sum(),
        _ => 0,
    };
    inner + usize::from(part.semantics().cache().is_some())
}

/// Turns in the making.
struct Gathering<'r, 'g, 'l> {
    target: &'r Target,
    reporter: &'g mut Reporter<'l>,
    turns: Turns<'r>,
    /// Late system messages that wait for the end of the user's turn.
    held: Vec<(usize, &'r Message<'r>)>,
    /// How many of them the user has spoken behind.
    moved: usize,
}

impl<'r> Gathering<'r, '_, '_> {
    /// Puts a message into the system prompt.
    fn lift(&mut self, index: usize, message: &'r Message<'r>) {
        let from = self.admit(Side::System, index, message);
        self.turns.lift(from);
    }

    fn report_role(&mut self, message: &Message<'_>) {
        // An item that only its own protocol has is nobody's.
        let is_opaque = |part: &Part<'_>| matches!(part.content(), Content::Opaque(_));
        let speaks = message.parts.is_empty() || !message.parts.iter().all(is_opaque);
        if message.role == Role::Developer && speaks {
            let reason = "developer messages are sent as system messages";
            self.reporter.approximated((message, Field::Role), reason);
        }
    }

    fn add(&mut self, index: usize, message: &'r Message<'r>) {
        let side = Side::of(message.role);
        match side {
            Side::System => return self.late(index, message),
            Side::User => {}
            Side::Assistant => {
                self.settle();
                self.reporter.turn_to(message.semantics().place());
            }
        }
        let before = self.turns.pieces.len();
        self.take(side, index, message);
        if before < self.turns.pieces.len() {
            self.moved = self.held.len();
        }
    }

    fn late(&mut self, index: usize, message: &'r Message<'r>) {
        if message.parts.iter().all(|part| matches!(part.content(), Content::Opaque(_))) {
            return self.take(Side::System, index, message);
        }
        match self.target.late_system {
            LateSystem::Lift => {
                self.reporter.approximated(message, "lifted to the beginning, as configured");
                self.lift(index, message);
            }
            LateSystem::Native if self.target.family.system_among_turns => {
                self.held.push((index, message));
            }
            LateSystem::Native | LateSystem::Inline => self.mark(index, message),
        }
    }

    /// Puts a system message among the user's words.
    fn mark(&mut self, index: usize, message: &'r Message<'r>) {
        self.reporter.approximated(message, "a late system message is marked text of the user");
        let from = self.admit(Side::System, index, message);
        let pieces = &mut self.turns.pieces[from..];
        pieces.iter_mut().for_each(|piece| piece.spelling = Spelling::Marked);
        self.extend(Side::User, from);
    }

    /// Places the late system messages: the role is legal only right after the user's turn.
    fn settle(&mut self) {
        let follows_user = self.turns.turns.last().is_some_and(|turn| turn.side == Side::User);
        let moved = std::mem::take(&mut self.moved);
        for (rank, (index, message)) in std::mem::take(&mut self.held).into_iter().enumerate() {
            self.reporter.turn_to(message.semantics().place());
            if !follows_user {
                self.mark(index, message);
                continue;
            }
            self.report_role(message);
            if rank < moved {
                let reason = "moved behind the user's turn, the nearest legal place";
                self.reporter.renamed(message, reason);
            }
            self.take(Side::System, index, message);
        }
    }

    /// Adds what can be sent of a message to the turns of a side.
    #[inline]
    fn take(&mut self, side: Side, index: usize, message: &'r Message<'r>) {
        let from = self.admit(side, index, message);
        self.extend(side, from);
    }

    /// Makes a turn of the pieces from a number on, or adds them to the last.
    #[inline]
    fn extend(&mut self, side: Side, from: usize) {
        if from == self.turns.pieces.len() {
            return self.turns.part(side);
        }
        self.turns.join(side, from);
        // Behind results that share a turn stands whatever the user says next.
        if let Some(turn) = self.turns.turns.last_mut() {
            turn.is_parted = false;
        }
    }

    /// Puts what a side says of a message behind all pieces, and answers from which number on it stands there.
    #[inline]
    fn admit(&mut self, side: Side, index: usize, message: &'r Message<'r>) -> usize {
        let Self { target, reporter, turns, .. } = self;
        turns.admit(index, message, |part| {
            admits(part, side, target, reporter).then_some(Spelling::Plain)
        })
    }

    /// Sees to an assistant who has the last word: older models go on from there, newer ones refuse.
    /// Fixture `request/roles/last-word-of-the-assistant`.
    fn end(&mut self) {
        let Some(turn) = self.turns.turns.last() else { return };
        let pieces = &mut self.turns.pieces[turn.pieces.clone()];
        if turn.side != Side::Assistant || pieces.iter().any(Piece::is_call) {
            return;
        }
        if self.target.family.prefill {
            if let Some(piece) = pieces.last_mut() {
                trim(piece, self.reporter);
            }
        } else if self.turns.turns.len() > 1 {
            let reason = "the model does not continue an assistant message";
            for piece in self.turns.pieces.drain(turn.pieces.start..) {
                self.reporter.dropped(piece.part, reason);
            }
            self.turns.turns.pop();
        }
    }
}

fn trim(piece: &mut Piece<'_>, reporter: &mut Reporter<'_>) {
    let Content::Text(text) = piece.part.content() else { return };
    if text.to_str().ends_with(char::is_whitespace) {
        piece.spelling = Spelling::Trimmed;
        let reason = "a final assistant text must not end in whitespace";
        reporter.repaired((piece.part, Field::Text), reason);
    }
}

/// Whether a part can be written on a side, with what is lost of it reported.
pub(super) fn admits(
    part: &Part<'_>,
    side: Side,
    target: &Target,
    reporter: &mut Reporter<'_>,
) -> bool {
    let semantics = part.semantics();
    let place = semantics.place();
    if semantics.citations().iter().any(|citation| citation.protocol() != SELF) {
        reporter.dropped((place, Field::Citations), "citations in another vendor's format");
    }
    let is_ours = semantics.artefact().is_some_and(|artefact| artefact.issuer() == SELF);
    let (kind, reason) = match part.content() {
        Content::Text(text) | Content::Refusal(text) => {
            withhold(semantics, reporter);
            return !is_blank(text, semantics, reporter);
        }
        Content::ToolCall(_) | Content::ToolResult(_) if side != Side::System => {
            withhold(semantics, reporter);
            return true;
        }
        Content::Media(_) if reporter.is_same() => return true,
        Content::Media(inner) if side == Side::User => {
            return media::admits(inner, place, &target.family, reporter);
        }
        Content::Reasoning(_) if side == Side::Assistant && is_ours => return true,
        Content::Opaque(opaque) if opaque.protocol == SELF => return true,
        Content::Reasoning(_) | Content::Opaque(_) if semantics.artefact().is_some() => {
            (LossKind::Withheld, "only its own vendor can read it")
        }
        Content::Reasoning(_) => (LossKind::Dropped, "thinking without a signature is refused"),
        Content::Opaque(opaque) => match opaque.json.reader().peek_tag("encrypted_content") {
            Ok(Some(_)) => (LossKind::Withheld, "only its own vendor can read it"),
            Ok(None) | Err(_) => (LossKind::Dropped, "only its own vendor has it"),
        },
        Content::Media(_) | Content::ToolCall(_) | Content::ToolResult(_) => {
            (LossKind::Dropped, "not available for this role")
        }
    };
    reporter.lose(place, kind, reason);
    false
}

fn withhold(semantics: &NodeSemantics<'_>, reporter: &mut Reporter<'_>) {
    if semantics.artefact().is_some() {
        let reason = "a signature that only its own vendor can read";
        reporter.withheld((semantics.sealed_at(), Field::Signature), reason);
    }
}

fn is_blank(text: &Text<'_>, semantics: &NodeSemantics<'_>, reporter: &mut Reporter<'_>) -> bool {
    if !text.is_blank() {
        return false;
    }
    let (kind, reason) = if text.is_empty() {
        (LossKind::Implied, "an empty text has no effect")
    } else {
        (LossKind::Repaired, "Messages refuses text of whitespace alone")
    };
    // The messages of an assistant are items there, which vanish with their words.
    let is_whole =
        semantics.item().is_some() || semantics.place().pointer("").ends_with("/content");
    let place = if is_whole { reporter.outer(semantics.place()) } else { semantics.place() };
    reporter.lose(place, kind, reason);
    true
}
