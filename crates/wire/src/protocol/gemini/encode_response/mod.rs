//! Writing whole answers.

mod candidate;
mod finish;
mod grounding;
mod logprobs;

pub(super) use candidate::{Beside, write_candidate};
pub(super) use finish::{BLOCKED, finish_fate, finish_word};
pub(super) use grounding::write_grounding;
pub(super) use logprobs::logprobs_result;

use crate::conversation::{CallForm, Candidate, Content, Finish, FinishKind, Part, Response};
use crate::json::{Json, Text, Writer};
use crate::loss::{LossKind, Report};
use crate::place::Place;
use crate::protocol::gemini::decode_response::is_call;
use crate::protocol::gemini::encode_request::{
    Pen, pieces_make_calls, takes_seal, text_of, write_part,
};
use crate::protocol::gemini::fault::write_fault;
use crate::protocol::gemini::types::SELF;
use crate::protocol::gemini::usage::USAGE;
use crate::protocol::object::Object;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Fidelity, add_to};
use crate::protocol::tier::{Asking, reported_word};
use crate::protocol::translation::ANSWER_BYTES;
use crate::protocol::{AnswerContext, Artefact, Field, Logprobs, Protocol};

pub(in super::super) fn encode_response(
    response: &Response<'_>,
    source: Protocol,
    context: &AnswerContext<'_>,
    report: &mut Report,
) -> String {
    let mut reporter = Reporter::new(source, SELF, report);
    reporter.response(response);
    let mut writer = Writer::with_capacity(ANSWER_BYTES);
    let has_content =
        response.candidates.iter().any(|candidate| !candidate.message.parts.is_empty());
    match &response.fault {
        Some(fault) if !has_content => {
            reporter.failed(response);
            write_fault(&mut writer, fault);
        }
        _ => {
            let writes_pieces = false;
            ResponseWriter { response, context, reporter, writes_pieces }.write(&mut writer)
        }
    }
    writer.into_string()
}

/// An answer that is being written.
struct ResponseWriter<'x, 'r> {
    response: &'x Response<'x>,
    context: &'x AnswerContext<'x>,
    reporter: Reporter<'r>,
    /// Whether the calls of this candidate are written by the pieces in which they came.
    writes_pieces: bool,
}

