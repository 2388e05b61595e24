//! The simulators from outside: what they accept, refuse and answer.

mod fixtures;
mod streams;
mod support;
