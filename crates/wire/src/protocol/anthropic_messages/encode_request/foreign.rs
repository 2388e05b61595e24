//! Writing a request that came in another protocol.

use super::settings::Plan;
use super::turns::ToldApart;
use super::turns::Turns;
use crate::alias::CallIdRule;
use crate::alias::ToolNameRule;
use crate::conversation::Content;
use crate::conversation::Request;
use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::Report;
use crate::protocol::Exchange;
use crate::protocol::Field;
use crate::protocol::anthropic_messages::types::HERE;
use crate::protocol::calls::Calls;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::semantics::Shape;
use crate::target::Target;

/// A request of another protocol on its way here.
pub(super) struct Encoding<'r, 'l> {
    pub(super) request: &'r Request<'r>,
    pub(super) target: &'r Target,
    pub(super) losing: Losing<'l>,
    pub(super) calls: Calls<'r>,
    pub(super) plan: Plan<'r>,
    /// Ids of calls and results that differ from what their ids make of them, since two calls had one.
    pub(super) told_apart: ToldApart,
    /// Where the request's fields stand depends on how it was spelled.
    pub(super) shape: Shape,
    pub(super) has_tools: bool,
    /// How many cache marks come before the last four.
    pub(super) marks_to_skip: usize,
}

pub(super) fn encode(
    exchange: &Exchange<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<String> {
    refuse(exchange)?;
    let request = &exchange.request;
    let shape = exchange.semantics().shape();
    let mut losing = Losing::new(exchange.protocol(), HERE, report).shaped(shape);
    losing.request(exchange);
    let names = ToolNameRule::ANTHROPIC.with_max_len(target.family.tool_name_len_max);
    let calls = Calls::of(request, names, CallIdRule::ANTHROPIC);
    let mut turns = Turns::of(request, target, &mut losing);
    let told_apart = turns.arrange(&calls, &mut losing);
    let plan = Plan::of(request, target, turns.last_turn(), &mut losing);
    let mut encoding = Encoding {
        request,
        target,
        losing,
        calls,
        plan,
        told_apart,
        shape,
        has_tools: false,
        marks_to_skip: turns.marks().saturating_sub(MARKS_MAX),
    };
    Ok(encoding.write(&turns, Writer::with_capacity(exchange.body_bytes_expected())))
}

/// How many cache marks the vendor takes.
const MARKS_MAX: usize = 4;

/// Refuses what would be answered wrongly rather than less well.
fn refuse(exchange: &Exchange<'_>) -> Result<()> {
    let session = exchange.semantics().session();
    let candidates = &exchange.request.sampling.candidates;
    let is_several = candidates.as_ref().and_then(|it| it.as_f64()).is_some_and(|it| it > 1.0);
    let (field, message) = if session.previous_response_id.is_some() {
        (Field::PreviousResponse, "expected the whole conversation, found a reference to it")
    } else if session.conversation.is_some() {
        (Field::Conversation, "expected the whole conversation, found a reference to it")
    } else if is_several {
        (Field::Candidates, "expected one answer to be asked for, found several")
    } else {
        return Ok(());
    };
    let pointer = exchange.protocol().pointer(field, exchange.semantics().shape());
    let error = Error::new(ErrorKind::Refused, message);
    Err(pointer
        .split('/')
        .skip(1)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .fold(error, Error::under_key))
}

impl<'r> Encoding<'r, '_> {
    fn write(&mut self, turns: &Turns<'r>, mut writer: Writer) -> String {
        let request = self.request;
        let mut body = Object::open(&mut writer, None);
        body.optional("model", request.model.as_ref());
        body.field("max_tokens", &self.plan.max_tokens);
        self.write_system(&mut body, turns);
        self.write_turns(&mut body, turns);
        self.write_tools(&mut body);
        self.write_tool_choice(&mut body);
        body.optional("stream", request.stream.as_ref());
        self.write_settings(&mut body);
        body.close();
        writer.into_string()
    }

    /// The names of the tools that the history has called, each once.
    pub(super) fn called_names(&self) -> Vec<Text<'_>> {
        let mut names: Vec<Text<'_>> = Vec::new();
        for part in self.request.messages.iter().flat_map(|message| &message.parts) {
            if let Content::ToolCall(call) = part.content() {
                let name = self.calls.name(&call.name);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }
}
