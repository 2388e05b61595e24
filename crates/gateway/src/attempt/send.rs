//! One request to one provider, up to the head of the answer.

use http::Method;
use sabir_backend::http::Afterwards;

use crate::answer::{Feed, Incoming};
use crate::attempt::Handles;
use crate::attempt::prepare::Prepared;
use crate::failure::Result;
use crate::tap::Head;
use crate::upstream::{Backend as _, Endpoint, Provider, Request, Turn};

/// Sends a prepared request and reads the head of the answer.
pub(super) async fn begin(
    handles: Handles<'_>,
    (provider, turn): (&Provider, Option<Turn<'_>>),
    prepared: &Prepared<'_>,
) -> Result<Incoming> {
    let Prepared { endpoint, path, headers, body, .. } = prepared;
    let afterwards = Afterwards::Keep;
    let request = Request { method: &Method::POST, path, headers, body, turn, afterwards };
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
    redactor.redact_headers(&mut reply.headers);
    let idle_max = provider.config.timeouts.idle;
    let duration_max = snapshot.config().limits.stream_duration_max;
    let feed = Box::new(Feed::new(reply.body, redactor.clone(), idle_max, duration_max));
    let head = Head { status: reply.status, headers: reply.headers };
    Ok(Incoming { protocol: endpoint.protocol, head, feed })
}
