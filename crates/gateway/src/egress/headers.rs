//! The headers of an answer: the provider's own for its protocol's clients, and who answered, why, and what was lost.

use http::{HeaderMap, HeaderName, HeaderValue};
use sabir_wire::Protocol;

use crate::answer::ESTIMATE;
use crate::surface;
use crate::surface::is_for_client;
use crate::trace::Trace;

const REQUEST_ID: HeaderName = HeaderName::from_static("request-id");
const SABIR_COMPACTED: HeaderName = HeaderName::from_static("sabir-compacted");
const SABIR_CONVERSATION: HeaderName = HeaderName::from_static("sabir-conversation");
const SABIR_EXCHANGE: HeaderName = HeaderName::from_static("sabir-exchange");
const SABIR_LOSS: HeaderName = HeaderName::from_static("sabir-loss");
const SABIR_MODEL: HeaderName = HeaderName::from_static("sabir-model");
const SABIR_PROVIDER: HeaderName = HeaderName::from_static("sabir-provider");
const SABIR_ROUTE: HeaderName = HeaderName::from_static("sabir-route");
const SABIR_TURN: HeaderName = HeaderName::from_static("sabir-turn");
const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Adds all headers but those of the body itself.
pub(crate) fn add(headers: &mut HeaderMap, client: Protocol, upstream: &HeaderMap, trace: &Trace) {
    if trace.upstream().is_some_and(|it| it.protocol == client) {
        for name in upstream.keys().filter(|name| is_for_client(name)) {
            if headers.contains_key(name) {
                continue;
            }
            for value in upstream.get_all(name) {
                headers.append(name.clone(), value.clone());
            }
        }
    }
    let id = upstream.get(&X_REQUEST_ID).or_else(|| upstream.get(&REQUEST_ID)).cloned();
    let id = id.or_else(|| HeaderValue::try_from(trace.id()).ok());
    if let Some(id) = id {
        if let Some(name) = &surface::of(client).headers.request_id {
            headers.insert(name, id.clone());
        }
        headers.insert(X_REQUEST_ID, id);
    }
    if let Some(estimate) = upstream.get(&ESTIMATE) {
        headers.insert(ESTIMATE, estimate.clone());
    }
    add_own(headers, trace);
}

/// Adds the exchange's id where the provider has none of its own.
pub(crate) fn add_request_id(headers: &mut HeaderMap, trace: &Trace) {
    if !headers.contains_key(&X_REQUEST_ID)
        && let Ok(id) = HeaderValue::try_from(trace.id())
    {
        let id = headers.get(&REQUEST_ID).cloned().unwrap_or(id);
        headers.insert(X_REQUEST_ID, id);
    }
}

/// Adds the headers of Sabir: who answered, why, what was lost, and where to read more.
pub(crate) fn add_own(headers: &mut HeaderMap, trace: &Trace) {
    let mut put = |name: HeaderName, value: &str| {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    };
    put(SABIR_EXCHANGE, trace.id());
    if let Some(upstream) = trace.upstream() {
        put(SABIR_PROVIDER, &upstream.provider);
        if !upstream.model.is_empty() {
            put(SABIR_MODEL, &upstream.model);
        }
        put(SABIR_ROUTE, &upstream.route);
        put(SABIR_LOSS, &trace.loss_summary());
    }
    if let Some(exchange) = trace.compacted() {
        put(SABIR_COMPACTED, exchange);
    }
    if let Some(names) = trace.turn() {
        put(SABIR_TURN, &names.turn);
        let conversation = names.conversation.as_ref().filter(|_| names.is_named_by_header);
        if let Some(conversation) = conversation {
            put(SABIR_CONVERSATION, conversation);
        }
    }
}
