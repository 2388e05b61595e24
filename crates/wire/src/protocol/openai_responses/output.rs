//! Writing the items of an answer, for whole answers and for the end of an item in a stream.

use std::collections::HashSet;

use crate::conversation::Arguments;
use crate::conversation::CallForm;
use crate::conversation::Content;
use crate::conversation::Media;
use crate::conversation::MediaKind;
use crate::conversation::Part;
use crate::conversation::Reasoning;
use crate::conversation::Source;
use crate::conversation::ToolCall;
use crate::json::Json;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::protocol::Artefact;
use crate::protocol::Asked;
use crate::protocol::Field;
use crate::protocol::arguments;
use crate::protocol::losing::Losing;
use crate::protocol::openai_responses::encode_response::Ending;
use crate::protocol::openai_responses::item::Call;
use crate::protocol::openai_responses::item::Header;
use crate::protocol::openai_responses::item::item_len;
use crate::protocol::openai_responses::item::write_call;
use crate::protocol::openai_responses::item::write_message;
use crate::protocol::openai_responses::item::write_piece;
use crate::protocol::openai_responses::item::write_reasoning;
use crate::protocol::openai_responses::types::IN_CONTENT;
use crate::protocol::openai_responses::types::OPENS;
use crate::protocol::openai_responses::types::THIS;
use crate::protocol::openai_responses::types::unqualified;

/// The items of an answer as a JSON list.
pub(super) fn encode_output(
    losing: &mut Losing<'_>,
    asked: &Asked<'_>,
    (parts, ending): (&[Part<'_>], &Ending<'_>),
) -> String {
    let mut writer = Writer::default();
    let last = parts.iter().rposition(|part| !is_unsaid(losing, part));
    let last = last.filter(|_| ending.is_early() && !losing.is_same());
    writer.begin_array();
    let (mut at, mut number) = (0, 0);
    let mut taken = HashSet::new();
    while at < parts.len() {
        let item = &parts[at..at + output_len(losing, &parts[at..])];
        if takes(losing, &item[0]) {
            let handed = report_seals(losing, (at, item.len()), parts);
            if !item.iter().all(|part| is_unsaid(losing, part)) {
                let doubled = is_doubled(losing, &item[0], &mut taken);
                let ends = last.is_some_and(|last| last < at + item.len());
                let cut = ends && is_cut_off(losing, &item[0]);
                let thing = Thing { parts: item, number, handed, doubled, cut };
                write_item(&mut writer, losing, asked, &thing);
                number += 1;
            }
        }
        at += item.len();
    }
    writer.end_array();
    writer.into_string()
}

/// Reports where what only its issuer can read of an item's parts goes; gives what the part behind hands to the item.
fn report_seals<'p>(
    losing: &mut Losing<'_>,
    (from, len): (usize, usize),
    parts: &'p [Part<'p>],
) -> Option<&'p Artefact<'p>> {
    let next = parts.get(from + len);
    let handed = next.and_then(|next| handed(losing, &parts[from], next));
    if handed.is_some() {
        return handed;
    }
    for at in from..from + len {
        if !is_handed(losing, at, parts) {
            withhold(losing, &parts[at]);
        }
    }
    None
}

/// Whether what only its issuer can read of a part went into the thinking before it.
fn is_handed(losing: &Losing<'_>, at: usize, parts: &[Part<'_>]) -> bool {
    let before = at.checked_sub(1).and_then(|before| parts.get(before));
    before.is_some_and(|before| handed(losing, before, &parts[at]).is_some())
}

/// Whether an item can be made of a part; reports it if not.
pub(super) fn takes(losing: &mut Losing<'_>, part: &Part<'_>) -> bool {
    if losing.is_same() {
        return true;
    }
    let place = part.semantics().place();
    match part.content() {
        Content::Text(_) | Content::Refusal(_) | Content::ToolCall(_) | Content::Reasoning(_) => {
            true
        }
        Content::Media(media) if is_picture(media) => {
            let reason = "sent as an image made by a tool";
            losing.node(place, LossKind::Approximated, reason);
            true
        }
        Content::Media(_) => {
            losing.node(place, LossKind::Dropped, "Responses answers hold no such medium");
            false
        }
        Content::ToolResult(_) => {
            losing.node(place, LossKind::Dropped, "Responses answers hold no results of tools");
            false
        }
        // The walk over the answer has reported it.
        Content::Opaque(_) => false,
    }
}

