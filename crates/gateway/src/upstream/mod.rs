//! Providers as requests see them: where they are, how they have fared, and the one way to ask whoever stands there.

mod backend;
mod body;
mod headers;
mod health;
mod http;
mod payload;
mod provider;
mod queue;
#[cfg(test)]
pub(crate) mod scripted;
mod simulated;
mod targets;
mod unreached;

pub(crate) use backend::AnyBackend;
pub(crate) use backend::Backend;
pub(crate) use backend::Reply;
pub(crate) use backend::Request;
pub(crate) use body::Body;
pub(crate) use body::Piece;
pub(crate) use headers::base as base_headers;
pub(crate) use headers::gateways;
pub(crate) use headers::outgoing as outgoing_headers;
pub(crate) use payload::Payload;
pub(crate) use provider::Endpoint;
pub(crate) use provider::Provider;
pub(crate) use provider::Site;
pub(crate) use unreached::unreached;
