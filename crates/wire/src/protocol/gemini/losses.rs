//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use crate::conversation::Count;
use crate::conversation::Finish;
use crate::loss::LossKind;
use crate::loss::LossKind::Approximated;
use crate::loss::LossKind::Dropped;
use crate::loss::LossKind::Implied;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::field::FieldSet;
use crate::protocol::field::lost_fields;
use crate::protocol::field::usage_field;
use crate::protocol::gemini::decode_response::is_finer;
use crate::protocol::gemini::types::CITED_APART;
use crate::protocol::gemini::types::JSON_SCHEMA;
use crate::protocol::gemini::types::OUTPUT_JSON_SCHEMA;
use crate::protocol::gemini::types::PART_NAMES;
use crate::protocol::gemini::types::REQUEST_NAMES;
use crate::protocol::gemini::types::Shape;
use crate::protocol::gemini::types::TOOL_NAMES;
use crate::protocol::gemini::types::TOOLS_JSON_SCHEMA;
use crate::protocol::gemini::types::is_respelled;
use crate::protocol::gemini::types::spelled;
use crate::protocol::gemini::types::spelled_below;
use crate::protocol::gemini::usage::USAGE;
use crate::protocol::losing::FINER_FINISH;
use crate::protocol::semantics::Spelling;
use crate::protocol::usage::Row;

/// The pointer of a field of `generationConfig`, in the spellings that the request uses.
macro_rules! generation {
    ($shape:expr, $camel:literal) => {
        generation!($shape, $camel, $camel)
    };
    ($shape:expr, $camel:literal, $snake:literal) => {
        match (is_snake($shape, "generationConfig"), is_snake($shape, $camel)) {
            (false, false) => concat!("/generationConfig/", $camel),
            (false, true) => concat!("/generationConfig/", $snake),
            (true, false) => concat!("/generation_config/", $camel),
            (true, true) => concat!("/generation_config/", $snake),
        }
    };
    ($shape:expr, $outer:literal, $inner:literal, "") => {
        match is_snake($shape, "generationConfig") {
            false => concat!("/generationConfig/", $outer, $inner),
            true => concat!("/generation_config/", $outer, $inner),
        }
    };
}

/// The pointer of a field of `thinkingConfig`, in the spellings that the request uses.
macro_rules! thinking {
    ($shape:expr, $camel:literal, $snake:literal) => {
        match (is_snake($shape, "thinkingConfig"), is_snake($shape, $camel)) {
            (false, false) => generation!($shape, "thinkingConfig/", $camel, ""),
            (false, true) => generation!($shape, "thinkingConfig/", $snake, ""),
            (true, false) => generation!($shape, "thinking_config/", $camel, ""),
            (true, true) => generation!($shape, "thinking_config/", $snake, ""),
        }
    };
}

