//! One table for each behaviour.
