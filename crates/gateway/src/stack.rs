//! Every layer that a request passes, in order, with a sentence on why it stands there.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, EXPECT, ORIGIN,
    SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_VERSION, VARY,
};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, Uri};
use http_body::Body;
use sabir_backend::http::{Client, add_reason};
use sabir_wire::json::Text;
use sabir_wire::protocol::AnswerContext;
use sabir_wire::{FaultKind, Protocol};

use crate::admission::Admission;
use crate::answer::{Answering, Ended, InFlight, stated_in_stream};
use crate::attempt::Handles;
use crate::background::{Announced, Supervisor};
use crate::call::{Action, Call, LargeCall};
use crate::compact::{Outcome, Stage};
use crate::config::types::GatewayKey;
use crate::egress::Reply;
use crate::failure::{Failure, Result};
use crate::ingress::{Arrived, Endpoint, Misframed, Routed};
use crate::recall::{Asker, Submission};
use crate::route::Resolved;
use crate::state::Snapshot;
use crate::surface::Kept;
use crate::{
    Gateway, admin, attempt, background, compact, egress, ingress, observe, pool, recall, route,
    surface,
};

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
        Method::OPTIONS if is_preflight(head) => preflight(snapshot, &head.uri, &head.headers),
        _ => serve(entry, head, body).await,
    };
    add_reason(&mut reply);
    // Who waits for a word before it sends anything gets the refusal in its place.
    let is_refused = reply.status().is_client_error() || reply.status().is_server_error();
    if is_refused && !head.headers.contains_key(EXPECT) {
        ingress::drain(body).await;
    }
    if let Some(origin) = head.headers.get(ORIGIN)
        && ingress::is_allowed_origin(snapshot, origin.as_bytes())
    {
        let headers = reply.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, http::HeaderValue::from_static("*"));
        headers.append(VARY, http::HeaderValue::from_static("origin"));
    }
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
            call(entry, &arrived, body).await
        }
        Endpoint::Socket(protocol) => upgrade(snapshot, protocol, (headers, key)),
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
            Box::pin(submit(entry, arrived, &id, body)).await
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

/// The connection becomes a WebSocket, if the client knows how to ask for one.
fn upgrade(
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

/// A call that came over a WebSocket and wants no answer: what one would say of it, if it can be answered.
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

async fn call<B>(entry: Entry<'_>, arrived: &Arrived<'_>, body: &mut B) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let protocol = arrived.protocol;
    let mut flight = InFlight::begin(entry.snapshot, protocol, arrived.key);
    let body = match read(arrived, body, &mut flight.admission).await {
        Ok(body) => body,
        Err(failure) => return egress::rescue(protocol, *failure, flight),
    };
    call_with(entry, arrived, body, flight).await
}

/// Results of tools for an answer that is kept: a call like any other, made of them and of what is kept.
async fn submit<B>(entry: Entry<'_>, mut arrived: Arrived<'_>, id: &str, body: &mut B) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let (snapshot, protocol) = (entry.snapshot, arrived.protocol);
    let mut flight = InFlight::begin(snapshot, protocol, arrived.key);
    let submitted = match read(&arrived, body, &mut flight.admission).await {
        Ok(body) => recall::submission(snapshot, arrived.key, id, body).await,
        Err(failure) => Err(failure),
    };
    match submitted {
        Ok(Submission { body, turn }) => {
            arrived.submits_to = Some(turn);
            call_with(entry, &arrived, body.into_bytes(), flight).await
        }
        Err(failure) => egress::rescue(protocol, *failure, flight),
    }
}

