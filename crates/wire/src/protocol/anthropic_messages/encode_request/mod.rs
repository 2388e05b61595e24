//! Writing requests. What came in this protocol is written as it is; what came in another, as the target takes it.

pub(super) mod blocks;
mod caching;
mod content;
mod media;
mod order;
mod own;
mod schemas;
mod settings;
mod thinking;
mod tools;
mod turns;

use std::borrow::Cow;
use std::collections::BTreeSet;

use self::caching::Caching;
use self::settings::Plan;
use crate::alias::CallIdRule;
use crate::conversation::{Request, ToolChoice};
use crate::error::Result;
use crate::json::{Text, Writer};
use crate::loss::Report;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::calls::Calls;
use crate::protocol::fresh_ids::{FreshIds, fresh_ids};
use crate::protocol::object::Object;
use crate::protocol::reporter::Reporter;
use crate::protocol::semantics::{Extras, Semantics};
use crate::protocol::turns::Turns;
use crate::protocol::{DecodedRequest, schema_language};
use crate::schema::SchemaLanguage;
use crate::target::Target;

pub(in super::super) fn encode_request(
    decoded: &DecodedRequest<'_>,
    target: &Target,
    report: &mut Report,
) -> Result<String> {
    let (request, semantics) = (&decoded.request, decoded.semantics());
    let own = (decoded.protocol() == SELF).then_some(semantics);
    let kept = own.map(|_| own::prepare(request, target, report));
    let mut reporter = Reporter::new(decoded.protocol(), SELF, report);
    reporter.request(decoded);
    let prepared = kept.unwrap_or_else(|| Prepared::of(request, target, &mut reporter));
    let caching = match own {
        Some(_) => Caching::Nothing,
        None => Caching::of(request, target, &prepared.turns),
    };
    let mut encoding = Encoding {
        request,
        own,
        caching,
        is_last_tool: false,
        output_language: schema_language::of_output(decoded),
        target,
        reporter,
        calls: &prepared.calls,
        plan: prepared.plan,
        fresh_ids: prepared.fresh_ids,
        allowed: allowed(request),
        used_names: BTreeSet::new(),
        has_tools: false,
        marks_to_skip: prepared.turns.marks().saturating_sub(MARKS_MAX),
    };
    let writer = Writer::with_capacity(decoded.body_bytes_expected());
    Ok(encoding.write(&prepared.turns, writer))
}

/// What is decided before anything is written.
struct Prepared<'r> {
    calls: Calls<'r>,
    turns: Turns<'r>,
    fresh_ids: FreshIds,
    plan: Plan<'r>,
}

impl<'r> Prepared<'r> {
    /// The same for a request of another protocol, with what it loses reported.
    fn of(request: &'r Request<'r>, target: &'r Target, reporter: &mut Reporter<'_>) -> Self {
        let calls = Calls::of(request, SELF, target);
        let mut turns = Turns::of(request, target, reporter);
        let fresh_ids = fresh_ids(request, &calls, CallIdRule::ANTHROPIC);
        turns.arrange(&request.messages, (&calls, &fresh_ids), reporter);
        let plan = Plan::of(request, target, &turns, reporter);
        Self { calls, turns, fresh_ids, plan }
    }
}

fn allowed<'r>(request: &'r Request<'r>) -> Option<BTreeSet<&'r Text<'r>>> {
    match &request.tool_choice {
        Some(ToolChoice::Allowed { mode: _, tools }) => {
            Some(tools.iter().filter_map(|tool| tool.name.as_ref()).collect())
        }
        _ => None,
    }
}

/// How many cache marks the vendor takes. Fixture `request/cache/cache-markers-beyond-four`.
const MARKS_MAX: usize = 4;

/// A request on its way here.
struct Encoding<'r, 'l> {
    request: &'r Request<'r>,
    /// What rides on the request, if it came in this protocol.
    own: Option<&'r Semantics<'r>>,
    /// The language of the output schema.
    output_language: SchemaLanguage,
    target: &'r Target,
    reporter: Reporter<'l>,
    calls: &'r Calls<'r>,
    plan: Plan<'r>,
    /// Ids of calls and results that differ from what their ids make of them, since two calls had one.
    fresh_ids: FreshIds,
    /// The names of the tools that the choice allows, if it names any.
    allowed: Option<BTreeSet<&'r Text<'r>>>,
    /// The names of the tools that are declared so far.
    used_names: BTreeSet<Cow<'r, str>>,
    has_tools: bool,
    caching: Caching<'r>,
    /// Whether no other tool follows.
    is_last_tool: bool,
    /// How many cache marks come before the last four.
    marks_to_skip: usize,
}

impl<'r> Encoding<'r, '_> {
    fn write(&mut self, turns: &Turns<'r>, mut writer: Writer) -> String {
        let mut body = Object::open(&mut writer, self.extras(""));
        body.optional("model", self.request.model.as_ref());
        body.optional("max_tokens", self.plan.max_tokens.as_ref());
        self.write_system(&mut body, turns);
        self.write_turns(&mut body, turns);
        self.write_tools(&mut body);
        self.write_tool_choice(&mut body);
        body.optional("stream", self.request.stream.as_ref());
        self.write_settings(&mut body);
        self.write_caching(&mut body);
        self.write_namespace(&mut body);
        body.close();
        writer.into_string()
    }

    fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// The undeclared fields that come back in an object of the request.
    fn extras(&self, scope: &'static str) -> Option<(&'r Extras<'r>, &'static str)> {
        self.own.map(|semantics| (semantics.extras(), scope))
    }

    /// Writes the fields that only this protocol has.
    fn write_namespace(&self, body: &mut Object<'_, '_>) {
        let namespace = self.own.and_then(|semantics| semantics.anthropic());
        for (declared, json) in namespace.iter().flat_map(|it| it.set()) {
            if !declared.path.contains('/') {
                body.field(declared.path, json);
            }
        }
    }
}
