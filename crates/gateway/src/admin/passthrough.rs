//! What else a provider offers: its own paths with its key, limits and counters, bytes untouched.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::HeaderName;
use http::HeaderValue;
use http::Method;
use http::Response;
use http::StatusCode;
use http::header;
use http_body::Body;
use sabir_backend::http::Afterwards;
use sabir_backend::http::Client;
use sabir_backend::http::connection_options;
use sabir_wire::FaultKind;
use sabir_wire::Protocol;
use sabir_wire::json::Survey;

use crate::Gateway;
use crate::attempt;
use crate::attempt::Means;
use crate::attempt::RawRequest;
use crate::call::Call;
use crate::call::Delivery;
use crate::egress;
use crate::egress::Live;
use crate::egress::Reply;
use crate::egress::ReplyBody;
use crate::failure::Failure;
use crate::failure::Result;
use crate::ingress;
use crate::observe::Ending;
use crate::observe::Trace;
use crate::observe::Upstream;
use crate::observe::Whose;
use crate::route;
use crate::route::Route;
use crate::surface;

/// A request that goes on as it is.
pub(crate) struct Raw<'h> {
    pub(crate) method: &'h Method,
    /// The path with its query, from the root of the provider's host.
    pub(crate) path: String,
    pub(crate) headers: &'h HeaderMap,
    /// The gateway key that it came with.
    pub(crate) key: Option<usize>,
}

pub(crate) async fn passthrough<B>(
    gateway: &Arc<Gateway>,
    client: &Client,
    provider: &str,
    raw: Raw<'_>,
    body: B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let Some(index) = gateway.config.providers.iter().position(|it| it.name == provider) else {
        let shown = route::shown(provider);
        let message = format!("no provider is called {shown}; `sabir models` lists them");
        let failure = Failure::client(FaultKind::NotFound, message).with_code("unknown_provider");
        return egress::rescue(
            surface::DEFAULT,
            *failure,
            Trace::begin(gateway, surface::DEFAULT).with_key(raw.key),
        );
    };
    let manner = gateway.config.providers[index].endpoints[0].protocol;
    let mut trace = Trace::begin(gateway, manner).with_key(raw.key);
    if let Err(failure) = trace.enters() {
        return egress::rescue(manner, *failure, trace);
    }
    let outcome = match read(&raw, body, &mut trace).await {
        Ok(body) => {
            let means = Means { gateway, client };
            let passing = pin!(pass(means, index, raw, body, &mut trace));
            gateway.until_over(passing).await
        }
        Err(failure) => Err(failure),
    };
    match outcome {
        Ok(passed) => passed.reply(trace),
        Err(failure) => egress::rescue(manner, *failure, trace),
    }
}

