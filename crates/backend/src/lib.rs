//! Who answers a request: providers over HTTP, and strict simulators of their APIs.

mod secret;
pub mod sim;

pub use secret::Secret;
