//! From a request to a call: which model is asked for what, and who serves it.

use std::sync::{Arc, OnceLock};

use http::{HeaderMap, Uri};
use sabir_store::TurnId;
use sabir_wire::{FaultKind, Protocol};

use crate::call::{Action, Call, Delivery, LargeCall, unmarked};
use crate::config::types::GatewayKey;
use crate::failure::{Failure, Result};
use crate::ingress::skim::{Skimmed, skim};
use crate::ingress::{into_text, text};
use crate::route::Resolved;
use crate::state::Snapshot;
use crate::surface::FromPath;
use crate::trace::Trace;
use crate::{route, surface};

/// A call of which the head has arrived.
pub(crate) struct Arrived<'h> {
    pub(crate) protocol: Protocol,
    pub(crate) action: Action,
    pub(crate) from_path: Option<FromPath>,
    pub(crate) headers: &'h HeaderMap,
    pub(crate) uri: &'h Uri,
    /// The gateway key that it came with.
    pub(crate) key: Option<&'h Arc<GatewayKey>>,
    /// What it answers the calls of, where it is a submission.
    pub(crate) submits_to: Option<TurnId>,
}

/// A call, and who may answer it.
pub(crate) struct Routed<'b> {
    pub(crate) call: Call<'b>,
    pub(crate) resolved: Resolved,
}

pub(crate) fn route_call<'b>(
    snapshot: &Snapshot,
    arrived: &'b Arrived<'_>,
    body: &'b [u8],
    trace: &mut Trace,
) -> Result<Routed<'b>> {
    let body = text(body)?;
    let mut call = call_in(arrived, body)?;
    trace.set_model(&call.model, call.delivery.is_stream());
    let resolved = resolve(snapshot, &call.model, call.client)?;
    call.rules = snapshot.directory.rules(&resolved, arrived.key);
    Ok(Routed { call, resolved })
}

fn call_in<'b>(arrived: &'b Arrived<'_>, body: &'b str) -> Result<Call<'b>> {
    let mut skimmed = skim(arrived.protocol, body)?;
    let (model, delivery) = wanted(arrived.from_path.as_ref(), &mut skimmed)?;
    Ok(Call {
        client: arrived.protocol,
        action: arrived.action,
        model,
        delivery,
        query: arrived.uri.query(),
        headers: arrived.headers,
        body,
        survey: skimmed.survey,
        model_at: skimmed.model_at,
        session: skimmed.session,
        asked: (surface::of(arrived.protocol).state.read)(unmarked(body))?,
        recalled: None,
        rules: None,
        large: None,
    })
}

/// The model, and how the answer is to come: by the path, or else by the body.
fn wanted(from_path: Option<&FromPath>, skimmed: &mut Skimmed<'_>) -> Result<(String, Delivery)> {
    let (model, delivery) = match from_path {
        Some(FromPath { model, delivery }) => (model.clone(), *delivery),
        None => {
            let model = skimmed.model.take().unwrap_or_default();
            (model, Delivery::of_stream(skimmed.is_stream))
        }
    };
    check_model(&model)?;
    Ok((model, delivery))
}

/// The same for a body that takes long to read, which is done on another thread.
pub(crate) async fn route_large_call(
    snapshot: &Snapshot,
    arrived: &Arrived<'_>,
    body: Vec<u8>,
    trace: &mut Trace,
) -> Result<(Arc<LargeCall>, Resolved)> {
    let (client, action) = (arrived.protocol, arrived.action);
    let from_path = arrived.from_path.clone();
    let (headers, query) = (arrived.headers.clone(), arrived.uri.query().map(str::to_owned));
    let call = snapshot.shared.pool.run(move |_| {
        let body = into_text(body)?;
        let mut skimmed = skim(client, &body)?;
        let (model, delivery) = wanted(from_path.as_ref(), &mut skimmed)?;
        let Skimmed { model_at, session, survey, .. } = skimmed;
        let nodes = survey.nodes();
        let asked = (surface::of(client).state.read)(unmarked(&body))?;
        let recalled = OnceLock::new();
        let call = LargeCall {
            client,
            action,
            model,
            delivery,
            headers,
            query,
            body,
            nodes,
            model_at,
            session,
            asked,
            recalled,
            rules: None,
        };
        Ok(call)
    });
    let mut call = call.await?;
    trace.set_model(&call.model, call.delivery.is_stream());
    let resolved = resolve(snapshot, &call.model, client)?;
    call.rules = snapshot.directory.rules(&resolved, arrived.key);
    Ok((Arc::new(call), resolved))
}

fn resolve(snapshot: &Snapshot, model: &str, client: Protocol) -> Result<Resolved> {
    route::resolve(&snapshot.directory, model, client).map_err(|not_found| {
        let failure = Failure::client(FaultKind::NotFound, not_found.to_string());
        failure.with_param("model").with_code("model_not_found")
    })
}

/// The longest name of a model: it is logged, remembered and sent back in a header.
const MODEL_BYTES_MAX: usize = 512;

/// Refuses names that no model has: none at all, endless ones, those with control characters, and those that would lead elsewhere in a
/// provider's path.
fn check_model(model: &str) -> Result<()> {
    if model.is_empty() {
        let failure = Failure::client(FaultKind::BadRequest, "expected a model, found none");
        return Err(failure.with_param("model"));
    }
    let leads_elsewhere = model.split('/').any(|step| matches!(step, "." | ".."));
    let is_readable = !model.chars().any(char::is_control);
    if model.len() <= MODEL_BYTES_MAX && is_readable && !leads_elsewhere {
        return Ok(());
    }
    let message = "expected the name of a model, found something that cannot be one";
    Err(Failure::client(FaultKind::BadRequest, message).with_param("model"))
}
