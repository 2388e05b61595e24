//! Gemini as one record.

use crate::alias::{CallIdRule, ToolNameRule};
use crate::protocol::Facts;
use crate::protocol::codec::{Codec, Schemas};
use crate::protocol::conventions::Conventions;
use crate::protocol::tier::Words;
use crate::target::Vendor;

pub(in super::super) const CODEC: Codec = Codec {
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
    encode_fault_under: super::fault::encode_fault_under,
    pointer: super::losses::pointer,
    fields: &super::losses::FIELDS,
    lost: super::losses::FIELDS.lost(),
    declared_of_nodes: super::types::DECLARED,
    declared_of_requests: super::types::GeminiSemantics::DECLARED,
    is_stop_string: |_| false,
    schemas: Schemas {
        parameters: super::types::language_of_parameters,
        results: super::types::language_of_results,
        output: super::types::language_of_output,
    },
    shows_thinking_unasked: |_| false,
    call_rules: |target| {
        let names = ToolNameRule::GEMINI.with_max_len(target.family.tool_name_len_max);
        (names, CallIdRule::GEMINI)
    },
    signatures: None,
    // A thought signature is bytes, and clients check that it is base64.
    carries_base64: true,
    tiers: Words::alike([
        Some("unspecified"),
        Some("standard"),
        Some("priority"),
        None,
        None,
        Some("flex"),
        None,
    ]),
    conventions: Conventions {
        has_system_blocks: true,
        continues_answers: true,
        has_object_arguments: true,
        can_ask_for_thoughts: true,
        has_late_usage: true,
        url_mime_type: Some("/fileData/mimeType"),
        usage_pointer: "/usageMetadata",
        finish_loss: super::losses::finish_loss,
        computes_output: super::types::has_summed_output,
        respelling: Some(super::types::name::respelled),
        ..Conventions::of(Vendor::Google)
    },
};