fn is_picture(media: &Media<'_>) -> bool {
    media.kind == MediaKind::Image && matches!(media.source, Source::Base64 { .. })
}

/// The id of item `number`: its own, or one made from the answer's seed.
pub(super) fn item_id<'i>(
    losing: &Losing<'_>,
    asked: &Asked<'_>,
    (part, number): (&'i Part<'_>, usize),
) -> Option<Text<'i>> {
    if losing.is_same() && part.semantics().has_shape(OPENS) {
        return part.semantics().item()?.id.as_ref().map(Text::reborrow);
    }
    let prefix = prefix(asked, part);
    Some(Text::plain(format!("{prefix}_{}_{number}", asked.seed.to_str())))
}

fn prefix(asked: &Asked<'_>, part: &Part<'_>) -> &'static str {
    match part.content() {
        Content::Text(_) | Content::Refusal(_) => "msg",
        Content::Reasoning(_) => "rs",
        Content::ToolCall(call) => match client_form(asked, call) {
            CallForm::Function => "fc",
            CallForm::Custom => "ctc",
        },
        Content::Media(_) => "ig",
        Content::ToolResult(_) | Content::Opaque(_) => "item",
    }
}

/// The form in which the client knows the tool that is called.
pub(super) fn client_form(asked: &Asked<'_>, call: &ToolCall<'_>) -> CallForm {
    match asked.is_custom(&asked.client_name(&call.name)) {
        true => CallForm::Custom,
        false => call.form,
    }
}

/// Whether the item that a part opens states how far it has come.
fn has_status(asked: &Asked<'_>, part: &Part<'_>) -> bool {
    match part.content() {
        Content::ToolCall(call) => client_form(asked, call) == CallForm::Function,
        Content::Reasoning(_) => false,
        Content::Text(_)
        | Content::Refusal(_)
        | Content::Media(_)
        | Content::ToolResult(_)
        | Content::Opaque(_) => true,
    }
}

/// Writes item `number` of an answer, which these parts make.
pub(super) fn write_item(
    writer: &mut Writer,
    losing: &mut Losing<'_>,
    asked: &Asked<'_>,
    thing: &Thing<'_>,
) {
    let Thing { parts, number, handed, doubled, cut } = *thing;
    let Some(first) = parts.first() else { return };
    if let Content::Opaque(opaque) = first.content()
        && !first.semantics().has_shape(IN_CONTENT)
    {
        return writer.value(&opaque.json);
    }
    let semantics = first.semantics();
    let mut header = Header::own(losing, semantics);
    if !header.is_own() {
        header.id = item_id(losing, asked, (first, number));
        header.status = has_status(asked, first).then_some(Text::literal("completed"));
    }
    if cut && has_status(asked, first) {
        header.status = Some(Text::literal("incomplete"));
    }
    match first.content() {
        Content::ToolCall(call) => {
            write_client_call(writer, losing, asked, (&header, first, call, (number, doubled)))
        }
        Content::Reasoning(_) if losing.is_same() => {
            let data = semantics.artefact().map(|artefact| artefact.carried_in(THIS));
            write_reasoning(writer, &header, parts, data.as_ref());
        }
        Content::Reasoning(reasoning) => {
            let artefact = semantics.artefact().or(handed);
            write_foreign_reasoning(writer, &header, reasoning, artefact);
        }
        Content::Media(media) if !losing.is_same() => write_picture(writer, &header, media),
        Content::Text(_)
        | Content::Refusal(_)
        | Content::Media(_)
        | Content::ToolResult(_)
        | Content::Opaque(_) => {
            let said: Vec<_> = parts.iter().filter(|part| !is_unsaid(losing, part)).collect();
            write_message(writer, losing, &header, "assistant", said.into_iter());
        }
    }
}

/// An item in the writing.
pub(super) struct Thing<'t> {
    pub(super) parts: &'t [Part<'t>],
    /// Its place in the output.
    pub(super) number: usize,
    /// What the part behind it hands to it.
    pub(super) handed: Option<&'t Artefact<'t>>,
    /// Whether an earlier call has the same id.
    pub(super) doubled: bool,
    /// Whether the answer broke off in it.
    pub(super) cut: bool,
}

/// Whether the last thing of an answer that ended early is not whole. A call is, if its arguments are: what was cut off is
/// then what would have followed it.
pub(super) fn is_cut_off(losing: &Losing<'_>, part: &Part<'_>) -> bool {
    !matches!(part.content(), Content::ToolCall(_)) || is_half_call(losing, part)
}

