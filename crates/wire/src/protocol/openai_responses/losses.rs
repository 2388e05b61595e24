//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use crate::protocol::field::{CARRIED, Fields, Row, depends, dropped, row};
use crate::protocol::openai_responses::usage::USAGE;
use crate::protocol::semantics::Spelling;
use crate::protocol::{Fate, Field};

/// Where a canonical field stands, below its node.
pub(in super::super) fn pointer(field: Field, _spelling: Spelling) -> &'static str {
    FIELDS.row(field).pointer
}

/// What this protocol says to every field.
pub(super) static FIELDS: Fields = Fields::of(TABLE, &USAGE);

/// Every field but those of the usage, in the order of their declaration.
const TABLE: [Row; Field::UsageInput as usize] = [
    row(Field::Model, "/model", CARRIED),
    row(Field::Stream, "/stream", CARRIED),
    row(Field::MaxOutputTokens, "/max_output_tokens", depends("the minimum is 16")),
    row(Field::Temperature, "/temperature", REFUSED_BY_SOME),
    row(Field::TopP, "/top_p", REFUSED_BY_SOME),
    row(Field::TopK, "/top_k", dropped("Responses has no top k")),
    row(Field::Seed, "/seed", dropped("Responses has no seed")),
    row(Field::PresencePenalty, "/presence_penalty", NO_PENALTIES),
    row(Field::FrequencyPenalty, "/frequency_penalty", NO_PENALTIES),
    row(Field::Stop, "/stop", dropped("Responses has no stop sequences")),
    row(Field::Candidates, "/n", depends("Responses returns one answer")),
    row(Field::Logprobs, "/include", REFUSED_BY_SOME),
    row(Field::TopLogprobs, "/top_logprobs", REFUSED_BY_SOME),
    row(Field::OutputFormat, "/text/format", CARRIED),
    row(Field::OutputSchema, "/text/format/schema", CARRIED),
    row(Field::OutputSchemaName, "/text/format/name", CARRIED),
    row(Field::OutputSchemaDescription, "/text/format/description", CARRIED),
    row(Field::OutputSchemaStrict, "/text/format/strict", CARRIED),
    row(Field::Verbosity, "/text/verbosity", CARRIED),
    row(Field::ThinkingMode, "/reasoning", AS_EFFORT),
    row(Field::ThinkingEffort, "/reasoning/effort", AS_EFFORT),
    row(
        Field::ThinkingBudget,
        "/reasoning/budget",
        depends("a budget is mapped to the nearest effort"),
    ),
    row(
        Field::ThinkingShow,
        "/reasoning/summary",
        depends("visible thinking is requested as a summary"),
    ),
    row(
        Field::ToolChoice,
        "/tool_choice",
        depends("a choice of a hosted tool is only valid for its vendor"),
    ),
    row(Field::ParallelToolCalls, "/parallel_tool_calls", CARRIED),
    row(Field::SafetyIdentifier, "/safety_identifier", CARRIED),
    row(Field::User, "/user", CARRIED),
    row(Field::Metadata, "/metadata", CARRIED),
    row(Field::ServiceTier, "/service_tier", depends("each vendor has its own tiers")),
    row(Field::Store, "/store", CARRIED),
    row(Field::CacheKey, "/prompt_cache_key", CARRIED),
    row(Field::CacheOptions, "/prompt_cache_options", CARRIED),
    row(Field::CacheRetention, "/prompt_cache_retention", CARRIED),
    row(Field::PreviousResponse, "/previous_response_id", CARRIED),
    row(Field::Conversation, "/conversation", CARRIED),
    row(Field::ToolsStatedEmpty, "/tools", CARRIED),
    row(Field::Role, "/role", CARRIED),
    row(Field::MessageName, "/name", dropped("Responses messages have no name")),
    row(Field::Text, "", CARRIED),
    row(Field::Image, "", TEXT_ALONE),
    row(Field::Audio, "", dropped("Responses has no audio input in messages")),
    row(Field::Video, "", dropped("Responses has no video input")),
    row(Field::Document, "", TEXT_ALONE),
    row(Field::MediaDetail, "/detail", CARRIED),
    row(Field::MediaName, "/filename", TEXT_ALONE),
    row(Field::MediaFile, "/file_id", depends("a file id is only valid for its vendor")),
    row(Field::MediaUrl, "", CARRIED),
    row(Field::ToolCall, "", CARRIED),
    row(Field::CallId, "/call_id", SHORT_IDS),
    row(Field::CallName, "/name", CARRIED),
    row(Field::CallArguments, "/arguments", AS_STRINGS),
    row(Field::CustomCall, "", CARRIED),
    row(Field::ToolResult, "", CARRIED),
    row(Field::ResultCallId, "/call_id", SHORT_IDS),
    row(Field::ResultName, "/name", depends("whether a call names the tool")),
    row(Field::ResultOutput, "/output", AS_STRINGS),
    row(Field::ResultMedia, "/output", CARRIED),
    row(
        Field::ResultIsError,
        "/is_error",
        depends("Responses has no error flag; the text is kept"),
    ),
    row(Field::Reasoning, "", OWN_ALONE),
    row(Field::Signature, "/encrypted_content", OWN_ALONE),
    row(Field::Ciphertext, "/encrypted_content", OWN_ALONE),
    row(Field::Refusal, "", CARRIED),
    row(Field::Opaque, "", dropped("only its own vendor can read it")),
    row(
        Field::CacheMarker,
        "/prompt_cache_breakpoint",
        depends("the marker's position is kept, its lifetime is not"),
    ),
    row(Field::Citations, "/annotations", depends("citations of URLs are carried")),
    row(Field::PartLogprobs, "/logprobs", CARRIED),
    row(Field::ItemId, "/id", CARRIED),
    row(Field::ItemStatus, "/status", CARRIED),
    row(Field::ItemPhase, "/phase", CARRIED),
    row(Field::Tool, "", CARRIED),
    row(Field::ToolName, "/name", depends("names are limited to 128 letters, digits, _ and -")),
    row(Field::ToolDescription, "/description", CARRIED),
    row(Field::ToolParameters, "/parameters", CARRIED),
    row(Field::ToolStrict, "/strict", CARRIED),
    row(Field::ToolOutputSchema, "/output_schema", CARRIED),
    row(
        Field::ToolCacheMarker,
        "/prompt_cache_breakpoint",
        dropped("Responses has no cache markers on tools"),
    ),
    row(Field::CustomTool, "", CARRIED),
    row(Field::CustomFormat, "/format", CARRIED),
    row(Field::HostedTool, "", depends("search and code execution have a counterpart")),
    row(Field::NamespaceTool, "", CARRIED),
    row(Field::ResponseId, "/id", depends("answers get an id in this protocol's own form")),
    row(Field::ResponseModel, "/model", CARRIED),
    row(Field::ResponseCreated, "/created_at", CARRIED),
    row(Field::ResponseServiceTier, "/service_tier", CARRIED),
    row(
        Field::FinishReason,
        "/status",
        depends("the status is less specific than some finish reasons"),
    ),
    row(
        Field::StopSequence,
        "/stop_sequence",
        dropped("Responses does not state which stop sequence was met"),
    ),
    row(
        Field::FinishDetails,
        "/incomplete_details",
        dropped("Responses has no details of this kind"),
    ),
];

const REFUSED_BY_SOME: Fate = depends("some model families refuse it while reasoning");
const AS_EFFORT: Fate = depends("mapped to an effort that the model family supports");
const OWN_ALONE: Fate = depends("shown in answers; requests return only what this vendor issued");
const TEXT_ALONE: Fate = depends("assistant messages hold text only");
const SHORT_IDS: Fate = depends("ids are limited to 64 characters");
const AS_STRINGS: Fate = depends("arguments and results are strings in Responses");
const NO_PENALTIES: Fate = dropped("Responses has no penalties");
