//! Listening and serving: connections are shared out among threads that share nothing else.

mod arrival;
mod connection;
mod framing;
mod listen;
mod reload;
mod sending;
mod turn;
mod watched;
mod worker;

pub use listen::{Server, ServerError, Stop};
