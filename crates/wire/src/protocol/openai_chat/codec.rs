//! Chat Completions as one record.

use crate::alias::ToolNameRule;
use crate::protocol::Facts;
use crate::protocol::codec::{Codec, Schemas};
use crate::protocol::conventions::Conventions;
use crate::protocol::tier::Words;
use crate::target::Vendor;

pub(in super::super) const CODEC: Codec = Codec {
    facts: Facts {
        name: "openai-chat",
        aliases: &["chat"],
        messages_pointer: "/messages",
        system: None,
        takes_late_system: true,
        needs_user_turn: false,
        flags_failed_results: false,
        names_results: false,
        streams_lists: false,
        names_model_in_path: false,
        takes_cache_key: true,
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
    declared_of_requests: super::types::ChatSemantics::DECLARED,
    is_stop_string: super::losses::is_stop_string,
    schemas: Schemas::JSON_SCHEMA,
    // There is no setting for showing, so that an effort asks for both.
    shows_thinking_unasked: |thinking| thinking.effort.as_ref().is_some_and(|word| *word != "none"),
    call_rules: |target| {
        let names = ToolNameRule::CHAT.with_max_len(target.family.tool_name_len_max);
        (names, target.dialect.call_ids)
    },
    signatures: None,
    carries_base64: false,
    tiers: Words::alike([
        Some("auto"),
        Some("default"),
        Some("priority"),
        Some("fast"),
        None,
        Some("flex"),
        Some("scale"),
    ]),
    conventions: Conventions {
        needs_json_in_prompt: true,
        has_late_logprobs: true,
        has_late_usage: true,
        // Google's own Chat endpoint signs calls in `extra_content`.
        signs_calls_of: Some(Vendor::Google),
        tool_members: &["tools", "functions", "web_search_options"],
        is_plain_citation: super::encode_response::is_plain_citation,
        finish_loss: super::losses::finish_loss,
        asks_for_usage: super::types::asks_for_usage,
        extra_pointer: super::losses::extra_pointer,
        ..Conventions::of(Vendor::Openai)
    },
};
