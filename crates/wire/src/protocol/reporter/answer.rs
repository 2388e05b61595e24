//! The walk over an answer: its candidates, why they ended and what they cost.

use super::Reporter;
use crate::conversation::{Candidate, Content, Count, Finish, Part, Response, Usage};
use crate::loss::LossKind;
use crate::place::{Place, Step};
use crate::protocol::Field;
use crate::protocol::semantics::{Extras, NodeSemantics};

impl Reporter<'_> {
    /// Reports all that the target never carries of a whole response.
    pub(in super::super) fn response(&mut self, response: &Response<'_>) {
        if self.is_same() {
            return;
        }
        let root = response.semantics().place();
        self.set_if(root, Field::ResponseId, &response.id);
        self.set_if(root, Field::ResponseModel, &response.model);
        self.set_if(root, Field::ResponseCreated, &response.created);
        self.set_if(root, Field::ResponseServiceTier, &response.service_tier);
        self.semantics(response.semantics());
        response.candidates.iter().for_each(|candidate| self.candidate(candidate));
        if let Some(usage) = &response.usage {
            self.usage(usage);
        }
    }

    fn candidate(&mut self, candidate: &Candidate<'_>) {
        let place = candidate.semantics().place();
        self.spelling = candidate.semantics().spelling();
        self.semantics(candidate.semantics());
        self.message(&candidate.message);
        for part in candidate.message.parts.iter().filter(|part| is_empty(part)) {
            self.empty(part.semantics());
        }
        if let Some(finish) = &candidate.finish {
            self.finish(place, finish);
        }
    }

    /// Reports what the target never carries of a candidate's end.
    pub(in super::super) fn finish(&mut self, place: Place, finish: &Finish<'_>) {
        if place.ends_with(Step::PromptFeedback) {
            let reason = "a blocked prompt is returned as an answer";
            self.below(place, "../candidates", LossKind::Synthesised, reason);
        }
        self.set(place, Field::FinishReason);
        if let Some((kind, reason)) = (self.source.conventions().finish_loss)(finish) {
            self.lose((place, Field::FinishReason), kind, reason);
        }
        self.set_if(place, Field::StopSequence, &finish.stop_sequence);
        self.set_if(place, Field::FinishDetails, &finish.details);
    }

    /// Reports what the target never carries of a usage report; a count of zero says no more than none.
    pub(in super::super) fn usage(&mut self, usage: &Usage<'_>) {
        if self.is_same() {
            return;
        }
        let place = usage.semantics().place();
        if (self.source.conventions().computes_output)(usage) {
            let reason = "computed from the total and the other counts";
            self.count(usage, Count::Output, (LossKind::Synthesised, reason));
        }
        for count in Count::ALL {
            let is_implied = |number| count == Count::Total && is_sum(usage, number);
            let is_lost =
                |number| number > 0 && self.lost.has(count.field()) && !is_implied(number);
            if usage.counts[count].is_some_and(is_lost)
                && let Some(loss) = self.target.fate(count.field()).loss()
            {
                self.count(usage, count, loss);
            }
        }
        let extras = usage.semantics().extras().into_iter().flat_map(Extras::iter);
        let counted = extras.filter(|extra| !matches!(extra.json.as_str(), "0" | "0.0"));
        self.lose_extras(place, counted, "a count that only this vendor reports");
    }

    /// Reports what happened to one count.
    pub(in super::super) fn count(
        &mut self,
        usage: &Usage<'_>,
        count: Count,
        (kind, reason): (LossKind, &'static str),
    ) {
        self.lose((usage.place_of(count), count.field()), kind, reason);
    }

    /// Reports the notes on an empty text, which no target has a place for.
    fn empty(&mut self, semantics: &NodeSemantics<'_>) {
        let reason = "an empty text has no effect";
        self.citations(semantics, LossKind::Approximated, reason);
        if let Some(logprobs) = semantics.logprobs() {
            self.weights(semantics.place(), logprobs, (LossKind::Approximated, reason));
        }
    }

    /// Reports what an answer that failed says besides, where an error is all there is.
    pub(in super::super) fn failed(&mut self, response: &Response<'_>) {
        let (root, reason) = (response.semantics().place(), "an answer that failed is an error");
        let fields = [
            (Field::ResponseModel, response.model.is_some()),
            (Field::ResponseServiceTier, response.service_tier.is_some()),
        ];
        for (field, _) in fields.into_iter().filter(|(_, is_set)| *is_set) {
            self.dropped((root, field), reason);
        }
        if let Some(usage) = &response.usage {
            self.dropped(usage, reason);
        }
        for part in response.candidates.iter().flat_map(|candidate| &candidate.message.parts) {
            self.dropped(self.outer(part.semantics().place()), reason);
        }
    }
}

/// Whether a part of an answer says nothing at all.
fn is_empty(part: &Part<'_>) -> bool {
    match part.content() {
        Content::Text(text) | Content::Refusal(text) => text.is_empty(),
        Content::Reasoning(thought) => {
            let has_text = thought.texts.iter().any(|text| !text.is_empty());
            !has_text && part.semantics().artefact().is_none()
        }
        Content::Media(_) | Content::ToolCall(_) | Content::ToolResult(_) | Content::Opaque(_) => {
            false
        }
    }
}

/// Whether the total says no more than the other counts.
fn is_sum(usage: &Usage<'_>, total: u64) -> bool {
    let count = |count: Count| usage.counts[count].unwrap_or(0);
    let sum = count(Count::Input).saturating_add(count(Count::Output));
    total == sum || total == sum.saturating_add(count(Count::ToolPrompt))
}

pub(in super::super) const FINER_FINISH: &str = "other protocols have fewer finish reasons";
