//! The one way to ask whoever stands behind an endpoint: an HTTP server, a simulator, and whatever else is added here. What
//! comes back is bytes of the endpoint's protocol or events; nobody above this folder knows which kind of backend gave them.

use ::http::HeaderMap;
use ::http::Method;
use sabir_backend::http::{Afterwards, Client};

use crate::failure::Result;
use crate::pool::Pool;
use crate::upstream::agent::Agent;
use crate::upstream::http::Http;
#[cfg(test)]
use crate::upstream::scripted::Scripted;
use crate::upstream::simulated::Simulated;
use crate::upstream::{Body, Payload, Turn};

/// A request in the terms of the endpoint's protocol.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a Method,
    pub(crate) path: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a Payload<'a>,
    /// The one of several keys whose turn it is; a sole one is in the headers.
    pub(crate) turn: Option<Turn<'a>>,
    /// What becomes of the connection.
    pub(crate) afterwards: Afterwards,
    /// Whose request it is, by the name of the gateway key.
    pub(crate) owner: Option<&'a str>,
}

/// The head of a reply, with the body that is still to be read.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
}

/// Something that answers requests.
pub(crate) trait Backend {
    /// Sends a request and waits for the head of the reply. A reply with an error status is a reply.
    async fn ask(&self, client: &Client, pool: &Pool, request: Request<'_>) -> Result<Reply>;
}

/// Any backend. The choice is a variant and not a trait object: a boxed future for each request would cost an allocation.
#[derive(Debug)]
pub(crate) enum AnyBackend {
    Http(Http),
    Simulated(Simulated),
    Agent(Box<Agent>),
    #[cfg(test)]
    Scripted(Scripted),
}

impl Backend for AnyBackend {
    async fn ask(&self, client: &Client, pool: &Pool, request: Request<'_>) -> Result<Reply> {
        match self {
            Self::Http(it) => it.ask(client, pool, request).await,
            // Boxed, so that requests to real servers have no room for it in their futures.
            Self::Simulated(it) => Box::pin(it.ask(client, pool, request)).await,
            Self::Agent(it) => Box::pin(it.ask(client, pool, request)).await,
            #[cfg(test)]
            Self::Scripted(it) => Box::pin(it.ask(client, pool, request)).await,
        }
    }
}
