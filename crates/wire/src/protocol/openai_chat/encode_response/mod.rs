//! Writing whole answers.

mod annotation;
mod finish;

use std::borrow::Cow;

use crate::conversation::Candidate;
use crate::conversation::Content;
use crate::conversation::Finish;
use crate::conversation::MediaKind;
use crate::conversation::Part;
use crate::conversation::Response;
use crate::conversation::ToolCall;
use crate::conversation::Usage;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::Asked;
use crate::protocol::Citation;
use crate::protocol::Field;
use crate::protocol::Logprobs;
use crate::protocol::Protocol;
use crate::protocol::arguments;
use crate::protocol::exchange::ANSWER_BYTES;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::content;
use crate::protocol::openai_chat::encode_request::message;
use crate::protocol::openai_chat::encode_request::message::Fields;
use crate::protocol::openai_chat::encode_request::message::Names;
use crate::protocol::openai_chat::encode_request::signature::Side;
use crate::protocol::openai_chat::encode_request::signature::write_signature;
use crate::protocol::openai_chat::fault;
use crate::protocol::openai_chat::types::shape;
use crate::protocol::openai_chat::usage::USAGE;
use crate::protocol::semantics::NodeSemantics;
use crate::protocol::semantics::add_to;
use crate::protocol::tier;
use crate::protocol::tier::Asking;

pub(super) use annotation::is_cited;
pub(in crate::protocol) use annotation::is_plain as is_plain_citation;
pub(super) use annotation::report_citations;
pub(super) use annotation::write_annotation;
pub(super) use finish::Said;
pub(super) use finish::finish_word;

pub(in crate::protocol) fn encode_response(
    response: &Response<'_>,
    source: Protocol,
    asked: &Asked<'_>,
    report: &mut Report,
) -> String {
    let mut losing = Losing::new(source, Protocol::OpenaiChat, report);
    losing.response(response);
    let same = losing.is_same();
    let semantics = response.semantics();
    let mut writer = Writer::with_capacity(ANSWER_BYTES);
    let own = content::own_extras(&losing, semantics);
    let mut object = Object::open(&mut writer, own.map(|extras| (extras, "")));
    write_head(&mut object, response, asked, &mut losing);
    if !(same && semantics.has_shape(shape::CHOICES_ABSENT)) {
        object.key("choices").array(|writer| {
            let mut answer = Answer { asked, losing: &mut losing, parts_before: 0 };
            for (index, candidate) in response.candidates.iter().enumerate() {
                answer.write_choice(writer, index, candidate);
            }
        });
    }
    let is_apart = |usage: &&Usage<'_>| same && usage.semantics().has_shape(shape::IN_X_GROQ);
    if let Some(usage) = response.usage.as_ref().filter(|usage| !is_apart(usage)) {
        USAGE.write(object.key(USAGE.member), usage, None, USAGE.stating(source));
        USAGE.report(usage, &mut losing);
    }
    if let Some(fault) = response.fault.as_ref().filter(|_| !same) {
        object.key("error").object(|error| fault::write_error(error, fault));
        let reason = "Chat has other words for errors";
        losing.below(semantics.place(), "/error", LossKind::Approximated, reason);
    }
    object.close();
    writer.into_string()
}

fn write_head(
    object: &mut Object<'_, '_>,
    response: &Response<'_>,
    asked: &Asked<'_>,
    losing: &mut Losing<'_>,
) {
    let same = losing.is_same();
    match &response.id {
        Some(id) => object.field("id", id),
        None if same => {}
        None => object.field("id", &format!("chatcmpl-{}", asked.seed.to_str())),
    }
    if !(same && response.semantics().has_shape(shape::OWN_WORD)) {
        object.field("object", "chat.completion");
    }
    match &response.created {
        Some(created) => object.field("created", created),
        None if same => {}
        None => object.field("created", &asked.created_s),
    }
    match asked.model.as_ref().or(response.model.as_ref()) {
        Some(model) => object.field("model", model),
        None if same => {}
        None => {
            object.field("model", "");
            report_no_model(response.semantics().place(), losing);
        }
    }
    if let Some(tier) = &response.service_tier {
        object.optional("service_tier", tier_word(tier, losing.source()).as_ref());
        report_tier(tier, response.semantics().place(), losing);
    }
}

