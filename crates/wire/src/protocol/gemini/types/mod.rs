//! What only this protocol says, and which of its spellings make a difference.

pub(super) mod name;

use crate::conversation::{Tool, Usage};
use crate::protocol::semantics::{Declared, Semantics, approximated, dropped, implied, namespace};
use crate::protocol::{Protocol, semantics};
use crate::schema::SchemaLanguage;

/// The protocol of this folder.
pub(super) const SELF: Protocol = Protocol::Gemini;

/// The scopes of extras in the settings of a request.
pub(super) const GENERATION_SCOPE: &str = "generationConfig";
pub(super) const THINKING_SCOPE: &str = "generationConfig/thinkingConfig";
pub(super) const TOOL_CONFIG_SCOPE: &str = "toolConfig";
pub(super) const TOOL_CHOICE_SCOPE: &str = "toolConfig/functionCallingConfig";

/// The scope of extras that stand in the content of a candidate.
pub(super) const CONTENT_SCOPE: &str = "content";

/// The scope of extras that hold the sources of a candidate.
pub(super) const GROUNDING_SCOPE: &str = "groundingMetadata";

/// The member of a candidate that has the log probabilities of its tokens.
pub(super) const LOGPROBS: &str = "logprobsResult";

/// What stands before a model's name in a body.
pub(super) const MODEL_PREFIX: &str = "models/";

/// The documented signature for calls that another model made; the validator lets it pass.
/// Fixture `request/tools/calls-from-elsewhere-towards-gemini-3`.
pub(super) const FOREIGN_CALL_SIGNATURE: &str = "skip_thought_signature_validator";

/// The detail of an image, and the level of media resolution that it amounts to.
pub(super) const RESOLUTIONS: [(&str, &str); 3] = [
    ("low", "MEDIA_RESOLUTION_LOW"),
    ("high", "MEDIA_RESOLUTION_HIGH"),
    ("original", "MEDIA_RESOLUTION_ULTRA_HIGH"),
];

namespace! {
    /// What only Gemini can say of a request.
    pub struct GeminiSemantics {
        /// Thresholds by category of harm.
        safety_settings: "safetySettings" => Dropped, "no other protocol sets thresholds by category";
        /// A prompt prefix that the vendor keeps.
        cached_content: "cachedContent" => Dropped, "only its vendor holds the cached content";
        /// Where an answer that stopped half-way goes on.
        continuation_token: "continuationToken" => Dropped, "only its vendor can continue from it";
        /// Whether the vendor may log the request.
        store: "store" => Dropped, "a choice about the vendor's own logs";
        /// Where the user is, for tools of the vendor.
        retrieval_config: "toolConfig/retrievalConfig" => Dropped, "it steers tools that only this vendor has";
        /// Whether calls of hosted tools show in the answer.
        server_side_tool_invocations: "toolConfig/includeServerSideToolInvocations"
            => Implied, "other protocols always show calls of hosted tools";
        /// `text/x.enum`, or a type that the schema beside it does not go with.
        response_mime_type: "generationConfig/responseMimeType"
            => Dropped, "no other protocol has answers of this type";
        /// A schema that goes with such a type.
        response_schema: "generationConfig/responseSchema"
            => Dropped, "no other protocol has schemas for answers of this type";
        /// The same in the other schema language.
        response_json_schema: "generationConfig/responseJsonSchema"
            => Dropped, "no other protocol has schemas for answers of this type";
        /// Text, image or audio.
        response_modalities: "generationConfig/responseModalities"
            => Dropped, "no other protocol mixes kinds of answers in this way";
        /// The voice of a spoken answer.
        speech_config: "generationConfig/speechConfig" => Dropped, "the voices are the vendor's own";
        /// The format of an image in the answer.
        image_config: "generationConfig/imageConfig" => Dropped, "no other protocol draws in its answer";
        /// How closely media are looked at.
        media_resolution: "generationConfig/mediaResolution"
            => Dropped, "no other protocol sets it for the whole request";
        /// Transcripts of spoken answers.
        audio_transcription_config: "generationConfig/audioTranscriptionConfig"
            => Dropped, "no other protocol transcribes its answer";
        /// A switch for answers on elections.
        enhanced_civic_answers: "generationConfig/enableEnhancedCivicAnswers"
            => Dropped, "a switch that only this vendor has";
    }
}

/// Spellings of this protocol, which no other protocol reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in super::super) struct Speaker;

impl semantics::Speller for Speaker {
    const PROTOCOL: Protocol = Protocol::Gemini;
}

/// How a node or a request of this protocol was spelled, where a report names its keys or the vendor tells them apart.
pub(super) type Shape = semantics::Shape<Speaker>;

