//! The crate from outside: what its users can and cannot do.

mod forging;
mod identity;
mod many;
