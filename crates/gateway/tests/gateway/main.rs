//! The gateway as clients and providers see it: real sockets on both sides, scripted providers behind it.

#![expect(clippy::unwrap_used, reason = "what is not there fails its test")]

mod agents;
mod archive;
mod artefacts;
mod attempts;
mod background;
mod breaks;
mod cache;
mod cancel;
mod classes;
mod compaction;
mod contract;
mod conversations;
mod doors;
mod ends;
mod events;
mod framing;
mod harness;
mod joining;
mod kept;
mod large;
mod limits;
mod memory;
mod overflow;
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
mod sessions;
mod signatures;
mod sockets;
mod steering;
mod stopping;
mod targets;
mod transcripts;
mod translate;
mod usage;
mod waiting;
