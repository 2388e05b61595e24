//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use crate::conversation::Finish;
use crate::loss::LossKind;
use crate::place::{Place, Step};
use crate::protocol::field::{CARRIED, Fields, Row, depends, dropped, implied, row};
use crate::protocol::openai_chat::types::{Shape, request_shape};
use crate::protocol::openai_chat::usage::USAGE;
use crate::protocol::semantics::{Extra, Spelling};
use crate::protocol::{Fate, Field};

/// Where a canonical field stands, below its node.
pub(in super::super) fn pointer(field: Field, spelling: Spelling) -> &'static str {
    let shape: Shape = spelling.of();
    match field {
        Field::MaxOutputTokens if shape.has(request_shape::MAX_COMPLETION_TOKENS) => {
            "/max_completion_tokens"
        }
        Field::ThinkingEffort if shape.has(request_shape::REASONING_OBJECT) => "/reasoning/effort",
        Field::ToolChoice if shape.has(request_shape::FUNCTION_CALL) => "/function_call",
        Field::Seed if shape.has(request_shape::RANDOM_SEED) => "/random_seed",
        Field::ToolsStatedEmpty if shape.has(request_shape::FUNCTIONS) => "/functions",
        Field::ToolName | Field::ToolDescription | Field::ToolParameters | Field::ToolStrict
            if shape.has(request_shape::FUNCTIONS) =>
        {
            // A function without its wrapper.
            let pointer = FIELDS.row(field).pointer;
            pointer.strip_prefix("/function").unwrap_or(pointer)
        }
        _ => FIELDS.row(field).pointer,
    }
}

/// Whether the request has one stop sequence that stands by itself, not in a list.
pub(in super::super) fn is_stop_string(spelling: Spelling) -> bool {
    let shape: Shape = spelling.of();
    shape.has(request_shape::STOP_STRING)
}

/// What this protocol says to every field.
pub(super) static FIELDS: Fields = Fields::of(TABLE, &USAGE);

