//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use super::types::OUTPUT_FORMAT;
use crate::conversation::Count;
use crate::conversation::Finish;
use crate::conversation::FinishKind;
use crate::loss::LossKind;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::anthropic_messages::types::Shape;
use crate::protocol::anthropic_messages::usage::USAGE;
use crate::protocol::field::FieldSet;
use crate::protocol::field::lost_fields;
use crate::protocol::losing::FINER_FINISH;
use crate::protocol::semantics::Spelling;

/// Where a canonical field stands, below its node.
pub(in crate::protocol) fn pointer(field: Field, spelling: Spelling) -> &'static str {
    let shape: Shape = spelling.of();
    match field {
        Field::OutputFormat if shape.has(OUTPUT_FORMAT) => "/output_format",
        Field::OutputSchema if shape.has(OUTPUT_FORMAT) => "/output_format/schema",
        _ => row_of(field).pointer,
    }
}

/// The fields that never arrive here as they were.
pub(in crate::protocol) const LOST: FieldSet = lost_fields!(fate);

/// What becomes of a canonical field on its way into this protocol.
pub(in crate::protocol) const fn fate(field: Field) -> Fate {
    row_of(field).fate
}

/// What this protocol says to one canonical field.
#[derive(Clone, Copy)]
struct Row {
    field: Field,
    /// Empty for a whole node.
    pointer: &'static str,
    fate: Fate,
}

const fn row_of(field: Field) -> Row {
    match Count::of(field) {
        Some(count) => row(field, USAGE.row(count).pointer, USAGE.row(count).fate),
        None => TABLE[field as usize],
    }
}

