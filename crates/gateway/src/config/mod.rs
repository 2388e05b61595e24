//! What the operator decides, checked whole before anything starts.

mod glob;
pub mod types;

pub use glob::Glob;
