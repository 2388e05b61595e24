//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use super::types::OUTPUT_FORMAT;
use crate::conversation::Count;
use crate::loss::LossKind;
use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::anthropic_messages::types::Shape;
use crate::protocol::anthropic_messages::usage::USAGE;
use crate::protocol::field::FieldSet;
use crate::protocol::field::lost_fields;
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
    row(Field::Model, "/model", depends("other protocols may have it outside the body")),
    row(Field::Stream, "/stream", CARRIED),
    row(Field::MaxOutputTokens, "/max_tokens", depends("required, and above the thinking budget")),
    row(Field::Temperature, "/temperature", depends("the version and the model")),
    row(Field::TopP, "/top_p", depends("the version and the model")),
    row(Field::TopK, "/top_k", depends("the version and the model")),
    row(Field::Seed, "/seed", dropped("there is no seed")),
    row(Field::PresencePenalty, "/presence_penalty", depends("zero is what it does anyway")),
    row(Field::FrequencyPenalty, "/frequency_penalty", depends("zero is what it does anyway")),
    row(Field::Stop, "/stop_sequences", depends("whitespace alone is refused")),
    row(Field::Candidates, "/n", depends("there is one answer")),
    row(Field::Logprobs, "/logprobs", depends("none are told")),
    row(Field::TopLogprobs, "/top_logprobs", depends("none are told")),
    row(Field::OutputFormat, FORMAT, depends("there is no mode for JSON of any shape")),
    row(Field::OutputSchema, SCHEMA, depends("a subset of JSON Schema, on models that take it")),
    row(Field::OutputSchemaName, NAME, dropped("output schemas have no name")),
    row(Field::OutputSchemaDescription, DESCRIPTION, depends("whether there is a schema")),
    row(Field::OutputSchemaStrict, STRICT, depends("output schemas are always strict")),
    row(Field::Verbosity, "/output_config/verbosity", depends("medium is what it does anyway")),
    row(Field::ThinkingMode, "/thinking/type", depends("the model's way of thinking")),
    row(Field::ThinkingEffort, "/output_config/effort", depends("the model's way of thinking")),
    row(Field::ThinkingBudget, "/thinking/budget_tokens", depends("the model's way of thinking")),
    row(Field::ThinkingShow, "/thinking/display", depends("the model's way of thinking")),
    row(Field::ToolChoice, "/tool_choice", depends("the tools and the model")),
    row(Field::ParallelToolCalls, SERIAL, depends("the tools and the model")),
    row(Field::SafetyIdentifier, "/metadata/user_id", CARRIED),
    row(Field::User, "/metadata/user_id", depends("there is one id for the end user")),
    row(Field::Metadata, "/metadata", dropped("only the end user's id is accepted")),
    row(Field::ServiceTier, "/service_tier", depends("the vendors' tiers differ")),
    row(Field::Store, "/store", depends("nothing is stored")),
    row(Field::CacheKey, "/cache_control", dropped("the cache has no keys")),
    row(Field::CacheOptions, "/cache_control", dropped("the cache is asked for by marks")),
    row(Field::CacheRetention, "/cache_control", dropped("the cache is asked for by marks")),
    row(Field::PreviousResponse, "/thread/previous_message_id", dropped("no state is held")),
    row(Field::Conversation, "/thread", dropped("no state is held")),
    row(Field::ToolsStatedEmpty, "/tools", implied("no tools and an empty list are the same")),
    // Messages.
    row(Field::Role, "/role", depends("developers and late system messages")),
    row(Field::MessageName, "/name", dropped("speakers have no names")),
    // Parts.
    row(Field::Text, "/text", depends("blank text is refused")),
    row(Field::Image, "", depends("the type of the file")),
    row(Field::Audio, "", dropped("sound is neither heard nor spoken")),
    row(Field::Video, "", dropped("films are not seen")),
    row(Field::Document, "", depends("the type of the file")),
    row(Field::MediaDetail, "/detail", depends("auto is what it does anyway")),
    row(Field::MediaName, "/title", depends("only documents have a title")),
    row(Field::MediaFile, "/source/file_id", depends("withheld: only its vendor holds it")),
    row(Field::MediaUrl, "/source/url", CARRIED),
    row(Field::ToolCall, "", CARRIED),
    row(Field::CallId, "/id", depends("an alphabet of its own")),
    row(Field::CallName, "/name", depends("an alphabet of its own")),
    row(Field::CallArguments, "/input", depends("arguments are an object")),
    row(Field::CustomCall, "", depends("free text becomes the one argument")),
    row(Field::ToolResult, "", CARRIED),
    row(Field::ResultCallId, "/tool_use_id", CARRIED),
    row(Field::ResultName, "/name", depends("results are paired by id")),
    row(Field::ResultOutput, "/content", depends("the form of the result")),
    row(Field::ResultMedia, "/content", depends("the form of the result")),
    row(Field::ResultIsError, "/is_error", CARRIED),
    row(Field::Reasoning, "", depends("its issuer")),
    row(Field::Signature, "/signature", depends("its issuer")),
    row(Field::Ciphertext, "/data", depends("its issuer")),
    row(Field::Refusal, "/text", approximated("a refusal is text like any other")),
    row(Field::Opaque, "", depends("its issuer")),
    row(Field::CacheMarker, "/cache_control", depends("at most four, with times of its own")),
    row(Field::Citations, "/citations", depends("their shape")),
    row(Field::PartLogprobs, "/logprobs", dropped("no log probabilities are told")),
    row(Field::ItemId, "/id", implied("blocks have no ids of their own")),
    row(Field::ItemStatus, "/status", implied("blocks have no status")),
    row(Field::ItemPhase, "/phase", dropped("texts have no phase")),
    // Tools.
    row(Field::Tool, "", CARRIED),
    row(Field::ToolName, "/name", depends("an alphabet of its own")),
    row(Field::ToolDescription, "/description", CARRIED),
    row(Field::ToolParameters, "/input_schema", depends("the root is an object")),
    row(Field::ToolStrict, "/strict", depends("the model")),
    row(Field::ToolOutputSchema, "/output_schema", dropped("results have no schema")),
    row(Field::ToolCacheMarker, "/cache_control", CARRIED),
    row(Field::CustomTool, "", depends("a function of one string")),
    row(Field::CustomFormat, "/format", depends("a function of one string")),
    row(Field::HostedTool, "", depends("what the vendor hosts")),
    row(Field::NamespaceTool, "", depends("namespaces are flattened")),
    // The response as a whole.
    row(Field::ResponseId, "/id", CARRIED),
    row(Field::ResponseModel, "/model", depends("what the client is to be told")),
    row(Field::ResponseCreated, "/created", implied("the time is not stated")),
    row(Field::ResponseServiceTier, "/usage/service_tier", depends("the vendors' tiers differ")),
    row(Field::FinishReason, "/stop_reason", depends("the reasons that it has")),
    row(Field::StopSequence, "/stop_sequence", CARRIED),
    row(Field::FinishDetails, "/stop_details", depends("whose words they are")),
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
