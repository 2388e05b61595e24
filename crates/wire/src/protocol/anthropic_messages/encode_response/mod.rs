//! Writing whole answers.

pub(super) mod edits;
pub(super) mod finish;

use std::collections::HashSet;

use self::edits::{EDITS, write_edits};
use self::finish::{EndsWith, write_finish};
use crate::conversation::{CallForm, Candidate, Content, Part, Response, Usage};
use crate::json::{Json, Text, Writer};
use crate::loss::{LossKind, Report};
use crate::place::Place;
use crate::protocol::anthropic_messages::decode_request::blocks::citation as read_citation;
use crate::protocol::anthropic_messages::encode_request::blocks::{
    Block, is_sealed, write_own, write_reasoning,
};
use crate::protocol::anthropic_messages::fault::write_fault;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::anthropic_messages::usage::{USAGE, report_absent_usage};
use crate::protocol::object::Object;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::tier::{Asking, reported_word};
use crate::protocol::translation::ANSWER_BYTES;
use crate::protocol::{AnswerContext, Citation, Field, Protocol};

pub(in super::super) fn encode_response(
    response: &Response<'_>,
    source: Protocol,
    context: &AnswerContext<'_>,
    report: &mut Report,
) -> String {
    let mut reporter = Reporter::new(source, SELF, report);
    reporter.response(response);
    let mut writer = Writer::with_capacity(ANSWER_BYTES);
    match &response.fault {
        Some(fault) => {
            reporter.failed(response);
            write_fault(&mut writer, fault);
        }
        None => write_response(&mut writer, response, context, &mut reporter),
    }
    writer.into_string()
}

fn write_response(
    writer: &mut Writer,
    response: &Response<'_>,
    context: &AnswerContext<'_>,
    reporter: &mut Reporter<'_>,
) {
    let semantics = response.semantics();
    let root = semantics.place();
    let mut object = open_answer(writer, semantics, reporter);
    write_head(&mut object, (&response.id, &response.model), context, (root, reporter));
    let mut answering = Answering::default();
    let none = Candidate::default();
    let candidate = response.candidates.first().unwrap_or(&none);
    let (parts, last) = without_last_seals(&candidate.message.parts, reporter);
    object.key("content").array(|list| {
        parts.iter().for_each(|part| answering.write(list, part, context, reporter));
    });
    for part in last {
        let reason = "Messages does not end an answer with redacted thinking";
        reporter.withheld(part, reason);
    }
    for other in response.candidates.iter().skip(1) {
        reporter.dropped(other, "Messages returns one answer");
    }
    let place = candidate.semantics().place();
    write_finish(&mut object, candidate.finish.as_ref(), answering.ends_with, (place, reporter));
    write_usage(&mut object, response, reporter);
    if let Some(edits) = &context.applied_edits {
        write_edits(object.key(EDITS), edits);
    }
    object.close();
}

/// Opens the object of an answer, with the fields that nobody knows where it came in this protocol.
pub(super) fn open_answer<'w, 'e>(
    writer: &'w mut Writer,
    semantics: &'e NodeSemantics<'e>,
    reporter: &Reporter<'_>,
) -> Object<'w, 'e> {
    let extras = semantics.extras().filter(|_| reporter.is_same());
    Object::open(writer, extras.map(|extras| (extras, "")))
}

/// Writes what an answer begins with; the id is made from what the caller gives where the upstream has none.
pub(super) fn write_head(
    object: &mut Object<'_, '_>,
    (id, model): (&Option<Text<'_>>, &Option<Text<'_>>),
    context: &AnswerContext<'_>,
    (root, reporter): (Place, &mut Reporter<'_>),
) {
    match id {
        Some(id) => object.field("id", id),
        None if reporter.is_same() => {}
        None => object.field("id", &format!("msg_{}", context.seed.to_str())),
    }
    object.word_unless_kept("type", "message");
    object.word_unless_kept("role", "assistant");
    let model = context.model.as_ref().or(model.as_ref());
    if model.is_none() {
        let reason = "Messages requires the model's name in answers";
        reporter.synthesised((root, Field::ResponseModel), reason);
    }
    object.field("model", &model.map(Text::reborrow).unwrap_or_default());
}

fn write_usage(object: &mut Object<'_, '_>, response: &Response<'_>, reporter: &mut Reporter<'_>) {
    let root = response.semantics().place();
    match &response.usage {
        Some(usage) => USAGE.report(usage, reporter),
        None if reporter.is_same() && response.service_tier.is_none() => return,
        None => report_absent_usage(root, reporter),
    }
    let tier = reported_word(response.service_tier.as_ref(), Asking::Answer(root), reporter);
    let none = Usage::default();
    let usage = response.usage.as_ref().unwrap_or(&none);
    USAGE.write(object.key(USAGE.member), usage, tier.as_ref(), USAGE.stating(reporter.source()));
}

/// The parts of an answer, and apart from them the sealed thoughts that follow all else: the vendor itself ends no
/// answer with those. Fixture `stream/thinking/sealed-thinking-last`.
fn without_last_seals<'p>(
    parts: &'p [Part<'p>],
    reporter: &Reporter<'_>,
) -> (&'p [Part<'p>], &'p [Part<'p>]) {
    let seals = |part: &Part<'_>| match part.content() {
        Content::Reasoning(reasoning) => {
            !reporter.is_same() && is_sealed(reasoning, part.semantics())
        }
        _ => false,
    };
    let end = parts.iter().rposition(|part| !seals(part)).map_or(parts.len(), |last| last + 1);
    parts.split_at(end)
}

