//! The gateway's memory: a store that is opened before anything is served, kept alive by a thread of its own, and given a row
//! for each exchange. What is kept of conversations is left to whoever records them.

mod health;
mod leftover;
mod open;
mod queue;
mod row;
#[cfg(test)]
mod tests;
mod upkeep;

pub(crate) use open::Memory;
pub use open::NotOpened;
pub(crate) use row::{Asked, Row, Try};
