//! Providers that are reached over HTTP.

use std::fmt;

use sabir_backend::Secret;
use sabir_backend::http::{Address, Client, Outgoing, Timeouts};

use crate::failure::Result;
use crate::pool::Pool;
use crate::surface::Auth;
use crate::upstream::keys::Key;
use crate::upstream::{Backend, Body, Reply, Request, unreached};

/// A server.
pub(crate) struct Http {
    pub(super) address: Address,
    pub(super) timeouts: Timeouts,
    /// How requests prove who sends them, and with what, where each is signed.
    pub(super) auth: &'static Auth,
    pub(super) key: Option<Secret>,
}

impl Backend for Http {
    async fn ask(&self, client: &Client, _pool: &Pool, request: Request<'_>) -> Result<Reply> {
        let Request { method, path, headers, body, turn, afterwards, owner: _ } = request;
        let (address, body) = (&self.address, &body.pieces());
        let outgoing = Outgoing { method, address, path, headers, body, afterwards };
        if let Some(turn) = turn {
            // Boxed, so that requests to providers with one key have no room for it in their futures.
            return Box::pin(self.ask_with(turn.key(), client, outgoing)).await;
        }
        let headers = &self.auth.signed(self.key.as_ref(), &outgoing);
        self.send(client, &Outgoing { headers, ..outgoing }).await
    }
}

impl Http {
    /// Asks with one of several keys, over connections of its own.
    async fn ask_with(&self, key: &Key, client: &Client, outgoing: Outgoing<'_>) -> Result<Reply> {
        let (address, secret) = (&self.address.in_partition(key.partition()), key.secret());
        let headers = &self.auth.with_key(secret, outgoing.headers);
        let outgoing = Outgoing { address, headers, ..outgoing };
        let headers = &self.auth.signed(Some(secret), &outgoing);
        self.send(client, &Outgoing { headers, ..outgoing }).await
    }

    async fn send(&self, client: &Client, outgoing: &Outgoing<'_>) -> Result<Reply> {
        let answer = client.send(outgoing, self.timeouts).await.map_err(unreached)?;
        let body = Body::Http(answer.body);
        Ok(Reply { status: answer.status.as_u16(), headers: answer.headers, body })
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Http({:?})", self.address)
    }
}
