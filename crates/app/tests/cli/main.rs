//! The binary as its users meet it: arguments and bytes in, bytes and exit codes out.

#![expect(clippy::unwrap_used, reason = "what is not there fails its test")]

mod configuration;
mod convert;
mod errors;
mod inspect;
mod report;
mod run;
mod sim;
mod stream;
mod usage;
