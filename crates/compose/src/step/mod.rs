//! The steps of building, one file each, in the order in which they run.

pub(crate) mod filter;
pub(crate) mod open;
pub(crate) mod pair;
pub(crate) mod summarise;
pub(crate) mod system;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod validate;

use crate::log::Log;
use crate::trace::Trace;

/// What the steps have changed and said so far.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) trace: Trace,
    pub(crate) log: Log,
}
