//! The server: any of four protocols in, any provider out, the answer in the client's own protocol.
//!
//! The modules from the lowest to the highest. Each uses only those before it; `cargo xtask tidy` reads this list.
//!
//! - `members`: JSON objects with some members changed
//! - `summaries`: what stands in a conversation for messages that were compacted
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
//! - `jobs`: what is worked on while nobody waits
//! - `lines`: elements of a conversation as lines of the log
//! - `memory`: the store, its upkeep, and the rows of exchanges
//! - `upstream`: providers, their state, and the one way to ask them
//! - `route`: from the name of a model to its targets
//! - `seal`: what clients carry and only this gateway can read
//! - `state`: what all requests share, and the configuration in force
//! - `held`: the memory that bodies take
//! - `admission`: what one request may take
//! - `trace`: the facts about one request
//! - `govern`: the rules on tools, and what they make of a request
//! - `ingress`: who may ask, what is asked of whom, and the body that says it
//! - `answer`: the way of every answer from a provider to a client
//! - `record`: what is kept of a call and its answer
//! - `recall`: where a call goes on, and the turn that is opened for it
//! - `attempt`: one target after the other until one begins to answer
//! - `compact`: summaries of conversations that are too long, or that a client wants summarised
//! - `classing`: the class of a call, where that decides who answers
//! - `egress`: replies, and failures made replies
//! - `background`: answers that nobody waits for, and their events from any number on
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
mod background;
mod call;
mod classing;
mod compact;
mod egress;
mod failure;
mod govern;
mod held;
mod ingress;
mod jobs;
mod lines;
mod members;
mod memory;
mod observe;
mod pool;
mod recall;
mod recalled;
mod record;
mod redact;
mod seal;
mod stack;
mod state;
mod summaries;
mod surface;
mod tap;
#[cfg(test)]
mod tests;
mod trace;
mod upstream;

pub use memory::NotOpened;
pub use observe::{Outlet, start_log};
pub use state::{Gateway, NotReloaded, Reloaded, Source};
