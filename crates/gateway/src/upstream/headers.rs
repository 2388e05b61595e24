//! The headers of a request to a provider: its own key, its vendor's headers from the client, nothing else of theirs.

use std::borrow::Cow;

use http::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, USER_AGENT, VIA};
use http::{HeaderMap, HeaderValue};
use sabir_wire::Protocol;

use crate::call::Call;
use crate::config::types::Provider;
use crate::surface;
use crate::upstream::{Endpoint, may_go_on};

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
    if endpoint.is_native_to(call.client) {
        let is_for_vendor = surface::of(call.client).headers.is_for_vendor;
        let names = call.headers.keys().filter(|name| may_go_on(name));
        for name in names.filter(|name| is_for_vendor(name.as_str())) {
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

/// What every request to a provider carries. Which of several keys, is known when it is sent.
pub(crate) fn base(instance: &str, provider: &Provider, upstream: Protocol) -> HeaderMap {
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.insert(USER_AGENT, SELF);
    if let Ok(via) = HeaderValue::try_from(format!("1.1 {instance}")) {
        headers.insert(VIA, via);
    }
    let surface = surface::of(upstream);
    if let Some((name, default)) = &surface.headers.version {
        headers.insert(name, provider.version.as_ref().unwrap_or(default).clone());
    }
    if let Some((name, value)) = provider.sole_key().and_then(|it| surface.auth.key_header(it)) {
        headers.insert(name, value);
    }
    headers
}