/// Where a canonical field stands, below its node.
pub(in crate::protocol) fn pointer(field: Field, spelling: Spelling) -> &'static str {
    let shape: Shape = spelling.of();
    match field {
        Field::Model => "/model",
        Field::Stream => "/stream",
        Field::MaxOutputTokens => generation!(shape, "maxOutputTokens", "max_output_tokens"),
        Field::Temperature => generation!(shape, "temperature"),
        Field::TopP => generation!(shape, "topP", "top_p"),
        Field::TopK => generation!(shape, "topK", "top_k"),
        Field::Seed => generation!(shape, "seed"),
        Field::PresencePenalty => generation!(shape, "presencePenalty", "presence_penalty"),
        Field::FrequencyPenalty => generation!(shape, "frequencyPenalty", "frequency_penalty"),
        Field::Stop => generation!(shape, "stopSequences", "stop_sequences"),
        Field::Candidates => generation!(shape, "candidateCount", "candidate_count"),
        Field::Logprobs => generation!(shape, "responseLogprobs", "response_logprobs"),
        Field::TopLogprobs => generation!(shape, "logprobs"),
        Field::OutputFormat => generation!(shape, "responseMimeType", "response_mime_type"),
        Field::OutputSchema
        | Field::OutputSchemaName
        | Field::OutputSchemaDescription
        | Field::OutputSchemaStrict => output_schema(shape),
        Field::Verbosity => "/verbosity",
        Field::ThinkingMode | Field::ThinkingBudget => {
            thinking!(shape, "thinkingBudget", "thinking_budget")
        }
        Field::ThinkingEffort => thinking!(shape, "thinkingLevel", "thinking_level"),
        Field::ThinkingShow => thinking!(shape, "includeThoughts", "include_thoughts"),
        Field::ToolChoice => tool_choice(shape),
        Field::ParallelToolCalls => tool_choice(shape),
        Field::SafetyIdentifier | Field::User | Field::Metadata => "/labels",
        Field::ServiceTier => match is_snake(shape, "serviceTier") {
            false => "/serviceTier",
            true => "/service_tier",
        },
        Field::Store => "/store",
        Field::CacheKey | Field::CacheOptions | Field::CacheRetention => "/cachedContent",
        Field::PreviousResponse | Field::Conversation => "/contents",
        Field::ToolsStatedEmpty => "/tools",
        Field::Role => "/role",
        Field::MessageName => "/name",
        Field::Text
        | Field::Reasoning
        | Field::Refusal
        | Field::Opaque
        | Field::CacheMarker
        | Field::ItemId
        | Field::ItemStatus
        | Field::ItemPhase
        | Field::Image
        | Field::Audio
        | Field::Video
        | Field::Document
        | Field::MediaFile
        | Field::MediaUrl
        | Field::ToolCall
        | Field::CustomCall
        | Field::ToolResult
        | Field::ResultMedia
        | Field::Tool
        | Field::ToolStrict
        | Field::ToolCacheMarker
        | Field::CustomTool
        | Field::CustomFormat
        | Field::HostedTool
        | Field::NamespaceTool => "",
        // The sources of an answer and the log probabilities of its tokens stand beside its content.
        Field::Citations if shape.has(CITED_APART) => "../../citationMetadata",
        Field::Citations => "../../groundingMetadata",
        Field::PartLogprobs => "../../logprobsResult",
        Field::MediaDetail => "/mediaResolution",
        Field::MediaName => "/inlineData/displayName",
        Field::CallId => "/functionCall/id",
        Field::CallName => "/functionCall/name",
        Field::CallArguments => "/functionCall/args",
        Field::ResultCallId => "/functionResponse/id",
        Field::ResultName => "/functionResponse/name",
        Field::ResultOutput | Field::ResultIsError => "/functionResponse/response",
        Field::Signature | Field::Ciphertext => "/thoughtSignature",
        Field::ToolName => "/name",
        Field::ToolDescription => "/description",
        Field::ToolParameters => match shape.has(TOOLS_JSON_SCHEMA) {
            false => "/parameters",
            true => "/parametersJsonSchema",
        },
        Field::ToolOutputSchema => "/response",
        Field::ResponseId => "/responseId",
        Field::ResponseModel => "/modelVersion",
        Field::ResponseCreated => "/createTime",
        Field::ResponseServiceTier => "/usageMetadata/serviceTier",
        Field::FinishReason | Field::StopSequence => "/finishReason",
        Field::FinishDetails => "/finishMessage",
        usage_field!() => usage(field).pointer,
    }
}

/// Whether names below a part or a tool stand there in another spelling than those of the request have it.
pub(in crate::protocol) fn is_spelled_apart(spelling: Spelling, request: Spelling) -> bool {
    let (shape, request): (Shape, Shape) = (spelling.of(), request.of());
    let has_other_schema = request.has(TOOLS_JSON_SCHEMA) && !shape.has(JSON_SCHEMA);
    has_other_schema || is_respelled(PART_NAMES, shape) || is_respelled(TOOL_NAMES, shape)
}

/// A pointer below a part or a tool, with its names as that node spells them.
pub(in crate::protocol) fn respelled(suffix: &str, spelling: Spelling) -> String {
    let shape: Shape = spelling.of();
    if let Some(inner) = suffix.strip_prefix("/parametersJsonSchema")
        && !shape.has(JSON_SCHEMA)
    {
        return format!("/parameters{inner}");
    }
    let names = suffix.split('/').map(|name| spelled_below(name, shape));
    names.collect::<Vec<_>>().join("/")
}

fn is_snake(shape: Shape, camel: &'static str) -> bool {
    spelled(REQUEST_NAMES, camel, shape) != camel
}

fn output_schema(shape: Shape) -> &'static str {
    match shape.has(OUTPUT_JSON_SCHEMA) {
        false => generation!(shape, "responseSchema", "response_schema"),
        true => generation!(shape, "responseJsonSchema", "response_json_schema"),
    }
}

fn tool_choice(shape: Shape) -> &'static str {
    match (is_snake(shape, "toolConfig"), is_snake(shape, "functionCallingConfig")) {
        (false, false) => "/toolConfig/functionCallingConfig",
        (false, true) => "/toolConfig/function_calling_config",
        (true, false) => "/tool_config/functionCallingConfig",
        (true, true) => "/tool_config/function_calling_config",
    }
}

const NO_CACHE: &str = "Gemini caches prompts automatically";
const NO_STATE: &str = "Gemini keeps no conversation on the server";
const NO_ITEMS: &str = "parts have no ids in Gemini";

/// The fields that never arrive here as they were.
pub(in crate::protocol) const LOST: FieldSet = lost_fields!(fate);

