//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use crate::conversation::Finish;
use crate::loss::LossKind;
use crate::protocol::field::{CARRIED, Fields, Row, approximated, depends, dropped, row};
use crate::protocol::gemini::decode_response::is_finer;
use crate::protocol::gemini::types::{CITED_APART, Shape};
use crate::protocol::gemini::usage::USAGE;
use crate::protocol::reporter::FINER_FINISH;
use crate::protocol::semantics::Spelling;
use crate::protocol::{Fate, Field};

/// Where a canonical field stands, below its node.
pub(in super::super) fn pointer(field: Field, spelling: Spelling) -> &'static str {
    let shape: Shape = spelling.of();
    match field {
        Field::Citations if shape.has(CITED_APART) => "../../citationMetadata",
        _ => FIELDS.row(field).pointer,
    }
}

/// What any other protocol loses of why an answer ended.
pub(super) fn finish_loss(finish: &Finish<'_>) -> Option<(LossKind, &'static str)> {
    is_finer(finish).then_some((LossKind::Approximated, FINER_FINISH))
}

/// What this protocol says to every field.
pub(super) static FIELDS: Fields = Fields::of(TABLE, &USAGE);

/// Every field but those of the usage, in the order of their declaration.
/// The sources of an answer and the log probabilities of its tokens stand beside its content.
const TABLE: [Row; Field::UsageInput as usize] = [
    row(Field::Model, "/model", depends("Gemini has it in the URL, not in the body")),
    row(Field::Stream, "/stream", Fate::Implied("streaming is chosen by the method in the URL")),
    row(Field::MaxOutputTokens, "/generationConfig/maxOutputTokens", BY_VALUE),
    row(Field::Temperature, "/generationConfig/temperature", BY_MODEL),
    row(Field::TopP, "/generationConfig/topP", BY_MODEL),
    row(Field::TopK, "/generationConfig/topK", BY_MODEL),
    row(Field::Seed, "/generationConfig/seed", depends("must fit into 32 bits")),
    row(Field::PresencePenalty, "/generationConfig/presencePenalty", BY_MODEL),
    row(Field::FrequencyPenalty, "/generationConfig/frequencyPenalty", BY_MODEL),
    row(Field::Stop, "/generationConfig/stopSequences", LIMITED),
    row(Field::Candidates, "/generationConfig/candidateCount", BY_VALUE),
    row(Field::Logprobs, "/generationConfig/responseLogprobs", BY_MODEL),
    row(Field::TopLogprobs, "/generationConfig/logprobs", BY_MODEL),
    row(Field::OutputFormat, "/generationConfig/responseMimeType", BY_MODEL_AND_TOOLS),
    row(Field::OutputSchema, "/generationConfig/responseSchema", BY_MODEL_AND_TOOLS),
    row(Field::OutputSchemaName, "/generationConfig/responseSchema", NO_EFFECT),
    row(Field::OutputSchemaDescription, "/generationConfig/responseSchema", BY_SCHEMA),
    row(Field::OutputSchemaStrict, "/generationConfig/responseSchema", BY_VALUE),
    row(Field::Verbosity, "/verbosity", dropped("Gemini has no such setting")),
    row(Field::ThinkingMode, "/generationConfig/thinkingConfig/thinkingBudget", BY_THINKING),
    row(Field::ThinkingEffort, "/generationConfig/thinkingConfig/thinkingLevel", BY_THINKING),
    row(Field::ThinkingBudget, "/generationConfig/thinkingConfig/thinkingBudget", BY_THINKING),
    row(Field::ThinkingShow, "/generationConfig/thinkingConfig/includeThoughts", BY_THINKING),
    row(Field::ToolChoice, "/toolConfig/functionCallingConfig", BY_VALUE),
    row(Field::ParallelToolCalls, "/toolConfig/functionCallingConfig", BY_VALUE),
    row(Field::SafetyIdentifier, "/labels", NO_USER),
    row(Field::User, "/labels", NO_USER),
    row(Field::Metadata, "/labels", approximated("sent as labels")),
    row(Field::ServiceTier, "/serviceTier", BY_VALUE),
    row(Field::Store, "/store", BY_VALUE),
    row(Field::CacheKey, "/cachedContent", NO_CACHE),
    row(Field::CacheOptions, "/cachedContent", NO_CACHE),
    row(Field::CacheRetention, "/cachedContent", NO_CACHE),
    row(Field::PreviousResponse, "/contents", NO_STATE),
    row(Field::Conversation, "/contents", NO_STATE),
    row(Field::ToolsStatedEmpty, "/tools", SAME_AS_NONE),
    row(Field::Role, "/role", depends("depends on the position of the instructions")),
    row(Field::MessageName, "/name", dropped("messages have no participant names in Gemini")),
    row(Field::Text, "", CARRIED),
    row(Field::Image, "", CARRIED),
    row(Field::Audio, "", CARRIED),
    row(Field::Video, "", CARRIED),
    row(Field::Document, "", CARRIED),
    row(Field::MediaDetail, "/mediaResolution", depends("depends on the model")),
    row(Field::MediaName, "/inlineData/displayName", dropped("files have no names in Gemini")),
    row(Field::MediaFile, "", depends("a file id is only valid for its vendor")),
    row(Field::MediaUrl, "", depends("depends on whether the MIME type is known")),
    row(Field::ToolCall, "", CARRIED),
    row(Field::CallId, "/functionCall/id", BY_PAIRING),
    row(Field::CallName, "/functionCall/name", CARRIED),
    row(Field::CallArguments, "/functionCall/args", AN_OBJECT),
    row(Field::CustomCall, "", depends("depends on whether the call is a custom one")),
    row(Field::ToolResult, "", CARRIED),
    row(Field::ResultCallId, "/functionResponse/id", BY_PAIRING),
    row(Field::ResultName, "/functionResponse/name", CARRIED),
    row(Field::ResultOutput, "/functionResponse/response", BY_CONTENT),
    row(Field::ResultMedia, "", BY_CONTENT),
    row(Field::ResultIsError, "/functionResponse/response", CARRIED),
    row(Field::Reasoning, "", BY_ISSUER),
    row(Field::Signature, "/thoughtSignature", BY_ISSUER),
    row(Field::Ciphertext, "/thoughtSignature", BY_ISSUER),
    row(Field::Refusal, "", depends("sent as plain text")),
    row(Field::Opaque, "", depends("depends on what it is")),
    row(Field::CacheMarker, "", NO_CACHE),
    row(Field::Citations, "../../groundingMetadata", BY_SIDE),
    row(Field::PartLogprobs, "../../logprobsResult", BY_SIDE),
    row(Field::ItemId, "", NO_ITEMS),
    row(Field::ItemStatus, "", NO_ITEMS),
    row(Field::ItemPhase, "", dropped("parts have no phase in Gemini")),
    row(Field::Tool, "", CARRIED),
    row(Field::ToolName, "/name", depends("names are limited in characters and length")),
    row(Field::ToolDescription, "/description", CARRIED),
    row(Field::ToolParameters, "/parameters", BY_KEYWORDS),
    row(Field::ToolStrict, "", BY_VALUE),
    row(Field::ToolOutputSchema, "/response", BY_VALUE),
    row(Field::ToolCacheMarker, "", NO_CACHE),
    row(Field::CustomTool, "", approximated("sent as a function with one string argument")),
    row(Field::CustomFormat, "", dropped("a string argument has no grammar")),
    row(Field::HostedTool, "", depends("depends on the tools that the vendor hosts")),
    row(Field::NamespaceTool, "", approximated("namespaces are flattened")),
    row(Field::ResponseId, "/responseId", CARRIED),
    row(Field::ResponseModel, "/modelVersion", CARRIED),
    row(Field::ResponseCreated, "/createTime", Fate::Implied("Gemini states no creation time")),
    row(Field::ResponseServiceTier, "/usageMetadata/serviceTier", BY_VALUE),
    row(Field::FinishReason, "/finishReason", CARRIED),
    row(Field::StopSequence, "/finishReason", NO_SEQUENCE),
    row(Field::FinishDetails, "/finishMessage", NO_DETAILS),
];

