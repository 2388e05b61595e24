//! Who answers a request: providers over HTTP, agent CLIs, and strict simulators of their APIs.

mod error;
mod secret;

#[cfg(unix)]
pub mod agent;
#[cfg(not(unix))]
#[path = "agent/disabled.rs"]
pub mod agent;
pub mod http;
pub mod percent;
pub mod sim;

pub use error::{Error, ErrorKind, Result};
pub use secret::Secret;
