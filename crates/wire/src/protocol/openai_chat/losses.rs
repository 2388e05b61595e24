//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use crate::loss::LossKind;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::openai_chat::types::request_shape;
use crate::protocol::semantics::Shape;

/// Where a canonical field stands, below its node.
pub(in crate::protocol) fn pointer(field: Field, shape: Shape) -> &'static str {
    match field {
        Field::MaxOutputTokens if shape.has(request_shape::MAX_COMPLETION_TOKENS) => {
            "/max_completion_tokens"
        }
        Field::ThinkingEffort if shape.has(request_shape::REASONING_OBJECT) => "/reasoning/effort",
        Field::ToolChoice if shape.has(request_shape::FUNCTION_CALL) => "/function_call",
        Field::Seed if shape.has(request_shape::RANDOM_SEED) => "/random_seed",
        Field::ToolsStatedEmpty if shape.has(request_shape::FUNCTIONS) => "/functions",
        Field::ToolName
        | Field::ToolDescription
        | Field::ToolParameters
        | Field::ToolStrict
        | Field::ToolOutputSchema
            if shape.has(request_shape::FUNCTIONS) =>
        {
            in_function(field)
        }
        _ => usual_pointer(field),
    }
}

/// Where a field of a function stands below the function itself.
fn in_function(field: Field) -> &'static str {
    match field {
        Field::ToolName => "/name",
        Field::ToolDescription => "/description",
        Field::ToolParameters => "/parameters",
        Field::ToolStrict => "/strict",
        _ => "",
    }
}

fn usual_pointer(field: Field) -> &'static str {
    match field {
        Field::Model | Field::ResponseModel => "/model",
        Field::Stream => "/stream",
        Field::MaxOutputTokens => "/max_tokens",
        Field::Temperature => "/temperature",
        Field::TopP => "/top_p",
        Field::TopK => "/top_k",
        Field::Seed => "/seed",
        Field::PresencePenalty => "/presence_penalty",
        Field::FrequencyPenalty => "/frequency_penalty",
        Field::Stop => "/stop",
        Field::Candidates => "/n",
        Field::Logprobs => "/logprobs",
        Field::TopLogprobs => "/top_logprobs",
        Field::OutputFormat => "/response_format",
        Field::OutputSchema => "/response_format/json_schema/schema",
        Field::OutputSchemaName => "/response_format/json_schema/name",
        Field::OutputSchemaDescription => "/response_format/json_schema/description",
        Field::OutputSchemaStrict => "/response_format/json_schema/strict",
        Field::Verbosity => "/verbosity",
        Field::ThinkingMode => "/thinking/type",
        Field::ThinkingEffort => "/reasoning_effort",
        Field::ThinkingBudget => "/reasoning/max_tokens",
        Field::ThinkingShow => "/reasoning/exclude",
        Field::ToolChoice => "/tool_choice",
        Field::ParallelToolCalls => "/parallel_tool_calls",
        Field::SafetyIdentifier => "/safety_identifier",
        Field::User => "/user",
        Field::Metadata => "/metadata",
        Field::ServiceTier | Field::ResponseServiceTier => "/service_tier",
        Field::Store => "/store",
        Field::CacheKey => "/prompt_cache_key",
        Field::CacheOptions => "/prompt_cache_options",
        Field::CacheRetention => "/prompt_cache_retention",
        Field::PreviousResponse => "/previous_response_id",
        Field::Conversation => "/conversation",
        Field::ToolsStatedEmpty => "/tools",
        _ => node_pointer(field),
    }
}

/// The places of what messages, parts, tools and answers say.
fn node_pointer(field: Field) -> &'static str {
    match field {
        Field::Role => "/role",
        Field::MessageName | Field::ResultName => "/name",
        Field::MediaDetail => "/image_url/detail",
        Field::MediaName => "/file/filename",
        Field::MediaFile => "/file/file_id",
        Field::MediaUrl => "/image_url/url",
        Field::CallId | Field::ResponseId => "/id",
        Field::CallName => "/function/name",
        Field::CallArguments => "/function/arguments",
        Field::ResultCallId => "/tool_call_id",
        Field::ResultOutput | Field::ResultMedia => "/content",
        Field::CacheMarker => "/prompt_cache_breakpoint",
        // These stand beside the text they speak of, in its message and in its choice.
        Field::Citations => "../annotations",
        Field::PartLogprobs => "../../logprobs",
        Field::ToolName => "/function/name",
        Field::ToolDescription => "/function/description",
        Field::ToolParameters => "/function/parameters",
        Field::ToolStrict => "/function/strict",
        Field::CustomFormat => "/custom/format",
        Field::ResponseCreated => "/created",
        Field::FinishReason => "/finish_reason",
        Field::UsageInput => "/prompt_tokens",
        Field::UsageCacheRead => "/prompt_tokens_details/cached_tokens",
        Field::UsageCacheWrite | Field::UsageCacheWrite5m | Field::UsageCacheWrite1h => {
            "/prompt_tokens_details/cache_write_tokens"
        }
        Field::UsageOutput => "/completion_tokens",
        Field::UsageReasoning => "/completion_tokens_details/reasoning_tokens",
        Field::UsageTotal => "/total_tokens",
        // The rest are nodes of their own, or stand in a field whose place the node already names.
        _ => "",
    }
}

