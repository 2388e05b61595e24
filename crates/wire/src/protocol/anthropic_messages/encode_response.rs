//! Writing whole answers.

use std::collections::HashSet;

use super::decode_request::blocks::citation as read_citation;
use super::encode_request::blocks::Block;
use super::encode_request::blocks::CallWords;
use super::encode_request::blocks::Mark;
use super::encode_request::blocks::emptied;
use super::encode_request::blocks::write_own;
use super::encode_request::blocks::write_reasoning;
use super::fault::write_fault;
use super::types::HERE;
use super::types::NO_CONTENT;
use super::types::NO_ROLE;
use super::types::NO_TYPE;
use crate::conversation::CallForm;
use crate::conversation::Candidate;
use crate::conversation::Content;
use crate::conversation::Finish;
use crate::conversation::FinishKind;
use crate::conversation::Part;
use crate::conversation::Reasoning;
use crate::conversation::Response;
use crate::conversation::Usage;
use crate::json::Json;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::Asked;
use crate::protocol::Citation;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::semantics::NodeSemantics;

pub(in crate::protocol) fn encode_response(
    response: &Response<'_>,
    source: Protocol,
    asked: &Asked<'_>,
    report: &mut Report,
) -> String {
    let mut losing = Losing::new(source, HERE, report);
    losing.response(response);
    let mut writer = Writer::default();
    match (&response.fault, losing.is_same()) {
        (Some(fault), _) => write_fault(&mut writer, fault),
        (None, true) => write_own_response(&mut writer, response, asked),
        (None, false) => write_foreign_response(&mut writer, response, asked, &mut losing),
    }
    writer.into_string()
}

fn write_own_response(writer: &mut Writer, response: &Response<'_>, asked: &Asked<'_>) {
    let semantics = response.semantics();
    let mut object = Object::open(writer, semantics.extras().map(|extras| (extras, "")));
    object.optional("id", response.id.as_ref());
    write_kind(&mut object, semantics);
    object.optional("model", asked.model.as_ref().or(response.model.as_ref()));
    if let Some(candidate) = response.candidates.first() {
        let parts = &candidate.message.parts;
        if !parts.is_empty() || !semantics.has_shape(NO_CONTENT) {
            object.key("content").array(|list| {
                for part in parts {
                    write_own(list, part, |call| Some(asked.client_name(&call.name).into_owned()));
                }
            });
        }
        write_finish(&mut object, candidate.finish.as_ref());
    }
    if response.usage.is_some() || response.service_tier.is_some() {
        let usage = response.usage.clone().unwrap_or_default();
        write_usage(object.key("usage"), &usage, response.service_tier.as_ref(), Told::AsItWas);
    }
    object.close();
}

/// Writes the type and the role that every answer has, unless this one came without.
pub(super) fn write_kind(object: &mut Object<'_, '_>, semantics: &NodeSemantics<'_>) {
    if !semantics.has_shape(NO_TYPE) {
        object.field("type", "message");
    }
    if !semantics.has_shape(NO_ROLE) {
        object.field("role", "assistant");
    }
}

/// Writes an end that came in this protocol, or that was put there by someone who knows no protocol.
pub(super) fn write_finish(object: &mut Object<'_, '_>, finish: Option<&Finish<'_>>) {
    let Some(finish) = finish else { return };
    match &finish.raw {
        Some(raw) => object.field("stop_reason", raw),
        // An end of which the vendor itself did not say why.
        None if finish.kind == FinishKind::Other => {}
        None => object.field("stop_reason", stop_reason(finish.kind, Said::Nothing)),
    }
    object.optional("stop_sequence", finish.stop_sequence.as_ref());
    object.optional("stop_details", finish.details.as_ref());
}

/// How much a usage report must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// What was reported.
    AsItWas,
    /// At least the input and the output, which clients rely on.
    AtLeastTotals,
}

