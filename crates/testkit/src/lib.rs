//! Fixtures, generators and the laws that every translation keeps.

pub mod agents;
pub mod canonical;
pub mod expect;
pub mod fuzz;
pub mod generate;
pub mod laws;
pub mod long;
pub mod meaning;
pub mod sample;
pub mod translate;
