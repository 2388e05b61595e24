//! The gateway as clients and providers see it: real sockets on both sides, scripted providers behind it.

#![expect(clippy::unwrap_used, reason = "what is not there fails its test")]

mod archive;
mod attempts;
mod breaks;
mod cancel;
mod contract;
mod conversations;
mod doors;
mod ends;
mod events;
mod framing;
mod harness;
mod kept;
mod large;
mod limits;
mod memory;
mod owners;
mod pass;
mod refusals;
mod reload;
mod repair;
mod requests;
mod rounds;
mod rows;
mod secrets;
mod sends;
mod signatures;
mod stopping;
mod targets;
mod translate;
mod usage;
mod waiting;
