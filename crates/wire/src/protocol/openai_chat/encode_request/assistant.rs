//! Writing the turns of the model: one message with its words, its calls and the reasoning that goes back.

use crate::conversation::{Content, MediaKind, Message, Part};
use crate::protocol::Field;
use crate::protocol::calls::Position;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::decode_request::message::reasoning_details;
use crate::protocol::openai_chat::encode_request::message;
use crate::protocol::openai_chat::encode_request::message::{Fields, Names, call_signature};
use crate::protocol::openai_chat::encode_request::turns::{Few, Placed, Turns};
use crate::protocol::openai_chat::types::{SELF, Shape, shape};
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::target::{ReasoningField, ReasoningReplay};

impl Turns<'_, '_, '_> {
    pub(super) fn write_assistant(&mut self, first: &Message<'_>, parts: &[Placed<'_>]) {
        self.report_order(parts);
        let replays = self.replays(parts);
        // Some servers have it among the texts, in its order.
        // Fixture `answer/thinking/thoughts-in-several-chunks-of-content`.
        let own = parts.iter().filter(|(_, part)| replays && is_own(part));
        let thoughts: Vec<Part<'_>> = own.filter_map(|(_, part)| self.replayed(part)).collect();
        let mut thoughts = thoughts.iter();
        let mut positions: Few<Position> = Few::new();
        let mut written: Few<&Part<'_>> = Few::new();
        for (at, part) in parts {
            let taken = match part.content() {
                Content::Reasoning(_) if replays && is_own(part) => thoughts.next(),
                Content::Reasoning(_) => {
                    self.withhold(part);
                    None
                }
                Content::Opaque(opaque) if opaque.protocol != SELF => None,
                Content::Media(_) if self.reporter.is_same() => Some(*part),
                Content::Media(media) => {
                    if media.kind != MediaKind::Video {
                        let reason = "Chat takes no media in an assistant's message";
                        self.reporter.dropped(part, reason);
                    }
                    None
                }
                _ if parts.len() > 1 && self.omits(part) => None,
                _ => {
                    self.report_call(*at, part);
                    report_answer_semantics(part, self.reporter);
                    Some(*part)
                }
            };
            if let Some(part) = taken {
                positions.push(*at);
                written.push(part);
            }
        }
        if self.is_lost(first, &written) {
            return;
        }
        let mut object = Object::open(self.writer, None);
        object.word("role", "assistant");
        object.optional("name", first.name.as_ref());
        let names = Names::Fitted(self.calls, &positions);
        let signed = self.target.reads_google_signatures();
        Fields { parts: &written, names, signed }.write(&mut object, self.reporter);
        object.close();
    }

    /// Chat has text and calls in two fields, so that text behind a call moves before it.
    fn report_order(&mut self, parts: &[Placed<'_>]) {
        let is_written =
            |part: &Part<'_>| matches!(part.content(), Content::Text(_) | Content::Refusal(_));
        self.report_refusals(parts);
        let is_call = |part: &Part<'_>| matches!(part.content(), Content::ToolCall(_));
        let behind = parts.iter().skip_while(|(_, part)| !is_call(part));
        for (_, part) in behind.filter(|(_, part)| is_written(part)) {
            let reason = "Chat has text before calls, whatever their order was";
            let place = self.reporter.outer(part.semantics().place());
            self.reporter.approximated(place, reason);
        }
    }

    /// Chat has one refusal in a message, in a field beside the text.
    fn report_refusals(&mut self, parts: &[Placed<'_>]) {
        let is_refusal = |part: &Part<'_>| matches!(part.content(), Content::Refusal(_));
        let refusals = || parts.iter().enumerate().filter(|(_, (_, part))| is_refusal(part));
        let is_text = |(_, part): &Placed<'_>| matches!(part.content(), Content::Text(_));
        let is_several = refusals().count() > 1;
        for (at, (_, part)) in refusals() {
            if is_several || parts[at..].iter().any(is_text) {
                let reason = "a refusal has a field of its own, beside the text";
                self.reporter.renamed(part, reason);
            }
        }
    }

    /// Whether reasoning goes back to the server with this message.
    fn replays(&self, parts: &[Placed<'_>]) -> bool {
        let is_call = |part: &Part<'_>| matches!(part.content(), Content::ToolCall(_));
        match self.target.dialect.reasoning_replay {
            // What came from this protocol goes back there, as it does from its own clients.
            _ if self.reporter.is_same() => true,
            ReasoningReplay::Always => true,
            ReasoningReplay::WithToolCalls => parts.iter().any(|(_, part)| is_call(part)),
            ReasoningReplay::Never => false,
        }
    }

    /// The reasoning as the server takes it back.
    fn replayed<'p>(&self, part: &'p Part<'_>) -> Option<Part<'p>> {
        let Content::Reasoning(reasoning) = part.content() else { return None };
        if self.reporter.is_same() {
            return Some(part.clone());
        }
        if let Some(json) = message::details(part.semantics()) {
            return Some(reasoning_details(json, part.semantics().place()));
        }
        let shape = match self.target.dialect.reasoning_field {
            ReasoningField::Absent | ReasoningField::ReasoningContent => Shape::default(),
            ReasoningField::Reasoning | ReasoningField::ReasoningAndDetails => shape::REASONING,
            ReasoningField::ContentChunks => shape::IN_CONTENT,
        };
        let content = Content::Reasoning(reasoning.clone());
        Some(Part::new(content).with_semantics(NodeSemantics::default().shaped(shape)))
    }

    fn report_call(&mut self, at: Position, part: &Part<'_>) {
        let Content::ToolCall(call) = part.content() else { return };
        let place = part.semantics().place();
        if call_signature(part.semantics()).is_some() && !self.target.reads_google_signatures() {
            let sealed = part.semantics().sealed_at();
            self.reporter.withheld((sealed, Field::Signature), "only its issuer can read it");
        }
        self.reporter.unmarked(part.semantics(), "Chat has no markers on calls");
        if self.calls.is_made_up(at) {
            let reason = "Chat pairs results with calls by id";
            self.reporter.synthesised((place, Field::CallId), reason);
        }
        if self.calls.renames(&call.name) {
            let reason = "the server does not take such names of tools";
            self.reporter.renamed((place, Field::CallName), reason);
        }
    }
}

/// Reports what answers state about their text and requests do not accept.
pub(super) fn report_answer_semantics(part: &Part<'_>, reporter: &mut Reporter<'_>) {
    let semantics = part.semantics();
    if !semantics.citations().is_empty() {
        let reason = "Chat takes no citations in requests";
        reporter.dropped((semantics, Field::Citations), reason);
    }
    if semantics.logprobs().is_some() {
        let reason = "Chat takes no log probabilities in requests";
        reporter.dropped((semantics, Field::PartLogprobs), reason);
    }
}

/// Whether nothing of a part is sealed by another server.
fn is_own(part: &Part<'_>) -> bool {
    part.semantics().artefact().is_none_or(|it| it.issuer() == SELF)
}
