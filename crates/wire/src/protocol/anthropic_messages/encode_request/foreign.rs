//! Writing a request that came in another protocol.

use std::collections::BTreeSet;

use super::order::ToldApart;
use super::settings::Plan;
use super::turns::Turns;
use crate::conversation::Content;
use crate::conversation::Request;
use crate::conversation::ToolCall;
use crate::conversation::ToolChoice;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::Report;
use crate::protocol::Exchange;
use crate::protocol::anthropic_messages::types::HERE;
use crate::protocol::calls::Calls;
use crate::protocol::dialect;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::semantics::Spelling;
use crate::schema::Dialect;
use crate::target::Target;

/// A request of another protocol on its way here.
pub(super) struct Encoding<'r, 'l> {
    pub(super) request: &'r Request<'r>,
    /// The language of the output schema.
    pub(super) output_dialect: Dialect,
    pub(super) target: &'r Target,
    pub(super) losing: Losing<'l>,
    pub(super) calls: &'r Calls<'r>,
    pub(super) plan: Plan<'r>,
    /// Ids of calls and results that differ from what their ids make of them, since two calls had one.
    pub(super) told_apart: ToldApart,
    /// Where the request's fields stand depends on how it was spelled.
    pub(super) spelling: Spelling,
    /// The names of the tools that the choice allows, if it names any.
    pub(super) allowed: Option<BTreeSet<&'r Text<'r>>>,
    pub(super) has_tools: bool,
    /// How many cache marks come before the last four.
    pub(super) marks_to_skip: usize,
}

pub(super) fn encode(exchange: &Exchange<'_>, target: &Target, report: &mut Report) -> String {
    let request = &exchange.request;
    let spelling = exchange.semantics().spelling();
    let mut losing = Losing::new(exchange.protocol(), HERE, report).spelled(spelling);
    losing.request(exchange);
    let calls = Calls::of(request, HERE, target).naming_results(request);
    let mut turns = Turns::of(request, target, &mut losing);
    let told_apart = turns.arrange(request, &calls, &mut losing);
    let plan = Plan::of(request, target, turns.last_turn(), &mut losing);
    let mut encoding = Encoding {
        request,
        output_dialect: dialect::of_output(exchange),
        target,
        losing,
        calls: &calls,
        plan,
        told_apart,
        spelling,
        allowed: allowed(request),
        has_tools: false,
        marks_to_skip: turns.marks().saturating_sub(MARKS_MAX),
    };
    encoding.write(&turns, Writer::with_capacity(exchange.body_bytes_expected()))
}

fn allowed<'r>(request: &'r Request<'r>) -> Option<BTreeSet<&'r Text<'r>>> {
    match &request.tool_choice {
        Some(ToolChoice::Allowed { mode: _, tools }) => {
            Some(tools.iter().filter_map(|tool| tool.name.as_ref()).collect())
        }
        _ => None,
    }
}

/// How many cache marks the vendor takes.
const MARKS_MAX: usize = 4;

impl<'r> Encoding<'r, '_> {
    fn write(&mut self, turns: &Turns<'r>, mut writer: Writer) -> String {
        let mut body = Object::open(&mut writer, None);
        self.write_model(&mut body);
        body.field("max_tokens", &self.plan.max_tokens);
        self.write_system(&mut body, turns);
        self.write_turns(&mut body, turns);
        self.write_tools(&mut body);
        self.write_tool_choice(&mut body);
        self.write_stream(&mut body);
        self.write_settings(&mut body);
        body.close();
        writer.into_string()
    }

    fn write_model(&mut self, body: &mut Object<'_, '_>) {
        body.optional("model", self.request.model.as_ref());
    }

    fn write_stream(&mut self, body: &mut Object<'_, '_>) {
        body.optional("stream", self.request.stream.as_ref());
    }

    /// The names of the tools that the history has called, each once.
    pub(super) fn called_names(&self) -> Vec<Text<'_>> {
        let mut seen = BTreeSet::new();
        let names = self.called().map(|call| self.calls.name(&call.name));
        names.filter(|name| seen.insert(name.to_str().into_owned())).collect()
    }

    /// Whether the history has called a tool.
    pub(super) fn has_called(&self) -> bool {
        self.called().next().is_some()
    }

    fn called(&self) -> impl Iterator<Item = &ToolCall<'r>> {
        let parts = self.request.messages.iter().flat_map(|message| &message.parts);
        parts.filter_map(|part| match part.content() {
            Content::ToolCall(call) => Some(&**call),
            _ => None,
        })
    }
}
