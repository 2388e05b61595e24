//! The binary as its users meet it: arguments and bytes in, bytes and exit codes out.

#![expect(clippy::unwrap_used, reason = "what is not there fails its test")]

#[cfg(unix)]
mod agent;
mod assemble;
mod build;
#[cfg(unix)]
mod chat;
mod configuration;
#[cfg(unix)]
mod conversations;
mod convert;
mod errors;
#[cfg(unix)]
mod examples;
mod folder;
mod inspect;
#[cfg(target_os = "linux")]
mod memory;
mod report;
mod route;
mod run;
#[cfg(unix)]
mod serving;
mod sim;
#[cfg(unix)]
mod store;
mod stream;
#[cfg(unix)]
mod team;
#[cfg(unix)]
mod unread;
#[cfg(target_os = "linux")]
mod unwritable;
mod usage;
mod waiting;
