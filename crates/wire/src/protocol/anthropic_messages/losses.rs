//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use super::types::OUTPUT_FORMAT;
use crate::conversation::{Finish, FinishKind};
use crate::loss::LossKind;
use crate::protocol::anthropic_messages::types::Shape;
use crate::protocol::anthropic_messages::usage::USAGE;
use crate::protocol::field::{CARRIED, Fields, Row, approximated, depends, dropped, implied, row};
use crate::protocol::reporter::FINER_FINISH;
use crate::protocol::semantics::Spelling;
use crate::protocol::{Fate, Field};

/// Where a canonical field stands, below its node.
pub(in super::super) fn pointer(field: Field, spelling: Spelling) -> &'static str {
    let shape: Shape = spelling.of();
    match field {
        Field::OutputFormat if shape.has(OUTPUT_FORMAT) => "/output_format",
        Field::OutputSchema if shape.has(OUTPUT_FORMAT) => "/output_format/schema",
        _ => FIELDS.row(field).pointer,
    }
}

/// What this protocol says to every field.
pub(super) static FIELDS: Fields = Fields::of(TABLE, &USAGE);

/// Every field but those of the usage, in the order of their declaration.
const TABLE: [Row; Field::UsageInput as usize] = [
    // The request as a whole.
    row(Field::Model, "/model", depends("other protocols may name the model outside the body")),
    row(Field::Stream, "/stream", CARRIED),
    row(Field::MaxOutputTokens, "/max_tokens", REQUIRED),
    row(Field::Temperature, "/temperature", BY_VERSION),
    row(Field::TopP, "/top_p", BY_VERSION),
    row(Field::TopK, "/top_k", BY_VERSION),
    row(Field::Seed, "/seed", dropped("Messages has no seed")),
    row(Field::PresencePenalty, "/presence_penalty", NO_PENALTIES),
    row(Field::FrequencyPenalty, "/frequency_penalty", NO_PENALTIES),
    row(
        Field::Stop,
        "/stop_sequences",
        depends("Messages refuses stop sequences of whitespace alone"),
    ),
    row(Field::Candidates, "/n", depends("Messages returns one answer")),
    row(Field::Logprobs, "/logprobs", NO_LOGPROBS),
    row(Field::TopLogprobs, "/top_logprobs", NO_LOGPROBS),
    row(Field::OutputFormat, FORMAT, depends("Messages has no JSON mode without a schema")),
    row(Field::OutputSchema, SCHEMA, depends("a subset of JSON Schema, on models that support it")),
    row(Field::OutputSchemaName, NAME, dropped("output schemas have no name in Messages")),
    row(Field::OutputSchemaDescription, DESCRIPTION, BY_SCHEMA),
    row(Field::OutputSchemaStrict, STRICT, depends("output schemas are always strict in Messages")),
    row(Field::Verbosity, "/output_config/verbosity", NO_VERBOSITY),
    row(Field::ThinkingMode, "/thinking/type", BY_THINKING),
    row(Field::ThinkingEffort, "/output_config/effort", BY_THINKING),
    row(Field::ThinkingBudget, "/thinking/budget_tokens", BY_THINKING),
    row(Field::ThinkingShow, "/thinking/display", BY_THINKING),
    row(Field::ToolChoice, "/tool_choice", depends("depends on the tools and the model")),
    row(Field::ParallelToolCalls, SERIAL, depends("depends on the tools and the model")),
    row(Field::SafetyIdentifier, "/metadata/user_id", CARRIED),
    row(Field::User, "/metadata/user_id", depends("Messages has one identifier of the end user")),
    row(Field::Metadata, "/metadata", dropped("Messages accepts only the end user's id")),
    row(Field::ServiceTier, "/service_tier", OWN_TIERS),
    row(Field::Store, "/store", depends("Messages stores nothing")),
    row(Field::CacheKey, "/cache_control", dropped("Messages has no cache keys")),
    row(Field::CacheOptions, "/cache_control", BY_MARKERS),
    row(Field::CacheRetention, "/cache_control", BY_MARKERS),
    row(Field::PreviousResponse, "/thread/previous_message_id", NO_STATE),
    row(Field::Conversation, "/thread", NO_STATE),
    row(Field::ToolsStatedEmpty, "/tools", SAME_AS_NONE),
    // Messages.
    row(Field::Role, "/role", FEW_ROLES),
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
    row(Field::CallId, "/id", ALPHABET),
    row(Field::CallName, "/name", ALPHABET),
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
    row(Field::CacheMarker, "/cache_control", FOUR_MARKERS),
    row(Field::Citations, "/citations", depends("depends on the kind of citation")),
    row(Field::PartLogprobs, "/logprobs", dropped("Messages returns no log probabilities")),
    row(Field::ItemId, "/id", implied("blocks have no ids in Messages")),
    row(Field::ItemStatus, "/status", implied("blocks have no status in Messages")),
    row(Field::ItemPhase, "/phase", dropped("text has no phase in Messages")),
    // Tools.
    row(Field::Tool, "", CARRIED),
    row(Field::ToolName, "/name", ALPHABET),
    row(Field::ToolDescription, "/description", CARRIED),
    row(Field::ToolParameters, "/input_schema", OBJECT_ROOT),
    row(Field::ToolStrict, "/strict", depends("depends on the model")),
    row(Field::ToolOutputSchema, "/output_schema", NO_RESULT_SCHEMAS),
    row(Field::ToolCacheMarker, "/cache_control", CARRIED),
    row(Field::CustomTool, "", depends("sent as a function with one string argument")),
    row(Field::CustomFormat, "/format", depends("sent as a function with one string argument")),
    row(Field::HostedTool, "", depends("depends on the tools that the vendor hosts")),
    row(Field::NamespaceTool, "", depends("namespaces are flattened")),
    // The response as a whole.
    row(Field::ResponseId, "/id", CARRIED),
    row(Field::ResponseModel, "/model", BY_ALIAS),
    row(Field::ResponseCreated, "/created", implied("Messages states no creation time")),
    row(Field::ResponseServiceTier, "/usage/service_tier", OWN_TIERS),
    row(Field::FinishReason, "/stop_reason", BY_REASON),
    row(Field::StopSequence, "/stop_sequence", CARRIED),
    row(Field::FinishDetails, "/stop_details", depends("depends on which vendor stated them")),
];

