//! Any bytes as a schema, between all dialects.

#![no_main]

use sabir_testkit::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::schema(bytes));
