//! What becomes of schemas, as tables and as laws.

mod laws;
mod tables;
