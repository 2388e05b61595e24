//! The request bodies of `generateContent` and `countTokens`, as tables.

use crate::sim::shape::{Field, Kind, may};

const INTEGER: Kind = Kind::Integer(i32::MIN as i64, i32::MAX as i64);

const FIELDS: &[Field] = &[
    may("contents", Kind::List(&CONTENT)),
    may("systemInstruction", CONTENT),
    may("tools", Kind::List(&TOOL)),
    may(
        "toolConfig",
        Kind::Object(&[
            may(
                "functionCallingConfig",
                Kind::Object(&[
                    may(
                        "mode",
                        Kind::Word(&["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"]),
                    ),
                    may("allowedFunctionNames", Kind::List(&Kind::Text)),
                ]),
            ),
            may("retrievalConfig", Kind::Open),
            may("includeServerSideToolInvocations", Kind::Boolean),
        ]),
    ),
    may(
        "safetySettings",
        Kind::List(&Kind::Object(&[
            may(
                "category",
                Kind::Word(&[
                    "HARM_CATEGORY_HARASSMENT",
                    "HARM_CATEGORY_HATE_SPEECH",
                    "HARM_CATEGORY_SEXUALLY_EXPLICIT",
                    "HARM_CATEGORY_DANGEROUS_CONTENT",
                    "HARM_CATEGORY_CIVIC_INTEGRITY",
                ]),
            ),
            may(
                "threshold",
                Kind::Word(&[
                    "HARM_BLOCK_THRESHOLD_UNSPECIFIED",
                    "BLOCK_LOW_AND_ABOVE",
                    "BLOCK_MEDIUM_AND_ABOVE",
                    "BLOCK_ONLY_HIGH",
                    "BLOCK_NONE",
                    "OFF",
                ]),
            ),
        ])),
    ),
    may("generationConfig", GENERATION_CONFIG),
    may("cachedContent", Kind::Text),
    may("serviceTier", Kind::Word(&["unspecified", "flex", "standard", "priority"])),
    may("labels", Kind::Map(&Kind::Text)),
    may("store", Kind::Boolean),
    may("continuationToken", Kind::Text),
    // The URL's model may be repeated.
    may("model", Kind::Text),
];

pub(super) static BODY: Kind = Kind::Object(FIELDS);

/// The counter takes contents, or a whole request.
pub(super) static COUNT: Kind = Kind::Object(&[
    may("contents", Kind::List(&CONTENT)),
    may("generateContentRequest", Kind::Object(FIELDS)),
    may("model", Kind::Text),
]);

const GENERATION_CONFIG: Kind = Kind::Object(&[
    may("temperature", Kind::Number(0.0, 2.0)),
    may("topP", Kind::Number(0.0, 1.0)),
    may("topK", Kind::Number(0.0, f64::MAX)),
    may("candidateCount", Kind::Integer(1, 8)),
    may("maxOutputTokens", Kind::Integer(1, i32::MAX as i64)),
    may("stopSequences", Kind::List(&Kind::Text)),
    may("seed", INTEGER),
    may("presencePenalty", Kind::Number(-2.0, 2.0)),
    may("frequencyPenalty", Kind::Number(-2.0, 2.0)),
    may("responseLogprobs", Kind::Boolean),
    may("logprobs", Kind::Integer(0, 20)),
    may("responseMimeType", Kind::Word(&["text/plain", "application/json", "text/x.enum"])),
    may("responseSchema", Kind::Open),
    may("responseJsonSchema", Kind::Any),
    may("responseModalities", Kind::List(&Kind::Word(&["TEXT", "IMAGE", "AUDIO", "VIDEO"]))),
    may("speechConfig", Kind::Open),
    may("imageConfig", Kind::Open),
    may(
        "mediaResolution",
        Kind::Word(&[
            "MEDIA_RESOLUTION_UNSPECIFIED",
            "MEDIA_RESOLUTION_LOW",
            "MEDIA_RESOLUTION_MEDIUM",
            "MEDIA_RESOLUTION_HIGH",
        ]),
    ),
    may("audioTranscriptionConfig", Kind::Open),
    may("enableEnhancedCivicAnswers", Kind::Boolean),
    may(
        "thinkingConfig",
        Kind::Object(&[
            may("includeThoughts", Kind::Boolean),
            may("thinkingBudget", Kind::Integer(-1, 65_536)),
            may(
                "thinkingLevel",
                Kind::Word(&[
                    "THINKING_LEVEL_UNSPECIFIED",
                    "MINIMAL",
                    "LOW",
                    "MEDIUM",
                    "HIGH",
                    "minimal",
                    "low",
                    "medium",
                    "high",
                ]),
            ),
        ]),
    ),
]);

const TOOL: Kind = Kind::Object(&[
    may("functionDeclarations", Kind::List(&DECLARATION)),
    may("googleSearch", Kind::Open),
    may("googleSearchRetrieval", Kind::Open),
    may("urlContext", Kind::Open),
    may("codeExecution", Kind::Open),
    may("googleMaps", Kind::Open),
    may("fileSearch", Kind::Open),
    may("computerUse", Kind::Open),
    may("mcpServers", Kind::List(&Kind::Open)),
]);

const DECLARATION: Kind = Kind::Object(&[
    may("name", Kind::Text),
    may("description", Kind::Text),
    may("parameters", Kind::Open),
    may("parametersJsonSchema", Kind::Any),
    may("response", Kind::Open),
    may("responseJsonSchema", Kind::Any),
    may("behavior", Kind::Text),
]);

const CONTENT: Kind = Kind::Object(&[may("role", Kind::Text), may("parts", Kind::List(&PART))]);

const BLOB: Kind = Kind::Object(&[
    may("mimeType", Kind::Text),
    may("data", Kind::Text),
    may("displayName", Kind::Text),
]);
const FILE: Kind = Kind::Object(&[
    may("mimeType", Kind::Text),
    may("fileUri", Kind::Text),
    may("displayName", Kind::Text),
]);

const PART: Kind = Kind::Object(&[
    may("text", Kind::Text),
    may("inlineData", BLOB),
    may("fileData", FILE),
    may(
        "functionCall",
        Kind::Object(&[may("name", Kind::Text), may("args", Kind::Open), may("id", Kind::Text)]),
    ),
    may(
        "functionResponse",
        Kind::Object(&[
            may("name", Kind::Text),
            may("response", Kind::Open),
            may("id", Kind::Text),
            may(
                "parts",
                Kind::List(&Kind::Object(&[may("inlineData", BLOB), may("fileData", FILE)])),
            ),
            may("willContinue", Kind::Boolean),
            may("scheduling", Kind::Text),
        ]),
    ),
    may("executableCode", Kind::Open),
    may("codeExecutionResult", Kind::Open),
    may("toolCall", Kind::Open),
    may("toolResponse", Kind::Open),
    may("thought", Kind::Boolean),
    may("thoughtSignature", Kind::Text),
    may("videoMetadata", Kind::Open),
    may("mediaResolution", Kind::Open),
    may("mediaProcessing", Kind::Text),
    may("partMetadata", Kind::Open),
    may("speechMetadata", Kind::Open),
]);

/// The members of a part that are its data; a part has exactly one.
pub(super) const DATA: [&str; 9] = [
    "text",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
    "toolCall",
    "toolResponse",
];
