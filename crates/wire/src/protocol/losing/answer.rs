//! The walk over an answer: its candidates, why they ended and what they cost.

use super::Losing;
use super::RESPELLED;
use crate::conversation::Candidate;
use crate::conversation::Count;
use crate::conversation::FinishKind;
use crate::conversation::Response;
use crate::conversation::Usage;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::anthropic_messages;
use crate::protocol::gemini;
use crate::protocol::openai_chat;
use crate::protocol::semantics::Extras;

impl Losing<'_> {
    /// Reports all that the target never carries of a whole response.
    pub(in crate::protocol) fn response(&mut self, response: &Response<'_>) {
        if self.is_same() {
            return;
        }
        let root = response.semantics().place();
        self.set_if(root, Field::ResponseId, &response.id);
        self.set_if(root, Field::ResponseModel, &response.model);
        self.set_if(root, Field::ResponseCreated, &response.created);
        self.set_if(root, Field::ResponseServiceTier, &response.service_tier);
        self.semantics(response.semantics());
        for candidate in &response.candidates {
            self.candidate(candidate);
        }
        if let Some(usage) = &response.usage {
            self.usage(usage);
        }
        if self.source == Protocol::AnthropicMessages {
            anthropic_messages::lose_answer_on_return(response, self.target, self);
        }
    }

    fn candidate(&mut self, candidate: &Candidate<'_>) {
        let place = candidate.semantics().place();
        if self.source == Protocol::Gemini {
            self.spelling = candidate.semantics().spelling();
        }
        self.semantics(candidate.semantics());
        self.message(&candidate.message);
        self.unlike_on_return(&candidate.message.parts);
        if let Some(finish) = &candidate.finish {
            self.finish(place, finish);
        }
    }

    /// Reports what the target never carries of a candidate's end.
    pub(in crate::protocol) fn finish(
        &mut self,
        place: Place,
        finish: &crate::conversation::Finish<'_>,
    ) {
        if place.is_prompt_feedback() {
            let reason = "an answer stands for the prompt that was blocked";
            self.below(place, "../candidates", LossKind::Synthesised, reason);
        }
        self.set(place, Field::FinishReason);
        let finer = match self.source {
            Protocol::Gemini if gemini::is_finer(finish) => Some(LossKind::Approximated),
            Protocol::AnthropicMessages if finish.kind == FinishKind::Pause => {
                Some(LossKind::Approximated)
            }
            Protocol::OpenaiChat if openai_chat::is_older_word(finish) => Some(LossKind::Renamed),
            _ => None,
        };
        if self.source == Protocol::OpenaiChat && finish.raw.is_none() {
            let reason = "the stream is complete and states no finish reason";
            self.field(place, Field::FinishReason, LossKind::Repaired, reason);
        }
        if let Some(kind) = finer {
            self.field(place, Field::FinishReason, kind, FINER_FINISH);
        }
        self.set_if(place, Field::StopSequence, &finish.stop_sequence);
        self.set_if(place, Field::FinishDetails, &finish.details);
    }

    /// Reports what the target never carries of a usage report. A count of zero that is not carried is implied.
    pub(in crate::protocol) fn usage(&mut self, usage: &Usage<'_>) {
        if self.is_same() {
            return;
        }
        let place = usage.semantics().place();
        if usage.semantics().is_respelled() {
            self.node(place, LossKind::Renamed, RESPELLED);
        }
        if self.source == Protocol::Gemini && gemini::has_summed_output(usage) {
            let reason = "it is what the total leaves beside the other counts";
            self.count(usage, Count::Output, (LossKind::Synthesised, reason));
        }
        for count in Count::ALL {
            let is_lost = |_: &u64| self.lost.has(count.field());
            let Some(number) = usage.counts[count].filter(is_lost) else { continue };
            match self.target.fate(count.field()) {
                Fate::Lost(..) if number == 0 => {
                    self.count(usage, count, (LossKind::Implied, "a count of zero"));
                }
                Fate::Lost(kind, reason) => self.count(usage, count, (kind, reason)),
                Fate::Carried | Fate::Depends(_) => {}
            }
        }
        if let Some(extras) = usage.semantics().extras() {
            self.usage_extras(place, extras);
        }
    }

    /// Reports what happened to one count.
    pub(in crate::protocol) fn count(
        &mut self,
        usage: &Usage<'_>,
        count: Count,
        (kind, reason): (LossKind, &'static str),
    ) {
        self.field(usage.place_of(count), count.field(), kind, reason);
    }

    fn usage_extras(&mut self, place: Place, extras: &Extras<'_>) {
        for extra in extras.iter().filter(|extra| !extra.is_void()) {
            let suffix = extra.pointer();
            let declared = self.source.declared(suffix.trim_start_matches('/'));
            let (kind, reason) = match (extra.json.as_str(), declared) {
                ("0" | "0.0", _) => (LossKind::Implied, "a count of zero"),
                (_, Some(declared)) => (declared.kind, declared.reason),
                (_, None) => (LossKind::Dropped, "a count that only this vendor reports"),
            };
            self.report.lose(extra.place(place).pointer(&suffix), kind, reason);
        }
    }
}

const FINER_FINISH: &str = "other protocols have fewer finish reasons";
