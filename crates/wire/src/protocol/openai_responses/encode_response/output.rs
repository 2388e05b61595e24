//! Writing the items of an answer, for whole answers and for the end of an item in a stream.

use std::collections::HashSet;

use crate::conversation::{Arguments, CallForm, Content, Media, MediaKind, Part, Source, ToolCall};
use crate::json::{Json, Text, Writer};
use crate::protocol::openai_responses::encode_request::item::{
    Call, Header, item_len, write_call, write_message, write_reasoning,
};
use crate::protocol::openai_responses::encode_response::ResponseEnd;
use crate::protocol::openai_responses::types::{IN_CONTENT, SELF, unqualified};
use crate::protocol::reporter::Reporter;
use crate::protocol::{AnswerContext, Artefact, Field, Protocol, arguments};

/// The items of an answer as a JSON list.
pub(in super::super) fn encode_output(
    reporter: &mut Reporter<'_>,
    context: &AnswerContext<'_>,
    (parts, ending): (&[Part<'_>], &ResponseEnd<'_>),
) -> Json<'static> {
    let mut writer = Writer::default();
    let last = parts.iter().rposition(|part| !is_unwritten(reporter, part));
    let last = last.filter(|_| ending.is_early() && !reporter.is_same());
    writer.begin_array();
    let (mut at, mut number) = (0, 0);
    let mut taken = HashSet::new();
    let mut was_handed = false;
    while at < parts.len() {
        let item = &parts[at..at + output_len(reporter, &parts[at..])];
        let next = parts.get(at + item.len());
        let handed = next.and_then(|next| handed(reporter, &item[0], next));
        if takes(reporter, &item[0]) {
            let unhanded = item.iter().skip(usize::from(was_handed));
            unhanded.for_each(|part| withhold(reporter, part));
            if !item.iter().all(|part| is_unwritten(reporter, part)) {
                let doubled = is_doubled(reporter, &item[0], &mut taken);
                let ends = last.is_some_and(|last| last < at + item.len());
                let is_cut = ends && is_cut_off(reporter.source(), &item[0]);
                let stage = if is_cut { Stage::Cut } else { Stage::Complete };
                let thing = Thing { parts: item, number, handed, doubled, stage };
                write_item(&mut writer, reporter, context, &thing);
                number += 1;
            }
        }
        was_handed = handed.is_some();
        at += item.len();
    }
    writer.end_array();
    Json::trusted(writer.into_string().into())
}

/// Whether an item can be made of a part; reports it if not.
pub(in super::super) fn takes(reporter: &mut Reporter<'_>, part: &Part<'_>) -> bool {
    if reporter.is_same() {
        return true;
    }
    match part.content() {
        Content::Text(_) | Content::Refusal(_) | Content::ToolCall(_) | Content::Reasoning(_) => {
            true
        }
        Content::Media(media) if is_picture(media) => {
            reporter.approximated(part, "sent as an image made by a tool");
            true
        }
        Content::Media(_) => {
            reporter.dropped(part, "Responses answers hold no such medium");
            false
        }
        Content::ToolResult(_) => {
            reporter.dropped(part, "Responses answers hold no results of tools");
            false
        }
        // The walk over the answer has reported what is not this protocol's own.
        Content::Opaque(opaque) => opaque.protocol == SELF,
    }
}

fn is_picture(media: &Media<'_>) -> bool {
    media.kind == MediaKind::Image && matches!(media.source, Source::Base64 { .. })
}

/// The id of item `number`: its own, or one made from the answer's seed.
pub(in super::super) fn item_id<'i>(
    context: &AnswerContext<'_>,
    (part, number): (&'i Part<'_>, usize),
) -> Text<'i> {
    let own = part.semantics().item().and_then(|item| item.id.as_ref());
    let minted = || format!("{}_{}_{number}", prefix(context, part), context.seed.to_str());
    own.map_or_else(|| Text::plain(minted()), Text::reborrow)
}

fn prefix(context: &AnswerContext<'_>, part: &Part<'_>) -> &'static str {
    match part.content() {
        Content::Text(_) | Content::Refusal(_) => "msg",
        Content::Reasoning(_) => "rs",
        Content::ToolCall(call) => match client_form(context, call) {
            CallForm::Function => "fc",
            CallForm::Custom => "ctc",
        },
        Content::Media(_) => "ig",
        Content::ToolResult(_) | Content::Opaque(_) => "item",
    }
}

/// The form in which the client knows the tool that is called.
pub(in super::super) fn client_form(context: &AnswerContext<'_>, call: &ToolCall<'_>) -> CallForm {
    match context.is_custom(&context.client_name(&call.name)) {
        true => CallForm::Custom,
        false => call.form,
    }
}

