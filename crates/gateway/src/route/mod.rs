//! Where a request goes: from the model that a client asks for to providers and their models.

mod choose;
mod conversation;
mod directory;
mod listing;
mod order;
mod resolve;
mod rules;
mod stays;
#[cfg(test)]
mod tests;

pub use crate::surface::Capabilities;
pub use choose::{Choice, ClassAsked};
pub use conversation::Caller;
pub(crate) use conversation::session_of_user;
pub use directory::{Candidate, Directory, Model};
pub use listing::{Row, capabilities, listing};
pub(crate) use order::arrange;
pub(crate) use resolve::shown;
pub use resolve::{NotFound, Resolved, Route, resolve};
pub(crate) use stays::{Stay, Switch};
