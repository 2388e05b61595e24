//! Any sequence of events, legal or not, in every protocol.

#![no_main]

use sabir_testkit::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::encode_stream(bytes));
