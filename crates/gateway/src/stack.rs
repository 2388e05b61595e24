//! Every layer that a request passes, in order, with a sentence on why it stands there.

mod call;
mod pages;
mod socket;

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use http::header::EXPECT;
use http::request::Parts;
use http_body::Body;
use sabir_backend::http::{Client, add_reason};
use sabir_wire::FaultKind;

pub(crate) use self::socket::{call_over_socket, prepare_over_socket};
use crate::answer::InFlight;
use crate::attempt::Handles;
use crate::background::Supervisor;
use crate::call::Action;
use crate::config::types::GatewayKey;
use crate::egress::Reply;
use crate::failure::Failure;
use crate::ingress::{Arrived, Endpoint};
use crate::state::Snapshot;
use crate::surface::Kept;
use crate::{Gateway, admin, egress, ingress, route, surface};

/// Where a request comes in.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'c> {
    pub(crate) gateway: &'c Arc<Gateway>,
    /// What is in force when it comes, and until it ends.
    pub(crate) snapshot: &'c Arc<Snapshot>,
    pub(crate) client: &'c Client,
    /// Who owns what outlives the request.
    pub(crate) supervisor: &'c Supervisor,
    /// Whether it comes from this machine.
    pub(crate) is_local: bool,
}

/// Answers a request. All below borrow its head: a future has room for whatever is handed to it, and again for what it
/// makes of that.
pub(crate) async fn handle<B>(entry: Entry<'_>, head: &Parts, body: &mut B) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let snapshot = entry.snapshot;
    let mut reply = match head.method {
        Method::OPTIONS if pages::is_preflight(head) => {
            pages::preflight(snapshot, &head.uri, &head.headers)
        }
        _ => serve(entry, head, body).await,
    };
    add_reason(&mut reply);
    // Who waits for `100 Continue` before it sends anything gets the refusal in its place.
    let is_refused = reply.status().is_client_error() || reply.status().is_server_error();
    if is_refused && !head.headers.contains_key(EXPECT) {
        ingress::drain(body).await;
    }
    pages::expose(snapshot, head, &mut reply);
    reply
}

async fn serve<B>(entry: Entry<'_>, head: &Parts, body: &mut B) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let Entry { snapshot, .. } = entry;
    let Parts { method, uri, headers, .. } = head;
    let endpoint = ingress::find_endpoint(method, uri, headers);
    let error_protocol = endpoint.error_protocol();
    // Strange hosts and pages are turned away before anything is read: they may not even learn what is served.
    let admitted = ingress::admit(snapshot, uri, headers);
    // Then what could be read as another request than the one that is served.
    let admitted = admitted.and_then(|()| ingress::check_framing(&head.extensions));
    // Then heads that are too long, which nobody should have to look at twice.
    let admitted = admitted.and_then(|()| ingress::check_head(snapshot, uri, headers));
    // Then whoever has no key, but for the question whether the gateway is alive.
    let admitted = admitted.and_then(|()| match endpoint.is_open_to_all() {
        true => Ok(None),
        false => ingress::identify(snapshot, uri, headers),
    });
    match admitted {
        Ok(key) => dispatch(entry, endpoint, (head, key), body).await,
        Err(failure) => {
            let flight = InFlight::begin(snapshot, error_protocol, None);
            egress::rescue(error_protocol, *failure, flight)
        }
    }
}

/// Answers whoever was let in.
async fn dispatch<B>(
    entry: Entry<'_>,
    endpoint: Endpoint,
    (head, key): (&Parts, Option<&Arc<GatewayKey>>),
    body: &mut B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let Entry { gateway, snapshot, client, is_local, .. } = entry;
    let Parts { method, uri, headers, .. } = head;
    // What is not a call is boxed: every connection has room for the largest future of all.
    match endpoint {
        Endpoint::Call { client: protocol, action, from_path } => {
            let submits_to = None;
            let arrived = Arrived { protocol, action, from_path, headers, uri, key, submits_to };
            call::call(entry, &arrived, body).await
        }
        Endpoint::Socket(protocol) => socket::upgrade(snapshot, protocol, (headers, key)),
        Endpoint::Reload => {
            let asked = admin::ReloadAsked { is_local, uri, headers, key };
            Box::pin(admin::reload(gateway, snapshot, asked)).await
        }
        Endpoint::Conversations(asked) => {
            let asker = admin::Asker { is_local, uri, headers, key };
            Box::pin(admin::conversations(snapshot, asker, &asked, body)).await
        }
        Endpoint::Usage => {
            let asker = admin::Asker { is_local, uri, headers, key };
            Box::pin(admin::usage(snapshot, asker)).await
        }
        Endpoint::Own(own) => Box::pin(admin::own(snapshot, own, (headers, key), body)).await,
        Endpoint::Kept { client: protocol, kept: Kept::SubmitResults(id) } => {
            let (action, from_path, submits_to) = (Action::Generate, None, None);
            let arrived = Arrived { protocol, action, from_path, headers, uri, key, submits_to };
            Box::pin(call::submit(entry, arrived, &id, body)).await
        }
        Endpoint::Kept { client: protocol, kept } => {
            let asked = admin::KeptAsked { client: protocol, kept, method, uri, headers, key };
            Box::pin(admin::kept(Handles { snapshot, client }, asked, body)).await
        }
        Endpoint::Models { shape, listing } => {
            let asked = admin::ModelsAsked { shape, listing, headers, key };
            Box::pin(admin::models(snapshot, client, asked)).await
        }
        Endpoint::Embeddings => {
            Box::pin(admin::embeddings(snapshot, client, (headers, key), body)).await
        }
        Endpoint::Passthrough { provider, path } => {
            let outgoing = admin::Raw { method, path, headers, key };
            Box::pin(admin::passthrough(snapshot, client, &provider, outgoing, body)).await
        }
        Endpoint::Unknown(protocol) => {
            let (path, advice) = (route::shown(uri.path()), surface::advice(uri.path()));
            let message = format!("{method} {path} is not served here; {advice}");
            let failure = Failure::client(FaultKind::NotFound, message).with_code("unknown_url");
            egress::rescue(protocol, *failure, InFlight::begin(snapshot, protocol, key))
        }
    }
}