const FORMAT: &str = "/output_config/format";
const SCHEMA: &str = "/output_config/format/schema";
const NAME: &str = "/output_config/format/name";
const DESCRIPTION: &str = "/output_config/format/description";
const STRICT: &str = "/output_config/format/strict";
const SERIAL: &str = "/tool_choice/disable_parallel_tool_use";

const REQUIRED: Fate = depends("required, and must exceed the thinking budget");
const BY_SCHEMA: Fate = depends("depends on whether there is a schema");
const NO_VERBOSITY: Fate = depends("Messages has no such setting; medium is the default");
const SAME_AS_NONE: Fate = implied("an empty list of tools means the same as none");
const FEW_ROLES: Fate = depends("developer and late system messages have no role of their own");
const FOUR_MARKERS: Fate = depends("at most four markers, with Messages' own lifetimes");
const OBJECT_ROOT: Fate = depends("the root of the schema must be an object");
const NO_RESULT_SCHEMAS: Fate = dropped("Messages has no output schemas of tools");
const BY_ALIAS: Fate = depends("depends on the model name that the client asked for");
const OWN_TIERS: Fate = depends("each vendor has its own tiers");
const BY_REASON: Fate = depends("depends on whether Messages has this finish reason");
const ALPHABET: Fate = depends("Messages restricts the characters of ids and names");
const BY_MARKERS: Fate = dropped("Messages caches by markers in the prompt");
const BY_THINKING: Fate = depends("depends on how the model's thinking is configured");
const BY_VERSION: Fate = depends("depends on the API version and the model");
const NO_LOGPROBS: Fate = depends("Messages returns no log probabilities");
const NO_PENALTIES: Fate = depends("Messages has no penalties; zero is the default");
const NO_STATE: Fate = dropped("Messages keeps no state on the server");

/// What any other protocol loses of why an answer ended.
pub(super) fn finish_loss(finish: &Finish<'_>) -> Option<(LossKind, &'static str)> {
    (finish.kind == FinishKind::Pause).then_some((LossKind::Approximated, FINER_FINISH))
}