/// What becomes of a canonical field on its way into this protocol.
pub(in crate::protocol) const fn fate(field: Field) -> Fate {
    match field {
        Field::Model => Fate::Depends("Gemini has it in the URL, not in the body"),
        Field::Stream => Fate::Implied("streaming is chosen by the method in the URL"),
        Field::MaxOutputTokens
        | Field::Candidates
        | Field::OutputSchemaStrict
        | Field::ParallelToolCalls
        | Field::ServiceTier
        | Field::Store
        | Field::ToolStrict
        | Field::ToolChoice
        | Field::ToolOutputSchema => Fate::Depends("depends on the value"),
        Field::Temperature
        | Field::TopP
        | Field::TopK
        | Field::PresencePenalty
        | Field::FrequencyPenalty
        | Field::Logprobs
        | Field::TopLogprobs => Fate::Depends("depends on what the model supports"),
        Field::Seed => Fate::Depends("must fit into 32 bits"),
        Field::Stop => Fate::Depends("the number of sequences is limited"),
        Field::OutputFormat | Field::OutputSchema => {
            Fate::Depends("depends on the model and the tools")
        }
        Field::OutputSchemaName => {
            Fate::Lost(Implied, "the name has no effect outside of the request")
        }
        Field::OutputSchemaDescription => Fate::Depends("depends on whether there is a schema"),
        Field::Verbosity => Fate::Lost(Dropped, "Gemini has no such setting"),
        Field::ThinkingMode
        | Field::ThinkingEffort
        | Field::ThinkingBudget
        | Field::ThinkingShow => Fate::Depends("depends on how the model's thinking is configured"),
        Field::SafetyIdentifier | Field::User => {
            Fate::Lost(Dropped, "Gemini has no identifier of the end user")
        }
        Field::Metadata => Fate::Lost(Approximated, "sent as labels"),
        Field::CacheKey | Field::CacheOptions | Field::CacheRetention | Field::CacheMarker => {
            Fate::Lost(Dropped, NO_CACHE)
        }
        Field::ToolCacheMarker => Fate::Lost(Dropped, NO_CACHE),
        Field::PreviousResponse | Field::Conversation => Fate::Lost(Dropped, NO_STATE),
        Field::ToolsStatedEmpty => Fate::Implied("an empty list of tools means the same as none"),
        Field::Role => Fate::Depends("depends on the position of the instructions"),
        Field::MessageName => Fate::Lost(Dropped, "messages have no participant names in Gemini"),
        Field::Text | Field::CallName | Field::ResultName => Fate::Carried,
        Field::Image | Field::Audio | Field::Video | Field::Document => Fate::Carried,
        Field::MediaDetail => Fate::Depends("depends on the model"),
        Field::MediaName => Fate::Lost(Dropped, "files have no names in Gemini"),
        Field::MediaFile => Fate::Depends("a file id is only valid for its vendor"),
        Field::MediaUrl => Fate::Depends("depends on whether the MIME type is known"),
        Field::ToolCall | Field::ToolResult => Fate::Carried,
        Field::CallId | Field::ResultCallId => {
            Fate::Depends("depends on whether the model pairs calls by id")
        }
        Field::CallArguments => Fate::Depends("arguments must be an object in Gemini"),
        Field::CustomCall => Fate::Depends("depends on whether the call is a custom one"),
        Field::ResultOutput | Field::ResultMedia => {
            Fate::Depends("depends on the content of the result")
        }
        Field::ResultIsError => Fate::Carried,
        Field::Reasoning | Field::Signature | Field::Ciphertext => {
            Fate::Depends("depends on who issued it")
        }
        Field::Refusal => Fate::Depends("sent as plain text"),
        Field::Opaque => Fate::Depends("depends on what it is"),
        Field::Citations | Field::PartLogprobs => {
            Fate::Depends("depends on whether it is an answer")
        }
        Field::ItemId | Field::ItemStatus => Fate::Implied(NO_ITEMS),
        Field::ItemPhase => Fate::Lost(Dropped, "parts have no phase in Gemini"),
        Field::Tool | Field::ToolDescription => Fate::Carried,
        Field::ToolName => Fate::Depends("names are limited in characters and length"),
        Field::ToolParameters => {
            Fate::Depends("depends on the schema keywords that the model supports")
        }
        Field::CustomTool => {
            Fate::Lost(Approximated, "sent as a function with one string argument")
        }
        Field::CustomFormat => Fate::Lost(Dropped, "a string argument has no grammar"),
        Field::HostedTool => Fate::Depends("depends on the tools that the vendor hosts"),
        Field::NamespaceTool => Fate::Lost(Approximated, "namespaces are flattened"),
        Field::ResponseId | Field::ResponseModel | Field::FinishReason => Fate::Carried,
        Field::ResponseCreated => Fate::Implied("Gemini states no creation time"),
        Field::ResponseServiceTier => Fate::Depends("depends on the value"),
        Field::StopSequence => {
            Fate::Lost(Dropped, "Gemini does not state which stop sequence was met")
        }
        Field::FinishDetails => Fate::Lost(Dropped, "the finish reason has no details in Gemini"),
        usage_field!() => usage(field).fate,
    }
}

/// The row of a field of usage.
const fn usage(field: Field) -> &'static Row {
    const { &USAGE }.row(Count::of(field).expect("a field of usage is a count"))
}

/// What any other protocol loses of why an answer ended.
pub(in crate::protocol::gemini) fn finish_loss(
    finish: &Finish<'_>,
) -> Option<(LossKind, &'static str)> {
    is_finer(finish).then_some((LossKind::Approximated, FINER_FINISH))
}
