//! How servers say that a prompt does not fit the window of their model: their texts as data, each with the place where it was
//! seen. Most of them come under a status that says no more than that the request was bad.

/// By how much a prompt does not fit, as far as anybody said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overflow {
    /// What was asked for: the prompt, and where a server adds it up, the answer that was to follow.
    pub tokens: Option<u64>,
    /// What the model takes.
    pub window: Option<u64>,
}

impl Overflow {
    /// Both counts, if both are known.
    pub(crate) fn counts(self) -> Option<(u64, u64)> {
        self.tokens.zip(self.window)
    }
}

/// How much of an error is looked at. Servers say in a sentence what is wrong; the rest may repeat the prompt.
const TEXT_BYTES_MAX: usize = 8 * 1024;

/// What a text says of a prompt that does not fit; none if it speaks of something else.
pub(crate) fn find(text: &str) -> Option<Overflow> {
    let text = text[..text.floor_char_boundary(TEXT_BYTES_MAX)].to_ascii_lowercase();
    TEXTS.iter().find_map(|(template, _)| read(template, &text))
}

/// The texts in lower case, and where each was seen. `{tokens}` and `{window}` are counts, `{output}` is added to the tokens,
/// `{}` is another number, and `*` stands for anything. The first that fits is taken: those that tell more stand before
/// those that tell less.
const TEXTS: &[(&str, &str)] = &[
    (
        "prompt is too long: {tokens} tokens > {window} maximum",
        "Anthropic; stackblitz/bolt.new#2449, Bedrock: aaif-goose/goose#7504",
    ),
    (
        "exceed context limit: {tokens} + {output} > {window}",
        "Anthropic; anthropics/claude-code#408",
    ),
    (
        "prompt is too long: {tokens}, model maximum context length: {window}",
        "Fireworks; fw-ai/cookbook#134",
    ),
    (
        "maximum context length is {window} tokens. however, your messages resulted in {tokens} tokens",
        "OpenAI, Azure; AsyncFuncAI/deepwiki-open#144, OpenRouter: cline/cline#13194",
    ),
    (
        "maximum context length is {window} tokens. however, you requested {} output tokens*for a total of at least {tokens} tokens",
        "vLLM; vllm-project/vllm#42474",
    ),
    (
        "maximum context length is {window} tokens. however, your request has {tokens} input tokens",
        "vLLM; QwenLM/Qwen-Agent#759",
    ),
    (
        "maximum context length is {window} tokens. however, you requested {tokens} tokens",
        "OpenAI, vLLM, DeepSeek; vllm-project/vllm#20409, evalstate/fast-agent#621",
    ),
    (
        "maximum context length is {window} tokens, however you requested {tokens} tokens",
        "OpenAI; fierceX/Document_QA#3",
    ),
    (
        "maximum context length is {window} tokens. however, you requested about {tokens} tokens",
        "OpenRouter; OpenHands/OpenHands#9937",
    ),
    (
        "input tokens exceed the configured limit of {window} tokens. your messages resulted in {tokens} tokens",
        "OpenAI; cline/cline#5474",
    ),
    (
        "input token count ({tokens}) exceeds the maximum number of tokens allowed ({window})",
        "Gemini; google-gemini/gemini-cli#6678",
    ),
    (
        "input token count is {tokens} but model only supports up to {window}",
        "Vertex; google-gemini/gemini-cli#19727",
    ),
    (
        "maximum prompt length is {window} but the request contains {tokens} tokens",
        "xAI; cline/cline#3120",
    ),
    (
        "prompt contains {tokens} tokens*too large for model with {window} maximum context length",
        "Mistral; docs.mistral.ai/resources/known-limitations",
    ),
    ("current length is {tokens} while limit is {window}", "Cerebras; cline/cline#5140"),
    (
        "request ({tokens} tokens) exceeds the available context size ({window} tokens)",
        "llama.cpp; llmmllab/llmmllab-api#69",
    ),
    ("\"n_prompt_tokens\":{tokens},\"n_ctx\":{window}", "llama.cpp; ggml-org/llama.cpp#15780"),
    (
        "requested tokens ({tokens}) exceed context window of {window}",
        "llama-cpp-python; fedora-copr/logdetective#100",
    ),
    (
        "the input ({tokens} tokens) is longer than the model's context length ({window} tokens)",
        "SGLang; QwenLM/Qwen3#1321",
    ),
    (
        "input length ({tokens} tokens) exceeds the maximum allowed length ({window} tokens)",
        "SGLang; sgl-project/sglang#4048",
    ),
    (
        "input length {tokens} exceeds the maximum allowed input length of {window} tokens",
        "mario-andreschak/FLUJO#291",
    ),
    (
        "exceeded model token limit: {window} (requested: {tokens})",
        "Moonshot; BigPizzaV3/CodexPlusPlus#1803",
    ),
    (
        "prompt token count of {tokens} exceeds the limit of {window}",
        "Copilot; microsoft/vscode#289219",
    ),
    (
        "keep the first {tokens} tokens when context the overflows. however, the model is loaded with context length of only {window} tokens",
        "LM Studio; lmstudio-ai/lmstudio-bug-tracker#546",
    ),
    ("with n_keep ({tokens}) >= n_ctx ({window})", "LM Studio; anomalyco/opencode#11141"),
    ("exceeds the context window of this model: {tokens} tokens > {window} maximum", "Sabir"),
    (
        "input length ({tokens}) exceeds model's maximum context length ({window})",
        "OpenAI-compatible servers; earendil-works/pi packages/ai/src/utils/overflow.ts",
    ),
    (
        "`inputs` tokens + `max_new_tokens` must be <= {window}. given: {tokens} `inputs` tokens and {output} `max_new_tokens`",
        "TGI, Together; huggingface/chat-ui#340",
    ),
    (
        "input token count exceeds the maximum number of tokens allowed ({window})",
        "Gemini; arkavo-org/arkavo-edge#371",
    ),
    (
        "input token count exceeds the maximum number of tokens allowed {window}",
        "Vertex; warpdotdev/warp#15662",
    ),
    (
        "requested tokens exceed context window of {window}",
        "llama-cpp-python; abetlen/llama-cpp-python#416",
    ),
    ("range of input length should be [1, {window}]", "DashScope; QwenLM/qwen-code#98"),
    ("request body too large for*max size: {window} tokens", "GitHub Models; cline/cline#2115"),
    (
        "exceeds the model's maximum context length of {window} tokens",
        "LiteLLM, SGLang; earendil-works/pi packages/ai/src/utils/overflow.ts",
    ),
    (
        "reached context length of {window} tokens",
        "LM Studio; lmstudio-ai/lmstudio-bug-tracker#1251",
    ),
    (
        "maximum context length is {window} tokens",
        "OpenAI and those that speak like it; vllm-project/vllm#20409",
    ),
    ("exceeds the context window of this model", "OpenAI Responses; the-open-agent/openagent#2344"),
    ("prompt is too long", "Anthropic; stackblitz/bolt.new#2449"),
    (
        "prompt too long; exceeded max context length by {} tokens",
        "Ollama; earendil-works/pi packages/ai/src/utils/overflow.ts",
    ),
    (
        "input token count exceeds the maximum number of tokens",
        "Gemini; google-gemini/gemini-cli#4118",
    ),
    ("the request exceeds the available context size", "llama.cpp; ggml-org/llama.cpp#17284"),
    ("please reduce the length of the messages or completion", "Groq; letta-ai/letta#1963"),
    ("input is too long for requested model", "Bedrock; aws-samples/bedrock-chat#95"),
    ("context window exceeds limit", "MiniMax; MiniMax-AI/MiniMax-M2#119"),
    (
        "initial prompt is greater than the context length",
        "LM Studio; lmstudio-ai/lmstudio-bug-tracker#2256",
    ),
    ("context size has been exceeded", "LM Studio; lmstudio-ai/lmstudio-bug-tracker#2339"),
    ("contextwindowexceedederror", "LiteLLM; getkimchi/kimchi#794"),
    (
        "\"context_length_exceeded\"",
        "OpenAI's code inside another server's error; cline/cline#13194",
    ),
];

