//! Any bytes as the head of a provider's answer.

#![no_main]

use sabir_backend::http::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::head(bytes));
