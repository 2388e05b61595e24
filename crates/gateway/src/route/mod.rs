//! Where a request goes: from the model that a client asks for to providers and their models.

mod choose;
mod directory;
mod listing;
mod resolve;
mod rules;
#[cfg(test)]
mod tests;

pub use crate::surface::Capabilities;
pub use choose::{Choice, ClassAsked};
pub use directory::{Candidate, Directory, Model};
pub use listing::{Row, capabilities, listing};
pub(crate) use resolve::shown;
pub use resolve::{NotFound, Resolved, Route, resolve};
