//! The class of a call, where the model that it asks for leaves its targets to that. What is decided by is the canonical request.

use std::sync::Arc;

use sabir_compose::class::Class;
use sabir_wire::FaultKind;

use crate::call::Call;
use crate::failure::{Failure, Result};
use crate::ingress;
use crate::route::{Choice, ClassAsked, Model, Resolved};
use crate::state::Snapshot;
use crate::trace::Trace;

/// Where the call goes once its class is known; none if that does not matter.
pub(crate) async fn choose(
    snapshot: &Arc<Snapshot>,
    call: &Call<'_>,
    resolved: &Resolved,
    trace: &mut Trace,
) -> Result<Option<Resolved>> {
    let Some(model) = resolved.by_class() else { return Ok(None) };
    let named = named(call)?;
    let choice = match call.large {
        None => choice(snapshot, model, call, named)?,
        Some(large) => {
            let (snapshot, model, large) =
                (Arc::clone(snapshot), Arc::clone(model), Arc::clone(large));
            let pool = Arc::clone(&snapshot);
            let work = move |_: &_| choice(&snapshot, &model, &large.lend(), named);
            pool.shared.pool.run(work).await?
        }
    };
    trace.set_choice(model, &choice);
    Ok(Some(resolved.chosen(&choice)))
}

fn choice(
    snapshot: &Snapshot,
    model: &Model,
    call: &Call<'_>,
    class: Option<Class>,
) -> Result<Choice> {
    ingress::check_density(&call.survey)?;
    let decoded = call.decoded()?;
    let asked = ClassAsked { request: decoded.request(), name: &call.model, class };
    Ok(model.choose(asked, &snapshot.config().classing))
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
