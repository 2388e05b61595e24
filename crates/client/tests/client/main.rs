//! The client as programs use it: real sockets, the simulators or a scripted server behind them.

#![expect(clippy::unwrap_used, reason = "what is not there fails its test")]

mod acceptance;
mod cancel;
mod errors;
mod first_program;
mod gateway;
mod servers;
mod sessions;
mod streams;
