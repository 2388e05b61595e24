//! What else a provider offers: its own paths with its key, limits and counters, bytes untouched.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode, header};
use http_body::Body;
use memchr::memmem;
use sabir_backend::http::{Afterwards, Client, connection_options};
use sabir_backend::percent;
use sabir_wire::FaultKind;
use sabir_wire::json::Survey;

use crate::admission::Admission;
use crate::answer::{Answering, InFlight};
use crate::attempt::Handles;
use crate::call::{Action, Call, Delivery, StateAsked, unmarked};
use crate::config::types::GatewayKey;
use crate::egress::{Reply, ReplyBody};
use crate::failure::{Failure, Result, Whose};
use crate::observe::Upstream;
use crate::route::Route;
use crate::state::Snapshot;
use crate::tap::Head;
use crate::upstream::{Provider, Request, cuts_answers, is_configured, may_go_on};
use crate::{answer, attempt, egress, ingress, route, surface, upstream};

/// A request that goes on as it is.
pub(crate) struct Raw<'h> {
    pub(crate) method: &'h Method,
    /// The path with its query, from the root of the provider's host.
    pub(crate) path: String,
    pub(crate) headers: &'h HeaderMap,
    /// The gateway key that it came with.
    pub(crate) key: Option<&'h Arc<GatewayKey>>,
}

pub(crate) async fn passthrough<B>(
    snapshot: &Arc<Snapshot>,
    client: &Client,
    provider: &str,
    raw: Raw<'_>,
    body: B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let Some(provider) = snapshot.directory.provider(provider) else {
        let shown = route::shown(provider);
        let message = format!("no provider is called {shown}; `sabir models` lists them");
        let failure = Failure::client(FaultKind::NotFound, message).with_code("unknown_provider");
        return egress::rescue(
            surface::DEFAULT,
            *failure,
            InFlight::begin(snapshot, surface::DEFAULT, raw.key),
        );
    };
    let protocol = provider.config.endpoints[0].protocol;
    let mut flight = InFlight::begin(snapshot, protocol, raw.key);
    if let Err(failure) = check_method(raw.method, &body) {
        let mut reply = egress::rescue(protocol, *failure, flight);
        reply.headers_mut().insert(header::ALLOW, ALLOWED);
        return reply;
    }
    if let Err(failure) = check_rules(raw.key).and_then(|()| flight.admission.admit()) {
        return egress::rescue(protocol, *failure, flight);
    }
    let outcome = match read(&raw, body, &mut flight.admission).await {
        Ok(body) => {
            let handles = Handles { snapshot, client };
            let passing = pin!(pass(handles, provider, raw, body, &mut flight));
            snapshot.shared.until_over(passing).await
        }
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(passed) => passed.reply(flight),
        Err(failure) => egress::rescue(protocol, *failure, flight),
    }
}

/// What passes as it is goes by the rules on tools, so that a key which has some may not send it.
fn check_rules(key: Option<&Arc<GatewayKey>>) -> Result<()> {
    if key.is_none_or(|key| key.tools.is_none()) {
        return Ok(());
    }
    let message = "this key has rules on tools, which nobody would apply to what passes as it is";
    Err(Failure::new(Whose::Policy, FaultKind::Permission, message).with_code("tools"))
}

/// Refuses methods that not every server reads alike: some repeat what they were sent, and what may be sent again, or may have a
/// body, is known of these only.
fn check_method(method: &Method, body: &impl Body) -> Result<()> {
    if FORWARDED.contains(method) {
        return Ok(());
    }
    if !body.is_end_stream() {
        return Err(unexpected_body(method));
    }
    let message = format!("{method} is not sent on to providers; these are: {FORWARDED_NAMES}");
    Err(Failure::client(FaultKind::BadRequest, message).with_status(405))
}

/// The methods that are sent on.
const FORWARDED: &[Method] = &[
    Method::GET,
    Method::HEAD,
    Method::POST,
    Method::PUT,
    Method::PATCH,
    Method::DELETE,
    Method::OPTIONS,
];
const FORWARDED_NAMES: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
const ALLOWED: HeaderValue = HeaderValue::from_static(FORWARDED_NAMES);

/// Reads the body of a method that has one. Servers differ on whether they read it with others, and one that does not takes
/// it for another request.
async fn read<B>(raw: &Raw<'_>, body: B, admission: &mut Admission) -> Result<Vec<u8>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let body = ingress::read_raw(body, raw.headers, admission).await?;
    match *raw.method {
        Method::GET | Method::HEAD if !body.is_empty() => Err(unexpected_body(raw.method)),
        _ => Ok(body),
    }
}

