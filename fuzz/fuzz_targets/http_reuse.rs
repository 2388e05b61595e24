//! Any answers, one after the other, over connections that are used again.

#![no_main]

use sabir_backend::http::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::reuse(bytes));
