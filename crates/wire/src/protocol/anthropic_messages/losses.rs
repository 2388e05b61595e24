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
        Some(count) => {
            let row = USAGE.row(count);
            Row { field, pointer: row.pointer, fate: row.fate }
        }
        None => TABLE[field as usize],
    }
}

/// Every field but those of the usage, in the order of their declaration: one that is missing breaks the build.
const TABLE: [Row; Field::UsageInput as usize] = [
    // The request as a whole.
    depends(Field::Model, "/model", "other protocols may name the model outside the body"),
    carried(Field::Stream, "/stream"),
    depends(Field::MaxOutputTokens, "/max_tokens", "required, and must exceed the thinking budget"),
    depends(Field::Temperature, "/temperature", BY_VERSION),
    depends(Field::TopP, "/top_p", BY_VERSION),
    depends(Field::TopK, "/top_k", BY_VERSION),
    dropped(Field::Seed, "/seed", "Messages has no seed"),
    depends(Field::PresencePenalty, "/presence_penalty", NO_PENALTIES),
    depends(Field::FrequencyPenalty, "/frequency_penalty", NO_PENALTIES),
    depends(Field::Stop, "/stop_sequences", "sequences of whitespace alone are refused"),
    depends(Field::Candidates, "/n", "Messages returns one answer"),
    depends(Field::Logprobs, "/logprobs", NO_LOGPROBS),
    depends(Field::TopLogprobs, "/top_logprobs", NO_LOGPROBS),
    depends(Field::OutputFormat, FORMAT, "Messages has no JSON mode without a schema"),
    depends(Field::OutputSchema, SCHEMA, "a subset of JSON Schema, on models that support it"),
    dropped(Field::OutputSchemaName, NAME, "output schemas have no name in Messages"),
    depends(Field::OutputSchemaDescription, DESCRIPTION, "depends on whether there is a schema"),
    depends(Field::OutputSchemaStrict, STRICT, "output schemas are always strict in Messages"),
    depends(
        Field::Verbosity,
        "/output_config/verbosity",
        "Messages has no such setting; medium is the default",
    ),
    depends(Field::ThinkingMode, "/thinking/type", BY_THINKING),
    depends(Field::ThinkingEffort, "/output_config/effort", BY_THINKING),
    depends(Field::ThinkingBudget, "/thinking/budget_tokens", BY_THINKING),
    depends(Field::ThinkingShow, "/thinking/display", BY_THINKING),
    depends(Field::ToolChoice, "/tool_choice", "depends on the tools and the model"),
    depends(Field::ParallelToolCalls, SERIAL, "depends on the tools and the model"),
    carried(Field::SafetyIdentifier, "/metadata/user_id"),
    depends(Field::User, "/metadata/user_id", "Messages has one identifier of the end user"),
    dropped(Field::Metadata, "/metadata", "Messages accepts only the end user's id"),
    depends(Field::ServiceTier, "/service_tier", "each vendor has its own tiers"),
    depends(Field::Store, "/store", "Messages stores nothing"),
    dropped(Field::CacheKey, "/cache_control", "Messages has no cache keys"),
    dropped(Field::CacheOptions, "/cache_control", BY_MARKERS),
    dropped(Field::CacheRetention, "/cache_control", BY_MARKERS),
    dropped(Field::PreviousResponse, "/thread/previous_message_id", NO_STATE),
    dropped(Field::Conversation, "/thread", NO_STATE),
    implied(Field::ToolsStatedEmpty, "/tools", "an empty list of tools means the same as none"),
    // Messages.
    depends(Field::Role, "/role", "developer and late system messages have no role of their own"),
    dropped(Field::MessageName, "/name", "messages have no participant names in Messages"),
    // Parts.
    depends(Field::Text, "/text", "blank text is refused by Messages"),
    depends(Field::Image, "", "depends on the MIME type"),
    dropped(Field::Audio, "", "Messages has no audio input or output"),
    dropped(Field::Video, "", "Messages has no video input"),
    depends(Field::Document, "", "depends on the MIME type"),
    depends(Field::MediaDetail, "/detail", "auto is the default"),
    depends(Field::MediaName, "/title", "only documents have a title in Messages"),
    depends(Field::MediaFile, "/source/file_id", "a file id is only valid for its vendor"),
    carried(Field::MediaUrl, "/source/url"),
    carried(Field::ToolCall, ""),
    depends(Field::CallId, "/id", ALPHABET),
    depends(Field::CallName, "/name", ALPHABET),
    depends(Field::CallArguments, "/input", "arguments must be an object in Messages"),
    depends(Field::CustomCall, "", "free text is sent as the only argument"),
    carried(Field::ToolResult, ""),
    carried(Field::ResultCallId, "/tool_use_id"),
    depends(Field::ResultName, "/name", "results are paired with their calls by id"),
    depends(Field::ResultOutput, "/content", "depends on the content of the result"),
    depends(Field::ResultMedia, "/content", "depends on the content of the result"),
    carried(Field::ResultIsError, "/is_error"),
    depends(Field::Reasoning, "", "depends on who issued it"),
    depends(Field::Signature, "/signature", "depends on who issued it"),
    depends(Field::Ciphertext, "/data", "depends on who issued it"),
    approximated(Field::Refusal, "/text", "Messages has no refusals; sent as text"),
    depends(Field::Opaque, "", "depends on who issued it"),
    depends(
        Field::CacheMarker,
        "/cache_control",
        "at most four markers, with Messages' own lifetimes",
    ),
    depends(Field::Citations, "/citations", "depends on the kind of citation"),
    dropped(Field::PartLogprobs, "/logprobs", NO_LOGPROBS),
    implied(Field::ItemId, "/id", "blocks have no ids in Messages"),
    implied(Field::ItemStatus, "/status", "blocks have no status in Messages"),
    dropped(Field::ItemPhase, "/phase", "text has no phase in Messages"),
    // Tools.
    carried(Field::Tool, ""),
    depends(Field::ToolName, "/name", ALPHABET),
    carried(Field::ToolDescription, "/description"),
    depends(Field::ToolParameters, "/input_schema", "the root of the schema must be an object"),
    depends(Field::ToolStrict, "/strict", "depends on the model"),
    dropped(Field::ToolOutputSchema, "/output_schema", "Messages has no output schemas of tools"),
    carried(Field::ToolCacheMarker, "/cache_control"),
    depends(Field::CustomTool, "", "sent as a function with one string argument"),
    depends(Field::CustomFormat, "/format", "sent as a function with one string argument"),
    depends(Field::HostedTool, "", "depends on the tools that the vendor hosts"),
    depends(Field::NamespaceTool, "", "namespaces are flattened"),
    // The response as a whole.
    carried(Field::ResponseId, "/id"),
    depends(Field::ResponseModel, "/model", "depends on the model name that the client asked for"),
    implied(Field::ResponseCreated, "/created", "Messages states no creation time"),
    depends(Field::ResponseServiceTier, "/usage/service_tier", "each vendor has its own tiers"),
    depends(
        Field::FinishReason,
        "/stop_reason",
        "depends on whether Messages has this finish reason",
    ),
    carried(Field::StopSequence, "/stop_sequence"),
    depends(Field::FinishDetails, "/stop_details", "depends on which vendor stated them"),
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

const ALPHABET: &str = "Messages restricts the characters of ids and names";
const BY_MARKERS: &str = "Messages caches by markers in the prompt";
const BY_THINKING: &str = "depends on how the model's thinking is configured";
const BY_VERSION: &str = "depends on the API version and the model";
const NO_LOGPROBS: &str = "Messages returns no log probabilities";
const NO_PENALTIES: &str = "Messages has no penalties; zero is the default";
const NO_STATE: &str = "Messages keeps no state on the server";

const fn carried(field: Field, pointer: &'static str) -> Row {
    Row { field, pointer, fate: Fate::Carried }
}

const fn depends(field: Field, pointer: &'static str, words: &'static str) -> Row {
    Row { field, pointer, fate: Fate::Depends(words) }
}

const fn implied(field: Field, pointer: &'static str, reason: &'static str) -> Row {
    Row { field, pointer, fate: Fate::Implied(reason) }
}

const fn approximated(field: Field, pointer: &'static str, reason: &'static str) -> Row {
    Row { field, pointer, fate: Fate::Lost(LossKind::Approximated, reason) }
}

const fn dropped(field: Field, pointer: &'static str, reason: &'static str) -> Row {
    Row { field, pointer, fate: Fate::Lost(LossKind::Dropped, reason) }
}

/// What any other protocol loses of why an answer ended.
pub(in crate::protocol::anthropic_messages) fn finish_loss(
    finish: &Finish<'_>,
) -> Option<(LossKind, &'static str)> {
    (finish.kind == FinishKind::Pause).then_some((LossKind::Approximated, FINER_FINISH))
}