/// Whether a part is a call with arguments that are not whole.
pub(super) fn is_half_call(losing: &Losing<'_>, part: &Part<'_>) -> bool {
    let Content::ToolCall(call) = part.content() else { return false };
    let Arguments::Text(text) = &call.arguments else { return false };
    no_arguments(losing, call).is_none() && Json::parse_text(text).is_err()
}

/// What only its issuer can read of another vendor's text or call, if the thinking before it has room for it: neither
/// text nor call has a field for it here.
pub(super) fn handed<'p>(
    losing: &Losing<'_>,
    thought: &Part<'_>,
    next: &'p Part<'p>,
) -> Option<&'p Artefact<'p>> {
    let is_thought = |part: &Part<'_>| matches!(part.content(), Content::Reasoning(_));
    let has_room = is_thought(thought) && thought.semantics().artefact().is_none();
    let artefact = next.semantics().artefact().filter(|_| !is_thought(next))?;
    (has_room && !losing.is_same()).then_some(artefact)
}

/// Reports what only its issuer can read of a text or a call, and nothing carries.
pub(super) fn withhold(losing: &mut Losing<'_>, part: &Part<'_>) {
    let is_thought = matches!(part.content(), Content::Reasoning(_));
    if part.semantics().artefact().is_some() && !is_thought {
        let reason = "texts and calls have no field for it here";
        let place = part.semantics().sealed_at();
        losing.field(place, Field::Signature, LossKind::Withheld, reason);
    }
}

/// Whether a part of another protocol is a text that says nothing.
pub(super) fn is_unsaid(losing: &Losing<'_>, part: &Part<'_>) -> bool {
    let is_empty = matches!(part.content(), Content::Text(text) if text.is_empty());
    is_empty && !losing.is_same()
}

/// Whether a part is what the model says to the user, so that it stands in a message.
pub(super) fn is_words(part: &Part<'_>) -> bool {
    matches!(part.content(), Content::Text(_) | Content::Refusal(_))
}

/// How many parts from the first on make one item. Another protocol's neighbouring texts are one message, because
/// clients take the last message for the whole answer.
pub(super) fn output_len(losing: &Losing<'_>, parts: &[Part<'_>]) -> usize {
    match losing.is_same() {
        true => item_len(losing, parts),
        false => parts.iter().take_while(|part| is_words(part)).count().max(1),
    }
}

/// Whether a call has the id of an earlier one, so that its result could not be told from the other's.
pub(super) fn is_doubled(
    losing: &mut Losing<'_>,
    part: &Part<'_>,
    taken: &mut HashSet<String>,
) -> bool {
    let Content::ToolCall(call) = part.content() else { return false };
    let Some(id) = call.id.as_ref().filter(|_| !losing.is_same()) else { return false };
    if taken.insert(id.to_str().into_owned()) {
        return false;
    }
    let place = part.semantics().place();
    losing.field(place, Field::CallId, LossKind::Repaired, "each call has an id of its own");
    true
}

