//! A backend for tests that answers with events, as agents will.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use ::http::HeaderMap;
use sabir_backend::http::Client;
use sabir_wire::protocol::Event;

use crate::failure::Result;
use crate::pool::Pool;
use crate::upstream::body::Events;
use crate::upstream::{Backend, Body, Reply, Request};

/// Gives the same events to every request.
#[derive(Clone, Debug)]
pub(crate) struct Scripted(pub(crate) VecDeque<Event<'static>>);

impl Backend for Scripted {
    async fn ask(&self, _client: &Client, _pool: &Pool, _request: Request<'_>) -> Result<Reply> {
        let body = Body::Events(Box::new(self.clone()));
        Ok(Reply { status: 200, headers: HeaderMap::new(), body })
    }
}

impl Events for Scripted {
    fn poll_events(
        &mut self,
        _: &mut Context<'_>,
        take: &mut dyn FnMut(Event<'static>),
    ) -> Poll<Option<sabir_backend::Result<()>>> {
        let event = self.0.pop_front();
        Poll::Ready(event.map(|event| {
            take(event);
            Ok(())
        }))
    }
}
