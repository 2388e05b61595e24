//! The usage reports of Responses.

use crate::conversation::Count;
use crate::loss::LossKind::Approximated;
use crate::protocol::Fate;
use crate::protocol::openai_responses::types::Speaker;
use crate::protocol::usage::{Table, Zero, absent, count};

pub(in super::super) const USAGE: Table<Speaker> = Table {
    member: "usage",
    rows: [
        count(Count::Input, "/input_tokens", Fate::Carried).needed(),
        count(Count::CacheRead, "/input_tokens_details/cached_tokens", Fate::Carried).needed(),
        count(Count::CacheWrite, WRITES, Fate::Carried).needed(),
        count(Count::Output, "/output_tokens", Fate::Carried).needed(),
        count(Count::Reasoning, "/output_tokens_details/reasoning_tokens", Fate::Carried).needed(),
        count(Count::Total, "/total_tokens", Fate::Carried).needed(),
        absent(Count::CacheWrite5m, WRITES, TOGETHER),
        absent(Count::CacheWrite1h, WRITES, TOGETHER),
        absent(Count::ToolPrompt, "/input_tokens_details/tool_tokens", IN_INPUT)
            .in_input(Approximated, "results of hosted tools are counted with the input"),
    ],
    sums: &[],
    tier: None,
    zero: Zero::Stated,
    output_by_total: None,
};

const WRITES: &str = "/input_tokens_details/cache_write_tokens";
const TOGETHER: Fate = Fate::Lost(Approximated, "cache writes are counted together");
const IN_INPUT: Fate = Fate::Lost(Approximated, "included in the input count");
