//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use super::types::OUTPUT_FORMAT;
use crate::loss::LossKind;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::semantics::Shape;

/// Where a canonical field stands, below its node.
pub(in crate::protocol) fn pointer(field: Field, shape: Shape) -> &'static str {
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
        Field::Stop => "/stop_sequences",
        Field::Candidates => "/n",
        Field::Logprobs => "/logprobs",
        Field::TopLogprobs => "/top_logprobs",
        Field::OutputFormat if shape.has(OUTPUT_FORMAT) => "/output_format",
        Field::OutputFormat => "/output_config/format",
        Field::OutputSchema if shape.has(OUTPUT_FORMAT) => "/output_format/schema",
        Field::OutputSchema => "/output_config/format/schema",
        Field::OutputSchemaName => "/output_config/format/name",
        Field::OutputSchemaDescription => "/output_config/format/description",
        Field::OutputSchemaStrict => "/output_config/format/strict",
        Field::Verbosity => "/output_config/verbosity",
        Field::ThinkingMode => "/thinking/type",
        Field::ThinkingEffort => "/output_config/effort",
        Field::ThinkingBudget => "/thinking/budget_tokens",
        Field::ThinkingShow => "/thinking/display",
        Field::ToolChoice => "/tool_choice",
        Field::ParallelToolCalls => "/tool_choice/disable_parallel_tool_use",
        Field::SafetyIdentifier | Field::User => "/metadata/user_id",
        Field::Metadata => "/metadata",
        Field::ServiceTier => "/service_tier",
        Field::Store => "/store",
        Field::CacheKey | Field::CacheOptions | Field::CacheRetention => "/cache_control",
        Field::PreviousResponse => "/thread/previous_message_id",
        Field::Conversation => "/thread",
        Field::ToolsStatedEmpty => "/tools",
        _ => pointer_of_node(field),
    }
}

/// Where a field stands that is not the request's.
fn pointer_of_node(field: Field) -> &'static str {
    match field {
        Field::Role => "/role",
        Field::MessageName | Field::CallName | Field::ResultName | Field::ToolName => "/name",
        Field::Text | Field::Refusal => "/text",
        Field::MediaDetail => "/detail",
        Field::MediaName => "/title",
        Field::MediaFile => "/source/file_id",
        Field::MediaUrl => "/source/url",
        Field::CallId | Field::ItemId | Field::ResponseId => "/id",
        Field::CallArguments => "/input",
        Field::ResultCallId => "/tool_use_id",
        Field::ResultOutput | Field::ResultMedia => "/content",
        Field::ResultIsError => "/is_error",
        Field::Signature => "/signature",
        Field::Ciphertext => "/data",
        Field::CacheMarker | Field::ToolCacheMarker => "/cache_control",
        Field::Citations => "/citations",
        Field::PartLogprobs => "/logprobs",
        Field::ItemStatus => "/status",
        Field::ItemPhase => "/phase",
        Field::ToolDescription => "/description",
        Field::ToolParameters => "/input_schema",
        Field::ToolStrict => "/strict",
        Field::ToolOutputSchema => "/output_schema",
        Field::CustomFormat => "/format",
        Field::ResponseCreated => "/created",
        Field::ResponseServiceTier => "/usage/service_tier",
        Field::FinishReason => "/stop_reason",
        Field::StopSequence => "/stop_sequence",
        Field::FinishDetails => "/stop_details",
        Field::UsageInput => "/input_tokens",
        Field::UsageCacheRead => "/cache_read_input_tokens",
        Field::UsageCacheWrite => "/cache_creation_input_tokens",
        Field::UsageCacheWrite5m => "/cache_creation/ephemeral_5m_input_tokens",
        Field::UsageCacheWrite1h => "/cache_creation/ephemeral_1h_input_tokens",
        Field::UsageToolPrompt => "/tool_prompt_tokens",
        Field::UsageOutput => "/output_tokens",
        Field::UsageReasoning => "/output_tokens_details/thinking_tokens",
        Field::UsageTotal => "/total_tokens",
        // The rest are whole nodes, or fields that the function above has answered for.
        _ => "",
    }
}