/// Reads the body of a method that has one. Servers differ on whether they read it with others, and one that does not takes
/// it for another request.
async fn read<B>(raw: &Raw<'_>, body: B, trace: &mut Trace) -> Result<Vec<u8>>
where
    B: Body<Data = Bytes> + Unpin,
{
    let method = raw.method;
    if matches!(*method, Method::TRACE | Method::CONNECT) {
        let message = format!("{method} is not sent on to providers");
        return Err(Failure::client(FaultKind::BadRequest, message));
    }
    let body = ingress::read_raw(body, raw.headers, trace).await?;
    if matches!(*method, Method::GET | Method::HEAD) && !body.is_empty() {
        let message = format!("expected no body with {method}, found one");
        return Err(Failure::client(FaultKind::BadRequest, message));
    }
    Ok(body)
}

/// Embeddings go to the provider of their model, in the OpenAI protocols' own shape.
pub(crate) async fn embeddings<B>(
    gateway: &Arc<Gateway>,
    client: &Client,
    (headers, key): (&HeaderMap, Option<usize>),
    body: B,
) -> Reply
where
    B: Body<Data = Bytes> + Unpin,
{
    let mut trace = Trace::begin(gateway, surface::DEFAULT).with_key(key);
    let outcome = {
        let embedding = pin!(embed(Means { gateway, client }, headers, body, &mut trace));
        gateway.until_over(embedding).await
    };
    match outcome {
        Ok(passed) => passed.reply(trace),
        Err(failure) => egress::rescue(surface::DEFAULT, *failure, trace),
    }
}

async fn embed<B>(
    means: Means<'_>,
    headers: &HeaderMap,
    body: B,
    trace: &mut Trace,
) -> Result<Passed>
where
    B: Body<Data = Bytes> + Unpin,
{
    trace.enters()?;
    let config = &means.gateway.config;
    let body = ingress::read_body(body, headers, trace).await?;
    let skimmed = means.gateway.pool.run_on(body.len(), move |_| {
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
    trace.asks(&model, false);
    let resolved = route::resolve(config, &model, surface::DEFAULT).map_err(|not_found| {
        let failure = Failure::client(FaultKind::NotFound, not_found.to_string());
        failure.with_param("model").with_code("model_not_found")
    })?;
    let call = Call {
        client: surface::DEFAULT,
        model,
        delivery: Delivery::Whole,
        headers,
        query: None,
        body,
        survey: Survey::new(ingress::unmarked(body)),
        model_at,
        session: None,
        large: None,
    };
    let attempt::Embedded { status, headers, feed } =
        attempt::embed(means, &call, resolved, trace).await?;
    Passed { status, headers, body: PassedBody::Live(feed) }.unsealed(means.gateway).await
}

/// What came back, before it is sent on.
struct Passed {
    status: u16,
    headers: HeaderMap,
    body: PassedBody,
}

enum PassedBody {
    /// An answer that has no body, whatever its headers say of one.
    None,
    Live(Box<attempt::Feed>),
    Whole(Bytes),
    /// An error, and whose fault it is.
    Error(Bytes, Whose),
}

impl Passed {
    /// The answer without a compression that nobody asked for: nothing could be redacted beneath it.
    async fn unsealed(mut self, gateway: &Arc<Gateway>) -> Result<Self> {
        if let PassedBody::Live(feed) = &mut self.body
            && attempt::is_packed(&self.headers)
            && !feed.redactor().is_empty()
        {
            let bytes_max = gateway.config.limits.answer_bytes_max;
            let body = attempt::whole_body(gateway, feed, &self.headers, bytes_max).await?;
            self.headers.remove(header::CONTENT_ENCODING);
            self.body = PassedBody::Whole(body);
        }
        Ok(self)
    }

    /// An answer with an error status is read to its end: it says whose fault it was.
    async fn judged(mut self, protocol: Protocol, bytes_max: usize) -> Result<Self> {
        let body = match self.body {
            PassedBody::Live(mut feed) => attempt::collect(&mut feed, bytes_max).await?,
            PassedBody::Whole(body) => body,
            PassedBody::None | PassedBody::Error(..) => return Ok(self),
        };
        let whose = Whose::of_upstream(protocol.decode_fault(self.status, &body).kind);
        self.body = PassedBody::Error(body, whose);
        Ok(self)
    }

    fn reply(self, mut trace: Trace) -> Reply {
        trace.forgets_body();
        trace.answers(self.status);
        let mut reply = Response::new(ReplyBody::Whole(None));
        *reply.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::BAD_GATEWAY);
        let own = end_to_end(&self.headers);
        reply.headers_mut().extend(own.map(|(name, value)| (name.clone(), value.clone())));
        egress::add_own_headers(reply.headers_mut(), &trace);
        egress::add_request_id(reply.headers_mut(), &trace);
        match self.body {
            PassedBody::Live(feed) => {
                *reply.body_mut() = ReplyBody::Live(Box::new(Live::raw(feed, trace)));
                return reply;
            }
            PassedBody::Error(body, whose) => {
                *reply.body_mut() = ReplyBody::Whole(Some(body));
                trace.ends(Ending::Failed(whose));
                return reply;
            }
            PassedBody::Whole(body) => {
                *reply.body_mut() = ReplyBody::Whole(Some(body));
                trace.ends(Ending::Answered);
                return reply;
            }
            PassedBody::None => {}
        }
        // How long the body would be is what some ask for.
        let length = self.headers.get(header::CONTENT_LENGTH).cloned();
        if let Some(length) = length.filter(|_| reply.status() != StatusCode::NO_CONTENT) {
            reply.headers_mut().insert(header::CONTENT_LENGTH, length);
        }
        trace.ends(Ending::Answered);
        reply
    }
}

async fn pass(
    means: Means<'_>,
    provider: usize,
    raw: Raw<'_>,
    body: Vec<u8>,
    trace: &mut Trace,
) -> Result<Passed> {
    let Means { gateway, .. } = means;
    let config = &gateway.config.providers[provider];
    let endpoint = &gateway.upstreams[provider].endpoints[0];
    let upstream = Upstream {
        provider: Arc::clone(&gateway.upstreams[provider].name),
        protocol: endpoint.protocol,
        model: String::new(),
        route: Route::Direct.as_str().into(),
        attempts: 0,
    };
    trace.goes_to(provider, upstream);
    if let Some(permit) = gateway.upstreams[provider].queue.enter().await? {
        trace.holds(permit);
    }
    let mut headers = HeaderMap::new();
    let own = end_to_end(raw.headers).filter(|(name, _)| !is_private(name));
    headers.extend(own.map(|(name, value)| (name.clone(), value.clone())));
    let mut base = attempt::base_headers(&gateway.instance, config, endpoint.protocol);
    // What a client says to the vendor of its protocol stays, such as the version that it speaks.
    let is_for_vendor = surface::of(endpoint.protocol).headers.is_for_vendor;
    for name in raw.headers.keys().filter(|name| is_for_vendor(name.as_str())) {
        base.remove(name);
    }
    headers.extend(base);
    for hop in attempt::gateways(raw.headers) {
        headers.append(header::VIA, hop.clone());
    }
    for (name, value) in &config.headers {
        headers.insert(name.clone(), value.clone());
    }
    // Whether a server reads what it does not expect is unknown, and here the client chooses every byte of it.
    let afterwards = if body.is_empty() { Afterwards::Keep } else { Afterwards::Close };
    let body = &body.into();
    let request =
        RawRequest { method: raw.method, path: &raw.path, headers: &headers, body, afterwards };
    let begun = attempt::begin_alone(means, provider, endpoint, request, || trace.tries());
    let (status, headers, feed) = begun.await?;
    if raw.method == Method::HEAD || matches!(status, 204 | 304) {
        return Ok(Passed { status, headers, body: PassedBody::None });
    }
    let bytes_max = gateway.config.limits.answer_bytes_max;
    let passed = Passed { status, headers, body: PassedBody::Live(Box::new(feed)) };
    let passed = passed.unsealed(gateway).await?;
    match status {
        ..400 => Ok(passed),
        _ => passed.judged(endpoint.protocol, bytes_max).await,
    }
}

/// Headers that are not for one connection only, be it by their name or because `connection` says so.
fn end_to_end(headers: &HeaderMap) -> impl Iterator<Item = (&HeaderName, &HeaderValue)> {
    let named: Vec<&[u8]> = connection_options(headers).collect();
    let is_named = move |name: &HeaderName| {
        named.iter().any(|it| name.as_str().as_bytes().eq_ignore_ascii_case(it))
    };
    headers.iter().filter(move |(name, _)| !is_hop_by_hop(name) && !is_named(name))
}

/// Headers that speak of one connection only.
fn is_hop_by_hop(name: &HeaderName) -> bool {
    matches!(
        name.as_str(),
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
    )
}

/// Headers that are between the client and this gateway.
fn is_private(name: &HeaderName) -> bool {
    matches!(name.as_str(), "authorization" | "cookie" | "origin" | "referer" | "accept-encoding")
        || surface::is_key_header(name)
        || name.as_str().starts_with("sabir-")
}