/// Every field but those of the usage, in the order of their declaration: one that is missing breaks the build.
const TABLE: [Row; Field::UsageInput as usize] = [
    // The request as a whole.
    row(Field::Model, "/model", depends("other protocols may name the model outside the body")),
    row(Field::Stream, "/stream", CARRIED),
    row(
        Field::MaxOutputTokens,
        "/max_tokens",
        depends("required, and must exceed the thinking budget"),
    ),
    row(Field::Temperature, "/temperature", depends("depends on the API version and the model")),
    row(Field::TopP, "/top_p", depends("depends on the API version and the model")),
    row(Field::TopK, "/top_k", depends("depends on the API version and the model")),
    row(Field::Seed, "/seed", dropped("Messages has no seed")),
    row(Field::PresencePenalty, "/presence_penalty", depends("zero is the default")),
    row(Field::FrequencyPenalty, "/frequency_penalty", depends("zero is the default")),
    row(Field::Stop, "/stop_sequences", depends("sequences of whitespace alone are refused")),
    row(Field::Candidates, "/n", depends("Messages returns one answer")),
    row(Field::Logprobs, "/logprobs", depends("Messages returns no log probabilities")),
    row(Field::TopLogprobs, "/top_logprobs", depends("Messages returns no log probabilities")),
    row(Field::OutputFormat, FORMAT, depends("Messages has no JSON mode without a schema")),
    row(Field::OutputSchema, SCHEMA, depends("a subset of JSON Schema, on models that support it")),
    row(Field::OutputSchemaName, NAME, dropped("output schemas have no name in Messages")),
    row(
        Field::OutputSchemaDescription,
        DESCRIPTION,
        depends("depends on whether there is a schema"),
    ),
    row(Field::OutputSchemaStrict, STRICT, depends("output schemas are always strict in Messages")),
    row(Field::Verbosity, "/output_config/verbosity", depends("medium is the default")),
    row(
        Field::ThinkingMode,
        "/thinking/type",
        depends("depends on how the model's thinking is configured"),
    ),
    row(
        Field::ThinkingEffort,
        "/output_config/effort",
        depends("depends on how the model's thinking is configured"),
    ),
    row(
        Field::ThinkingBudget,
        "/thinking/budget_tokens",
        depends("depends on how the model's thinking is configured"),
    ),
    row(
        Field::ThinkingShow,
        "/thinking/display",
        depends("depends on how the model's thinking is configured"),
    ),
    row(Field::ToolChoice, "/tool_choice", depends("depends on the tools and the model")),
    row(Field::ParallelToolCalls, SERIAL, depends("depends on the tools and the model")),
    row(Field::SafetyIdentifier, "/metadata/user_id", CARRIED),
    row(Field::User, "/metadata/user_id", depends("Messages has one identifier of the end user")),
    row(Field::Metadata, "/metadata", dropped("Messages accepts only the end user's id")),
    row(Field::ServiceTier, "/service_tier", depends("each vendor has its own tiers")),
    row(Field::Store, "/store", depends("Messages stores nothing")),
    row(Field::CacheKey, "/cache_control", dropped("Messages has no cache keys")),
    row(Field::CacheOptions, "/cache_control", dropped("Messages caches by markers in the prompt")),
    row(
        Field::CacheRetention,
        "/cache_control",
        dropped("Messages caches by markers in the prompt"),
    ),
    row(
        Field::PreviousResponse,
        "/thread/previous_message_id",
        dropped("Messages keeps no state on the server"),
    ),
    row(Field::Conversation, "/thread", dropped("Messages keeps no state on the server")),
    row(
        Field::ToolsStatedEmpty,
        "/tools",
        implied("an empty list of tools means the same as none"),
    ),
    // Messages.
    row(
        Field::Role,
        "/role",
        depends("developer and late system messages have no role of their own"),
    ),
    row(Field::MessageName, "/name", dropped("messages have no participant names in Messages")),
    // Parts.
    row(Field::Text, "/text", depends("blank text is refused by Messages")),
    row(Field::Image, "", depends("depends on the MIME type")),
    row(Field::Audio, "", dropped("Messages has no audio input or output")),
    row(Field::Video, "", dropped("Messages has no video input")),
    row(Field::Document, "", depends("depends on the MIME type")),
    row(Field::MediaDetail, "/detail", depends("auto is the default")),
    row(Field::MediaName, "/title", depends("only documents have a title in Messages")),
    row(Field::MediaFile, "/source/file_id", depends("a file id is only valid for its vendor")),
    row(Field::MediaUrl, "/source/url", CARRIED),
    row(Field::ToolCall, "", CARRIED),
    row(Field::CallId, "/id", depends("Messages restricts the characters of ids and names")),
    row(Field::CallName, "/name", depends("Messages restricts the characters of ids and names")),
    row(Field::CallArguments, "/input", depends("arguments must be an object in Messages")),
    row(Field::CustomCall, "", depends("free text is sent as the only argument")),
    row(Field::ToolResult, "", CARRIED),
    row(Field::ResultCallId, "/tool_use_id", CARRIED),
    row(Field::ResultName, "/name", depends("results are paired with their calls by id")),
    row(Field::ResultOutput, "/content", depends("depends on the content of the result")),
    row(Field::ResultMedia, "/content", depends("depends on the content of the result")),
    row(Field::ResultIsError, "/is_error", CARRIED),
    row(Field::Reasoning, "", depends("depends on who issued it")),
    row(Field::Signature, "/signature", depends("depends on who issued it")),
    row(Field::Ciphertext, "/data", depends("depends on who issued it")),
    row(Field::Refusal, "/text", approximated("Messages has no refusals; sent as text")),
    row(Field::Opaque, "", depends("depends on who issued it")),
    row(
        Field::CacheMarker,
        "/cache_control",
        depends("at most four markers, with Messages' own lifetimes"),
    ),
    row(Field::Citations, "/citations", depends("depends on the kind of citation")),
    row(Field::PartLogprobs, "/logprobs", dropped("Messages returns no log probabilities")),
    row(Field::ItemId, "/id", implied("blocks have no ids in Messages")),
    row(Field::ItemStatus, "/status", implied("blocks have no status in Messages")),
    row(Field::ItemPhase, "/phase", dropped("text has no phase in Messages")),
    // Tools.
    row(Field::Tool, "", CARRIED),
    row(Field::ToolName, "/name", depends("Messages restricts the characters of ids and names")),
    row(Field::ToolDescription, "/description", CARRIED),
    row(
        Field::ToolParameters,
        "/input_schema",
        depends("the root of the schema must be an object"),
    ),
    row(Field::ToolStrict, "/strict", depends("depends on the model")),
    row(
        Field::ToolOutputSchema,
        "/output_schema",
        dropped("Messages has no output schemas of tools"),
    ),
    row(Field::ToolCacheMarker, "/cache_control", CARRIED),
    row(Field::CustomTool, "", depends("sent as a function with one string argument")),
    row(Field::CustomFormat, "/format", depends("sent as a function with one string argument")),
    row(Field::HostedTool, "", depends("depends on the tools that the vendor hosts")),
    row(Field::NamespaceTool, "", depends("namespaces are flattened")),
    // The response as a whole.
    row(Field::ResponseId, "/id", CARRIED),
    row(
        Field::ResponseModel,
        "/model",
        depends("depends on the model name that the client asked for"),
    ),
    row(Field::ResponseCreated, "/created", implied("Messages states no creation time")),
    row(
        Field::ResponseServiceTier,
        "/usage/service_tier",
        depends("each vendor has its own tiers"),
    ),
    row(
        Field::FinishReason,
        "/stop_reason",
        depends("depends on whether Messages has this finish reason"),
    ),
    row(Field::StopSequence, "/stop_sequence", CARRIED),
    row(Field::FinishDetails, "/stop_details", depends("depends on which vendor stated them")),
];

// Rows are found by the number of their field.
const _: () = {
    let mut index = 0;
    while index < TABLE.len() {
        assert!(TABLE[index].field as usize == index, "a row is out of order");
        index += 1;
    }
};

const FORMAT: &str = "/output_config/format";
const SCHEMA: &str = "/output_config/format/schema";
const NAME: &str = "/output_config/format/name";
const DESCRIPTION: &str = "/output_config/format/description";
const STRICT: &str = "/output_config/format/strict";
const SERIAL: &str = "/tool_choice/disable_parallel_tool_use";

const CARRIED: Fate = Fate::Carried;

const fn row(field: Field, pointer: &'static str, fate: Fate) -> Row {
    Row { field, pointer, fate }
}

const fn depends(words: &'static str) -> Fate {
    Fate::Depends(words)
}

const fn implied(reason: &'static str) -> Fate {
    Fate::Implied(reason)
}

const fn approximated(reason: &'static str) -> Fate {
    Fate::Lost(LossKind::Approximated, reason)
}

const fn dropped(reason: &'static str) -> Fate {
    Fate::Lost(LossKind::Dropped, reason)
}

/// What any other protocol loses of why an answer ended.
pub(in crate::protocol::anthropic_messages) fn finish_loss(
    finish: &Finish<'_>,
) -> Option<(LossKind, &'static str)> {
    (finish.kind == FinishKind::Pause).then_some((LossKind::Approximated, FINER_FINISH))
}
