//! The conformance suite: what the store promises, held against every engine. PostgreSQL takes part where
//! `SABIR_TEST_POSTGRES` names a server.

#![expect(clippy::unwrap_used, reason = "what is not there fails its test")]

mod bench;
mod conversations;
mod exchanges;
mod files;
mod holds;
mod jobs;
mod kills;
mod messages;
mod model;
mod postgres;
mod responses;
mod retention;
mod secrets;
mod sessions;
mod turns;
