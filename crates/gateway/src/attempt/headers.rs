//! The headers of a request to a provider: its own key, its vendor's headers from the client, nothing else of theirs.

use std::borrow::Cow;

use http::HeaderMap;
use http::HeaderName;
use http::HeaderValue;
use http::header::ACCEPT;
use http::header::ACCEPT_ENCODING;
use http::header::CONTENT_TYPE;
use http::header::USER_AGENT;
use http::header::VIA;
use sabir_wire::Protocol;

use crate::attempt::auth_header;
use crate::attempt::upstream::Endpoint;
use crate::call::Call;
use crate::config::types::Provider;

const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const ANTHROPIC_VERSION_DEFAULT: HeaderValue = HeaderValue::from_static("2023-06-01");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const SELF: HeaderValue = HeaderValue::from_static(concat!("sabir/", env!("CARGO_PKG_VERSION")));

/// The headers of all requests to an endpoint that carry nothing of their client's, made once.
#[derive(Debug)]
pub(crate) struct Templates {
    whole: HeaderMap,
    stream: HeaderMap,
}

impl Templates {
    pub(crate) fn new(instance: &str, provider: &Provider, upstream: Protocol) -> Self {
        let accepting = |accept: HeaderValue| {
            let mut headers = base(instance, provider, upstream);
            headers.insert(CONTENT_TYPE, JSON);
            headers.insert(ACCEPT, accept);
            add_configured(&mut headers, provider);
            headers
        };
        let stream = accepting(HeaderValue::from_static("text/event-stream"));
        Self { whole: accepting(JSON), stream }
    }
}

/// The headers of a call. Only a client that speaks to its vendor has any of its own in them.
pub(crate) fn outgoing<'e>(
    call: &Call<'_>,
    provider: &Provider,
    endpoint: &'e Endpoint,
) -> Cow<'e, HeaderMap> {
    let Templates { whole, stream } = &endpoint.headers;
    let mut headers = Cow::Borrowed(if call.delivery.is_stream() { stream } else { whole });
    if endpoint.protocol == call.client {
        for name in call.headers.keys().filter(|name| is_vendors_own(call.client, name)) {
            let headers = headers.to_mut();
            headers.remove(name);
            // Some, such as `anthropic-beta`, may be sent several times.
            for value in call.headers.get_all(name) {
                headers.append(name.clone(), value.clone());
            }
        }
    }
    for hop in gateways(call.headers) {
        headers.to_mut().append(VIA, hop.clone());
    }
    if let Cow::Owned(headers) = &mut headers {
        add_configured(headers, provider);
    }
    headers
}

/// The gateways of this kind that a request came through: those that ask each other in a circle must find that out.
pub(crate) fn gateways(headers: &HeaderMap) -> impl Iterator<Item = &HeaderValue> {
    let is_gateway = |hop: &&HeaderValue| hop.to_str().is_ok_and(|hop| hop.contains(" sabir-"));
    headers.get_all(VIA).iter().filter(is_gateway)
}

/// What the operator configured has the last word.
fn add_configured(headers: &mut HeaderMap, provider: &Provider) {
    for (name, value) in &provider.headers {
        headers.insert(name.clone(), value.clone());
    }
}

/// What every request to a provider carries.
pub(crate) fn base(instance: &str, provider: &Provider, upstream: Protocol) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, SELF);
    if let Ok(via) = HeaderValue::try_from(format!("1.1 {instance}")) {
        headers.insert(VIA, via);
    }
    if upstream == Protocol::AnthropicMessages {
        let version = provider.version.clone().unwrap_or(ANTHROPIC_VERSION_DEFAULT);
        headers.insert(ANTHROPIC_VERSION, version);
    }
    if let Some((name, value)) = provider.key.as_ref().and_then(|key| auth_header(upstream, key)) {
        headers.insert(name, value);
    }
    headers
}

/// Whether a client's header is for the vendor of its protocol. Keys never are.
pub(crate) fn is_vendors_own(protocol: Protocol, name: &HeaderName) -> bool {
    let name = name.as_str();
    match protocol {
        Protocol::OpenaiChat | Protocol::OpenaiResponses => name.starts_with("openai-"),
        Protocol::AnthropicMessages => {
            matches!(name, "anthropic-version" | "anthropic-beta")
        }
        Protocol::Gemini => name.starts_with("x-goog-") && name != "x-goog-api-key",
    }
}

/// Whether a provider's header is for the client of the same protocol: rate limits, request ids and the like.
pub(crate) fn is_for_client(name: &HeaderName) -> bool {
    let name = name.as_str();
    matches!(
        name,
        "x-request-id" | "request-id" | "retry-after" | "retry-after-ms" | "content-type"
    ) || ["x-ratelimit-", "anthropic-", "openai-", "x-goog-"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}
