//! The usage reports of Gemini: thoughts and tool results fed back are counted beside the output and the input, and zeros
//! are left out, as Protocol Buffers have it. Fixture `answer/usage/gemini-tool-prompt-usage`.

use crate::conversation::Count;
use crate::loss::LossKind::{Dropped, Renamed};
use crate::protocol::Fate;
use crate::protocol::gemini::types::{CANDIDATES_SUMMED, Speaker};
use crate::protocol::usage::{Sum, Table, Zero, absent, count};

pub(in super::super) const USAGE: Table<Speaker> = Table {
    member: "usageMetadata",
    rows: [
        count(Count::Input, "/promptTokenCount", UNLESS_ZERO),
        count(Count::Output, "/candidatesTokenCount", UNLESS_ZERO),
        count(Count::CacheRead, CACHED, UNLESS_ZERO),
        count(Count::ToolPrompt, "/toolUsePromptTokenCount", UNLESS_ZERO),
        count(Count::Reasoning, "/thoughtsTokenCount", UNLESS_ZERO),
        count(Count::Total, "/totalTokenCount", UNLESS_ZERO),
        absent(Count::CacheWrite, CACHED, ONLY_READ)
            .in_input(Renamed, "tokens written to the cache are counted with the input"),
        absent(Count::CacheWrite5m, CACHED, ONLY_READ),
        absent(Count::CacheWrite1h, CACHED, ONLY_READ),
    ],
    sums: &[
        Sum {
            count: Count::Input,
            beside: &[Count::ToolPrompt],
            exceeded: "the tool results exceed the input tokens",
        },
        Sum {
            count: Count::Output,
            beside: &[Count::Reasoning],
            exceeded: "the reasoning tokens exceed the output tokens",
        },
    ],
    tier: Some("serviceTier"),
    zero: Zero::LeftOut,
    output_by_total: Some(CANDIDATES_SUMMED),
};

const UNLESS_ZERO: Fate = Fate::Depends("zero is left out");
const CACHED: &str = "/cachedContentTokenCount";
const ONLY_READ: Fate = Fate::Lost(Dropped, "only reads from the cache are counted");