/// Reports that a model had to be named and none was known.
pub(super) fn report_no_model(place: Place, losing: &mut Losing<'_>) {
    losing.field(place, Field::ResponseModel, LossKind::Synthesised, "Chat names the model");
}

/// Reports a tier that has no name here.
pub(super) fn report_tier(tier: &Text<'_>, place: Place, losing: &mut Losing<'_>) {
    if tier_word(tier, losing.source()).is_none() {
        let reason = "Chat has no such tier";
        losing.field(place, Field::ResponseServiceTier, LossKind::Dropped, reason);
    }
}

/// The name that a tier has here; none if Chat has no such tier.
pub(super) fn tier_word<'t>(tier: &'t Text<'t>, source: Protocol) -> Option<Text<'t>> {
    if source == Protocol::OpenaiChat {
        return Some(tier.reborrow());
    }
    let word = tier::translated(&tier.to_str(), source, Protocol::OpenaiChat, Asking::Answer);
    word.map(Text::literal)
}

/// The choices of an answer in the making.
struct Answer<'x, 'r> {
    asked: &'x Asked<'x>,
    losing: &'x mut Losing<'r>,
    /// How many parts came before this candidate's, so that made-up ids differ.
    parts_before: usize,
}

impl Answer<'_, '_> {
    fn write_choice(&mut self, writer: &mut Writer, index: usize, candidate: &Candidate<'_>) {
        let semantics = candidate.semantics();
        let same = self.losing.is_same();
        let own = content::own_extras(self.losing, semantics);
        let mut object = Object::open(writer, own.map(|extras| (extras, "")));
        if !(same && semantics.has_shape(shape::OWN_WORD)) {
            object.field("index", &index);
        }
        if !(same && semantics.has_shape(shape::MESSAGE_ABSENT)) {
            self.write_message(object.key("message"), candidate);
        }
        self.write_logprobs(&mut object, candidate);
        match &candidate.finish {
            Some(finish) => object.field("finish_reason", &*self.finish_word(finish, candidate)),
            None if same => {}
            None => {
                let reason = "Chat has no word for an answer that has not ended";
                let place = semantics.place();
                self.losing.field(place, Field::FinishReason, LossKind::Approximated, reason);
                object.field("finish_reason", "stop");
            }
        }
        object.close();
        self.parts_before += candidate.message.parts.len();
    }

    fn write_message(&mut self, writer: &mut Writer, candidate: &Candidate<'_>) {
        let semantics = candidate.semantics();
        let own = content::own_extras(self.losing, semantics);
        let mut object = Object::open(writer, own.map(|extras| (extras, "message")));
        if !(self.losing.is_same() && semantics.has_shape(shape::OWN_ROLE)) {
            object.field("role", "assistant");
        }
        match self.losing.is_same() {
            true => self.write_same(&mut object, candidate),
            false => self.write_translated(&mut object, candidate),
        }
        object.close();
    }

    fn write_same(&mut self, object: &mut Object<'_, '_>, candidate: &Candidate<'_>) {
        let shape = candidate.semantics().shape();
        let parts: Vec<&Part<'_>> = candidate.message.parts.iter().collect();
        let content: Vec<&Part<'_>> =
            parts.iter().copied().filter(|part| message::stands_in_content(part)).collect();
        if shape.has(shape::CONTENT_LIST) || content.iter().any(|it| !is_text(it)) {
            message::write_content(object, &content, shape.with(shape::CONTENT_LIST), self.losing);
        } else if let [part] = content.as_slice() {
            message::write_content(object, &[*part], shape, self.losing);
        } else if !content.is_empty() {
            object.field("content", &joined(content.iter().copied()));
        } else if !shape.has(shape::CONTENT_ABSENT) {
            object.key("content").null();
        }
        Fields { parts: &parts, shape, names: &Names::Own, signed: true }.write_beside(object);
        let citations: Vec<&Citation<'_>> =
            content.iter().flat_map(|part| part.semantics().citations()).collect();
        if !citations.is_empty() || shape.has(shape::ANNOTATIONS_EMPTY) {
            object.key("annotations").array(|writer| {
                citations.iter().for_each(|citation| writer.value(citation.json()));
            });
        }
    }

