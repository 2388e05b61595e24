//! Miniature as one record.

use crate::alias::{CallIdRule, ToolNameRule};
use crate::protocol::Facts;
use crate::protocol::codec::{Codec, Schemas};
use crate::protocol::conventions::Conventions;
use crate::protocol::tier::Words;
use crate::target::Vendor;

pub(in super::super) const CODEC: Codec = Codec {
    facts: Facts {
        name: "miniature",
        aliases: &[],
        messages_pointer: "/turns",
        system: None,
        takes_late_system: true,
        needs_user_turn: false,
        flags_failed_results: false,
        names_results: false,
        streams_lists: false,
        names_model_in_path: false,
        takes_cache_key: false,
        demands_output_limit: false,
    },
    decode_request: super::decode_request::decode_request,
    encode_request: super::encode_request::encode_request,
    decode_response: super::decode_response::decode_response,
    encode_response: super::encode_response::encode_response,
    answer_elements: super::history::answer_elements,
    stream_decoder: || Box::new(super::decode_stream::Decoder::default()),
    stream_encoder: |source, context| Box::new(super::encode_stream::Encoder::new(source, context)),
    watch_frame: super::watch::watch,
    watch_whole: |body, progress| progress.whole(&super::usage::USAGE, body),
    decode_fault: super::fault::decode_fault,
    encode_fault: super::fault::encode_fault,
    encode_fault_under: |_, fault| super::fault::encode_fault(fault).1,
    pointer: super::losses::pointer,
    fields: &super::losses::FIELDS,
    lost: super::losses::FIELDS.lost(),
    declared_of_nodes: super::types::DECLARED,
    declared_of_requests: super::types::DECLARED,
    is_stop_string: |_| false,
    schemas: Schemas::JSON_SCHEMA,
    shows_thinking_unasked: |_| false,
    call_rules: |_| (ToolNameRule::CHAT, CallIdRule::CHAT),
    signatures: None,
    carries_base64: false,
    tiers: Words::alike([None; 7]),
    conventions: Conventions {
        is_plain_citation: |_| true,
        ..Conventions::of(Vendor::Other)
    },
};
