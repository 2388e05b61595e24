//! GPT and the o-series, by generation.

use crate::target::effort::Effort;
use crate::target::effort::Effort::{High, Low, Max, Medium, Minimal, Xhigh};
use crate::target::families::Row;
use crate::target::family::{
    Accepts, Family, Inputs, Sampling, SystemRole, Thinking, TokenLimit, Vendor,
};

pub(super) const TABLE: &[Row] = &[
    ("gpt", GPT),
    ("gpt-3-5", GPT_3_5),
    ("gpt-35", GPT_3_5),
    ("gpt-4", GPT_4),
    ("gpt-4-32k", GPT_4_32K),
    ("gpt-4-turbo", GPT_4_TURBO),
    ("gpt-4-vision", GPT_4_TURBO),
    ("gpt-4-1106", GPT_4_TURBO),
    ("gpt-4-0125", GPT_4_TURBO),
    ("gpt-4o", GPT_4O),
    ("chatgpt-4o", GPT_4O),
    ("gpt-4o-audio", GPT_AUDIO),
    ("gpt-4o-mini-audio", GPT_AUDIO),
    ("gpt-audio", GPT_AUDIO),
    ("gpt-4-1", GPT_4_1),
    ("gpt-4-5", GPT_4O),
    ("o1", O1),
    ("o3", O3),
    ("o3-mini", O3_MINI),
    ("o4", O3),
    ("codex-mini", O3),
    ("gpt-5", GPT_5),
    ("gpt-5-codex", GPT_5_CODEX),
    ("gpt-5-pro", GPT_5_PRO),
    ("gpt-5-chat", GPT_5_CHAT),
    ("gpt-5-1", GPT_5_1),
    ("gpt-5-1-codex", GPT_5_CODEX),
    ("gpt-5-1-codex-max", GPT_5_3_CODEX),
    ("gpt-5-2", GPT_5_2),
    ("gpt-5-3", GPT_5_2),
    ("gpt-5-4", GPT_5_4),
    ("gpt-5-4-mini", GPT_5_4_MINI),
    ("gpt-5-4-nano", GPT_5_4_MINI),
    ("gpt-5-5", GPT_5_5),
    ("gpt-5-6", GPT_5_6),
    ("gpt-5-#-codex", GPT_5_3_CODEX),
    ("gpt-5-#-pro", GPT_5_2_PRO),
    ("gpt-5-#-chat", GPT_5_1_CHAT),
    // Generations to come.
    ("gpt-5-#", GPT_5_6),
    ("gpt-#", GPT_5_6),
    ("gpt-#-#", GPT_5_6),
    ("o#", O3),
];

/// No OpenAI protocol has a field for top_k.
const OPEN: Sampling = Sampling { top_k: Accepts::Nothing, ..Sampling::OPEN };
const O1_REASONING: Sampling = Sampling {
    temperature: Accepts::Only(1.0),
    top_p: Accepts::Only(1.0),
    penalties: Accepts::Nothing,
    logit_bias: Accepts::Nothing,
    logprobs: Accepts::Nothing,
    ..OPEN
};
const REASONING: Sampling = Sampling { stop: Accepts::Nothing, ..O1_REASONING };
/// What GPT-5.1 and later accept while the effort is none.
const RESTING: Sampling = Sampling { stop: Accepts::Nothing, ..OPEN };

const GPT: Family = Family {
    name: "gpt",
    vendor: Vendor::Openai,
    sampling: OPEN,
    sampling_while_reasoning: OPEN,
    ..Family::UNKNOWN
};
const GPT_3_5: Family = Family {
    name: "gpt-3.5",
    context_tokens: Some(16_385),
    output_tokens_max: Some(4_096),
    inputs: Inputs::TEXT,
    ..GPT_4
};
const GPT_4: Family = Family {
    name: "gpt-4",
    context_tokens: Some(8_192),
    output_tokens_max: Some(8_192),
    thinking: Thinking::None,
    schema_output: false,
    schema_output_with_tools: false,
    inputs: Inputs::TEXT,
    ..GPT
};
const GPT_4_32K: Family = Family { context_tokens: Some(32_768), ..GPT_4 };
const GPT_4_TURBO: Family = Family {
    name: "gpt-4-turbo",
    context_tokens: Some(128_000),
    output_tokens_max: Some(4_096),
    inputs: Inputs::IMAGE,
    ..GPT_4
};
const GPT_4O: Family = Family {
    name: "gpt-4o",
    context_tokens: Some(128_000),
    output_tokens_max: Some(16_384),
    thinking: Thinking::None,
    inputs: Inputs::IMAGE_AND_PDF,
    ..GPT
};
const GPT_AUDIO: Family =
    Family { name: "gpt-audio", inputs: Inputs { audio: true, ..Inputs::TEXT }, ..GPT_4O };