/// What becomes of a canonical field on its way into this protocol.
pub(in crate::protocol) fn fate(field: Field) -> Fate {
    match field {
        Field::Model
        | Field::Stream
        | Field::Candidates
        | Field::OutputFormat
        | Field::User
        | Field::MessageName
        | Field::Text
        | Field::ToolCall
        | Field::CallName
        | Field::CallArguments
        | Field::CustomCall
        | Field::ToolResult
        | Field::ResultOutput
        | Field::Refusal
        | Field::Tool
        | Field::ToolDescription
        | Field::CustomTool
        | Field::CustomFormat
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

        Field::MaxOutputTokens
        | Field::Temperature
        | Field::TopP
        | Field::Seed
        | Field::PresencePenalty
        | Field::FrequencyPenalty
        | Field::Stop
        | Field::Logprobs
        | Field::TopLogprobs => Fate::Depends("whether the model takes it"),
        Field::OutputSchema
        | Field::OutputSchemaName
        | Field::OutputSchemaDescription
        | Field::OutputSchemaStrict => Fate::Depends("whether the server takes a schema"),
        Field::ThinkingMode
        | Field::ThinkingEffort
        | Field::ThinkingBudget
        | Field::ThinkingShow => Fate::Depends("how the server is asked to reason"),
        Field::ToolChoice | Field::ParallelToolCalls => {
            Fate::Depends("whether the choice has a word here")
        }
        Field::Verbosity
        | Field::SafetyIdentifier
        | Field::Store
        | Field::Metadata
        | Field::CacheKey
        | Field::CacheRetention => Fate::Depends("whether the server knows it"),
        Field::ServiceTier => Fate::Depends("whether the tier has a name here"),
        Field::CacheOptions | Field::CacheMarker => Fate::Depends("whose words it is in"),
        Field::Role => Fate::Depends("whether the server knows the role"),
        Field::Image
        | Field::Audio
        | Field::Document
        | Field::MediaDetail
        | Field::MediaName
        | Field::MediaFile
        | Field::MediaUrl => Fate::Depends("the kind of media and where its bytes are"),
        Field::CallId | Field::ResultCallId => Fate::Depends("whether the server takes the id"),
        Field::ToolName => Fate::Depends("whether the server takes the name"),
        Field::ToolParameters | Field::ToolStrict => Fate::Depends("the schema's own words"),
        Field::Reasoning => Fate::Depends("whether it goes to a client or to a server"),
        Field::Citations => Fate::Depends("whether it goes to a client or to a server"),
        Field::PartLogprobs => Fate::Depends("whether it goes to a client or to a server"),
        Field::HostedTool | Field::NamespaceTool => Fate::Depends("what the tool does"),
        Field::ResultMedia => Fate::Depends("what the result holds"),
        Field::FinishReason => Fate::Depends("whether the reason has a word here"),

        Field::TopK
        | Field::PreviousResponse
        | Field::Conversation
        | Field::ToolsStatedEmpty
        | Field::Video
        | Field::ResultName
        | Field::ResultIsError
        | Field::Signature
        | Field::Ciphertext
        | Field::Opaque
        | Field::ItemId
        | Field::ItemStatus
        | Field::ItemPhase
        | Field::ToolOutputSchema
        | Field::ToolCacheMarker
        | Field::StopSequence
        | Field::FinishDetails
        | Field::UsageCacheWrite5m
        | Field::UsageCacheWrite1h
        | Field::UsageToolPrompt => lost(field),
    }
}

/// What never arrives as it was.
fn lost(field: Field) -> Fate {
    let (kind, reason) = match field {
        Field::TopK => (LossKind::Dropped, "Chat has no top k"),
        Field::PreviousResponse | Field::Conversation => {
            (LossKind::Dropped, "Chat servers hold no conversations")
        }
        Field::ToolsStatedEmpty => {
            (LossKind::Implied, "no tools and an empty list of tools mean the same")
        }
        Field::Video => (LossKind::Dropped, "Chat takes no video"),
        Field::ResultName => (LossKind::Implied, "results are paired with their calls by id"),
        Field::ResultIsError => (LossKind::Approximated, "Chat has no error flag on results"),
        Field::Signature | Field::Ciphertext => (LossKind::Withheld, "only its issuer can read it"),
        Field::ItemId => (LossKind::Implied, "Chat has no items"),
        Field::ItemStatus => (LossKind::Implied, "Chat has no items"),
        Field::ItemPhase => (LossKind::Dropped, "Chat tells no phases of an answer"),
        Field::ToolOutputSchema => (LossKind::Dropped, "Chat describes no outputs of tools"),
        Field::ToolCacheMarker => (LossKind::Dropped, "Chat has no markers on tools"),
        Field::StopSequence => {
            (LossKind::Dropped, "Chat does not tell which stop sequence was met")
        }
        Field::FinishDetails => (LossKind::Dropped, "Chat tells no details of an answer's end"),
        Field::UsageCacheWrite5m | Field::UsageCacheWrite1h => {
            (LossKind::Dropped, "Chat does not split cache writes by time")
        }
        Field::UsageToolPrompt => {
            (LossKind::Dropped, "Chat counts the results of hosted tools as input")
        }
        _ => (LossKind::Dropped, "Chat has nothing like it"),
    };
    Fate::Lost(kind, reason)
}
