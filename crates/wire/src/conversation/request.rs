//! A request: the conversation so far and how it is to be continued.

use crate::conversation::{Message, Tool, ToolChoice};
use crate::json::{Json, Number, Text};
use crate::owned::into_owned;

/// What is asked of a model, as far as more than one protocol can say it.
#[derive(Clone, Debug, Default)]
pub struct Request<'a> {
    /// The model's name; Gemini carries it in the URL.
    pub model: Option<Text<'a>>,
    /// Whether the answer is to be streamed; Gemini carries it in the URL.
    pub stream: Option<bool>,
    pub messages: Vec<Message<'a>>,
    pub tools: Vec<Tool<'a>>,
    pub tool_choice: Option<ToolChoice<'a>>,
    pub parallel_tool_calls: Option<bool>,
    pub max_output_tokens: Option<Number<'a>>,
    pub sampling: Sampling<'a>,
    pub stop: Vec<Text<'a>>,
    pub output: OutputFormat<'a>,
    /// `low`, `medium`, `high`.
    pub verbosity: Option<Text<'a>>,
    pub thinking: Thinking<'a>,
    /// Who the end user is, for the vendor's safety systems.
    pub safety_identifier: Option<Text<'a>>,
    /// The older form of [`Request::safety_identifier`].
    pub user: Option<Text<'a>>,
    pub metadata: Option<Json<'a>>,
    pub service_tier: Option<Text<'a>>,
    pub store: Option<bool>,
    pub cache: CacheOptions<'a>,
}

/// How tokens are drawn.
#[derive(Clone, Debug, Default)]
pub struct Sampling<'a> {
    pub temperature: Option<Number<'a>>,
    pub top_p: Option<Number<'a>>,
    pub top_k: Option<Number<'a>>,
    pub seed: Option<Number<'a>>,
    pub presence_penalty: Option<Number<'a>>,
    pub frequency_penalty: Option<Number<'a>>,
    /// How many answers are wanted.
    pub candidates: Option<Number<'a>>,
    pub logprobs: Option<bool>,
    pub top_logprobs: Option<Number<'a>>,
}

impl<'a> Sampling<'a> {
    /// The number of alternatives, unless it is zero and nobody asks for log probabilities.
    pub(crate) fn alternatives(&self) -> Option<&Number<'a>> {
        let is_wish = |count: &&Number<'_>| self.logprobs.is_some() || count.as_f64() != Some(0.0);
        self.top_logprobs.as_ref().filter(is_wish)
    }
}

/// The shape that the answer must have.
#[derive(Clone, Debug, Default)]
pub enum OutputFormat<'a> {
    /// Nothing was stated.
    #[default]
    Unset,
    Text,
    /// Any JSON object.
    JsonObject,
    JsonSchema(Box<OutputSchema<'a>>),
}

#[derive(Clone, Debug, Default)]
pub struct OutputSchema<'a> {
    pub name: Option<Text<'a>>,
    pub description: Option<Text<'a>>,
    /// JSON Schema as the protocol spells it.
    pub schema: Option<Json<'a>>,
    pub strict: Option<bool>,
}

/// How much the model is to think, and how much of it is shown.
#[derive(Clone, Debug, Default)]
pub struct Thinking<'a> {
    pub mode: Option<ThinkingMode>,
    /// A step of the ladder `none` … `max`, in the protocol's own lower-case word.
    pub effort: Option<Text<'a>>,
    /// Tokens that thinking may take.
    pub budget: Option<Number<'a>>,
    pub show: Option<ThinkingShow<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ThinkingMode {
    Enabled,
    /// The model decides how much.
    Adaptive,
    BetweenTools,
    Disabled,
}

#[derive(Clone, Debug)]
pub enum ThinkingShow<'a> {
    /// Shown, in the protocol's own word for how (`auto`, `concise`, `detailed`, `summarized`), if it has one.
    Shown(Option<Text<'a>>),
    Hidden,
}

/// What is asked of the prompt cache as a whole; markers stand on the parts.
#[derive(Clone, Debug, Default)]
pub struct CacheOptions<'a> {
    pub key: Option<Text<'a>>,
    pub options: Option<Json<'a>>,
    pub retention: Option<Text<'a>>,
}

impl Request<'_> {
    /// Leaves the content alone and takes off what some request meant by it.
    pub(crate) fn forget_semantics(&mut self) {
        self.messages.iter_mut().for_each(Message::forget_semantics);
        self.tools.iter_mut().for_each(Tool::forget_semantics);
    }
}

into_owned! {
    pub struct Request {
        model, stream, messages, tools, tool_choice, parallel_tool_calls, max_output_tokens,
        sampling, stop, output, verbosity, thinking, safety_identifier, user, metadata,
        service_tier, store, cache,
    }
    pub struct Sampling {
        temperature, top_p, top_k, seed, presence_penalty, frequency_penalty, candidates,
        logprobs, top_logprobs,
    }
    pub enum OutputFormat { Unset, Text, JsonObject, JsonSchema(schema) }
    pub struct OutputSchema { name, description, schema, strict }
    pub struct Thinking { mode, effort, budget, show }
    pub enum ThinkingShow { Shown(word), Hidden }
    pub struct CacheOptions { key, options, retention }
}
