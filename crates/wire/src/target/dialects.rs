//! The table of known dialects, each from what its server was seen to send and to refuse.

use crate::alias::CallIdRule;
use crate::target::dialect::{Dialect, ReasoningField, ReasoningReplay, ReasoningRequest};
use crate::target::family::TokenLimit;

const TABLE: [Dialect; 13] = [
    Dialect::UNKNOWN,
    Dialect::OPENAI,
    Dialect::AZURE,
    Dialect::DEEPSEEK,
    Dialect::GROQ,
    Dialect::LLAMACPP,
    Dialect::MISTRAL,
    Dialect::OLLAMA,
    Dialect::OPENROUTER,
    Dialect::PERPLEXITY,
    Dialect::VLLM,
    Dialect::XAI,
    Dialect::GEMINI,
];

/// Names that people also write.
const SYNONYMS: [(&str, Dialect); 6] = [
    ("azure-openai", Dialect::AZURE),
    ("google", Dialect::GEMINI),
    ("grok", Dialect::XAI),
    ("llama.cpp", Dialect::LLAMACPP),
    ("llama-cpp", Dialect::LLAMACPP),
    ("x-ai", Dialect::XAI),
];

pub(super) fn find(name: &str) -> Option<Dialect> {
    let names = TABLE.iter().map(|dialect| (dialect.name, *dialect));
    let found = names.chain(SYNONYMS).find(|(known, _)| known.eq_ignore_ascii_case(name));
    found.map(|(_, dialect)| dialect)
}

impl Dialect {
    /// Chat as its inventor serves it: reasoning is counted, never shown.
    pub const OPENAI: Self = Self {
        name: "openai",
        reasoning_field: ReasoningField::Absent,
        automatic_cache: false,
        tolerates_unknown_fields: false,
        ..Self::UNKNOWN
    };
    pub const AZURE: Self = Self { name: "azure", ..Self::OPENAI };
    pub const DEEPSEEK: Self = Self {
        name: "deepseek",
        reasoning_replay: ReasoningReplay::WithToolCalls,
        reasoning_request: ReasoningRequest::Switch,
        schema_output: false,
        ..COMPATIBLE
    };
    pub const GROQ: Self = Self {
        name: "groq",
        reasoning_field: ReasoningField::Reasoning,
        tolerates_unknown_fields: false,
        ..COMPATIBLE
    };
    pub const LLAMACPP: Self =
        Self { name: "llamacpp", reasoning_replay: ReasoningReplay::Always, ..COMPATIBLE };
    /// Usage comes unasked with the last chunk of a stream.
    pub const MISTRAL: Self = Self {
        name: "mistral",
        reasoning_field: ReasoningField::ContentChunks,
        reasoning_replay: ReasoningReplay::Always,
        call_ids: CallIdRule::MISTRAL,
        seed_field: "random_seed",
        forced_tool_choice: "any",
        stream_options: false,
        logprobs: false,
        tolerates_unknown_fields: false,
        ..COMPATIBLE
    };
    pub const OLLAMA: Self =
        Self { name: "ollama", reasoning_field: ReasoningField::Reasoning, ..COMPATIBLE };
    /// Passes everything on and spells it the way the model behind it wants.
    pub const OPENROUTER: Self = Self {
        name: "openrouter",
        reasoning_field: ReasoningField::ReasoningAndDetails,
        reasoning_replay: ReasoningReplay::Always,
        reasoning_request: ReasoningRequest::Object,
        developer_role: true,
        ..COMPATIBLE
    };
    pub const PERPLEXITY: Self = Self {
        name: "perplexity",
        reasoning_field: ReasoningField::Absent,
        tools: false,
        stream_options: false,
        ..COMPATIBLE
    };
    pub const VLLM: Self = Self { name: "vllm", ..COMPATIBLE };
    pub const XAI: Self = Self { name: "xai", ..COMPATIBLE };
    /// Google's own Chat front for Gemini.
    pub const GEMINI: Self =
        Self { name: "gemini", reasoning_field: ReasoningField::Absent, ..COMPATIBLE };
}

/// What the imitators share: the roles and the output limit of Chat's first years.
const COMPATIBLE: Dialect = Dialect {
    developer_role: false,
    token_limit: Some(TokenLimit::MaxTokens),
    automatic_cache: false,
    cache_key: false,
    ..Dialect::UNKNOWN
};