const BY_VALUE: Fate = depends("depends on the value");
const BY_MODEL: Fate = depends("depends on what the model supports");
const BY_MODEL_AND_TOOLS: Fate = depends("depends on the model and the tools");
const BY_THINKING: Fate = depends("depends on how the model's thinking is configured");
const NO_USER: Fate = dropped("Gemini has no identifier of the end user");
const NO_CACHE: Fate = dropped("Gemini caches prompts automatically");
const NO_STATE: Fate = dropped("Gemini keeps no conversation on the server");
const BY_PAIRING: Fate = depends("depends on whether the model pairs calls by id");
const BY_CONTENT: Fate = depends("depends on the content of the result");
const BY_ISSUER: Fate = depends("depends on who issued it");
const BY_SIDE: Fate = depends("depends on whether it is an answer");
const NO_ITEMS: Fate = Fate::Implied("parts have no ids in Gemini");
const LIMITED: Fate = depends("the number of sequences is limited");
const NO_EFFECT: Fate =
    Fate::Lost(LossKind::Implied, "the name has no effect outside of the request");
const BY_SCHEMA: Fate = depends("depends on whether there is a schema");
const SAME_AS_NONE: Fate = Fate::Implied("an empty list of tools means the same as none");
const BY_KEYWORDS: Fate = depends("depends on the schema keywords that the model supports");
const NO_SEQUENCE: Fate = dropped("Gemini does not state which stop sequence was met");
const NO_DETAILS: Fate = dropped("the finish reason has no details in Gemini");
const AN_OBJECT: Fate = depends("arguments must be an object in Gemini");