/// What becomes of a canonical field on its way into this protocol.
pub(in crate::protocol) fn fate(field: Field) -> Fate {
    match field {
        Field::Model | Field::Stream | Field::StopSequence | Field::ResponseId => Fate::Carried,
        Field::ResponseModel | Field::FinishDetails => Fate::Depends("whose words they are"),
        Field::MaxOutputTokens => Fate::Depends("required, and above the thinking budget"),
        Field::Temperature | Field::TopP | Field::TopK => {
            Fate::Depends("the version and the model")
        }
        Field::Seed => dropped("there is no seed"),
        Field::PresencePenalty | Field::FrequencyPenalty => {
            Fate::Depends("zero is what it does anyway")
        }
        Field::Stop => Fate::Depends("whitespace alone is refused"),
        Field::Candidates => Fate::Depends("there is one answer"),
        Field::Logprobs | Field::TopLogprobs => Fate::Depends("none are told"),
        Field::OutputFormat => Fate::Depends("there is no mode for JSON of any shape"),
        Field::OutputSchema => Fate::Depends("a subset of JSON Schema, on models that take it"),
        Field::OutputSchemaName => dropped("output schemas have no name"),
        Field::OutputSchemaDescription => dropped("output schemas have no description"),
        Field::OutputSchemaStrict => Fate::Depends("output schemas are always strict"),
        Field::Verbosity => Fate::Depends("medium is what it does anyway"),
        Field::ThinkingMode
        | Field::ThinkingEffort
        | Field::ThinkingBudget
        | Field::ThinkingShow => Fate::Depends("the model's way of thinking"),
        Field::ToolChoice | Field::ParallelToolCalls => Fate::Depends("the tools and the model"),
        Field::SafetyIdentifier => Fate::Carried,
        Field::User => Fate::Depends("there is one id for the end user"),
        Field::Metadata => dropped("only the end user's id is accepted"),
        Field::ServiceTier => Fate::Depends("the vendors' tiers differ"),
        Field::Store => Fate::Depends("nothing is stored"),
        Field::CacheKey => dropped("the cache has no keys"),
        Field::CacheOptions | Field::CacheRetention => dropped("the cache is asked for by marks"),
        Field::PreviousResponse | Field::Conversation => Fate::Depends("refused: no state is held"),
        Field::ToolsStatedEmpty => {
            Fate::Lost(LossKind::Implied, "no tools and an empty list of tools are the same")
        }
        _ => fate_of_node(field),
    }
}

/// What becomes of a field that is not the request's.
fn fate_of_node(field: Field) -> Fate {
    match field {
        Field::Role => Fate::Depends("developers and late system messages"),
        Field::MessageName => dropped("speakers have no names"),
        Field::Text => Fate::Depends("blank text is refused"),
        Field::Image | Field::Document => Fate::Depends("the type of the file"),
        Field::Audio => dropped("sound is neither heard nor spoken"),
        Field::Video => dropped("films are not seen"),
        Field::MediaDetail => Fate::Depends("auto is what it does anyway"),
        Field::MediaName => Fate::Depends("only documents have a title"),
        Field::MediaFile => Fate::Lost(LossKind::Withheld, "a file that only its vendor holds"),
        Field::MediaUrl => Fate::Carried,
        Field::ToolCall | Field::CallName | Field::CallId | Field::CallArguments => {
            Fate::Depends("names and ids of its own alphabet, arguments as an object")
        }
        Field::CustomCall => Fate::Depends("free text becomes the one argument"),
        Field::ToolResult | Field::ResultCallId | Field::ResultIsError => Fate::Carried,
        Field::ResultName => Fate::Depends("results are paired by id"),
        Field::ResultOutput | Field::ResultMedia => Fate::Depends("the form of the result"),
        Field::Reasoning | Field::Signature | Field::Ciphertext => Fate::Depends("its issuer"),
        Field::Refusal => Fate::Lost(LossKind::Approximated, "a refusal is text like any other"),
        Field::Opaque => Fate::Depends("its issuer"),
        Field::CacheMarker => Fate::Depends("at most four, with times of its own"),
        Field::Citations => Fate::Depends("their shape"),
        Field::PartLogprobs => dropped("no log probabilities are told"),
        Field::ItemId => Fate::Lost(LossKind::Implied, "blocks have no ids of their own"),
        Field::ItemStatus => Fate::Lost(LossKind::Implied, "blocks have no status"),
        Field::ItemPhase => dropped("texts have no phase"),
        _ => fate_of_tool_or_answer(field),
    }
}

fn fate_of_tool_or_answer(field: Field) -> Fate {
    match field {
        Field::Tool | Field::ToolDescription => Fate::Carried,
        Field::ToolName => Fate::Depends("names of its own alphabet"),
        Field::ToolParameters => Fate::Depends("the root is an object"),
        Field::ToolStrict => Fate::Depends("the model"),
        Field::ToolOutputSchema => dropped("tools have no schema for results"),
        Field::ToolCacheMarker => Fate::Carried,
        Field::CustomTool | Field::CustomFormat => Fate::Depends("a function of one string"),
        Field::HostedTool => Fate::Depends("what the vendor hosts"),
        Field::NamespaceTool => Fate::Depends("namespaces are flattened"),
        Field::ResponseCreated => dropped("answers have no time"),
        Field::ResponseServiceTier => Fate::Depends("the vendors' tiers differ"),
        Field::FinishReason => Fate::Depends("the reasons that it has"),
        Field::UsageToolPrompt => Fate::Lost(LossKind::Implied, "part of the input"),
        Field::UsageTotal => Fate::Lost(LossKind::Implied, "the sum of the other counts"),
        // Counts that arrive, and fields that the functions above have answered for.
        _ => Fate::Carried,
    }
}

const fn dropped(reason: &'static str) -> Fate {
    Fate::Lost(LossKind::Dropped, reason)
}
