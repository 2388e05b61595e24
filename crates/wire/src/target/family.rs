//! What is known of a family of models: limits, accepted parameters, ways of thinking.
//! Plain data, so that a caller can correct a fact or describe a model of its own.

use crate::target::effort::Effort;
use crate::target::families;

/// The facts about a family of models that an encoder needs.
///
/// A caller builds its own from [`Family::UNKNOWN`], which accepts everything:
///
/// ```
/// use sabir_wire::target::{Accepts, Family, Sampling};
///
/// let cold = Family {
///     name: "our-model",
///     sampling: Sampling { temperature: Accepts::Between { min: 0.0, max: 0.5 }, ..Sampling::OPEN },
///     ..Family::UNKNOWN
/// };
/// assert_eq!(cold.sampling.temperature.fit(0.9), Some(0.5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Family {
    /// What reports call the family; not a model name.
    pub name: &'static str,
    pub vendor: Vendor,
    pub context_tokens: Option<u64>,
    /// The widest window that the model can be asked for, where a beta of the vendor widens it.
    pub context_tokens_max: Option<u64>,
    pub output_tokens_max: Option<u64>,
    /// What the OpenAI protocols call the operator's role towards this model.
    pub system_role: SystemRole,
    /// How Chat spells the output limit towards this model.
    pub token_limit: TokenLimit,
    pub sampling: Sampling,
    /// What holds instead of `sampling` while the model reasons.
    pub sampling_while_reasoning: Sampling,
    pub thinking: Thinking,
    /// Whether function tools are accepted at all.
    pub tools: bool,
    /// Whether Chat accepts function tools together with an effort other than none.
    pub chat_tools_while_reasoning: bool,
    pub forced_tool_choice: ForcedToolChoice,
    pub tool_name_len_max: usize,
    /// Whether a server of Anthropic's protocol accepts the role `system` among the messages. Only models that are known
    /// to take it get it: marked text is understood by all.
    pub system_among_turns: bool,
    /// Whether a final assistant message is continued rather than refused.
    pub prefill: bool,
    /// Whether thinking is bound to the exact conversation before it, so that no earlier byte
    /// may change between turns.
    pub thinking_bound_to_prefix: bool,
    /// Whether an answer can be held to a JSON schema.
    pub schema_output: bool,
    /// Whether that also works while tools are declared.
    pub schema_output_with_tools: bool,
    /// Which schema language Gemini's tools and answers take.
    pub gemini_schema: GeminiSchema,
    pub inputs: Inputs,
    /// Whether the model fetches an image or file by its public https address.
    pub remote_files: bool,
    /// Whether a tool result can hold an image.
    pub media_in_results: bool,
    /// Whether each image may say how closely it is to be looked at, beside the setting of the whole request.
    pub media_resolution_by_part: bool,
    /// Whether function calls and their results can carry an id; else they pair by order.
    pub call_ids: bool,
    /// Whether the first function call of a step must carry its thought signature. A Gemini model of no known family is
    /// taken to want it: one that does not want it ignores it.
    pub needs_thought_signature: bool,
    /// Whether hosted and function tools can be declared together.
    pub hosted_with_function_tools: bool,
}

impl Family {
    /// A model that is not known: it is taken to accept everything that has no safe substitute.
    pub const UNKNOWN: Self = Self {
        name: "unknown",
        vendor: Vendor::Other,
        context_tokens: None,
        context_tokens_max: None,
        output_tokens_max: None,
        system_role: SystemRole::System,
        token_limit: TokenLimit::MaxTokens,
        sampling: Sampling::OPEN,
        sampling_while_reasoning: Sampling::OPEN,
        thinking: Thinking::Unknown,
        tools: true,
        chat_tools_while_reasoning: true,
        forced_tool_choice: ForcedToolChoice::Always,
        tool_name_len_max: 128,
        system_among_turns: false,
        prefill: true,
        thinking_bound_to_prefix: false,
        schema_output: true,
        schema_output_with_tools: true,
        gemini_schema: GeminiSchema::Either,
        inputs: Inputs::ALL,
        remote_files: true,
        media_in_results: true,
        media_resolution_by_part: true,
        call_ids: true,
        needs_thought_signature: true,
        hosted_with_function_tools: true,
    };

    /// Recognises the family in a model name, whatever path, vendor prefix, date or variant
    /// stands around it.
    ///
    /// ```
    /// use sabir_wire::target::Family;
    ///
    /// assert_eq!(Family::of("us.anthropic.claude-sonnet-4-5-v1:0").name, "claude-4.5");
    /// assert_eq!(Family::of("somebody/something").name, "unknown");
    /// ```
    pub fn of(model: &str) -> Self {
        families::find(model)
    }

    /// The most that a prompt can have, whatever the request asks for beside it.
    pub fn widest_context(&self) -> Option<u64> {
        self.context_tokens_max.max(self.context_tokens)
    }

    /// The sampling rules for a request of this effort; `None` is a request that names none.
    pub fn sampling_for(&self, effort: Option<Effort>) -> &Sampling {
        let reasons = match effort {
            Some(effort) => effort != Effort::None,
            None => self.thinking.by_default(),
        };
        if reasons { &self.sampling_while_reasoning } else { &self.sampling }
    }
}

