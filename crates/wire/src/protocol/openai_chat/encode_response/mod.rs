//! Writing whole answers.

mod annotation;
mod finish;

use std::borrow::Cow;

use crate::conversation::{Candidate, Content, Finish, MediaKind, Part, Response};
use crate::json::{Text, Writer};
use crate::loss::{LossKind, Report};
use crate::place::Place;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::message::{Fields, Names};
use crate::protocol::openai_chat::encode_request::turns::Few;
use crate::protocol::openai_chat::encode_request::{content, message};
use crate::protocol::openai_chat::fault;
use crate::protocol::openai_chat::types::SELF;
use crate::protocol::openai_chat::usage::USAGE;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::tier::Asking;
use crate::protocol::translation::ANSWER_BYTES;
use crate::protocol::{AnswerContext, Field, Logprobs, Protocol, Start, tier};

pub(in super::super) use annotation::is_plain as is_plain_citation;
pub(super) use annotation::{is_cited, report_citations, write_annotation};
pub(super) use finish::{EndsWith, finish_word};

pub(in super::super) fn encode_response(
    response: &Response<'_>,
    source: Protocol,
    context: &AnswerContext<'_>,
    report: &mut Report,
) -> String {
    let mut reporter = Reporter::new(source, SELF, report);
    reporter.response(response);
    let same = reporter.is_same();
    let semantics = response.semantics();
    let mut writer = Writer::with_capacity(ANSWER_BYTES);
    let mut object = Object::open(&mut writer, reporter.own_extras(semantics, ""));
    let start = Start::of(response);
    write_head(&mut object, "chat.completion", &start, (context, source));
    report_head(&start, semantics.place(), context, &mut reporter);
    object.key("choices").array(|writer| {
        let mut answer = ChoiceWriter { context, reporter: &mut reporter, parts_before: 0 };
        for (index, candidate) in response.candidates.iter().enumerate() {
            answer.write_choice(writer, index, candidate);
        }
    });
    if let Some(usage) = &response.usage {
        USAGE.write(object.key(USAGE.member), usage, None, USAGE.stating(source));
        USAGE.report(usage, &mut reporter);
    }
    if let Some(fault) = response.fault.as_ref().filter(|_| !same) {
        object.key("error").object(|error| fault::write_error(error, fault));
        let reason = "Chat has other error codes";
        reporter.below(semantics.place(), "/error", LossKind::Approximated, reason);
    }
    object.close();
    writer.into_string()
}

