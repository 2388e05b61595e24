//! The commands, one file each.

pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod inspect;
pub(crate) mod sim;