pub(super) fn write_usage(
    writer: &mut Writer,
    usage: &Usage<'_>,
    service_tier: Option<&Text<'_>>,
    told: Told,
) {
    let extras = match told {
        Told::AsItWas => usage.semantics().extras(),
        Told::AtLeastTotals => None,
    };
    let total = |count: Option<u64>| count.or((told == Told::AtLeastTotals).then_some(0));
    let cached = usage.cache_read.unwrap_or(0).saturating_add(usage.cache_write.unwrap_or(0));
    let uncached = usage.input.map(|input| input.saturating_sub(cached));
    let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
    object.optional("input_tokens", total(uncached).as_ref());
    object.optional("cache_creation_input_tokens", usage.cache_write.as_ref());
    object.optional("cache_read_input_tokens", usage.cache_read.as_ref());
    let writes = [
        ("ephemeral_5m_input_tokens", usage.cache_write_5m),
        ("ephemeral_1h_input_tokens", usage.cache_write_1h),
    ];
    if writes.iter().any(|(_, count)| count.is_some()) {
        let extras = extras.map(|extras| (extras, "cache_creation"));
        let mut inner = Object::open(object.key("cache_creation"), extras);
        writes.iter().for_each(|(key, count)| inner.optional(key, count.as_ref()));
        inner.close();
    }
    object.optional("output_tokens", total(usage.output).as_ref());
    // Some vendors state that they did not count.
    let is_told = |count: &u64| told == Told::AsItWas || *count > 0;
    if let Some(reasoning) = usage.reasoning.filter(is_told) {
        let extras = extras.map(|extras| (extras, "output_tokens_details"));
        let mut inner = Object::open(object.key("output_tokens_details"), extras);
        inner.field("thinking_tokens", &reasoning);
        inner.close();
    }
    object.optional("service_tier", service_tier);
    object.close();
}

fn write_foreign_response(
    writer: &mut Writer,
    response: &Response<'_>,
    asked: &Asked<'_>,
    losing: &mut Losing<'_>,
) {
    let root = response.semantics().place();
    let mut object = Object::open(writer, None);
    object.field("id", &response_id(response.id.as_ref(), asked, root, losing));
    object.field("type", "message");
    object.field("role", "assistant");
    object.field("model", &response_model(response.model.as_ref(), asked, root, losing));
    let mut answering = Answering::default();
    let none = Candidate::default();
    let (candidate, others) = match response.candidates.split_first() {
        Some((candidate, others)) => (candidate, others),
        None => (&none, &[] as &[Candidate<'_>]),
    };
    object.key("content").array(|list| {
        for part in &candidate.message.parts {
            answering.write(list, part, asked, losing);
        }
    });
    for other in others {
        losing.node(other.semantics().place(), LossKind::Dropped, "there is one answer");
    }
    let place = candidate.semantics().place();
    write_foreign_finish(&mut object, candidate.finish.as_ref(), answering.said, (place, losing));
    let tier = response.service_tier.as_ref().and_then(|tier| tier_word(tier, root, losing));
    let tier = tier.map(Text::literal);
    let usage = response.usage.clone().unwrap_or_default();
    lose_sum(&usage, losing);
    write_usage(object.key("usage"), &usage, tier.as_ref(), Told::AtLeastTotals);
    object.close();
}

/// What this protocol calls the tier that served the answer.
pub(super) fn tier_word(
    tier: &Text<'_>,
    root: Place,
    losing: &mut Losing<'_>,
) -> Option<&'static str> {
    let (word, kind) = match &*tier.to_str() {
        "standard" => (Some("standard"), None),
        "priority" => (Some("priority"), None),
        "batch" => (Some("batch"), None),
        "default" => (Some("standard"), Some(LossKind::Renamed)),
        "auto" => (None, Some(LossKind::Implied)),
        _ => (None, Some(LossKind::Dropped)),
    };
    if let Some(kind) = kind {
        losing.field(root, Field::ResponseServiceTier, kind, "the vendors' tiers differ");
    }
    word
}

/// Results that the vendor fed back are part of the input, which is told as one count.
pub(super) fn lose_sum(usage: &Usage<'_>, losing: &mut Losing<'_>) {
    if usage.tool_prompt.is_some() {
        let place = usage.semantics().place();
        losing.field(place, Field::UsageInput, LossKind::Renamed, "results fed back are input");
    }
}

/// Reports that a refusal is told as text, in a place of its own or not.
pub(super) fn lose_refusal(place: Place, losing: &mut Losing<'_>) {
    losing.node(place, LossKind::Renamed, "a refusal is text like any other");
}

/// Why a call of free text looks otherwise.
pub(super) const FREE_TEXT: &str = "free text is the one argument of a function";

/// The id of the answer, made from what the caller gives where the upstream has none.
pub(super) fn response_id<'t>(
    id: Option<&'t Text<'_>>,
    asked: &Asked<'_>,
    root: Place,
    losing: &mut Losing<'_>,
) -> Text<'t> {
    id.map(Text::reborrow).unwrap_or_else(|| {
        losing.field(root, Field::ResponseId, LossKind::Synthesised, "answers have an id here");
        Text::plain(format!("msg_{}", asked.seed.to_str()))
    })
}

