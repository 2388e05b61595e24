//! Between a stored history and an outgoing request: message building and prompt assembly. Pure: no I/O, no clock.

pub mod assemble;
pub mod budget;
