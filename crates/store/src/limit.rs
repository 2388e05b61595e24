//! How large and how many: nothing that is kept or asked for is unbounded.

use crate::error::{Error, Result};

/// Bytes of an id. Providers have ids of some hundred characters; an index of PostgreSQL ends at 2,700 bytes.
pub const ID_BYTES_MAX: usize = 512;
/// Bytes of one record. SQLite's own end is a gigabyte.
pub const RECORD_BYTES_MAX: usize = 256 << 20;
/// Messages that one call adds.
pub const MESSAGES_MAX: usize = 100_000;
/// Items that one call names.
pub const ITEMS_MAX: usize = 20_000;
/// Rows of one page of a list.
pub const PAGE_MAX: u32 = 1_000;
/// Messages that one look at a history returns.
pub const PATH_MESSAGES_MAX: u32 = 1_000_000;
/// Bytes of records that one look at a history returns.
pub const PATH_BYTES_MAX: u64 = 1 << 30;
/// Bytes of a title, and of a search for one.
pub(crate) const TITLE_BYTES_MAX: usize = 512;
/// Messages of a history, from its end, at which a conversation is looked for.
pub const TIPS_MAX: usize = 16;
/// Different protocols, or models, that a conversation's overview names.
pub(crate) const NAMES_MAX: usize = 16;

/// The number of rows of a page within its limits.
pub(crate) fn page(limit: u32) -> i64 {
    i64::from(limit.clamp(1, PAGE_MAX))
}

pub(crate) fn count(what: &'static str, length: usize, most: usize) -> Result<()> {
    if length <= most {
        return Ok(());
    }
    Err(Error::invalid(format!("{length} {what}, at most {most} are kept at once")))
}
