//! What becomes of schemas, as tables and as laws.

mod bounds;
mod laws;
mod tables;
