//! Families that many servers host behind Chat. Little is certain across hosts, so each row says
//! only what every host of the family shares; the server's own habits are in its dialect.

use crate::target::effort::Effort::{High, Low, Medium};
use crate::target::families::Row;
use crate::target::family::{Accepts, Family, Inputs, Sampling, Thinking};

pub(super) const TABLE: &[Row] = &[
    ("gpt-oss", GPT_OSS),
    ("deepseek", DEEPSEEK),
    ("deepseek-vl", Family::UNKNOWN),
    ("deepseek-ocr", Family::UNKNOWN),
    ("grok", GROK),
    ("grok-3-mini", GROK_3_MINI),
    ("grok-4", GROK_4),
    ("grok-4-#", GROK_4_1),
    ("mistral", MISTRAL),
    ("mixtral", MISTRAL),
    ("ministral", MISTRAL),
    ("magistral", MISTRAL),
    ("codestral", MISTRAL),
    ("devstral", MISTRAL),
    ("pixtral", MISTRAL),
    ("voxtral", MISTRAL),
    ("llama", LLAMA),
    ("qwen", QWEN),
    ("qwq", QWEN),
    ("sonar", SONAR),
    // Named like a model of OpenAI, made by others.
    ("marco-o1", Family::UNKNOWN),
    ("skywork-o1", Family::UNKNOWN),
];

const GPT_OSS: Family = Family {
    name: "gpt-oss",
    context_tokens: Some(131_072),
    thinking: Thinking::OpenaiEffort { levels: &[Low, Medium, High], default: Medium },
    inputs: Inputs::TEXT,
    ..Family::UNKNOWN
};
/// The vendor's own server refuses every part that is not text.
const DEEPSEEK: Family = Family { name: "deepseek", inputs: Inputs::TEXT, ..Family::UNKNOWN };
const GROK: Family = Family { name: "grok", ..Family::UNKNOWN };
const GROK_REASONING: Sampling =
    Sampling { penalties: Accepts::Nothing, stop: Accepts::Nothing, ..Sampling::OPEN };
const GROK_3_MINI: Family = Family {
    sampling: GROK_REASONING,
    sampling_while_reasoning: GROK_REASONING,
    thinking: Thinking::OpenaiEffort { levels: &[Low, High], default: Low },
    ..GROK
};
const GROK_4: Family = Family {
    sampling: GROK_REASONING,
    sampling_while_reasoning: GROK_REASONING,
    thinking: Thinking::Unsteered,
    ..GROK
};
const GROK_4_1: Family = Family { thinking: Thinking::Unknown, ..GROK_4 };
const MISTRAL: Family = Family { name: "mistral", ..Family::UNKNOWN };
const LLAMA: Family = Family { name: "llama", ..Family::UNKNOWN };
const QWEN: Family = Family { name: "qwen", ..Family::UNKNOWN };
const SONAR: Family = Family { name: "sonar", tools: false, ..Family::UNKNOWN };
