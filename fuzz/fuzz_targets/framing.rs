//! Any bytes over a client's connection, in any pieces: where each request ends.

#![no_main]

use sabir_gateway::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::framing(bytes));