/// A call whose body is there.
async fn call_with(
    entry: Entry<'_>,
    arrived: &Arrived<'_>,
    body: Vec<u8>,
    mut flight: InFlight,
) -> Reply {
    let Entry { snapshot, client, .. } = entry;
    let protocol = arrived.protocol;
    // A body that takes long to read is read on another thread, so that others do not wait for it on this one.
    if body.len() >= pool::LARGE_BYTES {
        return Box::pin(large_call(entry, arrived, body, flight)).await;
    }
    let mut routed = match ingress::route_call(snapshot, arrived, &body, &mut flight.trace) {
        Ok(routed) => routed,
        Err(failure) => return egress::rescue(protocol, *failure, flight),
    };
    // What it continues is put before it, and decides how much there is to read.
    let handles = Handles { snapshot, client };
    let given = (&routed.call, &routed.resolved);
    routed.call.recalled = match recalled(handles, arrived, given, &mut flight).await {
        Ok(Outcome::Call(recalled)) => recalled,
        Ok(Outcome::Answer(answering)) => return egress::answer(&routed.call, answering, flight),
        Err(failure) => return egress::rescue(protocol, *failure, flight),
    };
    if routed.call.asked.in_background {
        let call = (routed.call.to_large(), routed.resolved);
        return Box::pin(background_call(entry, arrived, call, flight)).await;
    }
    if routed.call.recalled_bytes() >= pool::LARGE_BYTES {
        let call = (Arc::new(routed.call.to_large()), routed.resolved);
        return Box::pin(long_call(handles, arrived.action, call, flight)).await;
    }
    let outcome = {
        let answering = pin!(answer(handles, &routed, arrived.action, &mut flight));
        snapshot.shared.until_over(answering).await
    };
    match outcome {
        Ok(answering) => egress::answer(&routed.call, answering, flight),
        Err(failure) => egress::rescue(protocol, *failure, flight),
    }
}

/// The same, for a body whose every reading is left to other threads.
async fn large_call(
    entry: Entry<'_>,
    arrived: &Arrived<'_>,
    body: Vec<u8>,
    mut flight: InFlight,
) -> Reply {
    let Entry { snapshot, client, .. } = entry;
    let routed = {
        let routing = pin!(ingress::route_large_call(snapshot, arrived, body, &mut flight.trace));
        snapshot.shared.until_over(routing).await
    };
    let (call, resolved) = match routed {
        Ok(routed) => routed,
        Err(failure) => return egress::rescue(arrived.protocol, *failure, flight),
    };
    let handles = Handles { snapshot, client };
    match recalled(handles, arrived, (&call.lend(), &resolved), &mut flight).await {
        Ok(Outcome::Call(recalled)) => {
            if let Some(recalled) = recalled {
                call.recalled.get_or_init(|| recalled);
            }
        }
        Ok(Outcome::Answer(answering)) => return egress::answer(&call.lend(), answering, flight),
        Err(failure) => return egress::rescue(arrived.protocol, *failure, flight),
    }
    if call.asked.in_background {
        let call = Arc::try_unwrap(call).unwrap_or_else(|call| call.lend().to_large());
        return background_call(entry, arrived, (call, resolved), flight).await;
    }
    long_call(handles, arrived.action, (call, resolved), flight).await
}

/// A call whose answer nobody waits for. The client is told at once that it will be there.
async fn background_call(
    entry: Entry<'_>,
    arrived: &Arrived<'_>,
    (call, resolved): (LargeCall, Resolved),
    mut flight: InFlight,
) -> Reply {
    let Entry { snapshot, client, supervisor, .. } = entry;
    let action = arrived.action;
    // A provider of the client's protocol knows by itself how to do that.
    let announced = match background::passes(&call, &resolved, &flight) {
        true => Ok(Err(call)),
        false => background::announce(snapshot, arrived.key, call, &mut flight).await,
    };
    let Announced { job, call, reply } = match announced {
        Ok(Ok(announced)) => announced,
        Ok(Err(mut call)) => {
            call.asked.in_background = false;
            let handles = Handles { snapshot, client };
            return long_call(handles, action, (Arc::new(call), resolved), flight).await;
        }
        Err(failure) => {
            flight.give_up(&failure).await;
            return egress::rescue(arrived.protocol, *failure, flight);
        }
    };
    let (snapshot, client) = (Arc::clone(snapshot), client.clone());
    let answering = async move {
        let handles = Handles { snapshot: &snapshot, client: &client };
        long_call(handles, action, (call, resolved), flight).await
    };
    supervisor.start(Box::pin(job.run(answering)));
    reply
}

