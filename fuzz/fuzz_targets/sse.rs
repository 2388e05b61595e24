//! Any bytes as an event stream.

#![no_main]

use sabir_testkit::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::sse(bytes));
