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
use crate::loss::Report;
use crate::protocol::calls::Calls;
use crate::protocol::object::Object;
use crate::protocol::openai_chat::encode_request::turns::{Turns, unmarked};
use crate::protocol::openai_chat::types::SELF;
use crate::protocol::reporter::Reporter;
use crate::protocol::{DecodedRequest, Field, json_mode, schema_language};
use crate::target::Target;

pub(in super::super) fn encode_request(
    decoded: &DecodedRequest<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<String> {
    let mut reporter = Reporter::new(decoded.protocol(), SELF, report);
    reporter.request(decoded);
    let reporter = &mut reporter;
    let (request, semantics) = (&decoded.request, decoded.semantics());
    let own = reporter.is_same().then_some(semantics);
    let mut writer = Writer::with_capacity(decoded.body_bytes_expected());
    let mut object = Object::open(&mut writer, own.map(|own| (own.extras(), "")));
    object.optional("model", request.model.as_ref());
    if request.model.is_none() {
        reporter.synthesised(Field::Model, "Chat has the name of the model in the body");
    }
    // This protocol's own names and ids stay as they are.
    let calls = match own {
        Some(_) => Calls::default(),
        None => Calls::of(request, SELF, target),
    };
    let word = json_mode::missing_sentence(decoded, reporter);
    object.key("messages").array(|writer| {
        if let Some(word) = word {
            writer.object(|message| {
                message.field("role", target.system_role().as_str());
                message.field("content", word);
            });
        }
        let messages = &request.messages;
        match own {
            Some(_) => messages.iter().for_each(|it| message::write_own(writer, it, reporter)),
            None => {
                let messages = unmarked(messages, target, reporter);
                let (calls, waiting) = (&calls, Vec::new());
                Turns { writer, calls, target, reporter, waiting }.write(&messages);
            }
        }
    });
    let has_tools =
        tools::Tools { calls: &calls, target, reporter, own }.write(&mut object, request);
    let language = schema_language::of_output(decoded);
    options::Options { request, target, reporter, has_tools, language, own }.write(&mut object);
    for (declared, json) in own.and_then(|own| own.chat()).into_iter().flat_map(|it| it.set()) {
        object.field(declared.path, json);
    }
    object.close();
    Ok(writer.into_string())
}
