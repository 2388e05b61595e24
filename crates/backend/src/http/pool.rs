//! Connections that wait for their next request. A pool belongs to one thread, so nobody waits for a lock.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::task::Context;
use std::time::{Duration, Instant};

use crate::http::Address;
use crate::http::connect::Connection;

/// How many connections to one address wait at most.
const IDLE_MAX: usize = 512;

/// Providers close idle connections after a minute or more; one that waited longer is not worth the risk.
const IDLE_FOR_MAX: Duration = Duration::from_secs(55);

/// How long before a server closes an idle connection the last request is sent on it: one that is under way when it closes may
/// have been read, and cannot be sent again.
const MARGIN: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, Default)]
pub(super) struct Pool(Rc<RefCell<HashMap<Address, Vec<Idle>>>>);

#[derive(Debug)]
struct Idle {
    connection: Connection,
    until: Instant,
}

impl Pool {
    /// A connection that is still good, the one that was used last.
    pub(super) fn take(&self, address: &Address, cx: &mut Context<'_>) -> Option<Connection> {
        let mut pool = self.0.borrow_mut();
        let idle = pool.get_mut(address)?;
        while let Some(Idle { mut connection, until }) = idle.pop() {
            if Instant::now() < until && connection.is_silent(cx) {
                return Some(connection);
            }
        }
        None
    }

    /// Keeps a connection, for as long as its server says that it keeps it.
    pub(super) fn give_back(
        &self,
        address: &Address,
        connection: Connection,
        keep_alive: Option<Duration>,
    ) {
        let idle_for = keep_alive.map_or(IDLE_FOR_MAX, |it| it.saturating_sub(MARGIN));
        let until = Instant::now() + idle_for.min(IDLE_FOR_MAX);
        let mut pool = self.0.borrow_mut();
        let idle = match pool.get_mut(address) {
            Some(idle) => idle,
            None => pool.entry(address.clone()).or_default(),
        };
        if idle.len() < IDLE_MAX {
            idle.push(Idle { connection, until });
        }
    }

    /// Closes what has waited too long.
    pub(super) fn sweep(&self) {
        self.0.borrow_mut().retain(|_, idle| {
            let now = Instant::now();
            idle.retain(|idle| now < idle.until);
            !idle.is_empty()
        });
    }
}
