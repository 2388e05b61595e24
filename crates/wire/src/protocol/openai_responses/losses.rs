//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use crate::loss::LossKind::Approximated;
use crate::loss::LossKind::Dropped;
use crate::loss::LossKind::Implied;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::semantics::Shape;

/// Where a canonical field stands, below its node.
pub(in crate::protocol) fn pointer(field: Field, _shape: Shape) -> &'static str {
    if let Some(pointer) = request_pointer(field) {
        return pointer;
    }
    if let Some(pointer) = part_pointer(field) {
        return pointer;
    }
    tool_or_answer_pointer(field)
}

fn request_pointer(field: Field) -> Option<&'static str> {
    Some(match field {
        Field::Model => "/model",
        Field::Stream => "/stream",
        Field::MaxOutputTokens => "/max_output_tokens",
        Field::Temperature => "/temperature",
        Field::TopP => "/top_p",
        Field::TopK => "/top_k",
        Field::Seed => "/seed",
        Field::PresencePenalty => "/presence_penalty",
        Field::FrequencyPenalty => "/frequency_penalty",
        Field::Stop => "/stop",
        Field::Candidates => "/n",
        Field::Logprobs => "/include",
        Field::TopLogprobs => "/top_logprobs",
        Field::OutputFormat => "/text/format",
        Field::OutputSchema => "/text/format/schema",
        Field::OutputSchemaName => "/text/format/name",
        Field::OutputSchemaDescription => "/text/format/description",
        Field::OutputSchemaStrict => "/text/format/strict",
        Field::Verbosity => "/text/verbosity",
        Field::ThinkingMode => "/reasoning",
        Field::ThinkingEffort => "/reasoning/effort",
        Field::ThinkingBudget => "/reasoning/budget",
        Field::ThinkingShow => "/reasoning/summary",
        Field::ToolChoice => "/tool_choice",
        Field::ParallelToolCalls => "/parallel_tool_calls",
        Field::SafetyIdentifier => "/safety_identifier",
        Field::User => "/user",
        Field::Metadata => "/metadata",
        Field::ServiceTier => "/service_tier",
        Field::Store => "/store",
        Field::CacheKey => "/prompt_cache_key",
        Field::CacheOptions => "/prompt_cache_options",
        Field::CacheRetention => "/prompt_cache_retention",
        Field::PreviousResponse => "/previous_response_id",
        Field::Conversation => "/conversation",
        Field::ToolsStatedEmpty => "/tools",
        _ => return None,
    })
}

fn part_pointer(field: Field) -> Option<&'static str> {
    Some(match field {
        Field::Role => "/role",
        Field::MessageName | Field::CallName | Field::ResultName => "/name",
        Field::MediaDetail => "/detail",
        Field::MediaName => "/filename",
        Field::MediaFile => "/file_id",
        Field::CallId | Field::ResultCallId => "/call_id",
        Field::CallArguments => "/arguments",
        Field::ResultOutput | Field::ResultMedia => "/output",
        Field::ResultIsError => "/is_error",
        Field::Ciphertext | Field::Signature => "/encrypted_content",
        Field::CacheMarker | Field::ToolCacheMarker => "/prompt_cache_breakpoint",
        Field::Citations => "/annotations",
        Field::PartLogprobs => "/logprobs",
        Field::ItemId => "/id",
        Field::ItemStatus => "/status",
        Field::ItemPhase => "/phase",
        Field::Text
        | Field::Image
        | Field::Audio
        | Field::Video
        | Field::Document
        | Field::MediaUrl
        | Field::ToolCall
        | Field::CustomCall
        | Field::ToolResult
        | Field::Reasoning
        | Field::Refusal
        | Field::Opaque => "",
        _ => return None,
    })
}

fn tool_or_answer_pointer(field: Field) -> &'static str {
    match field {
        Field::ToolName => "/name",
        Field::ToolDescription => "/description",
        Field::ToolParameters => "/parameters",
        Field::ToolStrict => "/strict",
        Field::ToolOutputSchema => "/output_schema",
        Field::CustomFormat => "/format",
        Field::ResponseId => "/id",
        Field::ResponseModel => "/model",
        Field::ResponseCreated => "/created_at",
        Field::ResponseServiceTier => "/service_tier",
        Field::FinishReason => "/status",
        Field::StopSequence => "/stop_sequence",
        Field::FinishDetails => "/incomplete_details",
        Field::UsageInput => "/input_tokens",
        Field::UsageCacheRead => "/input_tokens_details/cached_tokens",
        Field::UsageCacheWrite | Field::UsageCacheWrite5m | Field::UsageCacheWrite1h => {
            "/input_tokens_details/cache_write_tokens"
        }
        Field::UsageToolPrompt => "/input_tokens_details/tool_tokens",
        Field::UsageOutput => "/output_tokens",
        Field::UsageReasoning => "/output_tokens_details/reasoning_tokens",
        Field::UsageTotal => "/total_tokens",
        _ => "",
    }
}

