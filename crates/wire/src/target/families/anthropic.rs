//! Claude, by generation. Limits and thinking forms are those of the vendor's model pages.

use crate::target::effort::Effort;
use crate::target::effort::Effort::{High, Low, Max, Medium, Xhigh};
use crate::target::families::Row;
use crate::target::family::{
    Accepts, Disable, Family, ForcedToolChoice, Inputs, Sampling, Thinking, Vendor,
};

pub(super) const TABLE: &[Row] = &[
    ("claude", CLAUDE),
    ("claude-instant", CLAUDE_2),
    ("claude-instant-#", CLAUDE_2),
    ("claude-instant-#-#", CLAUDE_2),
    ("claude-2", CLAUDE_2),
    ("claude-2-#", CLAUDE_2),
    ("claude-v2", CLAUDE_2),
    ("claude-3", CLAUDE_3),
    ("claude-3-5", CLAUDE_3_5),
    ("claude-3-7", CLAUDE_3_7),
    ("claude-*-3", CLAUDE_3),
    ("claude-*-3-5", CLAUDE_3_5),
    ("claude-*-3-7", CLAUDE_3_7),
    ("claude-*-4", CLAUDE_4),
    ("claude-opus-4", OPUS_4),
    ("claude-*-4-1", CLAUDE_4),
    ("claude-opus-4-1", OPUS_4),
    ("claude-*-4-5", CLAUDE_4_5),
    ("claude-opus-4-5", OPUS_4_5),
    ("claude-*-4-6", CLAUDE_4_6),
    ("claude-*-4-7", CLAUDE_4_7),
    ("claude-*-4-8", CLAUDE_4_7),
    ("claude-opus-4-8", OPUS_4_8),
    ("claude-*-4-#", OPUS_4_8),
    // The same generations with the number first, as several resellers spell them.
    ("claude-4", CLAUDE_4),
    ("claude-4-opus", OPUS_4),
    ("claude-4-1", CLAUDE_4),
    ("claude-4-1-opus", OPUS_4),
    ("claude-4-5", CLAUDE_4_5),
    ("claude-4-5-opus", OPUS_4_5),
    ("claude-4-6", CLAUDE_4_6),
    ("claude-4-7", CLAUDE_4_7),
    ("claude-4-8", CLAUDE_4_7),
    ("claude-4-8-opus", OPUS_4_8),
    ("claude-4-#", OPUS_4_8),
    ("claude-5", CLAUDE_5),
    ("claude-5-opus", OPUS_5),
    ("claude-5-#", CLAUDE_5_5),
    ("claude-5-#-opus", OPUS_5_5),
    ("claude-*-5", CLAUDE_5),
    ("claude-opus-5", OPUS_5),
    ("claude-fable-5", FABLE_5),
    ("claude-mythos-5", FABLE_5),
    ("claude-fable", FABLE_5_1),
    ("claude-mythos", FABLE_5_1),
    ("claude-*-5-#", CLAUDE_5_5),
    ("claude-opus-5-#", OPUS_5_5),
    ("claude-fable-5-#", FABLE_5_1),
    ("claude-mythos-5-#", FABLE_5_1),
    // What is not out yet is taken to be as narrow as the narrowest model that is.
    ("claude-#", OPUS_5_5),
    ("claude-*-#", OPUS_5_5),
    ("claude-*-#-#", OPUS_5_5),
    ("claude-*-latest", CLAUDE_5_5),
    ("claude-opus-latest", OPUS_5_5),
];

const FREE: Sampling = Sampling {
    temperature: Accepts::Between { min: 0.0, max: 1.0 },
    penalties: Accepts::Nothing,
    logit_bias: Accepts::Nothing,
    logprobs: Accepts::Nothing,
    seed: Accepts::Nothing,
    ..Sampling::OPEN
};
/// From Claude 4 on temperature and top_p exclude each other.
const EITHER: Sampling = Sampling { temperature_with_top_p: false, ..FREE };
const WHILE_THINKING: Sampling = Sampling {
    temperature: Accepts::Only(1.0),
    top_p: Accepts::Between { min: 0.95, max: 1.0 },
    top_k: Accepts::Nothing,
    ..EITHER
};
/// After Opus 4.6 the sampling parameters are there in name only.
const FIXED: Sampling =
    Sampling { top_p: Accepts::Between { min: 0.99, max: 1.0 }, ..WHILE_THINKING };