/// Writes what an answer says of itself, whole or in every chunk of a stream.
pub(super) fn write_head(
    object: &mut Object<'_, '_>,
    kind: &'static str,
    start: &Start<'_>,
    (context, source): (&AnswerContext<'_>, Protocol),
) {
    let is_foreign = source != SELF;
    match &start.id {
        Some(id) => object.field("id", id),
        None if is_foreign => object.field("id", &format!("chatcmpl-{}", context.seed.to_str())),
        None => {}
    }
    object.word_unless_kept("object", kind);
    match &start.created {
        Some(created) => object.field("created", created),
        None => object.optional("created", is_foreign.then_some(&context.created_s)),
    }
    match context.model.as_ref().or(start.model.as_ref()) {
        Some(model) => object.field("model", model),
        None => object.optional("model", is_foreign.then_some("")),
    }
    let asking = Asking::Answer(Place::default());
    let tier = start.service_tier.as_ref();
    let tier = tier.and_then(|tier| tier::word(tier, asking, source, SELF));
    object.optional("service_tier", tier.as_ref());
}

/// Reports a model that had to be named and was not known, and a tier that has no name here.
pub(super) fn report_head(
    start: &Start<'_>,
    place: Place,
    context: &AnswerContext<'_>,
    reporter: &mut Reporter<'_>,
) {
    if context.model.is_none() && start.model.is_none() {
        let reason = "Chat requires the model's name in answers";
        reporter.synthesised((place, Field::ResponseModel), reason);
    }
    if let Some(tier) = &start.service_tier {
        tier::report(tier, Asking::Answer(place), reporter);
    }
}

/// The choices of an answer in the making.
struct ChoiceWriter<'x, 'r> {
    context: &'x AnswerContext<'x>,
    reporter: &'x mut Reporter<'r>,
    /// How many parts came before this candidate's, so that made-up ids differ.
    parts_before: usize,
}

impl ChoiceWriter<'_, '_> {
    fn write_choice(&mut self, writer: &mut Writer, index: usize, candidate: &Candidate<'_>) {
        let semantics = candidate.semantics();
        let same = self.reporter.is_same();
        let mut object = Object::open(writer, self.reporter.own_extras(semantics, ""));
        object.unless_kept("index", &index);
        self.write_message(object.key("message"), candidate);
        self.write_logprobs(&mut object, candidate);
        match &candidate.finish {
            Some(finish) => object.field("finish_reason", &*self.finish_word(finish, candidate)),
            None if same => {}
            None => {
                let reason = "Chat has no finish reason for an unfinished answer";
                let place = semantics.place();
                self.reporter.approximated((place, Field::FinishReason), reason);
                object.field("finish_reason", "stop");
            }
        }
        object.close();
        self.parts_before += candidate.message.parts.len();
    }

    fn write_message(&mut self, writer: &mut Writer, candidate: &Candidate<'_>) {
        let own = self.reporter.own_extras(candidate.semantics(), "message");
        let mut object = Object::open(writer, own);
        object.word_unless_kept("role", "assistant");
        let parts = &candidate.message.parts;
        let content: Few<&Part<'_>> = match self.reporter.is_same() {
            true => parts.iter().filter(|part| message::stands_in_content(part)).collect(),
            false => parts.iter().filter(|part| is_text(part)).collect(),
        };
        match content.iter().all(|part| content::bare_text(part, self.reporter).is_some()) {
            true => object
                .field("content", &Text::joined(content.iter().filter_map(|it| text_of(it)), "")),
            false => message::write_content(&mut object, &content, self.reporter),
        }
        if !parts.iter().any(is_refusal) {
            object.key("refusal").null();
        }
        let names = match self.reporter.is_same() {
            true => Names::Own,
            false => Names::Answer(self.context, self.parts_before),
        };
        let all: Few<&Part<'_>> = parts.iter().collect();
        Fields { parts: &all, names, signed: true }.write_beside(&mut object);
        self.write_annotations(&mut object, parts);
        object.close();
        self.report_joined(parts);
        parts.iter().for_each(|part| self.report_part(part));
    }

    /// Reports parts that lose their borders or their order: an answer has one reasoning, one text and one refusal, in that
    /// order, and then its calls.
    fn report_joined(&mut self, parts: &[Part<'_>]) {
        let ranks: Vec<Option<usize>> = parts.iter().map(rank).collect();
        let last = |of: usize| ranks.iter().rposition(|rank| *rank == Some(of));
        let first = |of: usize| ranks.iter().position(|rank| *rank == Some(of));
        let (lasts, firsts) = ([0, 1, 2, CALL].map(last), [0, 1, 2, CALL].map(first));
        for (index, part) in parts.iter().enumerate() {
            let Some(own) = ranks[index] else { continue };
            let is_moved = lasts[..own].iter().any(|last| *last > Some(index))
                || firsts[own + 1..].iter().flatten().any(|first| *first < index);
            let is_joined = own < CALL && firsts[own] != lasts[own];
            let is_lost = is_moved || is_joined;
            let place = outermost(part.semantics());
            match part.content() {
                Content::Reasoning(_) if message::details(part.semantics()).is_some() => {}
                Content::Reasoning(reasoning) if reasoning.texts.is_empty() => {
                    self.reporter.withheld(place, "only its issuer can read it");
                }
                Content::Reasoning(reasoning) if reasoning.texts.len() > 1 => {
                    self.reporter.renamed(place, ONE_THOUGHT);
                }
                _ if is_lost => self.reporter.renamed(place, ONE_TEXT),
                _ => {}
            }
        }
    }

    fn write_annotations(&mut self, object: &mut Object<'_, '_>, parts: &[Part<'_>]) {
        let citations = |part: &Part<'_>| part.semantics().citations().iter().any(is_cited);
        if parts.iter().any(citations) {
            object.key("annotations").array(|writer| {
                let mut from = 0;
                for part in parts {
                    let stretch = (from, from + annotation::chars_of(part));
                    for citation in part.semantics().citations() {
                        write_annotation(writer, citation, stretch);
                    }
                    from = stretch.1;
                }
            });
        }
        for semantics in parts.iter().map(Part::semantics) {
            report_citations(semantics.place(), semantics.citations(), self.reporter);
        }
    }

    /// Reports what a client does not get to see, and an id that it gets to see.
    fn report_part(&mut self, part: &Part<'_>) {
        match part.content() {
            Content::Media(media) if media.kind != MediaKind::Video => {
                self.reporter.dropped(part, "Chat has no such media in answers");
            }
            Content::ToolResult(_) => {
                self.reporter.dropped(part, "Chat has no results in answers");
            }
            Content::Reasoning(_) if !self.context.show_reasoning => {
                self.reporter.dropped(part, "the request does not ask for reasoning to be shown");
            }
            Content::ToolCall(call) if call.id.is_none() => {
                let reason = "Chat pairs results with calls by id";
                self.reporter.synthesised((part, Field::CallId), reason);
            }
            _ => {}
        }
    }

    fn write_logprobs(&mut self, object: &mut Object<'_, '_>, candidate: &Candidate<'_>) {
        let of = |is: fn(&Part<'_>) -> bool| {
            let parts = candidate.message.parts.iter().filter(move |part| is(part));
            Logprobs::joined(parts.filter_map(|part| part.semantics().logprobs().cloned()))
        };
        let (text, refusal) = (of(is_text), of(is_refusal));
        let own = self.reporter.own_extras(candidate.semantics(), "logprobs");
        object.unless_empty("logprobs", own, |inner| {
            inner.optional("content", text.as_ref().map(Logprobs::entries).as_ref());
            inner.optional("refusal", refusal.as_ref().map(Logprobs::entries).as_ref());
        });
    }

    fn finish_word<'f>(
        &mut self,
        finish: &'f Finish<'_>,
        candidate: &Candidate<'_>,
    ) -> Cow<'f, str> {
        if let (true, Some(raw)) = (self.reporter.is_same(), &finish.raw) {
            return raw.to_str();
        }
        let place = candidate.semantics().place();
        let parts = &candidate.message.parts;
        let has_calls = parts.iter().any(|part| matches!(part.content(), Content::ToolCall(_)));
        let ends_with = match (has_calls, parts.iter().any(is_refusal)) {
            (true, _) => EndsWith::Calls,
            (false, true) => EndsWith::Refusal,
            (false, false) => EndsWith::Other,
        };
        finish_word(finish.kind, ends_with, place, self.reporter).into()
    }
}

