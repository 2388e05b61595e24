//! The class of a call, where the model that it asks for leaves its targets to that. What is decided by is the canonical request.

use std::sync::Arc;

use sabir_compose::class::Class;
use sabir_wire::FaultKind;
use sabir_wire::protocol::DecodedRequest;

use crate::call::{Action, Call};
use crate::failure::{Failure, Result};
use crate::ingress;
use crate::route::{Caller, Choice, ClassAsked, Model, Resolved};
use crate::state::Snapshot;
use crate::trace::Trace;

/// What is known of who asks beside the request.
struct Asker {
    /// The class that the client decides on.
    class: Option<Class>,
    owner: String,
    session: Option<String>,
}

/// Where a call goes, and what was decoded of it to know that.
pub(crate) struct Chosen<'c> {
    pub(crate) resolved: Resolved,
    /// None where other threads read the body.
    pub(crate) decoded: Option<Box<DecodedRequest<'c>>>,
}

/// Where the call goes once its class is known; none if that does not matter.
pub(crate) async fn choose<'c>(
    snapshot: &Arc<Snapshot>,
    call: &'c Call<'c>,
    resolved: &Resolved,
    trace: &mut Trace,
) -> Result<Option<Chosen<'c>>> {
    let Some(model) = resolved.by_class() else { return Ok(None) };
    let class = named(call)?;
    let asker = Asker { class, owner: owner(trace), session: session(call, trace) };
    let (choice, decoded) = match call.large {
        None => {
            let (choice, decoded) = choice(snapshot, model, call, &asker)?;
            (choice, Some(decoded))
        }
        Some(large) => {
            let (snapshot, model, large) =
                (Arc::clone(snapshot), Arc::clone(model), Arc::clone(large));
            let pool = Arc::clone(&snapshot);
            let work = move |_: &_| {
                let call = large.lend();
                choice(&snapshot, &model, &call, &asker).map(|(choice, _)| choice)
            };
            (pool.shared.pool.run(work).await?, None)
        }
    };
    trace.set_choice(model, &choice);
    Ok(Some(Chosen { resolved: resolved.chosen(&choice), decoded }))
}

fn choice<'c>(
    snapshot: &Snapshot,
    model: &Model,
    call: &'c Call<'c>,
    asker: &Asker,
) -> Result<(Choice, Box<DecodedRequest<'c>>)> {
    ingress::check_density(&call.survey)?;
    let decoded = Box::new(call.decoded()?);
    let Asker { class, owner, session } = asker;
    let takes_turn = call.action != Action::CountTokens;
    let caller = Caller { owner, session: session.as_deref(), takes_turn };
    let (request, name) = (decoded.request(), &*call.model);
    let asked = ClassAsked { request, name, class: *class, caller };
    let choice = model.choose(asked, &snapshot.config().classing);
    Ok((choice, decoded))
}

fn owner(trace: &Trace) -> String {
    trace.key().map(|key| key.name.clone()).unwrap_or_default()
}

/// The conversation that the call advances here, else the session of an agent.
fn session(call: &Call<'_>, trace: &Trace) -> Option<String> {
    let conversation = trace.turn().and_then(|turn| turn.conversation.as_deref());
    conversation.or_else(|| call.session_name()).map(str::to_owned)
}

/// The class that the client decides on.
fn named(call: &Call<'_>) -> Result<Option<Class>> {
    let Some(name) = call.header("sabir-class") else { return Ok(None) };
    match Class::from_name(name) {
        Some(class) => Ok(Some(class)),
        None => {
            let names = Class::ALL.map(Class::name).join(", ");
            let message = format!("the header sabir-class names no class; there are {names}");
            Err(Failure::client(FaultKind::BadRequest, message).with_code("unknown_class"))
        }
    }
}
