//! The usage reports of Chat Completions.

use crate::conversation::Count;
use crate::loss::LossKind::{Dropped, Renamed};
use crate::protocol::Fate;
use crate::protocol::openai_chat::types::Speaker;
use crate::protocol::usage::{Table, Zero, absent, count};

pub(in super::super) const USAGE: Table<Speaker> = Table {
    member: "usage",
    rows: [
        count(Count::Input, "/prompt_tokens", Fate::Carried).needed(),
        count(Count::Output, "/completion_tokens", Fate::Carried).needed(),
        count(Count::Total, "/total_tokens", Fate::Carried),
        count(Count::CacheRead, "/prompt_tokens_details/cached_tokens", Fate::Carried),
        count(Count::CacheWrite, WRITES, Fate::Carried),
        count(Count::Reasoning, "/completion_tokens_details/reasoning_tokens", Fate::Carried),
        absent(Count::CacheWrite5m, WRITES, NOT_BY_TIME),
        absent(Count::CacheWrite1h, WRITES, NOT_BY_TIME),
        absent(Count::ToolPrompt, "", Fate::Lost(Dropped, "included in Chat's input count"))
            .in_input(Renamed, "the results of hosted tools count as input"),
    ],
    sums: &[],
    tier: None,
    zero: Zero::Stated,
    output_by_total: None,
};

const WRITES: &str = "/prompt_tokens_details/cache_write_tokens";
const NOT_BY_TIME: Fate = Fate::Lost(Dropped, "Chat does not split cache writes by time");
