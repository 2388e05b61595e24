//! The commands, one file each.

pub(crate) mod assemble;
pub(crate) mod build;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod conversations;
pub(crate) mod convert;
pub(crate) mod env;
pub(crate) mod inspect;
pub(crate) mod models;
pub(crate) mod route;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod sim;
pub(crate) mod team;
pub(crate) mod usage;
