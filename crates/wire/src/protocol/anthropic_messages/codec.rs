//! Messages as one record.

use crate::alias::{CallIdRule, ToolNameRule};
use crate::conversation::ThinkingMode;
use crate::protocol::Facts;
use crate::protocol::codec::{Codec, Schemas};
use crate::protocol::conventions::Conventions;
use crate::protocol::handing::Rule;
use crate::protocol::tier::Words;
use crate::target::Vendor;

pub(in super::super) const CODEC: Codec = Codec {
    facts: Facts {
        name: "anthropic-messages",
        aliases: &["messages"],
        messages_pointer: "/messages",
        system: Some("system"),
        takes_late_system: false,
        needs_user_turn: true,
        flags_failed_results: true,
        names_results: false,
        streams_lists: false,
        names_model_in_path: false,
        takes_cache_key: false,
        demands_output_limit: true,
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
    declared_of_requests: super::types::AnthropicSemantics::DECLARED,
    is_stop_string: |_| false,
    schemas: Schemas::JSON_SCHEMA,
    // Models that take `enabled` show what they think unless told otherwise.
    shows_thinking_unasked: |thinking| thinking.mode == Some(ThinkingMode::Enabled),
    call_rules: |target| {
        let names = ToolNameRule::ANTHROPIC.with_max_len(target.family.tool_name_len_max);
        (names, CallIdRule::ANTHROPIC)
    },
    signatures: Some(Rule::Share),
    carries_base64: false,
    tiers: Words {
        request: [Some("auto"), Some("standard_only"), None, None, None, None, None],
        answer: [None, Some("standard"), Some("priority"), None, None, None, None],
    },
    conventions: Conventions {
        has_system_blocks: true,
        continues_answers: true,
        has_object_arguments: true,
        has_result_documents: true,
        versions_hosted_tools: true,
        can_ask_for_thoughts: true,
        readable_blocks: &["search_result", "document", "tool_reference"],
        finish_loss: super::losses::finish_loss,
        ..Conventions::of(Vendor::Anthropic)
    },
};
