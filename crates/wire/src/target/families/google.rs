//! Gemini, by generation and size.

use crate::target::effort::Effort;
use crate::target::effort::Effort::{High, Low, Medium, Minimal};
use crate::target::families::Row;
use crate::target::family::{Accepts, Family, GeminiSchema, Inputs, Sampling, Thinking, Vendor};

pub(super) const TABLE: &[Row] = &[
    ("gemini", GEMINI),
    ("gemini-1", GEMINI_1_0),
    ("gemini-1-0", GEMINI_1_0),
    ("gemini-1-5", GEMINI_1_5),
    ("gemini-1-5-pro", GEMINI_1_5_PRO),
    ("gemini-2", GEMINI_2_0),
    ("gemini-2-0", GEMINI_2_0),
    ("gemini-2-5", GEMINI_2_5_FLASH),
    ("gemini-2-5-pro", GEMINI_2_5_PRO),
    ("gemini-2-5-flash-lite", GEMINI_2_5_FLASH_LITE),
    ("gemini-2-5-flash-image", GEMINI_2_5_FLASH_IMAGE),
    ("gemini-3", GEMINI_3_1_PRO),
    ("gemini-3-pro", GEMINI_3_PRO),
    ("gemini-3-flash", GEMINI_3_FLASH),
    ("gemini-3-#", GEMINI_3_1_PRO),
    ("gemini-3-#-flash", GEMINI_3_FLASH),
    ("gemini-3-#-flash-lite", GEMINI_3_FLASH),
    ("gemini-3-7-flash", GEMINI_3_7_FLASH),
    ("gemini-3-8-flash", GEMINI_3_7_FLASH),
    ("gemini-3-9-flash", GEMINI_3_7_FLASH),
    // Generations to come, and names that move with the newest one.
    ("gemini-#", GEMINI_3_7_FLASH),
    ("gemini-#-#", GEMINI_3_7_FLASH),
    ("gemini-pro-latest", GEMINI_3_1_PRO),
    ("gemini-flash-latest", GEMINI_3_7_FLASH),
    ("gemini-flash-lite-latest", GEMINI_3_FLASH),
    ("gemma", GEMMA),
];

const OPEN: Sampling = Sampling { logit_bias: Accepts::Nothing, ..Sampling::OPEN };
const WITHOUT_PENALTIES: Sampling = Sampling { penalties: Accepts::Nothing, ..OPEN };

const GEMINI: Family = Family {
    name: "gemini",
    vendor: Vendor::Google,
    sampling: OPEN,
    sampling_while_reasoning: OPEN,
    tool_name_len_max: 64,
    ..Family::UNKNOWN
};
const GEMMA: Family = Family { name: "gemma", vendor: Vendor::Google, ..Family::UNKNOWN };
const GEMINI_1_0: Family = Family {
    name: "gemini-1.0",
    context_tokens: Some(32_760),
    output_tokens_max: Some(2_048),
    ..GEMINI_1_5
};
const GEMINI_1_5: Family = Family {
    name: "gemini-1.5",
    context_tokens: Some(1_048_576),
    output_tokens_max: Some(8_192),
    thinking: Thinking::None,
    schema_output_with_tools: false,
    gemini_schema: GeminiSchema::SchemaOnly,
    remote_files: false,
    media_in_results: false,
    media_resolution_by_part: false,
    call_ids: false,
    needs_thought_signature: false,
    hosted_with_function_tools: false,
    ..GEMINI
};
const GEMINI_1_5_PRO: Family = Family { context_tokens: Some(2_097_152), ..GEMINI_1_5 };
const GEMINI_2_0: Family =
    Family { name: "gemini-2.0", gemini_schema: GeminiSchema::Either, ..GEMINI_1_5 };
const GEMINI_2_5_FLASH: Family = Family {
    name: "gemini-2.5",
    output_tokens_max: Some(65_536),
    sampling: WITHOUT_PENALTIES,
    sampling_while_reasoning: WITHOUT_PENALTIES,
    thinking: Thinking::GeminiBudget { min: 1, max: 24_576, zero: true, by_default: true },
    remote_files: true,
    call_ids: true,
    ..GEMINI_2_0
};
const GEMINI_2_5_PRO: Family = Family {
    thinking: Thinking::GeminiBudget { min: 128, max: 32_768, zero: false, by_default: true },
    ..GEMINI_2_5_FLASH
};
const GEMINI_2_5_FLASH_LITE: Family = Family {
    thinking: Thinking::GeminiBudget { min: 512, max: 24_576, zero: true, by_default: false },
    ..GEMINI_2_5_FLASH
};
const GEMINI_2_5_FLASH_IMAGE: Family = Family {
    context_tokens: Some(65_536),
    output_tokens_max: Some(32_768),
    thinking: Thinking::None,
    tools: false,
    inputs: Inputs::IMAGE,
    ..GEMINI_2_5_FLASH
};
const GEMINI_3_PRO: Family = Family {
    name: "gemini-3",
    thinking: levels(&[Low, High]),
    schema_output_with_tools: true,
    media_in_results: true,
    media_resolution_by_part: true,
    needs_thought_signature: true,
    hosted_with_function_tools: true,
    ..GEMINI_2_5_FLASH
};
const GEMINI_3_1_PRO: Family =
    Family { name: "gemini-3.1", thinking: levels(&[Low, Medium, High]), ..GEMINI_3_PRO };
const GEMINI_3_FLASH: Family =
    Family { thinking: levels(&[Minimal, Low, Medium, High]), ..GEMINI_3_PRO };
const GEMINI_3_7_FLASH: Family =
    Family { name: "gemini-3.7", thinking: levels(&[Low, Medium, High]), ..GEMINI_3_PRO };

const fn levels(levels: &'static [Effort]) -> Thinking {
    Thinking::GeminiLevel { levels }
}
