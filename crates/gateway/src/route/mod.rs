//! Where a request goes: from the model that a client asks for to providers and their models.

mod directory;
mod listing;
mod resolve;
#[cfg(test)]
mod tests;

pub use directory::Candidate;
pub use directory::Directory;
pub use directory::Model;
pub use listing::Row;
pub use listing::listing;
pub use resolve::NotFound;
pub use resolve::Resolved;
pub use resolve::Route;
pub use resolve::resolve;
pub(crate) use resolve::shown;
