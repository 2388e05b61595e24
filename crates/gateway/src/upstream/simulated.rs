//! The built-in simulators as providers. They read a request as a server would, and large ones on other threads.

use std::sync::Arc;

use ::http::HeaderName;
use ::http::HeaderValue;
use ::http::Response;
use bytes::Bytes;
use sabir_backend::http::Client;
use sabir_backend::sim;
use sabir_backend::sim::{Incoming, ReplyBody, Simulator, Step};

use crate::failure::Result;
use crate::pool::{LARGE_BYTES, Pool};
use crate::upstream::{Backend, Body, Reply, Request};

/// A simulator.
#[derive(Debug)]
pub(crate) struct Simulated(pub(super) Arc<Simulator>);

impl Backend for Simulated {
    async fn ask(&self, _client: &Client, pool: &Pool, request: Request<'_>) -> Result<Reply> {
        let Request { method, path, headers, body, .. } = request;
        let body = body.whole();
        if body.len() < LARGE_BYTES {
            let reply = self.0.answer(Incoming { method, path, headers, body: &body });
            return Ok(received(reply.into_response()));
        }
        let simulator = Arc::clone(&self.0);
        let (method, path, headers) = (method.clone(), path.to_owned(), headers.clone());
        let work = move |_: &_| {
            let incoming =
                Incoming { method: &method, path: &path, headers: &headers, body: &body };
            Ok(simulator.answer(incoming))
        };
        let reply = pool.run_apart(work, settled).await?;
        Ok(received(reply.into_response()))
    }
}

/// A reply in memory of its own.
fn settled(reply: sim::Reply) -> sim::Reply {
    let header = |(name, value): (&HeaderName, &HeaderValue)| {
        let name = HeaderName::from_bytes(name.as_str().as_bytes()).ok()?;
        Some((name, HeaderValue::from_bytes(value.as_bytes()).ok()?))
    };
    let step = |step: &Step| match step {
        Step::Send(bytes) => Step::Send(Bytes::copy_from_slice(bytes)),
        step => step.clone(),
    };
    let headers = reply.headers.iter().filter_map(header).collect();
    let steps = reply.steps.iter().map(step).collect();
    sim::Reply { status: reply.status, headers, steps }
}

fn received(reply: Response<ReplyBody>) -> Reply {
    let (head, body) = reply.into_parts();
    let body = Body::Simulated(Box::new(body));
    Reply { status: head.status.as_u16(), headers: head.headers, body }
}
