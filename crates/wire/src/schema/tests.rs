//! What becomes of schemas, as tables and as laws.
