//! Writing requests. Items and parts are written by files of their own, which answers and streams use too.

mod input;
pub(super) mod item;
pub(super) mod part;
mod settings;
mod tools;

use std::borrow::Cow;
use std::collections::HashSet;
use std::iter::once;

use crate::alias::CallIdRule;
use crate::conversation::{Content, Message, Part, Request, Role};
use crate::error::Result;
use crate::json::{Text, Writer};
use crate::loss::Report;
use crate::protocol::calls::Calls;
use crate::protocol::choosing::Offer;
use crate::protocol::fresh_ids::fresh_ids;
use crate::protocol::object::Object;
use crate::protocol::openai_responses::encode_request::input::Items;
use crate::protocol::openai_responses::encode_request::item::{Header, write_message};
use crate::protocol::openai_responses::encode_request::settings::Settings;
use crate::protocol::openai_responses::encode_request::tools::{Tools, hosts};
use crate::protocol::openai_responses::types::{INSTRUCTIONS, SELF};
use crate::protocol::reporter::Reporter;
use crate::protocol::{DecodedRequest, Field, json_mode};
use crate::target::{SystemRole, Target};

const UNNAMED_MODEL: &str = "the body names the model, which the sender fills in";

pub(in super::super) fn encode_request(
    decoded: &DecodedRequest<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<String> {
    let mut reporter = Reporter::new(decoded.protocol(), SELF, report);
    reporter.request(decoded);
    let request = &decoded.request;
    let semantics = decoded.semantics();
    report_prefill(&mut reporter, decoded);
    let mut calls = Calls::of(request, SELF, target);
    if reporter.is_same() {
        calls.unalias();
    }
    let mut writer = Writer::with_capacity(decoded.body_bytes_expected());
    let extras = reporter.is_same().then(|| (semantics.extras(), ""));
    let mut object = Object::open(&mut writer, extras);
    match &request.model {
        Some(model) => object.field("model", model),
        None => reporter.synthesised(Field::Model, UNNAMED_MODEL),
    }
    write_messages(&mut object, &mut reporter, decoded, (&calls, target));
    let tools = Tools { reporter: &mut reporter, calls: &calls, namespace: None };
    write_tools(&mut object, tools, request);
    Settings { reporter: &mut reporter, decoded, target }.write(&mut object);
    object.optional("stream", request.stream.as_ref());
    if reporter.is_same() {
        write_own(&mut object, decoded);
    }
    object.close();
    Ok(writer.into_string())
}

/// Writes the tools and the choice among those that are there; this protocol's own choice is not held to them.
fn write_tools(object: &mut Object<'_, '_>, mut tools: Tools<'_, '_>, request: &Request<'_>) {
    object.list_unless_empty("tools", |writer| tools.list(writer, &request.tools));
    let offer = (!tools.reporter.is_same()).then(|| Offer::of(request, hosts));
    let choice = match &offer {
        None => request.tool_choice.as_ref().map(Cow::Borrowed),
        Some(offer) => offer.choice(request, tools.reporter),
    };
    if let Some(choice) = choice {
        tools.choice(object, &choice);
    }
    if !offer.is_some_and(|offer| offer.is_empty()) {
        object.optional("parallel_tool_calls", request.parallel_tool_calls.as_ref());
    } else if request.parallel_tool_calls == Some(false) {
        tools.reporter.implied(Field::ParallelToolCalls, "there is no tool to call");
    }
}

/// An answer that was begun for the model is not continued here.
fn report_prefill(reporter: &mut Reporter<'_>, decoded: &DecodedRequest<'_>) {
    let Some(last) = decoded.request.messages.last() else { return };
    if reporter.source().conventions().continues_answers && last.role == Role::Assistant {
        let reason = "an answer that was begun is answered rather than continued";
        reporter.approximated(last, reason);
    }
}

/// Writes `instructions` and `input`.
fn write_messages(
    object: &mut Object<'_, '_>,
    reporter: &mut Reporter<'_>,
    decoded: &DecodedRequest<'_>,
    (calls, target): (&Calls<'_>, &Target),
) {
    let messages = &decoded.request.messages;
    let slot = slot(reporter, messages, target.system_role());
    if let Some(text) = slot.and_then(sole_text) {
        object.field("instructions", text);
    }
    let word = json_mode::missing_sentence(decoded, reporter).map(Part::text);
    object.list_unless_empty("input", |writer| {
        let system_role = target.system_role();
        if let Some(word) = &word {
            write_message(writer, reporter, &Header::default(), system_role.as_str(), once(word));
        }
        let fresh_ids = fresh_ids(&decoded.request, calls, CallIdRule::RESPONSES);
        let custom_calls = HashSet::new();
        let mut items =
            Items { writer, reporter, calls, fresh_ids: &fresh_ids, system_role, custom_calls };
        for (index, message) in messages.iter().enumerate().skip(usize::from(slot.is_some())) {
            items.message(index, message);
        }
    });
    reporter.turn_home();
}

/// The message that goes into `instructions`: the one that came from there, or the only leading one of another
/// protocol, if it is one plain text. One that stands all alone is the input, which may not be empty, and stays there
/// once the assistant has answered it. Fixture `request/system/one-leading-system-prompt-is-a-plain-string`.
fn slot<'m>(
    reporter: &Reporter<'_>,
    messages: &'m [Message<'m>],
    system_role: SystemRole,
) -> Option<&'m Message<'m>> {
    let instructs = |role: Role| match system_role {
        // The two names mean the same to the model.
        SystemRole::Developer => role.instructs(),
        SystemRole::System => role == Role::System,
    };
    let first = messages.first().filter(|first| instructs(first.role))?;
    let is_slot = if reporter.is_same() {
        first.semantics().has_shape(INSTRUCTIONS)
    } else {
        let is_asking = |role: Role| !role.instructs() && role != Role::Assistant;
        let leads = messages.get(1).is_some_and(|second| is_asking(second.role));
        leads && first.parts.iter().all(|part| part.semantics().cache().is_none())
    };
    (is_slot && sole_text(first).is_some()).then_some(first)
}

fn sole_text<'m>(message: &'m Message<'_>) -> Option<&'m Text<'m>> {
    match &*message.parts {
        [part] if let Content::Text(text) = part.content() => Some(text),
        _ => None,
    }
}

/// Writes what only this protocol says; what stands inside other objects has been written there.
fn write_own(object: &mut Object<'_, '_>, decoded: &DecodedRequest<'_>) {
    let session = decoded.semantics().session();
    object.optional("previous_response_id", session.previous_response_id.as_ref());
    object.optional("conversation", session.conversation.as_ref());
    let Some(own) = decoded.semantics().responses() else { return };
    for (declared, json) in own.set() {
        if declared.path != "include" && !declared.path.contains('/') {
            object.field(declared.path, json);
        }
    }
}
