//! Server-sent events: bytes in any chunks become frames, and frames become bytes.

mod array;
mod parser;
#[cfg(test)]
mod tests;
mod write;

pub use array::JsonArray;
pub use parser::Parser;
pub(crate) use write::{data_frame, guarded_frame, named_frame};

/// One event of a stream. Comments, ids and retry hints are not events and never show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The `event:` field, if there was one.
    pub event: Option<&'a str>,
    /// The `data:` lines, joined by line feeds.
    pub data: &'a str,
}