/// A call of which all is known, and which takes long to read.
async fn long_call(
    handles: Handles<'_>,
    action: Action,
    (call, resolved): (Arc<LargeCall>, Resolved),
    mut flight: InFlight,
) -> Reply {
    let outcome = {
        let mut lent = call.lend();
        // A call that nobody waits for owns its body, however short that is.
        if call.body.len() + lent.recalled_bytes() < pool::LARGE_BYTES {
            lent.large = None;
        }
        let routed = Routed { call: lent, resolved };
        let answering = pin!(answer(handles, &routed, action, &mut flight));
        handles.snapshot.shared.until_over(answering).await
    };
    match outcome {
        Ok(answering) => egress::answer(&call.lend(), answering, flight),
        Err(failure) => egress::rescue(call.client, *failure, flight),
    }
}

/// What the gateway keeps of the conversation that a call continues, and the summaries that stand in it.
async fn recalled(
    handles: Handles<'_>,
    arrived: &Arrived<'_>,
    (call, resolved): (&Call<'_>, &Resolved),
    flight: &mut InFlight,
) -> Result<Outcome> {
    let shared = &handles.snapshot.shared;
    let (action, key) = (arrived.action, arrived.key);
    let asker = Asker { call, action, key, submits_to: arrived.submits_to.as_ref() };
    let recalled = {
        let recalling = pin!(recall::recall(handles.snapshot, asker, flight));
        shared.until_over(recalling).await?
    };
    if action == Action::CountTokens {
        return Ok(Outcome::Call(recalled));
    }
    let outcome = {
        let stage = Stage { handles, call, resolved, key };
        let compacting = pin!(compact::compact(stage, recalled, flight));
        shared.until_over(compacting).await
    };
    match outcome {
        Ok(Outcome::Answer(mut answering)) => {
            answering.settle(flight).await?;
            Ok(Outcome::Answer(answering))
        }
        Ok(outcome) => Ok(outcome),
        Err(failure) => {
            flight.give_up(&failure).await;
            Err(failure)
        }
    }
}

async fn read<B>(arrived: &Arrived<'_>, body: &mut B, admission: &mut Admission) -> Result<Vec<u8>>
where
    B: Body<Data = Bytes> + Unpin,
{
    // A place among the requests in flight comes before the body: bodies are what takes memory.
    admission.admit()?;
    ingress::read_body(body, arrived.headers, admission).await
}

async fn answer(
    handles: Handles<'_>,
    routed: &Routed<'_>,
    action: Action,
    flight: &mut InFlight,
) -> Result<Box<Answering>> {
    let Routed { call, resolved } = routed;
    let answered = match action {
        Action::Generate | Action::Compact => {
            attempt::answer(handles, call, resolved, flight).await
        }
        Action::CountTokens => Box::pin(attempt::count(handles, call, resolved, flight)).await,
    };
    match answered {
        Ok(mut answering) => {
            // What is to be kept is stored before the head of a whole answer leaves.
            answering.settle(flight).await?;
            Ok(answering)
        }
        Err(failure) => {
            flight.give_up(&failure).await;
            Box::pin(stated_in_stream(handles.snapshot, call, failure, flight)).await
        }
    }
}

/// Whether a web page may be asking for leave, and not a client what a provider offers.
fn is_preflight(head: &Parts) -> bool {
    let may_ask = head.headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
        || !ingress::is_passthrough(head.uri.path());
    may_ask && head.extensions.get::<Misframed>().is_none()
}

/// A web page asks whether it may ask.
fn preflight(snapshot: &Snapshot, uri: &Uri, headers: &HeaderMap) -> Reply {
    let status = match ingress::admit(snapshot, uri, headers) {
        Ok(()) => StatusCode::NO_CONTENT,
        Err(_) => StatusCode::FORBIDDEN,
    };
    let mut reply = egress::json(status, String::new());
    if status == StatusCode::NO_CONTENT {
        let headers = reply.headers_mut();
        let methods = http::HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE, OPTIONS");
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        let names = http::HeaderValue::try_from(surface::headers_from_pages());
        headers.extend(names.ok().map(|names| (ACCESS_CONTROL_ALLOW_HEADERS, names)));
    }
    reply
}