    fn write_translated(&mut self, object: &mut Object<'_, '_>, candidate: &Candidate<'_>) {
        let parts = &candidate.message.parts;
        match parts.iter().any(is_text) {
            true => object.field("content", &joined(parts.iter())),
            false => object.key("content").null(),
        }
        self.write_refusal(object, parts);
        self.write_reasoning(object, parts);
        self.write_calls(object, parts);
        self.write_annotations(object, parts);
        self.report_joined(parts);
        for part in parts {
            self.report_media(part);
        }
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
                Content::Reasoning(_) if message::details(part).is_some() => {}
                Content::Reasoning(reasoning) if reasoning.texts.is_empty() => {
                    self.losing.node(place, LossKind::Withheld, "only its issuer can read it");
                }
                Content::Reasoning(reasoning) if reasoning.texts.len() > 1 => {
                    self.losing.node(place, LossKind::Renamed, ONE_TEXT);
                }
                _ if is_lost => self.losing.node(place, LossKind::Renamed, ONE_TEXT),
                _ => {}
            }
        }
    }

    fn write_refusal(&mut self, object: &mut Object<'_, '_>, parts: &[Part<'_>]) {
        let mut refusal: Option<Text<'_>> = None;
        for part in parts {
            if let Content::Refusal(text) = part.content() {
                match &mut refusal {
                    Some(refusal) => refusal.push(text),
                    None => refusal = Some(text.reborrow()),
                }
            }
        }
        object.field("refusal", &refusal);
    }

    /// Writes thinking into the field that clients know from other servers, if the client is to see it.
    fn write_reasoning(&mut self, object: &mut Object<'_, '_>, parts: &[Part<'_>]) {
        let mut text: Option<Text<'_>> = None;
        for part in parts {
            let Content::Reasoning(reasoning) = part.content() else { continue };
            if !self.asked.show_reasoning {
                let reason = "the client does not want to see it";
                self.losing.node(part.semantics().place(), LossKind::Dropped, reason);
                continue;
            }
            // What this protocol's own server wants back has travelled in a foreign field.
            if let Some(json) = message::details(part) {
                object.field("reasoning_details", &json);
            }
            for piece in &reasoning.texts {
                match &mut text {
                    Some(text) => {
                        text.push(&Text::plain("\n\n"));
                        text.push(piece);
                    }
                    None => text = Some(piece.reborrow()),
                }
            }
        }
        object.optional("reasoning_content", text.as_ref());
    }

    fn write_calls(&mut self, object: &mut Object<'_, '_>, parts: &[Part<'_>]) {
        if !has_calls(parts) {
            return;
        }
        object.key("tool_calls").array(|writer| {
            for (index, part) in parts.iter().enumerate() {
                if let Content::ToolCall(call) = part.content() {
                    self.write_call(writer, index, (call, part.semantics()));
                }
            }
        });
    }

    fn write_call(
        &mut self,
        writer: &mut Writer,
        index: usize,
        (call, semantics): (&ToolCall<'_>, &NodeSemantics<'_>),
    ) {
        let name = self.asked.client_name(&call.name);
        let custom =
            call.form == crate::conversation::CallForm::Custom || self.asked.is_custom(&name);
        let id = match &call.id {
            Some(id) => id.reborrow(),
            None => {
                let reason = "Chat pairs results with calls by id";
                self.losing.field(semantics.place(), Field::CallId, LossKind::Synthesised, reason);
                made_up_id(self.asked, self.parts_before + index)
            }
        };
        let mut object = Object::open(writer, None);
        object.field("id", &id);
        let kind = if custom { "custom" } else { "function" };
        object.field("type", kind);
        object.key(kind).object(|payload| {
            payload.field("name", &name);
            match custom {
                true => write_input(payload, call),
                false => write_arguments(payload, call),
            }
        });
        write_signature(&mut object, semantics, Side::Foreign);
        object.close();
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
        for part in parts.iter().filter(|part| !part.semantics().citations().is_empty()) {
            report_citations(part.semantics(), self.losing);
        }
    }

    fn report_media(&mut self, part: &Part<'_>) {
        let place = part.semantics().place();
        match part.content() {
            Content::Media(media) if media.kind != MediaKind::Video => {
                self.losing.node(place, LossKind::Dropped, "Chat has no such media in answers");
            }
            Content::ToolResult(_) => {
                self.losing.node(place, LossKind::Dropped, "Chat has no results in answers");
            }
            _ => {}
        }
    }

    fn write_logprobs(&mut self, object: &mut Object<'_, '_>, candidate: &Candidate<'_>) {
        let of = |is: fn(&Part<'_>) -> bool| {
            let parts = candidate.message.parts.iter().filter(move |part| is(part));
            let told = parts.filter_map(|part| part.semantics().logprobs());
            let mut all = None;
            told.for_each(|logprobs| add_to(&mut all, logprobs.clone()));
            all
        };
        let (text, refusal) = (of(is_text), of(is_refusal));
        let own = content::own_extras(self.losing, candidate.semantics());
        let stated = self.losing.is_same() && candidate.semantics().has_shape(shape::LOGPROBS)
            || own.is_some_and(|extras| extras.within("logprobs").next().is_some());
        if text.is_none() && refusal.is_none() && !stated {
            return;
        }
        let mut inner =
            Object::open(object.key("logprobs"), own.map(|extras| (extras, "logprobs")));
        inner.optional("content", text.as_ref().map(Logprobs::entries).as_ref());
        inner.optional("refusal", refusal.as_ref().map(Logprobs::entries).as_ref());
        inner.close();
    }

    fn finish_word<'f>(
        &mut self,
        finish: &'f Finish<'_>,
        candidate: &Candidate<'_>,
    ) -> Cow<'f, str> {
        if let (true, Some(raw)) = (self.losing.is_same(), &finish.raw) {
            return raw.to_str();
        }
        let place = candidate.semantics().place();
        let parts = &candidate.message.parts;
        let said = match (has_calls(parts), parts.iter().any(is_refusal)) {
            (true, _) => Said::Calls,
            (false, true) => Said::Refusal,
            (false, false) => Said::Other,
        };
        finish_word(finish.kind, said, place, self.losing).into()
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

/// The id of a call that came without one.
pub(super) fn made_up_id<'t>(asked: &Asked<'_>, part: usize) -> Text<'t> {
    Text::plain(format!("call_{}_{part}", asked.seed.to_str()))
}

fn write_input(payload: &mut Writer, call: &ToolCall<'_>) {
    payload.key("input");
    match arguments::custom_input(&call.arguments) {
        Some(input) if call.form == crate::conversation::CallForm::Function => {
            payload.value(&input)
        }
        _ => arguments::write_string(payload, &call.arguments),
    }
}

fn write_arguments(payload: &mut Writer, call: &ToolCall<'_>) {
    payload.key("arguments");
    match &call.arguments {
        crate::conversation::Arguments::Text(text) if text.is_blank() => payload.value("{}"),
        arguments => arguments::write_string(payload, arguments),
    }
}

fn is_text(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Text(_))
}

fn is_refusal(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Refusal(_))
}

fn has_calls(parts: &[Part<'_>]) -> bool {
    parts.iter().any(|part| matches!(part.content(), Content::ToolCall(_)))
}

/// All text as the one string that an answer has.
fn joined<'p>(parts: impl Iterator<Item = &'p Part<'p>>) -> Text<'p> {
    let mut texts = parts.filter_map(|part| match part.content() {
        Content::Text(text) => Some(text),
        _ => None,
    });
    let mut joined = texts.next().map(Text::reborrow).unwrap_or_default();
    texts.for_each(|text| joined.push(text));
    joined
}
