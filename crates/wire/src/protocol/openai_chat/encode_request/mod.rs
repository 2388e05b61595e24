//! Writing requests: the body here, messages, turns of other protocols, tools and options in files of their own.

mod assistant;
pub(super) mod content;
pub(super) mod message;
mod options;
mod results;
mod schema;
mod thinking;
mod tools;
pub(super) mod turns;

use crate::error::Result;
use crate::json::Writer;
use crate::loss::{LossKind, Report};
use crate::place::Place;
use crate::protocol::calls::Calls;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::{Exchange, Field, Protocol, asking, dialect};
use crate::target::Target;

pub(in crate::protocol) fn encode_request(
    exchange: &Exchange<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<String> {
    let mut losing = Losing::new(exchange.protocol(), Protocol::OpenaiChat, report);
    losing.request(exchange);
    let losing = &mut losing;
    let (request, semantics) = (&exchange.request, exchange.semantics());
    let own = losing.is_same().then_some(semantics);
    let mut writer = Writer::with_capacity(exchange.body_bytes_expected());
    let mut object = Object::open(&mut writer, own.map(|own| (own.extras(), "")));
    object.optional("model", request.model.as_ref());
    if request.model.is_none() {
        let reason = "Chat has the name of the model in the body";
        losing.field(Place::default(), Field::Model, LossKind::Synthesised, reason);
    }
    // This protocol's own names and ids stay as they are.
    let fitted = || Calls::of(request, Protocol::OpenaiChat, target);
    let calls = own.is_none().then(fitted);
    let word = asking::missing_word(exchange, losing);
    object.key("messages").array(|writer| {
        if let Some(word) = word {
            writer.object(|message| {
                message.field("role", target.system_role().as_str());
                message.field("content", word);
            });
        }
        let messages = &request.messages;
        match &calls {
            Some(calls) => turns::Turns { calls, target, losing }.write(writer, messages),
            None => messages.iter().for_each(|it| message::write_own(writer, it, losing)),
        }
    });
    let calls = calls.as_ref();
    let tools = tools::Tools { calls, target, losing, own }.write(&mut object, request);
    let language = dialect::of_output(exchange);
    options::Options { request, target, losing, tools, language, own }.write(&mut object);
    for (declared, json) in own.and_then(|own| own.chat()).into_iter().flat_map(|it| it.set()) {
        object.field(declared.path, json);
    }
    object.close();
    Ok(writer.into_string())
}
