//! Bodies and streams of a long conversation in all four protocols, and the clock that compares two ways to handle them.

pub mod bodies;
pub mod case;
pub mod clock;
pub mod conversation;
pub mod streams;
pub mod table;