/// Reads a text by a template that may begin anywhere in it.
fn read(template: &str, text: &str) -> Option<Overflow> {
    let (begin, rest) = template.split_at(template.find(['{', '*']).unwrap_or(template.len()));
    let mut places = text.match_indices(begin);
    places.find_map(|(at, _)| read_on(rest, &text[at + begin.len()..]))
}

/// Reads a text by what is left of a template.
fn read_on(mut template: &str, mut text: &str) -> Option<Overflow> {
    let mut found = Reading::default();
    while let Some(first) = template.chars().next() {
        (template, text) = match first {
            '{' => {
                let (name, rest) = template[1..].split_once('}')?;
                let (number, behind) = number(text)?;
                found.take(name, number);
                (rest, behind)
            }
            '*' => {
                let literal = literal(&template[1..]);
                (&template[1..], &text[text.find(literal)?..])
            }
            _ => {
                let literal = literal(template);
                (&template[literal.len()..], text.strip_prefix(literal)?)
            }
        };
    }
    Some(found.into_overflow())
}

/// What a template begins with, up to what stands for something else.
fn literal(template: &str) -> &str {
    &template[..template.find(['{', '*']).unwrap_or(template.len())]
}

/// The counts of a text, as they are found.
#[derive(Default)]
struct Reading {
    tokens: Option<u64>,
    output: u64,
    window: Option<u64>,
}

impl Reading {
    fn take(&mut self, name: &str, number: u64) {
        match name {
            "tokens" => self.tokens = Some(number),
            "output" => self.output = number,
            "window" => self.window = Some(number),
            _ => {}
        }
    }

    fn into_overflow(self) -> Overflow {
        let Self { tokens, output, window } = self;
        Overflow { tokens: tokens.map(|tokens| tokens.saturating_add(output)), window }
    }
}

/// The number that a text begins with, and what follows it. Some servers set thousands apart.
fn number(text: &str) -> Option<(u64, &str)> {
    let is_part = |byte: u8| byte.is_ascii_digit() || byte == b',';
    let length = text.bytes().take_while(|byte| is_part(*byte)).count();
    let digits = text[..length].trim_end_matches(',');
    let number = digits.replace(',', "").parse().ok()?;
    Some((number, &text[digits.len()..]))
}

#[cfg(test)]
mod tests;
