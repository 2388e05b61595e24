//! WebSockets: the handshake, and calls that come over one. Frames are `server/socket`'s.

use std::sync::Arc;

use http::HeaderMap;
use http::header::{SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_VERSION};
use http::request::Parts;
use sabir_wire::Protocol;
use sabir_wire::json::Text;
use sabir_wire::protocol::AnswerContext;

use super::Entry;
use super::call::call_with;
use crate::answer::{Ended, InFlight};
use crate::call::Action;
use crate::config::types::GatewayKey;
use crate::egress::Reply;
use crate::failure::Result;
use crate::ingress::Arrived;
use crate::state::Snapshot;
use crate::{egress, ingress, observe, pool};

/// The connection becomes a WebSocket, if the client knows how to ask for one.
pub(super) fn upgrade(
    snapshot: &Arc<Snapshot>,
    protocol: Protocol,
    (headers, key): (&HeaderMap, Option<&Arc<GatewayKey>>),
) -> Reply {
    match ingress::accept_key(headers) {
        Ok(accepted) => {
            let mut reply = egress::upgrade();
            reply.headers_mut().insert(SEC_WEBSOCKET_ACCEPT, accepted);
            reply
        }
        Err(failure) => {
            let flight = InFlight::begin(snapshot, protocol, key);
            let mut reply = egress::rescue(protocol, *failure, flight);
            reply.headers_mut().insert(SEC_WEBSOCKET_VERSION, ingress::SOCKET_VERSION);
            reply
        }
    }
}

/// A call that came over a WebSocket, with the head of its handshake.
pub(crate) async fn call_over_socket(
    entry: Entry<'_>,
    protocol: Protocol,
    head: &Parts,
    body: String,
) -> Reply {
    let (arrived, mut flight) = match arrived_over_socket(entry, protocol, head) {
        Ok(arrived) => arrived,
        Err(reply) => return *reply,
    };
    let admitted = flight.admission.admit();
    if let Err(failure) = admitted.and_then(|()| flight.admission.hold_body(body.len())) {
        return egress::rescue(protocol, *failure, flight);
    }
    call_with(entry, &arrived, body.into_bytes(), flight).await
}

/// A call that came over a WebSocket and wants no answer: the context of the one that it would get, or the reply that refuses it.
pub(crate) async fn prepare_over_socket(
    entry: Entry<'_>,
    protocol: Protocol,
    head: &Parts,
    body: &str,
) -> Result<AnswerContext<'static>, Box<Reply>> {
    let (arrived, mut flight) = arrived_over_socket(entry, protocol, head)?;
    let model = match model_of(entry.snapshot, &arrived, body, &mut flight).await {
        Ok(model) => model,
        Err(failure) => return Err(Box::new(egress::rescue(protocol, *failure, flight))),
    };
    let context = AnswerContext {
        model: Some(Text::plain(model)),
        seed: Text::plain(flight.trace.id().to_owned()),
        created_s: flight.trace.began_s(),
        ..AnswerContext::default()
    };
    flight.trace.set_status(200);
    flight.end(Ended::plain(observe::Outcome::Answered));
    Ok(context)
}

/// The model that a call asks for, if there is such a model.
async fn model_of(
    snapshot: &Snapshot,
    arrived: &Arrived<'_>,
    body: &str,
    flight: &mut InFlight,
) -> Result<String> {
    let trace = &mut flight.trace;
    if body.len() < pool::LARGE_BYTES {
        let routed = ingress::route_call(snapshot, arrived, body.as_bytes(), trace)?;
        return Ok(routed.call.model);
    }
    let body = body.as_bytes().to_vec();
    let (call, _) = ingress::route_large_call(snapshot, arrived, body, trace).await?;
    Ok(call.model.clone())
}

/// Who asks over a socket is looked at for each call: keys come and go.
fn arrived_over_socket<'c>(
    entry: Entry<'c>,
    protocol: Protocol,
    head: &'c Parts,
) -> Result<(Arrived<'c>, InFlight), Box<Reply>> {
    let Parts { uri, headers, .. } = head;
    match ingress::identify(entry.snapshot, uri, headers) {
        Ok(key) => {
            let (action, from_path, submits_to) = (Action::Generate, None, None);
            let arrived = Arrived { protocol, action, from_path, headers, uri, key, submits_to };
            Ok((arrived, InFlight::begin(entry.snapshot, protocol, key)))
        }
        Err(failure) => {
            let flight = InFlight::begin(entry.snapshot, protocol, None);
            Err(Box::new(egress::rescue(protocol, *failure, flight)))
        }
    }
}