pub(super) fn response_model<'t>(
    model: Option<&'t Text<'_>>,
    asked: &'t Asked<'_>,
    root: Place,
    losing: &mut Losing<'_>,
) -> Text<'t> {
    asked.model.as_ref().or(model).map(Text::reborrow).unwrap_or_else(|| {
        losing.field(root, Field::ResponseModel, LossKind::Synthesised, "answers name their model");
        Text::default()
    })
}

/// Writes why an answer of another protocol ended.
pub(super) fn write_foreign_finish(
    object: &mut Object<'_, '_>,
    finish: Option<&Finish<'_>>,
    said: Said,
    (place, losing): (Place, &mut Losing<'_>),
) {
    let Some(finish) = finish else {
        object.key("stop_reason").null();
        return object.key("stop_sequence").null();
    };
    object.field("stop_reason", stop_reason(finish.kind, said));
    match (&finish.stop_sequence, finish.kind) {
        (Some(text), _) => object.field("stop_sequence", text),
        (None, _) => object.key("stop_sequence").null(),
    }
    if finish.details.is_some() {
        let reason = "details in another vendor's words";
        losing.field(place, Field::FinishDetails, LossKind::Dropped, reason);
    }
    let lost = match finish.kind {
        FinishKind::MalformedCall => Some((LossKind::Approximated, "there is no such reason")),
        FinishKind::Other | FinishKind::Failed => {
            Some((LossKind::Approximated, "a reason that only its vendor knows"))
        }
        FinishKind::ContentFilter | FinishKind::PromptFilter => {
            Some((LossKind::Renamed, "a filtered answer is a refusal"))
        }
        FinishKind::Stop
        | FinishKind::StopSequence
        | FinishKind::ToolCalls
        | FinishKind::Length
        | FinishKind::ContextFull
        | FinishKind::Refusal
        | FinishKind::Pause => None,
    };
    let derived = match (finish.kind, said) {
        (FinishKind::Stop, Said::Call) => Some((LossKind::Renamed, "a call makes it a tool turn")),
        (FinishKind::Stop, Said::Refusal) => {
            Some((LossKind::Renamed, "a refusal is an end of its own"))
        }
        _ => None,
    };
    if let Some((kind, reason)) = lost.or(derived) {
        losing.field(place, Field::FinishReason, kind, reason);
    }
}

/// What an answer held that decides how its end is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) enum Said {
    #[default]
    Nothing,
    Refusal,
    Call,
}

/// The reason for an end; a call makes it a tool turn unless it was cut or filtered.
pub(super) fn stop_reason(kind: FinishKind, said: Said) -> &'static str {
    match (kind, said) {
        (FinishKind::Length, _) => "max_tokens",
        (FinishKind::ContextFull, _) => "model_context_window_exceeded",
        (FinishKind::ContentFilter | FinishKind::PromptFilter | FinishKind::Refusal, _) => {
            "refusal"
        }
        (_, Said::Call) | (FinishKind::ToolCalls, _) => "tool_use",
        (FinishKind::StopSequence, _) => "stop_sequence",
        (FinishKind::Pause, _) => "pause_turn",
        (FinishKind::Stop, Said::Refusal) => "refusal",
        (
            FinishKind::Stop | FinishKind::MalformedCall | FinishKind::Failed | FinishKind::Other,
            Said::Nothing | Said::Refusal,
        ) => "end_turn",
    }
}

/// The content of an answer of another protocol in the making.
#[derive(Debug, Default)]
pub(super) struct Answering {
    pub(super) said: Said,
    /// The ids of the calls so far: each must be answerable.
    ids: HashSet<String>,
}

