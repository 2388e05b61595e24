//! Writing requests: the body here, messages, turns of other protocols, tools and options in files of their own.

mod assistant;
pub(super) mod content;
pub(super) mod message;
mod options;
mod results;
mod schema;
pub(super) mod signature;
mod thinking;
mod tools;
mod turns;

use crate::error::Result;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::loss::Report;
use crate::place::Place;
use crate::protocol::Exchange;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::asking;
use crate::protocol::calls::Calls;
use crate::protocol::dialect;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::types::request_shape;
use crate::protocol::semantics::Semantics;
use crate::target::Target;

pub(in crate::protocol) fn encode_request(
    exchange: &Exchange<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<String> {
    let mut losing = Losing::new(exchange.protocol(), Protocol::OpenaiChat, report);
    losing.request(exchange);
    let mut writer = Writer::with_capacity(exchange.body_bytes_expected());
    if losing.is_same() {
        write_same(&mut writer, exchange, &mut losing);
    } else {
        write_translated(&mut writer, exchange, target, &mut losing);
    }
    Ok(writer.into_string())
}

/// Writes a request of this protocol's own as it was, edits included.
fn write_same(writer: &mut Writer, exchange: &Exchange<'_>, losing: &mut Losing<'_>) {
    let (request, semantics) = (&exchange.request, exchange.semantics());
    let mut object = Object::open(writer, Some((semantics.extras(), "")));
    object.optional("model", request.model.as_ref());
    object.key("messages").array(|writer| {
        request.messages.iter().for_each(|it| message::write_same(writer, it, losing));
    });
    tools::write_same(&mut object, request, semantics);
    options::write_same(&mut object, request, semantics);
    write_own(&mut object, semantics);
    object.close();
}

/// Writes what only this protocol says.
fn write_own(object: &mut Object<'_, '_>, semantics: &Semantics<'_>) {
    for (declared, json) in semantics.chat().into_iter().flat_map(|chat| chat.set()) {
        object.field(declared.path, json);
    }
}

/// Writes a request of another protocol.
fn write_translated(
    writer: &mut Writer,
    exchange: &Exchange<'_>,
    target: &Target,
    losing: &mut Losing<'_>,
) {
    let request = &exchange.request;
    let calls = Calls::of(request, Protocol::OpenaiChat, target).naming_results(request);
    let mut object = Object::open(writer, None);
    object.optional("model", request.model.as_ref());
    if request.model.is_none() {
        let reason = "Chat has the name of the model in the body";
        losing.field(Place::default(), Field::Model, LossKind::Synthesised, reason);
    }
    let word = asking::missing_word(exchange, losing);
    object.key("messages").array(|writer| {
        if let Some(word) = word {
            writer.object(|message| {
                message.field("role", target.system_role().as_str());
                message.field("content", word);
            });
        }
        turns::Turns { calls: &calls, target, losing }.write(writer, &request.messages);
    });
    let tools = tools::Tools { calls: &calls, target, losing }.write(&mut object, request);
    let language = dialect::of_output(exchange);
    options::Options { request, target, losing, tools, language }.write(&mut object);
    object.close();
}

/// Whether a request's shape has a bit.
fn is_shaped(semantics: &Semantics<'_>, shape: crate::protocol::openai_chat::types::Shape) -> bool {
    semantics.has_shape(shape)
}

/// The name of the output limit as this protocol's own request spelled it.
fn limit_name(semantics: &Semantics<'_>) -> &'static str {
    match is_shaped(semantics, request_shape::MAX_COMPLETION_TOKENS) {
        true => "max_completion_tokens",
        false => "max_tokens",
    }
}
