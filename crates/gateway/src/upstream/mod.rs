//! Providers as requests see them: where they are, how they have fared, and the one way to ask whoever stands there.

mod agent;
mod backend;
mod body;
mod client_headers;
mod headers;
mod health;
mod http;
mod keys;
mod pace;
mod payload;
mod provider;
mod queue;
#[cfg(test)]
pub(crate) mod scripted;
mod simulated;
mod targets;
mod unreached;

pub(crate) use agent::{Agent, kind as kind_of_agent};
pub(crate) use backend::{AnyBackend, Backend, Reply, Request};
pub(crate) use body::{Body, Piece};
pub(crate) use client_headers::{cuts_answers, is_configured, may_go_on};
pub(crate) use headers::{base as base_headers, gateways, outgoing as outgoing_headers};
pub(crate) use keys::Turn;
pub(crate) use pace::Pace;
pub(crate) use payload::Payload;
pub(crate) use provider::{Endpoint, Provider, Site};
pub(crate) use unreached::unreached;
