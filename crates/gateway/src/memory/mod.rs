//! The gateway's memory: a store that is opened before anything is served, kept alive by a thread of its own, and given a row
//! for each exchange. Artefacts of calls are remembered whether there is a store or not. What is kept of conversations is left to
//! whoever records them.

mod artefacts;
mod cache;
mod digest;
mod form;
mod health;
mod leftover;
mod lost;
mod open;
mod queue;
mod readings;
mod row;
#[cfg(test)]
mod tests;
mod underway;
mod unwritten;
mod upkeep;

pub(crate) use artefacts::{Artefacts, Issuer, Known, Lacking};
pub(crate) use digest::Mark;
pub(crate) use form::{as_request, check as check_form, continues, join, times};
pub(crate) use lost::{Lost, ONE_TEXT, inner, is_stated, left_out, lost_of_message, lost_of_part};
pub(crate) use open::Memory;
pub use open::NotOpened;
pub(crate) use readings::{Look, Readings};
pub(crate) use row::{AskedModel, Row, Try};
pub(crate) use underway::Saving;
