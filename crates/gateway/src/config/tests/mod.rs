//! Config files by example.
