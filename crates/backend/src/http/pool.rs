//! Connections that wait for their next request. A pool belongs to one thread, so nobody waits for a lock.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::task::Context;
use std::time::Duration;
use std::time::Instant;

use crate::http::Address;
use crate::http::connect::Connection;
use crate::http::scratch;

/// How many connections to one address wait at most.
const IDLE_MAX: usize = 512;

/// Providers close idle connections after a minute or more; one that waited longer is not worth the risk.
const IDLE_FOR_MAX: Duration = Duration::from_secs(55);

#[derive(Clone, Debug, Default)]
pub(super) struct Pool(Rc<RefCell<HashMap<Address, Vec<Idle>>>>);

#[derive(Debug)]
struct Idle {
    connection: Connection,
    since: Instant,
}

impl Pool {
    /// A connection that is still good, the one that was used last.
    pub(super) fn take(&self, address: &Address, cx: &mut Context<'_>) -> Option<Connection> {
        let mut pool = self.0.borrow_mut();
        let idle = pool.get_mut(address)?;
        while let Some(Idle { mut connection, since }) = idle.pop() {
            if since.elapsed() < IDLE_FOR_MAX && scratch::is_quiet(&mut connection, cx) {
                return Some(connection);
            }
        }
        None
    }

    pub(super) fn give_back(&self, address: &Address, connection: Connection) {
        let mut pool = self.0.borrow_mut();
        let idle = match pool.get_mut(address) {
            Some(idle) => idle,
            None => pool.entry(address.clone()).or_default(),
        };
        if idle.len() < IDLE_MAX {
            idle.push(Idle { connection, since: Instant::now() });
        }
    }

    /// Closes what has waited too long.
    pub(super) fn sweep(&self) {
        self.0.borrow_mut().retain(|_, idle| {
            idle.retain(|idle| idle.since.elapsed() < IDLE_FOR_MAX);
            !idle.is_empty()
        });
    }
}
