//! Any bytes as an Anthropic answer.

#![no_main]

use sabir_testkit::fuzz;
use sabir_wire::Protocol;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::decode_response(
    Protocol::AnthropicMessages,
    bytes
));