/// Every field but those of the usage, in the order of their declaration.
const TABLE: [Row; Field::UsageInput as usize] = [
    // The request as a whole.
    row(Field::Model, "/model", CARRIED),
    row(Field::Stream, "/stream", CARRIED),
    row(Field::MaxOutputTokens, "/max_tokens", BY_MODEL),
    row(Field::Temperature, "/temperature", BY_MODEL),
    row(Field::TopP, "/top_p", BY_MODEL),
    row(Field::TopK, "/top_k", dropped("Chat has no top k")),
    row(Field::Seed, "/seed", BY_MODEL),
    row(Field::PresencePenalty, "/presence_penalty", BY_MODEL),
    row(Field::FrequencyPenalty, "/frequency_penalty", BY_MODEL),
    row(Field::Stop, "/stop", BY_MODEL),
    row(Field::Candidates, "/n", CARRIED),
    row(Field::Logprobs, "/logprobs", BY_MODEL),
    row(Field::TopLogprobs, "/top_logprobs", BY_MODEL),
    row(Field::OutputFormat, "/response_format", CARRIED),
    row(Field::OutputSchema, "/response_format/json_schema/schema", BY_SCHEMAS),
    row(Field::OutputSchemaName, "/response_format/json_schema/name", BY_SCHEMAS),
    row(Field::OutputSchemaDescription, "/response_format/json_schema/description", BY_SCHEMAS),
    row(Field::OutputSchemaStrict, "/response_format/json_schema/strict", BY_SCHEMAS),
    row(Field::Verbosity, "/verbosity", BY_SERVER),
    row(Field::ThinkingMode, "/thinking/type", BY_REASONING),
    row(Field::ThinkingEffort, "/reasoning_effort", BY_REASONING),
    row(Field::ThinkingBudget, "/reasoning/max_tokens", BY_REASONING),
    row(Field::ThinkingShow, "/reasoning/exclude", BY_REASONING),
    row(Field::ToolChoice, "/tool_choice", BY_CHOICE),
    row(Field::ParallelToolCalls, "/parallel_tool_calls", BY_CHOICE),
    row(Field::SafetyIdentifier, "/safety_identifier", BY_SERVER),
    row(Field::User, "/user", CARRIED),
    row(Field::Metadata, "/metadata", BY_SERVER),
    row(Field::ServiceTier, "/service_tier", depends("depends on whether Chat has this tier")),
    row(Field::Store, "/store", depends("depends on the value and on what the server takes")),
    row(Field::CacheKey, "/prompt_cache_key", BY_SERVER),
    row(Field::CacheOptions, "/prompt_cache_options", BY_VENDOR),
    row(Field::CacheRetention, "/prompt_cache_retention", BY_SERVER),
    row(Field::PreviousResponse, "/previous_response_id", NO_CONVERSATIONS),
    row(Field::Conversation, "/conversation", NO_CONVERSATIONS),
    row(
        Field::ToolsStatedEmpty,
        "/tools",
        implied("an empty list of tools means the same as none"),
    ),
    // Messages.
    row(Field::Role, "/role", depends("depends on whether the server supports the role")),
    row(Field::MessageName, "/name", CARRIED),
    // Parts.
    row(Field::Text, "", CARRIED),
    row(Field::Image, "", BY_MEDIA),
    row(Field::Audio, "", BY_MEDIA),
    row(Field::Video, "", dropped("Chat has no video input")),
    row(Field::Document, "", BY_MEDIA),
    row(Field::MediaDetail, "/image_url/detail", BY_MEDIA),
    row(Field::MediaName, "/file/filename", BY_MEDIA),
    row(Field::MediaFile, "/file/file_id", BY_MEDIA),
    row(Field::MediaUrl, "/image_url/url", BY_MEDIA),
    row(Field::ToolCall, "", CARRIED),
    row(Field::CallId, "/id", BY_IDS),
    row(Field::CallName, "/function/name", CARRIED),
    row(Field::CallArguments, "/function/arguments", CARRIED),
    row(Field::CustomCall, "", CARRIED),
    row(Field::ToolResult, "", CARRIED),
    row(Field::ResultCallId, "/tool_call_id", BY_IDS),
    row(Field::ResultName, "/name", depends("whether a call names the tool")),
    row(Field::ResultOutput, "/content", CARRIED),
    row(Field::ResultMedia, "/content", depends("depends on the content of the result")),
    row(Field::ResultIsError, "", depends("depends on whether the result is an error")),
    row(Field::Reasoning, "", BY_SIDE),
    row(
        Field::Signature,
        "/extra_content/google/thought_signature",
        withheld("only its issuer can read it, and only tool calls have a field for it"),
    ),
    row(Field::Ciphertext, "", withheld("only its issuer can read it")),
    row(Field::Refusal, "", CARRIED),
    row(Field::Opaque, "", dropped("Chat has no counterpart")),
    row(Field::CacheMarker, "/prompt_cache_breakpoint", BY_VENDOR),
    // These two stand beside the text they speak of, in its message and in its choice.
    row(Field::Citations, "../annotations", BY_SIDE),
    row(Field::PartLogprobs, "../../logprobs", BY_SIDE),
    row(Field::ItemId, "", NO_ITEMS),
    row(Field::ItemStatus, "", NO_ITEMS),
    row(Field::ItemPhase, "", dropped("Chat has no phases of an answer")),
    // Tools.
    row(Field::Tool, "", CARRIED),
    row(Field::ToolName, "/function/name", depends("depends on the names that the server accepts")),
    row(Field::ToolDescription, "/function/description", CARRIED),
    row(Field::ToolParameters, "/function/parameters", BY_KEYWORDS),
    row(Field::ToolStrict, "/function/strict", BY_KEYWORDS),
    row(Field::ToolOutputSchema, "", dropped("Chat has no output schemas of tools")),
    row(Field::ToolCacheMarker, "", dropped("Chat has no cache markers on tools")),
    row(Field::CustomTool, "", CARRIED),
    row(Field::CustomFormat, "/custom/format", CARRIED),
    row(Field::HostedTool, "", BY_TOOL),
    row(Field::NamespaceTool, "", BY_TOOL),
    // The response as a whole.
    row(Field::ResponseId, "/id", CARRIED),
    row(Field::ResponseModel, "/model", CARRIED),
    row(Field::ResponseCreated, "/created", CARRIED),
    row(Field::ResponseServiceTier, "/service_tier", CARRIED),
    row(
        Field::FinishReason,
        "/finish_reason",
        depends("depends on whether Chat has this finish reason"),
    ),
    row(Field::StopSequence, "", dropped("Chat does not state which stop sequence was met")),
    row(Field::FinishDetails, "", dropped("Chat has no details of the finish reason")),
];

const BY_MODEL: Fate = depends("depends on what the model supports");
const BY_SCHEMAS: Fate = depends("depends on whether the server supports schemas");
const BY_SERVER: Fate = depends("depends on whether the server supports it");
const BY_REASONING: Fate = depends("depends on the server's reasoning parameters");
const BY_CHOICE: Fate = depends("depends on whether Chat has this choice");
const BY_VENDOR: Fate = depends("depends on which vendor's spelling it has");
const BY_MEDIA: Fate = depends("depends on the media type and its source");
const BY_SIDE: Fate = depends("depends on whether it is sent to a client or to a server");
const BY_IDS: Fate = depends("depends on the ids that the server accepts");
const BY_KEYWORDS: Fate = depends("depends on the keywords of the schema");
const BY_TOOL: Fate = depends("depends on the hosted tool");
const NO_CONVERSATIONS: Fate = dropped("Chat servers keep no conversations");
const NO_ITEMS: Fate = implied("Chat has no items");

const fn withheld(reason: &'static str) -> Fate {
    Fate::Lost(LossKind::Withheld, reason)
}

/// What any other protocol loses of why an answer ended.
pub(super) fn finish_loss(finish: &Finish<'_>) -> Option<(LossKind, &'static str)> {
    let reason = "the stream is complete and states no finish reason";
    finish.raw.is_none().then_some((LossKind::Repaired, reason))
}

/// Where an undeclared field stands below its node: a stream has its message in deltas.
pub(super) fn extra_pointer<'p>(place: Place, _: &Extra<'_>, pointer: &'p str) -> &'p str {
    match place.ends_with(Step::Delta) {
        true => pointer.strip_prefix("/message").unwrap_or(pointer),
        false => pointer,
    }
}