const GPT_4_1: Family = Family {
    name: "gpt-4.1",
    context_tokens: Some(1_047_576),
    output_tokens_max: Some(32_768),
    ..GPT_4O
};
const O1: Family = Family {
    name: "o1",
    context_tokens: Some(200_000),
    output_tokens_max: Some(100_000),
    system_role: SystemRole::Developer,
    token_limit: TokenLimit::MaxCompletionTokens,
    sampling: O1_REASONING,
    sampling_while_reasoning: O1_REASONING,
    thinking: efforts(&[Low, Medium, High], Medium),
    inputs: Inputs::IMAGE_AND_PDF,
    ..GPT
};
const O3: Family =
    Family { name: "o3", sampling: REASONING, sampling_while_reasoning: REASONING, ..O1 };
const O3_MINI: Family = Family { inputs: Inputs::TEXT, ..O3 };
const GPT_5: Family = Family {
    name: "gpt-5",
    context_tokens: Some(400_000),
    output_tokens_max: Some(128_000),
    thinking: efforts(&[Minimal, Low, Medium, High], Medium),
    ..O3
};
const GPT_5_CODEX: Family = Family { thinking: efforts(&[Low, Medium, High], Medium), ..GPT_5 };
const GPT_5_PRO: Family =
    Family { output_tokens_max: Some(272_000), thinking: efforts(&[High], High), ..GPT_5 };
const GPT_5_CHAT: Family = Family {
    context_tokens: Some(128_000),
    output_tokens_max: Some(16_384),
    sampling: OPEN,
    thinking: Thinking::None,
    ..GPT_5
};
const GPT_5_1: Family = Family {
    name: "gpt-5.1",
    sampling: RESTING,
    thinking: efforts(&[Effort::None, Low, Medium, High], Effort::None),
    ..GPT_5
};
const GPT_5_1_CHAT: Family = Family {
    context_tokens: Some(128_000),
    output_tokens_max: Some(16_384),
    thinking: efforts(&[Medium], Medium),
    ..GPT_5
};
const GPT_5_2: Family =
    Family { name: "gpt-5.2", thinking: efforts(NONE_TO_XHIGH, Effort::None), ..GPT_5_1 };
const GPT_5_2_PRO: Family = Family { thinking: efforts(&[Medium, High, Xhigh], Medium), ..GPT_5 };
const GPT_5_3_CODEX: Family = Family {
    name: "gpt-5.3-codex",
    thinking: efforts(&[Low, Medium, High, Xhigh], Medium),
    ..GPT_5
};
const GPT_5_4: Family = Family {
    name: "gpt-5.4",
    context_tokens: Some(1_050_000),
    chat_tools_while_reasoning: false,
    ..GPT_5_2
};
const GPT_5_4_MINI: Family = Family { context_tokens: Some(400_000), ..GPT_5_4 };
const GPT_5_5: Family =
    Family { name: "gpt-5.5", thinking: efforts(NONE_TO_XHIGH, Medium), ..GPT_5_4 };
const GPT_5_6: Family = Family {
    name: "gpt-5.6",
    thinking: efforts(&[Effort::None, Low, Medium, High, Xhigh, Max], Medium),
    ..GPT_5_5
};

const NONE_TO_XHIGH: &[Effort] = &[Effort::None, Low, Medium, High, Xhigh];

const fn efforts(levels: &'static [Effort], default: Effort) -> Thinking {
    Thinking::OpenaiEffort { levels, default }
}
