//! Any bytes as an Anthropic request.

#![no_main]

use sabir_testkit::fuzz;
use sabir_wire::Protocol;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::decode_request(
    Protocol::AnthropicMessages,
    bytes
));