/// What becomes of a canonical field on its way into this protocol.
pub(in crate::protocol) fn fate(field: Field) -> Fate {
    match field {
        Field::TopK => Fate::Lost(Dropped, "Responses has no top k"),
        Field::Seed => Fate::Lost(Dropped, "Responses has no seed"),
        Field::PresencePenalty | Field::FrequencyPenalty => {
            Fate::Lost(Dropped, "Responses has no penalties")
        }
        Field::Stop => Fate::Lost(Dropped, "Responses has no stop sequences"),
        Field::Candidates => Fate::Depends("one answer is the rule; more are dropped"),
        Field::MaxOutputTokens => Fate::Depends("the limit is at least 16"),
        Field::Temperature | Field::TopP | Field::Logprobs | Field::TopLogprobs => {
            Fate::Depends("some families refuse it while they reason")
        }
        Field::ThinkingMode | Field::ThinkingEffort => {
            Fate::Depends("an effort that the family has")
        }
        Field::ThinkingBudget => Fate::Depends("a budget becomes the nearest effort"),
        Field::ThinkingShow => Fate::Depends("shown thinking is asked for as a summary"),
        Field::ServiceTier => Fate::Depends("each vendor has its own words"),
        Field::ToolChoice => Fate::Depends("choices of hosted tools stay with their vendor"),
        Field::MessageName => Fate::Lost(Dropped, "Responses messages have no name"),
        Field::Audio => Fate::Depends("sound goes to families that take it"),
        Field::Video => Fate::Lost(Dropped, "Responses takes no film"),
        Field::Image | Field::Document | Field::MediaName => {
            Fate::Depends("the assistant's own messages hold text alone")
        }
        Field::MediaFile => Fate::Depends("file ids stay with their vendor"),
        Field::CallId | Field::ResultCallId => Fate::Depends("ids have at most 64 characters"),
        Field::CallArguments | Field::ResultOutput => {
            Fate::Depends("arguments and results are strings")
        }
        Field::ResultName => Fate::Lost(Implied, "results are paired by id"),
        Field::ResultIsError => Fate::Depends("the text stays, the flag has no place"),
        Field::Reasoning | Field::Signature | Field::Ciphertext => {
            Fate::Depends("answers show it; requests take back what this vendor issued")
        }
        Field::Opaque => Fate::Lost(Dropped, "only its own vendor understands it"),
        Field::CacheMarker => Fate::Depends("a marker keeps its place, not its lifetime"),
        Field::ToolCacheMarker => Fate::Lost(Dropped, "Responses caches no tools by marker"),
        Field::Citations => Fate::Depends("citations of addresses are carried"),
        Field::ToolName => Fate::Depends("names have at most 128 letters, digits, _ and -"),
        Field::HostedTool => Fate::Depends("search and code execution have a counterpart"),
        Field::StopSequence => Fate::Lost(Dropped, "Responses does not tell which stop was met"),
        Field::FinishReason => Fate::Depends("a status says less than some reasons"),
        Field::FinishDetails => Fate::Lost(Dropped, "Responses has no details of this kind"),
        Field::UsageCacheWrite5m | Field::UsageCacheWrite1h => {
            Fate::Lost(Approximated, "cache writes are counted together")
        }
        Field::UsageToolPrompt => Fate::Lost(Approximated, "it is counted with the input"),
        other => carried(other),
    }
}

/// The fields that arrive as they are; one that is not named here would be lost, and says so.
fn carried(field: Field) -> Fate {
    match field {
        Field::Model
        | Field::Stream
        | Field::OutputFormat
        | Field::OutputSchema
        | Field::OutputSchemaName
        | Field::OutputSchemaDescription
        | Field::OutputSchemaStrict
        | Field::Verbosity
        | Field::ParallelToolCalls
        | Field::SafetyIdentifier
        | Field::User
        | Field::Metadata
        | Field::Store
        | Field::CacheKey
        | Field::CacheOptions
        | Field::CacheRetention
        | Field::PreviousResponse
        | Field::Conversation
        | Field::ToolsStatedEmpty
        | Field::Role
        | Field::Text
        | Field::MediaDetail
        | Field::MediaUrl
        | Field::ToolCall
        | Field::CallName
        | Field::CustomCall
        | Field::ToolResult
        | Field::ResultMedia
        | Field::Refusal
        | Field::PartLogprobs
        | Field::ItemId
        | Field::ItemStatus
        | Field::ItemPhase
        | Field::Tool
        | Field::ToolDescription
        | Field::ToolParameters
        | Field::ToolStrict
        | Field::ToolOutputSchema
        | Field::CustomTool
        | Field::CustomFormat
        | Field::NamespaceTool
        | Field::ResponseId
        | Field::ResponseModel
        | Field::ResponseCreated
        | Field::ResponseServiceTier
        | Field::UsageInput
        | Field::UsageCacheRead
        | Field::UsageCacheWrite
        | Field::UsageOutput
        | Field::UsageReasoning
        | Field::UsageTotal => Fate::Carried,
        _ => Fate::Lost(Dropped, "Responses has no such field"),
    }
}
