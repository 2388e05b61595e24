//! A request: the conversation so far and how it is to be continued.

use crate::conversation::Message;
use crate::conversation::Tool;
use crate::conversation::ToolChoice;
use crate::json::Json;
use crate::json::Number;
use crate::json::Text;

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

/// The shape that the answer must have.
#[derive(Clone, Debug, Default)]
pub enum OutputFormat<'a> {
    /// Nothing was said.
    #[default]
    Unsaid,
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
    /// Leaves the content alone and takes off what some exchange meant by it.
    pub(crate) fn forget_semantics(&mut self) {
        self.messages.iter_mut().for_each(Message::forget_semantics);
        self.tools.iter_mut().for_each(Tool::forget_semantics);
    }

    pub fn into_owned(self) -> Request<'static> {
        Request {
            model: self.model.map(Text::into_owned),
            stream: self.stream,
            messages: self.messages.into_iter().map(Message::into_owned).collect(),
            tools: self.tools.into_iter().map(Tool::into_owned).collect(),
            tool_choice: self.tool_choice.map(ToolChoice::into_owned),
            parallel_tool_calls: self.parallel_tool_calls,
            max_output_tokens: self.max_output_tokens.map(Number::into_owned),
            sampling: self.sampling.into_owned(),
            stop: self.stop.into_iter().map(Text::into_owned).collect(),
            output: self.output.into_owned(),
            verbosity: self.verbosity.map(Text::into_owned),
            thinking: self.thinking.into_owned(),
            safety_identifier: self.safety_identifier.map(Text::into_owned),
            user: self.user.map(Text::into_owned),
            metadata: self.metadata.map(Json::into_owned),
            service_tier: self.service_tier.map(Text::into_owned),
            store: self.store,
            cache: self.cache.into_owned(),
        }
    }
}

impl Sampling<'_> {
    pub fn into_owned(self) -> Sampling<'static> {
        Sampling {
            temperature: self.temperature.map(Number::into_owned),
            top_p: self.top_p.map(Number::into_owned),
            top_k: self.top_k.map(Number::into_owned),
            seed: self.seed.map(Number::into_owned),
            presence_penalty: self.presence_penalty.map(Number::into_owned),
            frequency_penalty: self.frequency_penalty.map(Number::into_owned),
            candidates: self.candidates.map(Number::into_owned),
            logprobs: self.logprobs,
            top_logprobs: self.top_logprobs.map(Number::into_owned),
        }
    }
}

impl OutputFormat<'_> {
    pub fn into_owned(self) -> OutputFormat<'static> {
        match self {
            Self::Unsaid => OutputFormat::Unsaid,
            Self::Text => OutputFormat::Text,
            Self::JsonObject => OutputFormat::JsonObject,
            Self::JsonSchema(schema) => OutputFormat::JsonSchema(Box::new(schema.into_owned())),
        }
    }
}

impl OutputSchema<'_> {
    pub fn into_owned(self) -> OutputSchema<'static> {
        OutputSchema {
            name: self.name.map(Text::into_owned),
            description: self.description.map(Text::into_owned),
            schema: self.schema.map(Json::into_owned),
            strict: self.strict,
        }
    }
}

impl Thinking<'_> {
    pub fn into_owned(self) -> Thinking<'static> {
        Thinking {
            mode: self.mode,
            effort: self.effort.map(Text::into_owned),
            budget: self.budget.map(Number::into_owned),
            show: self.show.map(ThinkingShow::into_owned),
        }
    }
}

impl ThinkingShow<'_> {
    pub fn into_owned(self) -> ThinkingShow<'static> {
        match self {
            Self::Shown(word) => ThinkingShow::Shown(word.map(Text::into_owned)),
            Self::Hidden => ThinkingShow::Hidden,
        }
    }
}

impl CacheOptions<'_> {
    pub fn into_owned(self) -> CacheOptions<'static> {
        CacheOptions {
            key: self.key.map(Text::into_owned),
            options: self.options.map(Json::into_owned),
            retention: self.retention.map(Text::into_owned),
        }
    }
}