impl Answering {
    fn write(
        &mut self,
        list: &mut Writer,
        part: &Part<'_>,
        asked: &Asked<'_>,
        losing: &mut Losing<'_>,
    ) {
        let (semantics, place) = (part.semantics(), part.semantics().place());
        let block = Block::Foreign(Mark::Plain);
        match part.content() {
            Content::Text(text) => {
                if text.is_empty() {
                    losing.node(place, LossKind::Implied, "an empty text says nothing");
                } else {
                    write_cited(list, text, semantics, losing);
                }
            }
            Content::Refusal(text) => {
                self.refused();
                lose_refusal(place, losing);
                block.text(list, text);
            }
            Content::ToolCall(call) => {
                let id = self.call_id(call.id.as_ref(), asked, place, losing);
                let name = asked.client_name(&call.name);
                let words = CallWords { id: Some(Text::plain(id)), name };
                if call.form == CallForm::Custom {
                    losing.node(place, LossKind::Renamed, FREE_TEXT);
                }
                let change = block.tool_use(list, &words, call).or_else(|| emptied(call));
                lose_change(change, place, losing);
            }
            Content::Reasoning(reasoning) => {
                if says_something(reasoning, semantics) {
                    write_reasoning(list, reasoning, semantics, block);
                }
                return;
            }
            Content::Media(_) => {
                losing.node(place, LossKind::Dropped, "answers here are text and calls");
            }
            Content::ToolResult(_) | Content::Opaque(_) => {
                losing.node(place, LossKind::Dropped, "what only its own vendor can say");
            }
        }
        withhold(semantics, losing);
    }

    pub(super) fn refused(&mut self) {
        if self.said == Said::Nothing {
            self.said = Said::Refusal;
        }
    }

    /// Takes note of a call, and finds an id for it that no other call of the answer has.
    pub(super) fn call_id(
        &mut self,
        id: Option<&Text<'_>>,
        asked: &Asked<'_>,
        place: Place,
        losing: &mut Losing<'_>,
    ) -> String {
        self.said = Said::Call;
        let number = self.ids.len();
        let own = id.map(|id| id.to_str().into_owned()).filter(|id| !id.is_empty());
        if own.is_none() {
            let reason = "calls are answered by id here";
            losing.field(place, Field::CallId, LossKind::Synthesised, reason);
        }
        let mut id = own.unwrap_or_else(|| format!("toolu_{}_{number}", asked.seed.to_str()));
        if self.ids.contains(&id) {
            losing.field(place, Field::CallId, LossKind::Repaired, "two calls have one id");
            id = format!("{id}_{number}");
        }
        self.ids.insert(id.clone());
        id
    }
}

/// Whether there is a thought to show or an artefact to carry.
fn says_something(reasoning: &Reasoning<'_>, semantics: &NodeSemantics<'_>) -> bool {
    semantics.artefact().is_some() || reasoning.texts.iter().any(|text| !text.is_empty())
}

fn lose_change(change: Option<(LossKind, &'static str)>, place: Place, losing: &mut Losing<'_>) {
    if let Some((kind, reason)) = change {
        losing.field(place, Field::CallArguments, kind, reason);
    }
}

/// An artefact on anything but thinking has no field to ride in.
pub(super) fn withhold(semantics: &NodeSemantics<'_>, losing: &mut Losing<'_>) {
    if semantics.artefact().is_some() {
        let reason = "no field of this block can carry it";
        losing.field(semantics.place(), Field::Signature, LossKind::Withheld, reason);
    }
}

fn write_cited(
    list: &mut Writer,
    text: &Text<'_>,
    semantics: &NodeSemantics<'_>,
    losing: &mut Losing<'_>,
) {
    let mut cited = NodeSemantics::default();
    for citation in semantics.citations() {
        if let Some(citation) = foreign_citation(citation) {
            cited.add_citation(citation);
        }
    }
    if !semantics.citations().is_empty() {
        losing.field(semantics.place(), Field::Citations, LossKind::Approximated, CITED);
    }
    Block::Own(&cited).text(list, text);
}

pub(super) const CITED: &str = "sources are cited for the whole block, by address and title";

/// The source of a text as this protocol states results of a search; none without an address.
pub(super) fn foreign_citation(citation: &Citation<'_>) -> Option<Citation<'static>> {
    let url = citation.url()?;
    let mut writer = Writer::default();
    writer.object(|object| {
        object.field("type", "web_search_result_location");
        object.field("url", url);
        object.field("title", &citation.title().map(Text::reborrow));
        object.field("encrypted_index", "");
        object.field("cited_text", &citation.cited_text().map(Text::reborrow).unwrap_or_default());
    });
    Some(read_citation(Json::trusted(writer.into_string().into())))
}
