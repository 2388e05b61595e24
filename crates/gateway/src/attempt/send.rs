//! One request to one provider, up to the head of the answer.

use std::sync::Arc;

use http::Method;
use sabir_backend::http::Afterwards;
use sabir_wire::FaultKind;

use crate::answer::{Feed, Incoming};
use crate::attempt::Handles;
use crate::attempt::prepare::Prepared;
use crate::config::types::GatewayKey;
use crate::failure::{Failure, Result, Whose};
use crate::tap::Head;
use crate::upstream::{Backend as _, Endpoint, Provider, Request, Turn};

/// Sends somebody's prepared request and reads the head of the answer.
pub(super) async fn begin(
    handles: Handles<'_>,
    (provider, turn): (&Provider, Option<Turn<'_>>),
    prepared: &Prepared<'_>,
    key: Option<&Arc<GatewayKey>>,
) -> Result<Incoming> {
    let Prepared { endpoint, path, headers, body, .. } = prepared;
    let afterwards = Afterwards::Keep;
    let (method, owner) = (&Method::POST, key.map(|key| key.name.as_str()));
    let request = Request { method, path, headers, body, turn, afterwards, owner };
    send(handles, provider, endpoint, request).await
}

/// Sends a request and reads the head of the answer. From here on nothing holds the provider's secrets.
pub(super) async fn send(
    handles: Handles<'_>,
    provider: &Provider,
    endpoint: &Endpoint,
    request: Request<'_>,
) -> Result<Incoming> {
    let Handles { snapshot, client } = handles;
    let mut reply = endpoint.backend.ask(client, &snapshot.shared.pool, request).await?;
    let redactor = &provider.redactor;
    if !redactor.can_read(&reply.headers) {
        return Err(in_strange_characters());
    }
    redactor.redact_headers(&mut reply.headers);
    let idle_max = provider.config.timeouts.idle;
    let duration_max = snapshot.config().limits.stream_duration_max;
    let feed = Box::new(Feed::new(reply.body, redactor.clone(), idle_max, duration_max));
    let head = Head { status: reply.status, headers: reply.headers };
    Ok(Incoming { protocol: endpoint.protocol, head, feed })
}

/// An answer in which nobody here could find the provider's secrets.
fn in_strange_characters() -> Box<Failure> {
    let message = "the provider's answer has a charset in which its secrets cannot be found";
    Failure::new(Whose::Upstream, FaultKind::Internal, message).with_status(502)
}
