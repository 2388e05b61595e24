//! The simulators from outside: what they accept, refuse and answer.

mod behaviour;
mod faults;
mod fixtures;
mod rules;
mod streams;
mod support;