fn unexpected_body(method: &Method) -> Box<Failure> {
    let message = format!("expected no body with {method}, found one");
    Failure::client(FaultKind::BadRequest, message)
}

/// Embeddings go to the provider of their model, in the OpenAI protocols' own shape.
pub(crate) async fn embeddings<B>(
    snapshot: &Arc<Snapshot>,
    client: &Client,
    (headers, key): (&HeaderMap, Option<&Arc<GatewayKey>>),
    body: B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut flight = InFlight::begin(snapshot, surface::DEFAULT, key);
    let outcome = {
        let embedding = pin!(embed(Handles { snapshot, client }, headers, body, &mut flight));
        snapshot.shared.until_over(embedding).await
    };
    match outcome {
        Ok(passed) => passed.reply(flight),
        Err(failure) => egress::rescue(surface::DEFAULT, *failure, flight),
    }
}

async fn embed<B>(
    handles: Handles<'_>,
    headers: &HeaderMap,
    body: B,
    flight: &mut InFlight,
) -> Result<Passed>
where
    B: Body<Data = Bytes> + Unpin,
{
    flight.admission.admit()?;
    let body = ingress::read_body(body, headers, &mut flight.admission).await?;
    let skimmed = handles.snapshot.shared.pool.run_on(body.len(), move |_| {
        let body = ingress::into_text(body)?;
        let skimmed = ingress::skim(surface::DEFAULT, &body)?;
        Ok((skimmed.model, skimmed.model_at, body))
    });
    let (model, model_at, body) = Box::pin(skimmed).await?;
    let body = body.as_str();
    let Some(model) = model else {
        let failure = Failure::client(FaultKind::BadRequest, "expected a model, found none");
        return Err(failure.with_param("model"));
    };
    flight.trace.set_model(&model, false);
    let resolved = route::resolve(&handles.snapshot.directory, &model, surface::DEFAULT).map_err(
        |not_found| {
            let failure = Failure::client(FaultKind::NotFound, not_found.to_string());
            failure.with_param("model").with_code("model_not_found")
        },
    )?;
    let call = Call {
        client: surface::DEFAULT,
        action: Action::Generate,
        model,
        delivery: Delivery::Whole,
        headers,
        query: None,
        body,
        survey: Survey::new(unmarked(body)),
        model_at,
        session: None,
        asked: StateAsked::default(),
        recalled: None,
        rules: None,
        large: None,
    };
    let incoming = attempt::embed(handles, &call, resolved, flight).await?;
    let answering = answer::open_raw_whole(handles.snapshot, incoming, flight).await?;
    Ok(Passed { answering, length: None })
}

/// What came back, before it is sent on.
struct Passed {
    answering: Box<Answering>,
    /// How long the body would be, which is what some ask for instead of it.
    length: Option<HeaderValue>,
}

impl Passed {
    fn reply(self, mut flight: InFlight) -> Reply {
        let Self { mut answering, length } = self;
        let Head { status, headers } = answering.take_head();
        flight.admission.release_body();
        flight.trace.set_status(status);
        let mut reply = Response::new(ReplyBody::Whole(None));
        *reply.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY);
        let own = end_to_end(&headers);
        reply.headers_mut().extend(own.map(|(name, value)| (name.clone(), value.clone())));
        egress::add_own_headers(reply.headers_mut(), &flight.trace);
        egress::add_request_id(reply.headers_mut(), &flight.trace);
        reply.headers_mut().extend(length.map(|length| (header::CONTENT_LENGTH, length)));
        *reply.body_mut() = ReplyBody::of(answering, flight);
        reply
    }
}