/// The place of the item that a part begins, or of the part itself.
pub(super) fn outermost(semantics: &NodeSemantics<'_>) -> Place {
    match semantics.item() {
        Some(_) => semantics.place().of_item(),
        None => semantics.place(),
    }
}

/// Where a part stands among the others of an answer; none if it has no place there.
fn rank(part: &Part<'_>) -> Option<usize> {
    match part.content() {
        Content::Reasoning(_) => Some(0),
        Content::Text(_) => Some(1),
        Content::Refusal(_) => Some(2),
        Content::ToolCall(_) => Some(CALL),
        Content::Media(_) | Content::ToolResult(_) | Content::Opaque(_) => None,
    }
}

const CALL: usize = 3;

/// Why texts lose their borders.
pub(super) const ONE_TEXT: &str = "an answer has one text, which comes before its calls";

/// Why the pieces of a thought lose theirs.
pub(super) const ONE_THOUGHT: &str = "the pieces of a thought are joined into one text";

fn is_text(part: &Part<'_>) -> bool {
    text_of(part).is_some()
}

fn is_refusal(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Refusal(_))
}

fn text_of<'p>(part: &'p Part<'_>) -> Option<&'p Text<'p>> {
    match part.content() {
        Content::Text(text) => Some(text),
        _ => None,
    }
}
