//! Any bytes as a chunked body of a provider, in any pieces.

#![no_main]

use sabir_backend::http::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::chunked(bytes));
