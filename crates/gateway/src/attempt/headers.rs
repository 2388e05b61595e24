//! The headers of a request to a provider: its own key, its vendor's headers from the client, nothing else of theirs.

use http::HeaderMap;
use http::HeaderName;
use http::HeaderValue;
use http::header::ACCEPT;
use http::header::ACCEPT_ENCODING;
use http::header::CONTENT_TYPE;
use http::header::USER_AGENT;
use http::header::VIA;
use sabir_wire::Protocol;

use crate::Gateway;
use crate::attempt::auth_header;
use crate::call::Call;
use crate::config::types::Provider;

const ANTHROPIC_VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const ANTHROPIC_VERSION_DEFAULT: HeaderValue = HeaderValue::from_static("2023-06-01");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const SELF: HeaderValue = HeaderValue::from_static(concat!("sabir/", env!("CARGO_PKG_VERSION")));

pub(crate) fn outgoing(
    gateway: &Gateway,
    call: &Call,
    provider: &Provider,
    upstream: Protocol,
) -> HeaderMap {
    let mut headers = base(gateway, provider, upstream);
    headers.insert(CONTENT_TYPE, JSON);
    let accept = match call.delivery.is_stream() {
        true => HeaderValue::from_static("text/event-stream"),
        false => JSON,
    };
    headers.insert(ACCEPT, accept);
    if upstream == call.client {
        let own = call.headers.iter().filter(|(name, _)| is_vendors_own(upstream, name));
        for (name, value) in own {
            headers.insert(name.clone(), value.clone());
        }
    }
    for (name, value) in &provider.headers {
        headers.insert(name.clone(), value.clone());
    }
    headers
}

/// What every request to a provider carries.
pub(crate) fn base(gateway: &Gateway, provider: &Provider, upstream: Protocol) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, SELF);
    if let Ok(via) = HeaderValue::try_from(format!("1.1 {}", gateway.instance)) {
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
fn is_vendors_own(protocol: Protocol, name: &HeaderName) -> bool {
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
