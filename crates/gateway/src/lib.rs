//! The server: any of four protocols in, any provider out, the answer in the client's own protocol.

pub mod config;
pub mod route;
