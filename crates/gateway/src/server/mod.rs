//! Listening and serving: connections are shared out among threads that share nothing else.

mod arrival;
mod connection;
mod framing;
#[cfg(any(test, feature = "fuzz"))]
mod fuzz;
mod listen;
mod paced;
mod refusal;
mod reload;
mod sending;
mod socket;
mod turn;
mod watched;
mod worker;

pub use listen::{Server, ServerError, Stop};

#[cfg(any(test, feature = "fuzz"))]
pub(crate) use fuzz::framing as check_framing;