/// Of requests, and of the results of a function: the schema is `responseJsonSchema`.
pub(super) const RESPONSE_JSON_SCHEMA: Shape = Shape::bit(22).with(Shape::RESPELLED);
/// Of functions: the parameters are `parametersJsonSchema`.
pub(super) const PARAMETERS_JSON_SCHEMA: Shape = Shape::bit(23).with(Shape::RESPELLED);
/// Of messages: instructions that stand among the turns.
pub(super) const AMONG_TURNS: Shape = Shape::bit(22);
/// Of parts that are not text: `thought: true`.
pub(super) const THOUGHT_TRUE: Shape = Shape::bit(24);
/// Of parts: pieces of calls that stood before it, or are it, are kept as they were written.
pub(super) const CALL_PIECES_KEPT: Shape = Shape::bit(25);
/// Of calls: the pieces that are kept are those of others.
pub(super) const APART_FROM_PIECES: Shape = Shape::bit(26);
/// Where the parts are kept that brought a call in pieces, as they were written.
pub(super) const CALL_PIECES: &str = "functionCall";
pub(super) const PIECE_KEY: &str = "partialArgs";
/// Of candidates: its sources stand in `citationMetadata`.
pub(super) const CITED_APART: Shape = Shape::bit(22);
/// Of usages: `candidatesTokenCount` was not stated, and is what the total leaves for it.
pub(super) const CANDIDATES_SUMMED: Shape = Shape::bit(22);

/// The schema language of a tool's parameters, which the name of the field tells.
pub(in super::super) fn language_of_parameters(tool: &Tool<'_>) -> SchemaLanguage {
    language(tool.semantics().has_shape(PARAMETERS_JSON_SCHEMA))
}

/// The same of a tool's results.
pub(in super::super) fn language_of_results(tool: &Tool<'_>) -> SchemaLanguage {
    language(tool.semantics().has_shape(RESPONSE_JSON_SCHEMA))
}

/// The same of the answer.
pub(in super::super) fn language_of_output(semantics: &Semantics<'_>) -> SchemaLanguage {
    language(semantics.has_shape(RESPONSE_JSON_SCHEMA))
}

fn language(is_json_schema: bool) -> SchemaLanguage {
    if is_json_schema { SchemaLanguage::GeminiJsonSchema } else { SchemaLanguage::GeminiSchema }
}

/// Whether the visible output was not counted, and only the total includes it.
pub(in super::super) fn has_summed_output(usage: &Usage<'_>) -> bool {
    usage.semantics().has_shape(CANDIDATES_SUMMED)
}

const WHO_SPEAKS: &str = "the role has another name";
const PART_DETAIL: &str = "no other protocol has this field on a part";
const RESULT_DETAIL: &str = "no other protocol has results that come piece by piece";
const BY_MODALITY: &str = "the sum of these counts is carried";
const AS_CITATIONS: &str = "sources are sent as citations";
const SAFETY: &str = "no other protocol rates its answer by category";

/// Fields of messages, parts, tools and answers that only this protocol has, and what becomes of them elsewhere.
pub(in super::super) const DECLARED: &[Declared] = &[
    implied("role", WHO_SPEAKS),
    implied("content/role", WHO_SPEAKS),
    dropped("videoMetadata", PART_DETAIL),
    dropped("video_metadata", PART_DETAIL),
    approximated("mediaResolution", "sent as the detail of each image"),
    approximated("media_resolution", "sent as the detail of each image"),
    dropped("mediaProcessing", PART_DETAIL),
    dropped("media_processing", PART_DETAIL),
    dropped("partMetadata", PART_DETAIL),
    dropped("part_metadata", PART_DETAIL),
    dropped("speechMetadata", PART_DETAIL),
    dropped("audioTranscription", PART_DETAIL),
    dropped("inlineData/displayName", PART_DETAIL),
    dropped("fileData/displayName", PART_DETAIL),
    implied("functionCall/partialArgs", "the arguments that the pieces amount to are sent"),
    dropped("functionCall/willContinue", "no other protocol has calls that go on"),
    dropped("functionResponse/willContinue", RESULT_DETAIL),
    dropped("functionResponse/scheduling", RESULT_DETAIL),
    dropped("behavior", "no other protocol has calls that do not wait"),
    approximated("promptFeedback", "a blocked prompt is returned as a finish reason"),
    dropped("modelStatus", "no other protocol announces a model's retirement"),
    implied("index", "implied by the position of the answer"),
    implied("finishMessage", "the message of the finish reason"),
    implied("tokenCount", "the usage has it"),
    dropped("safetyRatings", SAFETY),
    approximated("citationMetadata", AS_CITATIONS),
    approximated("groundingMetadata/groundingChunks", AS_CITATIONS),
    approximated("groundingMetadata/groundingSupports", AS_CITATIONS),
    dropped("groundingMetadata/searchEntryPoint", "no other protocol renders its search"),
    dropped("groundingMetadata/webSearchQueries", "no other protocol lists its search queries"),
    dropped("groundingAttributions", "an older form of sources"),
    dropped("urlContextMetadata", "no other protocol lists the pages it read in this way"),
    dropped("avgLogprobs", "no other protocol states average log probabilities"),
    dropped("logprobsResult", "citations need a text to refer to"),
    dropped("continuationToken", "only its vendor can continue from it"),
    implied("promptTokensDetails", BY_MODALITY),
    implied("candidatesTokensDetails", BY_MODALITY),
    implied("cacheTokensDetails", BY_MODALITY),
    implied("toolUsePromptTokensDetails", BY_MODALITY),
];
