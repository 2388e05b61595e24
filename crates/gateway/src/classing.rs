//! The class of a call, where the model that it asks for leaves its targets to that. What is decided by is the canonical request.

use std::sync::Arc;

use sabir_compose::class::Class;
use sabir_wire::FaultKind;
use sabir_wire::protocol::DecodedRequest;

use crate::attempt::{ReadAhead, WritingAhead, WrittenAhead};
use crate::call::{Action, Call, LargeCall};
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

/// What a call is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadFor {
    /// To be sent to the first of its targets, once they are known.
    Target,
    /// To know its class alone.
    Class,
}

/// Where a call goes, and what was read of it to know that.
pub(crate) struct Chosen<'c> {
    pub(crate) resolved: Resolved,
    pub(crate) ahead: Option<ReadAhead<'c>>,
}

/// Where the call goes once its class is known; none if that does not matter.
pub(crate) async fn choose<'c>(
    snapshot: &Arc<Snapshot>,
    (call, purpose): (&'c Call<'c>, ReadFor),
    resolved: &Resolved,
    trace: &mut Trace,
) -> Result<Option<Chosen<'c>>> {
    let Some(model) = resolved.by_class() else { return Ok(None) };
    let class = named(call)?;
    let asker = Asker { class, owner: owner(trace), session: session(call, trace) };
    let (choice, ahead) = match call.large {
        None => {
            let (choice, decoded) = choice(snapshot, model, call, &asker)?;
            (choice, Some(ReadAhead::Decoded(decoded)))
        }
        Some(large) => {
            let writing = match purpose {
                ReadFor::Target => Some(WritingAhead::new(snapshot, trace)),
                ReadFor::Class => None,
            };
            let (choice, written) =
                choice_elsewhere(snapshot, (large, writing), (resolved, model), asker).await?;
            (choice, written.map(ReadAhead::Written))
        }
    };
    trace.set_choice(model, &choice);
    Ok(Some(Chosen { resolved: resolved.chosen(&choice), ahead }))
}

/// The choice for a large body, which another thread reads, and the body as its first target wants it.
async fn choice_elsewhere(
    snapshot: &Arc<Snapshot>,
    (large, writing): (&Arc<LargeCall>, Option<WritingAhead>),
    (resolved, model): (&Resolved, &Arc<Model>),
    asker: Asker,
) -> Result<(Choice, Option<Box<WrittenAhead>>)> {
    let (own, large, resolved) = (Arc::clone(snapshot), Arc::clone(large), resolved.clone());
    let model = Arc::clone(model);
    let work = move |wanted: &_| {
        let call = large.lend();
        let (choice, decoded) = choice(&own, &model, &call, &asker)?;
        let resolved = resolved.chosen(&choice);
        let written = writing.and_then(|it| it.write((&call, decoded), &resolved, wanted));
        Ok((choice, written))
    };
    let settle = |(choice, written): (Choice, Option<Box<WrittenAhead>>)| {
        (choice.clone(), written.map(|it| Box::new(it.settled())))
    };
    snapshot.shared.pool.run_apart(work, settle).await
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
