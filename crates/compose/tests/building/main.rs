//! The builder as its callers meet it: the scenarios that it was made for, and what holds for any history.

#![expect(clippy::unwrap_used, reason = "what is not there fails its test")]

mod classes;
mod compaction;
mod properties;
mod scenarios;
mod simulator;
