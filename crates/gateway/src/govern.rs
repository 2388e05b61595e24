//! The rules on tools, between a request and whoever encodes it: what they refuse is a failure in the client's protocol, what
//! they change is in the report, and what its answer will be held against is known when it is sent.

use std::collections::HashSet;
use std::sync::Arc;

use sabir_compose::govern::{
    self, Governed, HostedRule, NameRule, Offer, Pointers, Renamed, Rules, Violation,
};
use sabir_wire::conversation::{Request, Tool, ToolKind};
use sabir_wire::protocol::{AnswerContext, DecodedRequest, Field};
use sabir_wire::target::Target;
use sabir_wire::{FaultKind, LossKind, Protocol, Report};

use crate::call::Call;
use crate::failure::{Failure, Result, Whose};

/// Governs the tools of a call's request on its way to a provider of `upstream`.
pub(crate) fn request<'c>(
    call: &'c Call<'_>,
    decoded: &mut DecodedRequest<'c>,
    (upstream, target): (Protocol, &Target),
) -> Result<Governed> {
    let Some(rules) = call.rules.as_deref() else { return Ok(Governed::default()) };
    let plan = govern::plan(decoded.request(), rules).map_err(refused)?;
    let governed = match plan.changes() {
        true => {
            let choice = decoded.pointer(None, Field::ToolChoice);
            let parallel = decoded.pointer(None, Field::ParallelToolCalls);
            let pointers = Pointers { choice: &choice, parallel: &parallel };
            plan.apply(decoded.edit(), rules, pointers)
        }
        false => plan.unchanged(),
    };
    if rules.long_names == NameRule::Reject {
        let names = upstream.tool_names(target);
        let check = |tool: &Tool<'_>| match tool.name() {
            Some(name) => names.check(&name.to_str()),
            None => Ok(()),
        };
        each(decoded.request(), &check)
            .map_err(|error| refused(Violation::Name(error.to_string())))?;
    }
    Ok(governed)
}

/// Refuses a conversation in which tools are called for too long.
pub(crate) fn check_rounds(call: &Call<'_>, request: &Request<'_>) -> Result<()> {
    let Some(rules) = call.rules.as_deref() else { return Ok(()) };
    govern::check_rounds(&request.messages, rules).map_err(refused)
}

/// Refuses a request whose hosted tools the provider has not, where that is wanted; `report` says what is dropped.
pub(crate) fn check_hosted(call: &Call<'_>, request: &Request<'_>, report: &Report) -> Result<()> {
    if call.rules.as_ref().is_none_or(|rules| rules.hosted == HostedRule::Drop) {
        return Ok(());
    }
    let dropped = report.entries().iter().filter(|it| it.kind == LossKind::Dropped);
    let dropped: HashSet<&str> = dropped.map(|it| it.pointer.as_str()).collect();
    each(request, &|tool: &Tool<'_>| {
        let ToolKind::Hosted(hosted) = &tool.kind else { return Ok(()) };
        match dropped.contains(tool.semantics().place().to_string().as_str()) {
            true => Err(refused(Violation::Hosted(hosted.kind.to_str().into_owned()))),
            false => Ok(()),
        }
    })
}

/// What the calls of the answer are held against; none if no rule speaks of them. Whoever holds them against it gives tools back
/// their names, so that the encoder of the answer need not.
pub(crate) fn offer(
    call: &Call<'_>,
    decoded: &DecodedRequest<'_>,
    (context, renamed): (&mut AnswerContext<'_>, Renamed),
) -> Option<Arc<Offer>> {
    let rules: &Arc<Rules> = call.rules.as_ref().filter(|rules| rules.governs_answers())?;
    let names = (context, renamed);
    Some(Arc::new(Offer::new(decoded.request(), decoded.protocol(), names, rules)))
}

/// Asks for every tool of a request, those of namespaces included.
fn each<E>(
    request: &Request<'_>,
    check: &dyn Fn(&Tool<'_>) -> std::result::Result<(), E>,
) -> std::result::Result<(), E> {
    request.tools.iter().try_for_each(|tool| match &tool.kind {
        ToolKind::Namespace(namespace) => namespace.tools.iter().try_for_each(check),
        _ => check(tool),
    })
}

fn refused(violation: Violation) -> Box<Failure> {
    Failure::new(Whose::Policy, FaultKind::BadRequest, violation.to_string())
        .with_code(violation.rule())
}