const EFFORTS_4_6: &[Effort] = &[Low, Medium, High, Max];
const EFFORTS_4_7: &[Effort] = &[Low, Medium, High, Xhigh, Max];

const CLAUDE: Family = Family {
    name: "claude",
    vendor: Vendor::Anthropic,
    sampling: FREE,
    sampling_while_reasoning: WHILE_THINKING,
    tool_name_len_max: 64,
    inputs: Inputs::IMAGE_AND_PDF,
    ..Family::UNKNOWN
};
const CLAUDE_2: Family = Family {
    name: "claude-2",
    output_tokens_max: Some(4_096),
    inputs: Inputs::TEXT,
    tools: false,
    ..CLAUDE_3
};
const CLAUDE_3: Family = Family {
    name: "claude-3",
    context_tokens: Some(200_000),
    output_tokens_max: Some(4_096),
    thinking: Thinking::None,
    system_among_turns: false,
    schema_output: false,
    schema_output_with_tools: false,
    inputs: Inputs::IMAGE,
    ..CLAUDE
};
const CLAUDE_3_5: Family = Family {
    name: "claude-3.5",
    output_tokens_max: Some(8_192),
    inputs: Inputs::IMAGE_AND_PDF,
    ..CLAUDE_3
};
const CLAUDE_3_7: Family = Family {
    name: "claude-3.7",
    output_tokens_max: Some(64_000),
    thinking: budget(64_000, &[]),
    forced_tool_choice: ForcedToolChoice::WithoutThinking,
    ..CLAUDE_3_5
};
const CLAUDE_4: Family = Family {
    name: "claude-4",
    context_tokens_max: Some(1_000_000),
    sampling: EITHER,
    tool_name_len_max: 128,
    ..CLAUDE_3_7
};
const OPUS_4: Family =
    Family { output_tokens_max: Some(32_000), thinking: budget(32_000, &[]), ..CLAUDE_4 };
const CLAUDE_4_5: Family =
    Family { name: "claude-4.5", schema_output: true, schema_output_with_tools: true, ..CLAUDE_4 };
const OPUS_4_5: Family = Family { thinking: budget(64_000, &[Low, Medium, High]), ..CLAUDE_4_5 };
const CLAUDE_4_6: Family = Family {
    name: "claude-4.6",
    context_tokens: Some(1_000_000),
    output_tokens_max: Some(128_000),
    thinking: Thinking::AnthropicAdaptive {
        efforts: EFFORTS_4_6,
        disable: Disable::Always,
        by_default: false,
        budget_too: true,
    },
    prefill: false,
    ..CLAUDE_4_5
};
const CLAUDE_4_7: Family = Family {
    name: "claude-4.7",
    sampling: FIXED,
    sampling_while_reasoning: FIXED,
    thinking: Thinking::AnthropicAdaptive {
        efforts: EFFORTS_4_7,
        disable: Disable::Always,
        by_default: false,
        budget_too: false,
    },
    ..CLAUDE_4_6
};
const OPUS_4_8: Family = Family { name: "claude-4.8", system_among_turns: true, ..CLAUDE_4_7 };
const CLAUDE_5: Family =
    Family { name: "claude-5", thinking: adaptive(Disable::Always), ..OPUS_4_8 };
const OPUS_5: Family = Family { thinking: adaptive(Disable::UpToHigh), ..CLAUDE_5 };
const FABLE_5: Family = Family { thinking: adaptive(Disable::Never), ..CLAUDE_5 };
const FABLE_5_1: Family = Family {
    name: "claude-5.1",
    forced_tool_choice: ForcedToolChoice::Never,
    thinking_bound_to_prefix: true,
    ..FABLE_5
};
const CLAUDE_5_5: Family =
    Family { name: "claude-5.5", thinking_bound_to_prefix: true, ..CLAUDE_5 };
const OPUS_5_5: Family = Family { name: "claude-5.5", ..FABLE_5_1 };

/// A budget has to leave at least one token of the output for the answer.
const fn budget(output_tokens_max: u64, efforts: &'static [Effort]) -> Thinking {
    Thinking::AnthropicBudget { min: 1_024, max: output_tokens_max - 1, efforts }
}

const fn adaptive(disable: Disable) -> Thinking {
    Thinking::AnthropicAdaptive {
        efforts: EFFORTS_4_7,
        disable,
        by_default: true,
        budget_too: false,
    }
}