/// Whether the item that a part opens states how far it has come: thinking and calls of custom tools do not.
fn has_status(context: &AnswerContext<'_>, part: &Part<'_>) -> bool {
    !matches!(prefix(context, part), "rs" | "ctc")
}

/// Writes an item of an answer.
pub(in super::super) fn write_item(
    writer: &mut Writer,
    reporter: &mut Reporter<'_>,
    context: &AnswerContext<'_>,
    thing: &Thing<'_>,
) {
    let Thing { parts, number, handed, doubled, stage } = *thing;
    let Some(first) = parts.first() else { return };
    let mut header = Header::of(first.semantics());
    header.id = Some(item_id(context, (first, number)));
    let word = match stage {
        Stage::Begun => Some("in_progress"),
        Stage::Complete if header.status.is_none() => Some("completed"),
        Stage::Complete => None,
        Stage::Cut => Some("incomplete"),
    };
    if let Some(word) = word.filter(|_| has_status(context, first)) {
        header.status = Some(Text::literal(word));
    }
    // What begins has nothing in it yet.
    let parts = if stage == Stage::Begun { &[] } else { parts };
    match first.content() {
        Content::Opaque(opaque) if !first.semantics().has_shape(IN_CONTENT) => {
            writer.value(&opaque.json);
        }
        Content::ToolCall(call) => {
            let written = client_call_of(context, call, (number, doubled));
            match stage {
                Stage::Begun => {
                    let arguments = &Arguments::Text(Text::default());
                    write_call(writer, &header, &Call { arguments, ..written });
                }
                Stage::Complete | Stage::Cut => {
                    write_client_call(writer, reporter, &header, (first, call, written));
                }
            }
        }
        Content::Reasoning(_) => {
            let artefact = first.semantics().artefact().or(handed);
            let data = artefact.filter(|_| !parts.is_empty()).map(|it| it.carried_in(SELF));
            write_reasoning(writer, reporter, &header, (parts, data.as_ref()));
        }
        Content::Media(media) if !reporter.is_same() => {
            write_picture(writer, &header, (media, stage));
        }
        Content::Text(_)
        | Content::Refusal(_)
        | Content::Media(_)
        | Content::ToolResult(_)
        | Content::Opaque(_) => {
            let written: Vec<_> =
                parts.iter().filter(|part| !is_unwritten(reporter, part)).collect();
            write_message(writer, reporter, &header, "assistant", written.into_iter());
        }
    }
}

/// An item in the writing.
pub(in super::super) struct Thing<'t> {
    pub(in super::super) parts: &'t [Part<'t>],
    /// Its place in the output.
    pub(in super::super) number: usize,
    /// What the part behind it hands to it.
    pub(in super::super) handed: Option<&'t Artefact<'t>>,
    /// Whether an earlier call has the same id.
    pub(in super::super) doubled: bool,
    pub(in super::super) stage: Stage,
}

/// How far an item has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Stage {
    Begun,
    Complete,
    /// The answer broke off in it.
    Cut,
}

/// Whether the last thing of an answer that ended early is not whole. A call is, if its arguments are: what was cut off is
/// then what would have followed it. Fixture `answer/tools/max-tokens-in-a-call`.
pub(in super::super) fn is_cut_off(source: Protocol, part: &Part<'_>) -> bool {
    !matches!(part.content(), Content::ToolCall(_)) || is_half_call(source, part)
}

/// Whether a part is a call with arguments that are not whole.
pub(in super::super) fn is_half_call(source: Protocol, part: &Part<'_>) -> bool {
    let Content::ToolCall(call) = part.content() else { return false };
    let Arguments::Text(text) = &call.arguments else { return false };
    no_arguments(source, call).is_none() && Json::parse_text(text).is_err()
}

/// What only its issuer can read of another vendor's text or call, if the thinking before it has room for it: neither
/// text nor call has a field for it here.
pub(in super::super) fn handed<'p>(
    reporter: &Reporter<'_>,
    thought: &Part<'_>,
    next: &'p Part<'p>,
) -> Option<&'p Artefact<'p>> {
    let is_thought = |part: &Part<'_>| matches!(part.content(), Content::Reasoning(_));
    let has_room = is_thought(thought) && thought.semantics().artefact().is_none();
    let artefact = next.semantics().artefact().filter(|_| !is_thought(next))?;
    (has_room && !reporter.is_same()).then_some(artefact)
}