/// Why a refusal is written as text.
pub(super) const REFUSAL: &str = "Messages has no refusals; sent as text";

/// Why a call of free text looks otherwise.
pub(super) const FREE_TEXT: &str = "free text becomes the one argument of a function";

/// The content of an answer in the making.
#[derive(Debug, Default)]
pub(super) struct Answering {
    pub(super) ends_with: EndsWith,
    /// The ids of the calls so far: each must be answerable. Fixture `answer/ids/duplicate-call-ids`.
    ids: HashSet<String>,
}

impl Answering {
    fn write(
        &mut self,
        list: &mut Writer,
        part: &Part<'_>,
        context: &AnswerContext<'_>,
        reporter: &mut Reporter<'_>,
    ) {
        let (semantics, place) = (part.semantics(), part.semantics().place());
        if reporter.is_same() {
            let block = Block::Own(semantics);
            return write_own(list, part, block, |name| context.client_name(name));
        }
        let block = Block::Foreign;
        match part.content() {
            Content::Text(text) => {
                // The walk over the answer has reported texts that say nothing.
                if !text.is_empty() {
                    write_cited(list, text, semantics, reporter);
                }
            }
            // Some servers state an empty refusal where there is none.
            Content::Refusal(text) if text.is_empty() => {}
            Content::Refusal(text) => {
                self.refused();
                reporter.renamed(place, REFUSAL);
                block.text(list, text);
            }
            Content::ToolCall(call) => {
                let id = Text::plain(self.call_id(call.id.as_ref(), context, place, reporter));
                let words = (Some(&id), &context.client_name(&call.name));
                if call.form == CallForm::Custom {
                    reporter.approximated(place, FREE_TEXT);
                }
                if let Some((kind, reason)) = block.tool_use(list, words, call) {
                    reporter.lose((place, Field::CallArguments), kind, reason);
                }
            }
            Content::Reasoning(reasoning) => {
                let has_words = reasoning.texts.iter().any(|text| !text.is_empty());
                if has_words || semantics.artefact().is_some() {
                    if reasoning.texts.len() > 1 {
                        reporter.renamed(place, ONE_THOUGHT);
                    }
                    write_reasoning(list, reasoning, semantics, block);
                }
                return;
            }
            Content::Media(_) => {
                reporter.dropped(place, "Messages answers hold text and tool calls only");
            }
            // What the gateway adds to an answer of another protocol.
            Content::Opaque(opaque) if opaque.protocol == SELF => return list.value(&opaque.json),
            Content::ToolResult(_) | Content::Opaque(_) => {
                reporter.dropped(place, "only its own vendor has it");
            }
        }
        withhold(semantics, reporter);
    }

    pub(super) fn refused(&mut self) {
        if self.ends_with == EndsWith::Nothing {
            self.ends_with = EndsWith::Refusal;
        }
    }

    /// Takes note of a call, and finds an id for it that no other call of the answer has.
    pub(super) fn call_id(
        &mut self,
        id: Option<&Text<'_>>,
        context: &AnswerContext<'_>,
        place: Place,
        reporter: &mut Reporter<'_>,
    ) -> String {
        self.ends_with = EndsWith::Call;
        let number = self.ids.len();
        let own = id.map(|id| id.to_str().into_owned()).filter(|id| !id.is_empty());
        if own.is_none() {
            reporter.synthesised((place, Field::CallId), "Messages pairs results with calls by id");
        }
        let mut id = own.unwrap_or_else(|| format!("toolu_{}_{number}", context.seed.to_str()));
        if self.ids.contains(&id) {
            reporter.repaired((place, Field::CallId), "two calls have one id");
            id = format!("{id}_{number}");
        }
        self.ids.insert(id.clone());
        id
    }
}

pub(super) const ONE_THOUGHT: &str = "the pieces of a thought are joined into one text";

/// An artefact on anything but thinking has no field to ride in.
pub(super) fn withhold(semantics: &NodeSemantics<'_>, reporter: &mut Reporter<'_>) {
    if semantics.artefact().is_some() {
        let reason = "no field of this block can carry it";
        reporter.withheld((semantics.sealed_at(), Field::Signature), reason);
    }
}

fn write_cited(
    list: &mut Writer,
    text: &Text<'_>,
    semantics: &NodeSemantics<'_>,
    reporter: &mut Reporter<'_>,
) {
    let mut cited = NodeSemantics::default();
    let citations = semantics.citations().iter().filter_map(foreign_citation);
    citations.for_each(|citation| cited.add_citation(citation));
    reporter.citations(semantics, LossKind::Approximated, CITED);
    Block::Own(&cited).text(list, text);
}

/// What is reported of citations.
pub(super) const CITED: &str = "sources are cited for the whole block, by address and title";

/// The source of a text as this protocol states results of a search; none without an address.
pub(super) fn foreign_citation(citation: &Citation<'_>) -> Option<Citation<'static>> {
    let url = citation.url()?;
    Some(read_citation(Json::of_object(|object| {
        object.field("type", "web_search_result_location");
        object.field("url", url);
        object.field("title", &citation.title().map(Text::reborrow));
        object.field("encrypted_index", "");
        object.field("cited_text", &citation.cited_text().map(Text::reborrow).unwrap_or_default());
    })))
}
