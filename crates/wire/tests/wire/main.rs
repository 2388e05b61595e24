//! The crate from outside: what its users can and cannot do.

mod forging;
mod history;
mod identity;
mod many;
