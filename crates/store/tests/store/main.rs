//! The conformance suite: what the store promises, held against every engine. PostgreSQL takes part where
//! `SABIR_TEST_POSTGRES` names a server.

mod bench;
mod conversations;
mod exchanges;
mod files;
mod holds;
mod messages;
mod responses;
mod turns;
