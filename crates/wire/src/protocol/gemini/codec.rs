//! Gemini as one record.

use crate::alias::CallIdRule;
use crate::alias::ToolNameRule;
use crate::protocol::Facts;
use crate::protocol::StreamDecoder;
use crate::protocol::codec::Codec;
use crate::protocol::codec::Schemas;
use crate::protocol::exchange::Machine;
use crate::protocol::gemini::decode_request::decode_request;
use crate::protocol::gemini::decode_response::decode_response;
use crate::protocol::gemini::encode_request::encode_request;
use crate::protocol::gemini::encode_response::encode_response;
use crate::protocol::gemini::encode_stream::Encoder;
use crate::protocol::gemini::fault::decode_fault;
use crate::protocol::gemini::fault::encode_fault;
use crate::protocol::gemini::fault::encode_fault_under;
use crate::protocol::gemini::losses::LOST;
use crate::protocol::gemini::losses::fate;
use crate::protocol::gemini::losses::pointer;
use crate::protocol::gemini::types::DECLARED;
use crate::protocol::gemini::types::GeminiSemantics;
use crate::protocol::gemini::types::dialect_of_output;
use crate::protocol::gemini::types::dialect_of_parameters;
use crate::protocol::gemini::types::dialect_of_results;
use crate::protocol::tier::Words;

pub(in crate::protocol) const CODEC: Codec = Codec {
    facts: Facts {
        name: "gemini",
        aliases: &["gemini-chat"],
        messages_pointer: "/contents",
        system: Some("systemInstruction"),
        takes_late_system: false,
        needs_user_turn: true,
        flags_failed_results: true,
        names_results: true,
        streams_lists: true,
        names_model_in_path: true,
        demands_output_limit: false,
    },
    decode_request,
    encode_request,
    decode_response,
    encode_response,
    stream_decoder: || StreamDecoder::Gemini(Box::default()),
    stream_encoder: |source, asked| Machine::Gemini(Box::new(Encoder::new(source, asked))),
    decode_fault,
    encode_fault,
    encode_fault_under,
    pointer,
    fate,
    lost: LOST,
    declared_of_nodes: DECLARED,
    declared_of_requests: GeminiSemantics::DECLARED,
    is_stop_string: |_| false,
    schemas: Schemas {
        parameters: dialect_of_parameters,
        results: dialect_of_results,
        output: dialect_of_output,
    },
    shows_thinking_unasked: |_| false,
    call_rules: |target| {
        let names = ToolNameRule::GEMINI.with_max_len(target.family.tool_name_len_max);
        (names, CallIdRule::GEMINI)
    },
    signatures: None,
    // A thought signature is bytes, and clients check that it is base64.
    carries_base64: true,
    tiers: Words {
        request: [None, Some("standard"), Some("priority"), Some("flex")],
        answer: [None, Some("standard"), Some("priority"), Some("flex")],
    },
};