/// Writes item `number` as it stands when its first part begins.
pub(super) fn write_added_item(
    writer: &mut Writer,
    losing: &Losing<'_>,
    asked: &Asked<'_>,
    (part, number, doubled): (&Part<'_>, usize, bool),
) {
    let mut header = Header::own(losing, part.semantics());
    header.id = item_id(losing, asked, (part, number));
    header.status = has_status(asked, part).then_some(Text::literal("in_progress"));
    match part.content() {
        Content::ToolCall(call) => {
            let call = Call {
                arguments: &Arguments::Text(Text::default()),
                ..client_call_of(asked, (&header, call, (number, doubled)))
            };
            write_call(writer, &header, &call);
        }
        Content::Reasoning(_) => {
            write_reasoning(writer, &header, &[], None);
        }
        Content::Opaque(opaque) if !part.semantics().has_shape(IN_CONTENT) => {
            writer.value(&opaque.json);
        }
        Content::Media(_) if !losing.is_same() => writer.object(|writer| {
            writer.field("type", "image_generation_call");
            writer.optional("id", header.id.as_ref());
            writer.field("status", "in_progress");
        }),
        Content::Text(_)
        | Content::Refusal(_)
        | Content::Media(_)
        | Content::ToolResult(_)
        | Content::Opaque(_) => writer.object(|writer| {
            writer.field("type", "message");
            writer.optional("id", header.id.as_ref());
            writer.field("status", "in_progress");
            writer.field("role", "assistant");
            writer.optional("phase", header.phase.as_ref());
            writer.key("content");
            writer.array(|_| {});
        }),
    }
}

/// Writes another vendor's thinking as a summary, which is what this protocol shows of thinking. What only its issuer
/// can read rides in the field for that.
fn write_foreign_reasoning(
    writer: &mut Writer,
    header: &Header<'_>,
    reasoning: &Reasoning<'_>,
    artefact: Option<&Artefact<'_>>,
) {
    writer.object(|writer| {
        writer.field("type", "reasoning");
        writer.optional("id", header.id.as_ref());
        writer.key("summary");
        writer.array(|writer| {
            for text in &reasoning.texts {
                write_piece(writer, "summary_text", text);
            }
        });
        if let Some(artefact) = artefact {
            writer.field("encrypted_content", &artefact.carried_in(THIS));
        }
    });
}

fn write_picture(writer: &mut Writer, header: &Header<'_>, media: &Media<'_>) {
    let Source::Base64 { mime, data } = &media.source else { return writer.null() };
    writer.object(|writer| {
        writer.field("type", "image_generation_call");
        writer.optional("id", header.id.as_ref());
        writer.optional("status", header.status.as_ref());
        let mime = mime.as_ref().map(Text::to_str).unwrap_or_default();
        if let Some(format) = mime.strip_prefix("image/") {
            writer.field("output_format", format);
        }
        writer.field("result", data);
    });
}

/// A tool's name and namespace as the client knows them.
fn client_call<'n>(
    asked: &'n Asked<'_>,
    upstream: &'n Text<'_>,
) -> (Option<&'n Text<'n>>, Text<'n>) {
    let name = asked.client_name(upstream);
    if let Some(namespace) = asked.namesakes.iter().find(|namesake| **namesake == name) {
        return (Some(namespace), name);
    }
    for namespace in &asked.namespaces {
        let own = unqualified(&namespace.to_str(), &name).into_owned();
        if own != name {
            return (Some(namespace), own);
        }
    }
    (None, name)
}

/// The id of a call whose upstream gave none.
fn minted_call_id(asked: &Asked<'_>, number: usize) -> Text<'static> {
    Text::plain(format!("call_{}_{number}", asked.seed.to_str()))
}

fn write_client_call(
    writer: &mut Writer,
    losing: &mut Losing<'_>,
    asked: &Asked<'_>,
    (header, part, call, number): (&Header<'_>, &Part<'_>, &ToolCall<'_>, (usize, bool)),
) {
    if call.id.is_none() {
        let reason = "clients pair calls and results by id";
        losing.field(part.semantics().place(), Field::CallId, LossKind::Synthesised, reason);
    }
    let written = client_call_of(asked, (header, call, number));
    let unwrapped = match (written.form, call.form) {
        (CallForm::Custom, CallForm::Function) => arguments::custom_input(&call.arguments),
        _ => None,
    };
    let unwrapped = unwrapped.map(Arguments::Text).or_else(|| no_arguments(losing, call));
    let arguments = unwrapped.as_ref().unwrap_or(&call.arguments);
    write_call(writer, header, &Call { arguments, ..written });
}

/// The arguments of a call that came without, from a protocol where that means an empty object.
pub(super) fn no_arguments<'a>(losing: &Losing<'_>, call: &ToolCall<'_>) -> Option<Arguments<'a>> {
    let means_empty =
        losing.source().conventions().has_object_arguments && call.form == CallForm::Function;
    let is_blank = matches!(&call.arguments, Arguments::Text(text) if text.is_blank());
    (means_empty && is_blank).then(|| Arguments::Text(Text::literal("{}")))
}

/// A call as the client knows it.
fn client_call_of<'c>(
    asked: &'c Asked<'_>,
    (header, call, (number, doubled)): (&Header<'_>, &'c ToolCall<'_>, (usize, bool)),
) -> Call<'c> {
    let ToolCall { id, name, arguments, form: _ } = call;
    let (namespace, name) = match header.is_own() {
        true => (None, asked.client_name(name)),
        false => client_call(asked, name),
    };
    let id = match id {
        Some(id) if !doubled => Some(id.reborrow()),
        // An item of our own that states no id has none.
        None if header.is_own() => None,
        Some(_) | None => Some(minted_call_id(asked, number)),
    };
    let form = client_form(asked, call);
    Call { id, name, namespace: namespace.map(Text::reborrow), arguments, form }
}