/// Reports what only its issuer can read of a text or a call, and nothing carries.
pub(in super::super) fn withhold(reporter: &mut Reporter<'_>, part: &Part<'_>) {
    let is_thought = matches!(part.content(), Content::Reasoning(_));
    if part.semantics().artefact().is_some() && !is_thought {
        let reason = "Responses has no such field on texts and calls";
        let place = part.semantics().sealed_at();
        reporter.withheld((place, Field::Signature), reason);
    }
}

/// Whether a part of another protocol is a text that says nothing.
pub(in super::super) fn is_unwritten(reporter: &Reporter<'_>, part: &Part<'_>) -> bool {
    let is_empty = matches!(part.content(), Content::Text(text) if text.is_empty());
    is_empty && !reporter.is_same()
}

/// Whether a part is what the model says to the user, so that it stands in a message.
pub(in super::super) fn is_words(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Text(_) | Content::Refusal(_))
}

/// How many parts from the first on make one item. Another protocol's neighbouring texts are one message, because
/// clients take the last message for the whole answer. Fixture `answer/text/neighbouring-texts-are-one-message`.
pub(in super::super) fn output_len(reporter: &Reporter<'_>, parts: &[Part<'_>]) -> usize {
    match reporter.is_same() {
        true => item_len(parts),
        false => parts.iter().take_while(|part| is_words(part)).count().max(1),
    }
}

/// Whether a call has the id of an earlier one, so that its result could not be told from the other's.
/// Fixture `answer/ids/duplicate-call-ids`.
pub(in super::super) fn is_doubled(
    reporter: &mut Reporter<'_>,
    part: &Part<'_>,
    taken: &mut HashSet<String>,
) -> bool {
    let Content::ToolCall(call) = part.content() else { return false };
    let Some(id) = call.id.as_ref().filter(|_| !reporter.is_same()) else { return false };
    if taken.insert(id.to_str().into_owned()) {
        return false;
    }
    reporter.repaired((part, Field::CallId), "each call has an id of its own");
    true
}

/// Writes another vendor's image as one that a tool made.
fn write_picture(writer: &mut Writer, header: &Header<'_>, (media, stage): (&Media<'_>, Stage)) {
    let Source::Base64 { mime, data } = &media.source else { return writer.null() };
    let mime = mime.as_ref().map(Text::to_str).unwrap_or_default();
    let mut object = header.open(writer, "image_generation_call");
    if stage != Stage::Begun {
        object.optional("output_format", mime.strip_prefix("image/"));
        object.field("result", data);
    }
    object.close();
}

fn write_client_call(
    writer: &mut Writer,
    reporter: &mut Reporter<'_>,
    header: &Header<'_>,
    (part, call, written): (&Part<'_>, &ToolCall<'_>, Call<'_>),
) {
    if call.id.is_none() {
        let reason = "clients pair calls and results by id";
        reporter.synthesised((part, Field::CallId), reason);
    }
    let unwrapped = match (written.form, call.form) {
        (CallForm::Custom, CallForm::Function) => arguments::custom_input(&call.arguments),
        _ => None,
    };
    let unwrapped =
        unwrapped.map(Arguments::Text).or_else(|| no_arguments(reporter.source(), call));
    let arguments = unwrapped.as_ref().unwrap_or(&call.arguments);
    write_call(writer, header, &Call { arguments, ..written });
}

/// The arguments of a call that came without, from a protocol where that means an empty object.
pub(in super::super) fn no_arguments<'a>(
    source: Protocol,
    call: &ToolCall<'_>,
) -> Option<Arguments<'a>> {
    let means_empty = source.conventions().has_object_arguments && call.form == CallForm::Function;
    let is_blank = matches!(&call.arguments, Arguments::Text(text) if text.is_blank());
    (means_empty && is_blank).then(|| Arguments::Text(Text::literal("{}")))
}

/// A call as the client knows it.
fn client_call_of<'c>(
    context: &'c AnswerContext<'_>,
    call: &'c ToolCall<'_>,
    (number, doubled): (usize, bool),
) -> Call<'c> {
    let name = context.client_name(&call.name);
    let within = |namespace: &'c Text<'_>| {
        let own = unqualified(&namespace.to_str(), &name).into_owned();
        (own != name).then_some((Some(namespace), own))
    };
    let (namespace, name) = match context.namesakes.iter().find(|namesake| **namesake == name) {
        None => context.namespaces.iter().find_map(within).unwrap_or((None, name)),
        namesake => (namesake, name),
    };
    let id = match &call.id {
        Some(id) if !doubled => id.reborrow(),
        Some(_) | None => Text::plain(format!("call_{}_{number}", context.seed.to_str())),
    };
    let (arguments, form) = (&call.arguments, client_form(context, call));
    Call { id, name, namespace: namespace.map(Text::reborrow), arguments, form }
}