async fn pass(
    handles: Handles<'_>,
    provider: &Arc<Provider>,
    raw: Raw<'_>,
    body: Vec<u8>,
    flight: &mut InFlight,
) -> Result<Passed> {
    let Handles { snapshot, .. } = handles;
    let config = &provider.config;
    let endpoint = &provider.endpoints[0];
    let upstream = Upstream {
        provider: Arc::clone(&provider.name),
        protocol: endpoint.protocol,
        model: String::new(),
        route: Route::Direct.label(),
        attempts: 0,
        is_agent: endpoint.agent().is_some(),
    };
    flight.trace.set_upstream(provider, upstream);
    if let Some(permit) = provider.queue.enter().await? {
        flight.admission.hold_permit(permit);
    }
    let mut headers = HeaderMap::new();
    let has_secrets = !provider.redactor.is_empty();
    let own = end_to_end(raw.headers)
        .filter(|(name, value)| may_go_on(name) && !holds_key(value.as_bytes(), raw.key))
        .filter(|(name, value)| !(has_secrets && cuts_answers(name, value)))
        .filter(|(name, _)| !is_configured(name, &config.headers));
    headers.extend(own.map(|(name, value)| (name.clone(), value.clone())));
    let mut base = upstream::base_headers(&snapshot.shared.instance, config, endpoint.protocol);
    // What a client says to the vendor of its protocol stays, such as the version that it speaks.
    let is_for_vendor = surface::of(endpoint.protocol).headers.is_for_vendor;
    for name in raw.headers.keys().filter(|name| is_for_vendor(name.as_str())) {
        base.remove(name);
    }
    headers.extend(base);
    for hop in upstream::gateways(raw.headers) {
        headers.append(header::VIA, hop.clone());
    }
    for (name, value) in &config.headers {
        headers.insert(name.clone(), value.clone());
    }
    // Whether a server reads what it does not expect is unknown, and here the client chooses every byte of it.
    let afterwards = if body.is_empty() { Afterwards::Keep } else { Afterwards::Close };
    let body = &body.into();
    let path = &without_own_key(&raw.path, raw.key);
    let (method, headers) = (raw.method, &headers);
    let request = Request { method, path, headers, body, turn: None, afterwards, owner: None };
    let begun = attempt::send_alone(handles, provider, endpoint, request, || {
        flight.trace.begin_attempt();
    });
    let incoming = begun.await?;
    let status = incoming.head.status;
    if raw.method == Method::HEAD || matches!(status, 204 | 304) {
        let length = incoming.head.headers.get(header::CONTENT_LENGTH).cloned();
        let answering = answer::open_bodiless(incoming.head, flight);
        return Ok(Passed { answering, length: length.filter(|_| status != 204) });
    }
    let answering = answer::open_raw(snapshot, incoming, flight).await?;
    Ok(Passed { answering, length: None })
}

/// Headers that are not for one connection only, be it by their name or because `connection` says so.
fn end_to_end(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    let named: Vec<&[u8]> = connection_options(headers).collect();
    let is_named = move |name: &HeaderName| {
        named.iter().any(|it| name.as_str().as_bytes().eq_ignore_ascii_case(it))
    };
    headers.iter().filter(move |(name, _)| !is_hop_by_hop(name.as_str()) && !is_named(name))
}

/// Headers that are about one connection only. Many servers take an underscore in a name for a hyphen.
fn is_hop_by_hop(name: &str) -> bool {
    matches!(
        name,
        "connection"
            | "keep-alive"
            | "proxy-authenticate"
            | "proxy-authorization"
            | "proxy-connection"
            | "te"
            | "trailer"
            | "transfer-encoding"
            | "upgrade"
            | "content-length"
            | "expect"
            | "host"
    ) || name.contains('_') && is_hop_by_hop(&name.replace('_', "-"))
}

/// A path without those parameters of its query that hold the client's own key, under whichever name.
fn without_own_key<'p>(path: &'p str, key: Option<&Arc<GatewayKey>>) -> Cow<'p, str> {
    let Some((path_alone, query)) = path.split_once('?') else { return path.into() };
    let is_kept = |pair: &&str| !holds_key(percent::decode(value_of(pair)).as_bytes(), key);
    let kept: Vec<&str> = query.split('&').filter(is_kept).collect();
    match kept.is_empty() {
        true => path_alone.into(),
        false => format!("{path_alone}?{}", kept.join("&")).into(),
    }
}

/// The value of a parameter; one without a name is all value.
fn value_of(pair: &str) -> &str {
    pair.split_once('=').map_or(pair, |(_, value)| value)
}

/// Whether a value holds the client's own key. A short key may be part of any word.
fn holds_key(value: &[u8], key: Option<&Arc<GatewayKey>>) -> bool {
    let Some(key) = key.map(|key| key.value.expose().as_bytes()) else { return false };
    value == key || key.len() >= KEY_BYTES_MIN && memmem::find(value, key).is_some()
}

/// From this length on a key is looked for inside of values.
const KEY_BYTES_MIN: usize = 8;
