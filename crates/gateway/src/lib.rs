//! The server: any of four protocols in, any provider out, the answer in the client's own protocol.
//!
//! The modules from the lowest to the highest. Each uses only those before it; `cargo xtask tidy` reads this list.
//!
//! - `recalled`: what a call continues
//! - `call`: what a client asks of a model
//! - `surface`: what the gateway knows of each protocol
//! - `authority`: hosts and origins
//! - `config`: what the operator decides
//! - `failure`: what ends a request without an answer, and whose fault it is
//! - `redact`: a provider's secrets, taken out of what it sends
//! - `pool`: threads for large bodies
//! - `observe`: counters, the last exchanges, the log
//! - `tap`: what may watch answers
//! - `memory`: the store, its upkeep, and the rows of exchanges
//! - `upstream`: providers, their state, and the one way to ask them
//! - `route`: from the name of a model to its targets
//! - `state`: what all requests share, and the configuration in force
//! - `held`: the memory that bodies take
//! - `admission`: what one request may take
//! - `trace`: the facts about one request
//! - `ingress`: who may ask, what is asked of whom, and the body that says it
//! - `answer`: the way of every answer from a provider to a client
//! - `record`: what is kept of a call and its answer
//! - `recall`: where a call goes on, and the turn that is opened for it
//! - `attempt`: one target after the other until one begins to answer
//! - `egress`: replies, and failures made replies
//! - `admin`: what the gateway answers itself
//! - `stack`: every layer that a request passes, in order
//! - `server`: sockets, threads, and their end
//! - `fuzz`: what must hold for any bytes that a client sends

pub mod config;
pub mod route;
pub mod server;

#[cfg(any(test, feature = "fuzz"))]
#[doc(hidden)]
pub mod fuzz;

mod admin;
mod admission;
mod answer;
mod attempt;
mod authority;
mod call;
mod egress;
mod failure;
mod held;
mod ingress;
mod memory;
mod observe;
mod pool;
mod recall;
mod recalled;
mod record;
mod redact;
mod stack;
mod state;
mod surface;
mod tap;
#[cfg(test)]
mod tests;
mod trace;
mod upstream;

pub use memory::NotOpened;
pub use observe::{Outlet, start_log};
pub use state::{Gateway, NotReloaded, Reloaded, Source};