/// Who made the model, and so whose artefacts it can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Vendor {
    Openai,
    Anthropic,
    Google,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SystemRole {
    System,
    Developer,
}

impl SystemRole {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Developer => "developer",
        }
    }
}

/// The Chat field that limits the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenLimit {
    MaxTokens,
    MaxCompletionTokens,
}

impl TokenLimit {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// Which values of a parameter a model accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Accepts {
    Anything,
    Between {
        min: f64,
        max: f64,
    },
    /// Only its default, which may as well be left out.
    Only(f64),
    Nothing,
}

impl Accepts {
    pub fn admits(self, value: f64) -> bool {
        match self {
            Self::Anything => true,
            Self::Between { min, max } => (min..=max).contains(&value),
            Self::Only(default) => value == default,
            Self::Nothing => false,
        }
    }

    /// The value to send: itself, the upper bound of a narrower range, or none at all.
    pub fn fit(self, value: f64) -> Option<f64> {
        match self {
            Self::Between { max, .. } if value > max => Some(max),
            _ => self.admits(value).then_some(value),
        }
    }
}

/// Which sampling parameters a model accepts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    pub temperature: Accepts,
    pub top_p: Accepts,
    /// Whether the two above may be given together.
    pub temperature_with_top_p: bool,
    pub top_k: Accepts,
    /// Presence and frequency penalty.
    pub penalties: Accepts,
    pub logit_bias: Accepts,
    pub logprobs: Accepts,
    pub seed: Accepts,
    pub stop: Accepts,
}

impl Sampling {
    /// Everything is accepted, as far as the protocol has a field for it.
    pub const OPEN: Self = Self {
        temperature: Accepts::Anything,
        top_p: Accepts::Anything,
        temperature_with_top_p: true,
        top_k: Accepts::Anything,
        penalties: Accepts::Anything,
        logit_bias: Accepts::Anything,
        logprobs: Accepts::Anything,
        seed: Accepts::Anything,
        stop: Accepts::Anything,
    };
}

/// How a model takes how much to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thinking {
    /// Not known, so every setting is passed on.
    Unknown,
    /// The model does not reason and refuses to be asked.
    None,
    /// The model reasons by itself and takes no setting.
    Unsteered,
    /// `reasoning_effort` and `reasoning.effort`; `default` is what an absent one means.
    OpenaiEffort { levels: &'static [Effort], default: Effort },
    /// `thinking: enabled` with a budget; a few of these models take `output_config.effort` too.
    AnthropicBudget { min: u64, max: u64, efforts: &'static [Effort] },
    /// `thinking: adaptive` with `output_config.effort`.
    AnthropicAdaptive {
        efforts: &'static [Effort],
        disable: Disable,
        by_default: bool,
        /// Whether `enabled` with a budget is still accepted as well.
        budget_too: bool,
    },
    /// `thinkingBudget`; zero turns it off where allowed.
    GeminiBudget { min: u64, max: u64, zero: bool, by_default: bool },
    /// `thinkingLevel`; cannot be turned off.
    GeminiLevel { levels: &'static [Effort] },
}

impl Thinking {
    /// Whether the model can be set to exactly `effort`.
    pub fn has(self, effort: Effort) -> bool {
        let off = effort == Effort::None;
        match self {
            Self::Unknown | Self::AnthropicBudget { .. } => true,
            Self::None => off,
            Self::Unsteered => false,
            Self::OpenaiEffort { levels, .. } | Self::GeminiLevel { levels } => {
                levels.contains(&effort)
            }
            Self::AnthropicAdaptive { disable, .. } if off => disable != Disable::Never,
            Self::AnthropicAdaptive { efforts, .. } => efforts.contains(&effort),
            Self::GeminiBudget { zero, .. } => zero || !off,
        }
    }

    /// Whether the model reasons when the request says nothing of it.
    pub fn by_default(self) -> bool {
        match self {
            Self::Unknown | Self::None | Self::AnthropicBudget { .. } => false,
            Self::Unsteered | Self::GeminiLevel { .. } => true,
            Self::OpenaiEffort { default, .. } => default != Effort::None,
            Self::AnthropicAdaptive { by_default, .. } | Self::GeminiBudget { by_default, .. } => {
                by_default
            }
        }
    }
}

/// When adaptive thinking can be turned off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Disable {
    Always,
    /// Only while the effort is high or less.
    UpToHigh,
    Never,
}

/// When a model can be made to call a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ForcedToolChoice {
    Always,
    /// Not in a request that asks for thinking.
    WithoutThinking,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GeminiSchema {
    /// Only the subset of OpenAPI 3.0 that Gemini calls Schema.
    SchemaOnly,
    /// That, or JSON Schema in the fields made for it.
    Either,
}

/// What a user may send beside text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Inputs {
    pub image: bool,
    pub audio: bool,
    pub video: bool,
    pub pdf: bool,
}

impl Inputs {
    pub const ALL: Self = Self { image: true, audio: true, video: true, pdf: true };
    pub const TEXT: Self = Self { image: false, audio: false, video: false, pdf: false };
    pub const IMAGE: Self = Self { image: true, ..Self::TEXT };
    pub const IMAGE_AND_PDF: Self = Self { pdf: true, ..Self::IMAGE };
}