impl<'x> ResponseWriter<'x, '_> {
    fn write(mut self, writer: &mut Writer) {
        let same = self.reporter.is_same();
        let response = self.response;
        let semantics = response.semantics();
        let extras = semantics.extras().filter(|_| same).map(|extras| (extras, ""));
        let mut object = Object::open(writer, extras);
        let candidates = &response.candidates;
        if candidates.iter().any(is_blocked) {
            object.unless_kept("promptFeedback", &BLOCKED);
        }
        let mut real = candidates.iter().filter(|it| !is_blocked(it)).enumerate().peekable();
        if real.peek().is_some() || candidates.is_empty() {
            let list = object.key("candidates");
            list.begin_array();
            real.for_each(|(index, candidate)| self.candidate(list, index, candidate));
            list.end_array();
        }
        self.usage(&mut object);
        if response.fault.is_some() {
            let reason = "Gemini has no errors within an answer";
            self.reporter.below(semantics.place(), "/error", LossKind::Dropped, reason);
        }
        let model = self.context.model.as_ref().or(response.model.as_ref());
        object.optional("modelVersion", model);
        let seed = (!same).then_some(&self.context.seed);
        object.optional("responseId", response.id.as_ref().or(seed));
        object.close();
    }

    fn usage(&mut self, object: &mut Object<'_, '_>) {
        let tier = self.tier();
        if let Some(usage) = &self.response.usage {
            USAGE.report(usage, &mut self.reporter);
            let stating = USAGE.stating(self.reporter.source());
            USAGE.write(object.key(USAGE.member), usage, tier.as_ref(), stating);
        }
    }

    fn tier(&mut self) -> Option<Text<'x>> {
        let tier = self.response.service_tier.as_ref();
        let place = self.response.semantics().place();
        if tier.is_some() && self.response.usage.is_none() && !self.reporter.is_same() {
            report_usageless_tier(&mut self.reporter, place);
            return None;
        }
        reported_word(tier, Asking::Answer(place), &mut self.reporter)
    }

    fn candidate(&mut self, writer: &mut Writer, index: usize, candidate: &'x Candidate<'x>) {
        let same = self.reporter.is_same();
        let (semantics, parts) = (candidate.semantics(), &candidate.message.parts);
        let refused = parts.iter().any(refuses);
        if let Some(finish) = &candidate.finish
            && let Some(change) = finish_fate(finish, parts.iter().any(is_call), refused)
        {
            report_finish(&mut self.reporter, (semantics.place(), finish), change);
        }
        let finish = candidate.finish.as_ref().map(|finish| finish_word(finish, refused, same));
        let grounding = if same { None } else { self.grounding(parts) };
        let logprobs = self.logprobs(parts);
        let beside = Beside { index, finish, grounding, logprobs };
        let extras = semantics.extras().filter(|_| same);
        write_candidate(writer, extras, &beside, |list| self.parts(list, parts));
    }

    fn grounding(&mut self, parts: &[Part<'_>]) -> Option<Json<'static>> {
        for part in parts {
            let reason = "sources are listed beside the answer, by byte ranges";
            self.reporter.citations(part.semantics(), LossKind::Approximated, reason);
        }
        let nodes: Vec<_> =
            parts.iter().map(|part| (part.semantics().citations(), text_of(part))).collect();
        write_grounding(&nodes)
    }

    /// The log probabilities of all texts, which stand beside them here.
    fn logprobs(&mut self, parts: &[Part<'_>]) -> Option<Json<'static>> {
        let same = self.reporter.is_same();
        let texts = parts.iter().filter(|part| text_of(part).is_some());
        let mut texts = texts.filter(|part| same || !is_blank(part)).peekable();
        let first = texts.peek()?.semantics();
        let (first, first_has) = (first.place(), first.logprobs().is_some());
        let mut all: Option<Logprobs<'_>> = None;
        for part in texts {
            let Some(logprobs) = part.semantics().logprobs() else { continue };
            let place = part.semantics().place();
            report_logprobs(&mut self.reporter, place, logprobs);
            if place != first || matches!(part.content(), Content::Refusal(_)) {
                let reason = "they belong to the whole answer";
                self.reporter.weights(place, logprobs, (LossKind::Approximated, reason));
                if !first_has {
                    self.reporter.approximated(first, reason);
                }
            }
            add_to(&mut all, logprobs.clone());
        }
        all.as_ref().and_then(logprobs_result)
    }

    fn parts(&mut self, list: &mut Writer, parts: &[Part<'_>]) {
        let context = self.context;
        self.writes_pieces =
            pieces_make_calls(parts.iter(), |name, it| context.client_name(name) == *it);
        let mut handed = None;
        for (index, part) in parts.iter().enumerate() {
            let next = parts.get(index + 1).filter(|_| !self.reporter.is_same());
            match next.is_some_and(|next| hands_on(part, next)) {
                true => {
                    handed = part.semantics().artefact();
                    self.thoughts(list, part);
                }
                false => self.part(list, part, handed.take()),
            }
        }
    }

    /// Writes thoughts whose signature goes to the part behind them, unless the signature is all they are.
    fn thoughts(&mut self, writer: &mut Writer, part: &Part<'_>) {
        let Content::Reasoning(thought) = part.content() else { return };
        if thought.texts.iter().any(|text| !text.is_empty()) {
            write_part(writer, part, &Pen::default());
        }
    }

    fn part(&mut self, writer: &mut Writer, part: &Part<'_>, handed: Option<&Artefact<'_>>) {
        if matches!(part.content(), Content::Opaque(opaque) if opaque.protocol != SELF) {
            return self.reporter.dropped(part, "only its own protocol has it");
        }
        if !self.reporter.is_same() && is_blank(part) {
            // The walk over the answer has reported it.
            return;
        }
        let place = part.semantics().place();
        match part.content() {
            Content::Refusal(_) => report_refusal(&mut self.reporter, place),
            Content::Media(_) => report_media(&mut self.reporter, place),
            Content::Reasoning(thought) if thought.texts.len() > 1 => {
                self.reporter.renamed(place, "pieces of thoughts are joined");
            }
            _ => report_custom_call(&mut self.reporter, part),
        }
        let mut pen = answer_pen(part, self.context, self.reporter.is_same());
        pen.pieces = self.writes_pieces;
        if let Some(artefact) = handed {
            pen.signature = Some(artefact.data().reborrow());
        }
        if let Some((kind, reason)) = write_part(writer, part, &pen) {
            self.reporter.lose((place, Field::CallArguments), kind, reason);
        }
    }
}

/// Whether the candidate only says that there is no answer, since the prompt was refused.
fn is_blocked(candidate: &Candidate<'_>) -> bool {
    let finish = candidate.finish.as_ref();
    finish.is_some_and(|it| it.kind == FinishKind::PromptFilter) && candidate.message.is_blank()
}

/// Whether the vendor's own signature on thoughts belongs to the part behind them: other protocols sign only thoughts.
fn hands_on(part: &Part<'_>, next: &Part<'_>) -> bool {
    let artefact = part.semantics().artefact();
    let own = artefact.is_some_and(|artefact| artefact.issuer() == SELF);
    own && takes_seal(next) && matches!(part.content(), Content::Reasoning(_))
}

/// Log probabilities come back with the bytes that their tokens stand for, and with nothing else.
pub(super) fn report_logprobs(reporter: &mut Reporter<'_>, place: Place, logprobs: &Logprobs<'_>) {
    if !reporter.is_same() && logprobs::fidelity(logprobs) == Fidelity::Partial {
        let reason = "only tokens and their log probabilities are returned";
        reporter.weights(place, logprobs, (LossKind::Approximated, reason));
    }
}

/// A refusal comes back as text, which some protocols keep apart from it.
pub(super) fn report_refusal(reporter: &mut Reporter<'_>, place: Place) {
    let reason = "a refusal is plain text";
    reporter.approximated((place, Field::Refusal), reason);
    reporter.approximated((place, Field::Text), reason);
}

/// Speech has a name and an end elsewhere, which no answer here has.
pub(super) fn report_media(reporter: &mut Reporter<'_>, place: Place) {
    reporter.approximated(place, "audio output is sent as plain data");
}

/// The service tier of an answer is part of its usage.
pub(super) fn report_usageless_tier(reporter: &mut Reporter<'_>, place: Place) {
    let reason = "the tier is part of the usage, and there is no usage";
    reporter.dropped((place, Field::ResponseServiceTier), reason);
}

/// The finish reason and what some protocols say beside it change together.
pub(super) fn report_finish(
    reporter: &mut Reporter<'_>,
    (place, finish): (Place, &Finish<'_>),
    (kind, reason): (LossKind, &'static str),
) {
    reporter.lose((place, Field::FinishReason), kind, reason);
    if finish.details.is_some() {
        reporter.lose((place, Field::FinishDetails), kind, reason);
    }
}

/// Whether a part is a refusal; some servers state an empty one where there is none.
fn refuses(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Refusal(text) if !text.is_empty())
}

/// Whether a part is an empty text that nobody signed.
fn is_blank(part: &Part<'_>) -> bool {
    let empty = matches!(part.content(),
        Content::Text(text) | Content::Refusal(text) if text.is_empty());
    empty && part.semantics().artefact().is_none()
}

/// A call of a tool that takes free text becomes one of a function.
pub(super) fn report_custom_call(reporter: &mut Reporter<'_>, part: &Part<'_>) {
    if matches!(part.content(), Content::ToolCall(call) if call.form == CallForm::Custom) {
        let reason = "free text is sent as the only argument of a function";
        reporter.approximated(part, reason);
    }
}

/// How a part of an answer is written: with the client's own name for a tool, and every artefact in its carrier.
pub(super) fn answer_pen<'t>(
    part: &'t Part<'_>,
    context: &'t AnswerContext<'_>,
    same: bool,
) -> Pen<'t> {
    let artefact = part.semantics().artefact();
    let signature = artefact.map(|artefact| artefact.carried_in(SELF));
    let (name, id) = match part.content() {
        Content::ToolCall(call) => {
            (Some(context.client_name(&call.name)), call.id.as_ref().map(Text::reborrow))
        }
        _ => (None, None),
    };
    Pen { same, signature, name, id, ..Pen::default() }
}
