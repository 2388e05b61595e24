//! What all requests share: the configuration that is in force with its handles, and what outlives every configuration.

mod gateway;
mod reload;
mod shared;
mod snapshot;

pub use gateway::Gateway;
pub(crate) use gateway::Latest;
pub use reload::{NotReloaded, Reloaded, Source};
pub(crate) use shared::{Shared, threads};
pub(crate) use snapshot::Snapshot;
