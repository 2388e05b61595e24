//! What of an answer comes back otherwise, whatever protocol it was translated to.

use super::Losing;
use crate::conversation::Content;
use crate::conversation::Part;
use crate::conversation::Response;
use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::semantics::NodeSemantics;

impl Losing<'_> {
    /// Reports what comes back otherwise from every protocol, since the source tells it apart in its own way.
    pub(super) fn unlike_on_return(&mut self, parts: &[Part<'_>]) {
        for part in parts.iter().filter(|part| is_empty(part)) {
            self.unsaid(part.semantics());
        }
        match self.source {
            Protocol::OpenaiResponses => {
                self.empty_summaries(parts);
                self.joined_messages(parts);
            }
            Protocol::Gemini => self.handed_seals(parts),
            Protocol::OpenaiChat | Protocol::AnthropicMessages => {}
        }
    }

    /// On the way back a thought's signature is attached to the part behind it. Thinking that carries the signature of that
    /// very part gives it back, which is no change.
    fn handed_seals(&mut self, parts: &[Part<'_>]) {
        let is_sealed = |part: &Part<'_>| {
            let artefact = part.semantics().artefact();
            matches!(part.content(), Content::Reasoning(_))
                && artefact.is_some_and(|artefact| !artefact.is_handed())
        };
        let takes =
            |part: &Part<'_>| matches!(part.content(), Content::ToolCall(_) | Content::Text(_));
        // What says nothing elsewhere does not stand between them on the way back.
        let is_heard = |part: &&Part<'_>| match part.content() {
            Content::Opaque(_) | Content::Media(_) => false,
            _ => part.semantics().artefact().is_some() || !is_empty(part),
        };
        let heard: Vec<&Part<'_>> = parts.iter().filter(is_heard).collect();
        for pair in heard.windows(2).filter(|pair| is_sealed(pair[0]) && takes(pair[1])) {
            for part in pair {
                self.sealed(part, "the signature of a thought goes to the part behind it");
            }
        }
    }

    /// Reports that a part comes back with another signature than its own, or with one that it had not.
    pub(in crate::protocol) fn sealed(&mut self, part: &Part<'_>, reason: &'static str) {
        let semantics = part.semantics();
        match semantics.artefact() {
            Some(_) => {
                self.field(semantics.sealed_at(), Field::Signature, LossKind::Renamed, reason);
            }
            None => self.node(semantics.place(), LossKind::Renamed, reason),
        }
    }

    /// The empty pieces of a Responses summary, which only shows that there was something to think.
    fn empty_summaries(&mut self, parts: &[Part<'_>]) {
        for part in parts {
            let Content::Reasoning(thought) = part.content() else { continue };
            if thought.texts.iter().any(Text::is_empty) {
                let place = self.outer(part.semantics().place());
                self.below(place, "/summary", LossKind::Implied, "an empty piece says nothing");
            }
        }
    }

    /// Messages of Responses come back as one where nothing that others tell stands between them.
    fn joined_messages(&mut self, parts: &[Part<'_>]) {
        let is_words =
            |part: &&Part<'_>| matches!(part.content(), Content::Text(_) | Content::Refusal(_));
        // In Chat words, thoughts and calls have a field each, so that none stands between others.
        let is_ordered = self.target != Protocol::OpenaiChat;
        let is_heard = |part: &&Part<'_>| match part.content() {
            Content::Reasoning(_) | Content::ToolCall(_) => is_ordered && !is_empty(part),
            Content::Text(_) | Content::Refusal(_) => !is_empty(part),
            Content::Media(_) | Content::ToolResult(_) | Content::Opaque(_) => false,
        };
        let heard: Vec<&Part<'_>> = parts.iter().filter(is_heard).collect();
        for pair in heard.windows(2).filter(|pair| pair.iter().all(is_words)) {
            let places = [pair[0], pair[1]].map(|part| part.semantics().place().of_item());
            for place in places.into_iter().filter(|_| places[0] != places[1]) {
                self.node(place, LossKind::Renamed, JOINED);
            }
        }
    }

    /// Reports an empty text of an answer, which comes back from nowhere, and what was said of it besides.
    pub(in crate::protocol) fn unsaid(&mut self, semantics: &NodeSemantics<'_>) {
        let (place, reason) = (semantics.place(), "an empty text says nothing");
        self.node(self.outer(place), LossKind::Implied, reason);
        self.citations(semantics, LossKind::Approximated, reason);
        if let Some(logprobs) = semantics.logprobs() {
            self.weights(place, logprobs, (LossKind::Approximated, reason));
        }
    }

    /// Reports a thought of a stream that comes back without its signature, which stands in a part of its own behind it or
    /// on the call that follows: Gemini's streams have sent the text when the signature comes.
    pub(in crate::protocol) fn late_seal(&mut self, semantics: &NodeSemantics<'_>) {
        if self.source == Protocol::Gemini {
            let reason = "the signature of a thought follows it";
            self.field(semantics.sealed_at(), Field::Signature, LossKind::Renamed, reason);
            self.below(semantics.place(), "../parts", LossKind::Renamed, reason);
        }
    }

    /// Reports what an answer that failed says besides, where an error is all there is.
    pub(in crate::protocol) fn failed(&mut self, response: &Response<'_>) {
        let (root, reason) = (response.semantics().place(), "an answer that failed is an error");
        self.field(root, Field::FinishReason, LossKind::Renamed, reason);
        self.below(root, "/error", LossKind::Renamed, reason);
        let told = [
            (Field::ResponseModel, response.model.is_some()),
            (Field::ResponseServiceTier, response.service_tier.is_some()),
        ];
        for (field, _) in told.into_iter().filter(|(_, is_told)| *is_told) {
            self.field(root, field, LossKind::Dropped, reason);
        }
        if let Some(usage) = &response.usage {
            self.node(usage.semantics().place(), LossKind::Dropped, reason);
        }
        for part in response.candidates.iter().flat_map(|candidate| &candidate.message.parts) {
            self.node(self.outer(part.semantics().place()), LossKind::Dropped, reason);
        }
    }

    /// The place of the Responses item that a node stands in; elsewhere the node's own.
    pub(in crate::protocol) fn outer(&self, place: Place) -> Place {
        match self.source {
            Protocol::OpenaiResponses => place.of_item(),
            Protocol::OpenaiChat | Protocol::AnthropicMessages | Protocol::Gemini => place,
        }
    }
}

/// Whether a part of an answer says nothing at all.
fn is_empty(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(text) | Content::Refusal(text) => text.is_empty(),
        Content::Reasoning(thought) => {
            let says = thought.texts.iter().any(|text| !text.is_empty());
            !says && part.semantics().artefact().is_none()
        }
        Content::Media(_) | Content::ToolCall(_) | Content::ToolResult(_) | Content::Opaque(_) => {
            false
        }
    }
}

const JOINED: &str = "neighbouring messages are one";
