//! What is known of a server with its own dialect of Chat.
//! The model's facts are in its family; these hold for whatever model the server hosts.

use crate::alias::CallIdRule;
use crate::target::dialects;
use crate::target::family::TokenLimit;

/// How an OpenAI-compatible server differs from OpenAI's own.
///
/// A caller builds its own from [`Dialect::UNKNOWN`], which accepts everything:
///
/// ```
/// use sabir_wire::alias::CallIdRule;
/// use sabir_wire::target::Dialect;
///
/// let strict = Dialect { name: "ours", call_ids: CallIdRule::MISTRAL, ..Dialect::UNKNOWN };
/// assert!(!strict.call_ids.accepts("call_1"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dialect {
    pub name: &'static str,
    /// Where the server's answers hold what the model thought.
    pub reasoning_field: ReasoningField,
    /// Whether that field is sent back with the history.
    pub reasoning_replay: ReasoningReplay,
    /// How the server is asked to think.
    pub reasoning_request: ReasoningRequest,
    /// Whether the role `developer` is accepted.
    pub developer_role: bool,
    pub call_ids: CallIdRule,
    /// How the server spells the output limit; `None` leaves it to the model's family.
    pub token_limit: Option<TokenLimit>,
    /// What the server calls the seed.
    pub seed_field: &'static str,
    /// The `tool_choice` that makes the model call some tool.
    pub forced_tool_choice: &'static str,
    pub tools: bool,
    pub strict_tools: bool,
    pub parallel_tool_calls: bool,
    /// Whether `stream_options` is accepted; a server without it sends the usage unasked.
    pub stream_options: bool,
    /// Whether `response_format` takes a JSON schema, beyond plain JSON mode.
    pub schema_output: bool,
    pub logprobs: bool,
    /// Whether Messages takes a `cache_control` for the whole request, beside those of its blocks.
    pub automatic_cache: bool,
    /// Whether the server knows `prompt_cache_key`.
    pub cache_key: bool,
    /// Whether fields that the server does not know are ignored rather than refused.
    pub tolerates_unknown_fields: bool,
}

impl Dialect {
    /// A server that is not known: it is taken to accept everything.
    pub const UNKNOWN: Self = Self {
        name: "unknown",
        reasoning_field: ReasoningField::ReasoningContent,
        reasoning_replay: ReasoningReplay::Never,
        reasoning_request: ReasoningRequest::Effort,
        developer_role: true,
        call_ids: CallIdRule::CHAT,
        token_limit: None,
        seed_field: "seed",
        forced_tool_choice: "required",
        tools: true,
        strict_tools: true,
        parallel_tool_calls: true,
        stream_options: true,
        schema_output: true,
        logprobs: true,
        automatic_cache: true,
        cache_key: true,
        tolerates_unknown_fields: true,
    };

    /// The dialect of that name, as configuration files spell it.
    ///
    /// ```
    /// use sabir_wire::target::Dialect;
    ///
    /// assert_eq!(Dialect::named("Mistral"), Some(Dialect::MISTRAL));
    /// assert_eq!(Dialect::named("nobody"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        dialects::find(name)
    }
}

/// The member of a Chat message that holds reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReasoningField {
    /// The server keeps it to itself.
    Absent,
    ReasoningContent,
    Reasoning,
    /// Text in `reasoning`, and `reasoning_details` with what can be sent back.
    ReasoningAndDetails,
    /// Chunks of type `thinking` within an array `content`.
    ContentChunks,
}

/// When earlier reasoning goes back to the server that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReasoningReplay {
    Never,
    /// With messages that call tools, which the server refuses without it.
    WithToolCalls,
    Always,
}

/// The request field that steers reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReasoningRequest {
    /// There is none.
    Absent,
    /// `reasoning_effort`.
    Effort,
    /// `thinking: {type: enabled | disabled}` beside `reasoning_effort`.
    Switch,
    /// `reasoning: {effort | max_tokens, exclude}`.
    Object,
}
