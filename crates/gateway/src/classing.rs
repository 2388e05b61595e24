//! The class of a call, where the model that it asks for leaves its targets to that. What is decided by is the canonical request.

use std::sync::Arc;

use sabir_compose::class::Class;
use sabir_wire::FaultKind;

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

/// Where the call goes once its class is known; none if that does not matter.
pub(crate) async fn choose(
    snapshot: &Arc<Snapshot>,
    call: &Call<'_>,
    resolved: &Resolved,
    trace: &mut Trace,
) -> Result<Option<Resolved>> {
    let Some(model) = resolved.by_class() else { return Ok(None) };
    let class = named(call)?;
    let asker = Asker { class, owner: owner(trace), session: session(call, trace) };
    let choice = match call.large {
        None => choice(snapshot, model, call, &asker)?,
        Some(large) => {
            let (snapshot, model, large) =
                (Arc::clone(snapshot), Arc::clone(model), Arc::clone(large));
            let pool = Arc::clone(&snapshot);
            let work = move |_: &_| choice(&snapshot, &model, &large.lend(), &asker);
            pool.shared.pool.run(work).await?
        }
    };
    trace.set_choice(model, &choice);
    Ok(Some(resolved.chosen(&choice)))
}

fn choice(snapshot: &Snapshot, model: &Model, call: &Call<'_>, asker: &Asker) -> Result<Choice> {
    ingress::check_density(&call.survey)?;
    let decoded = call.decoded()?;
    let Asker { class, owner, session } = asker;
    let takes_turn = call.action != Action::CountTokens;
    let caller = Caller { owner, session: session.as_deref(), takes_turn };
    let (request, name) = (decoded.request(), &*call.model);
    let asked = ClassAsked { request, name, class: *class, caller };
    Ok(model.choose(asked, &snapshot.config().classing))
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
