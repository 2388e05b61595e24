//! Any bytes as a client's request: path, host, key, coding and the top of the body.

#![no_main]

use sabir_gateway::fuzz;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::ingress(bytes));
