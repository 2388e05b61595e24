//! The built-in simulators as providers. They read a request as a server would, and large ones on other threads.

use std::sync::Arc;

use ::http::Response;
use sabir_backend::http::Client;
use sabir_backend::sim::Incoming;
use sabir_backend::sim::ReplyBody;
use sabir_backend::sim::Simulator;

use crate::failure::Result;
use crate::pool::LARGE_BYTES;
use crate::pool::Pool;
use crate::upstream::Backend;
use crate::upstream::Body;
use crate::upstream::Reply;
use crate::upstream::Request;

/// A simulator.
#[derive(Debug)]
pub(crate) struct Simulated(pub(super) Arc<Simulator>);

impl Backend for Simulated {
    async fn ask(&self, _client: &Client, pool: &Pool, request: Request<'_>) -> Result<Reply> {
        let Request { method, path, headers, body, afterwards: _ } = request;
        let body = body.whole();
        if body.len() < LARGE_BYTES {
            let reply = self.0.answer(Incoming { method, path, headers, body: &body });
            return Ok(received(reply.into_response()));
        }
        let (simulator, body) = (Arc::clone(&self.0), body.into_owned());
        let (method, path, headers) = (method.clone(), path.to_owned(), headers.clone());
        let work = pool.run(move |_| {
            let incoming =
                Incoming { method: &method, path: &path, headers: &headers, body: &body };
            Ok(simulator.answer(incoming).into_response())
        });
        work.await.map(received)
    }
}

fn received(reply: Response<ReplyBody>) -> Reply {
    let (head, body) = reply.into_parts();
    let body = Body::Simulated(Box::new(body));
    Reply { status: head.status.as_u16(), headers: head.headers, body }
}
