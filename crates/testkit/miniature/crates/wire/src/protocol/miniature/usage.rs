//! The usage reports of Miniature: what went in and what came out.

use crate::conversation::Count;
use crate::loss::LossKind;
use crate::protocol::Fate;
use crate::protocol::miniature::types::Speaker;
use crate::protocol::usage::{Table, Zero, absent, count};

pub(in super::super) const USAGE: Table<Speaker> = Table {
    member: "usage",
    rows: [
        count(Count::Input, "/in", Fate::Carried).needed(),
        count(Count::Output, "/out", Fate::Carried).needed(),
        absent(Count::CacheRead, "/in", NO_DETAILS),
        absent(Count::CacheWrite, "/in", NO_DETAILS),
        absent(Count::CacheWrite5m, "/in", NO_DETAILS),
        absent(Count::CacheWrite1h, "/in", NO_DETAILS),
        absent(Count::ToolPrompt, "/in", NO_DETAILS),
        absent(Count::Reasoning, "/out", NO_DETAILS),
        absent(Count::Total, "/out", NO_TOTAL),
    ],
    sums: &[],
    tier: None,
    zero: Zero::Stated,
    output_by_total: None,
};

const NO_DETAILS: Fate = Fate::Lost(LossKind::Dropped, "only input and output are counted");
const NO_TOTAL: Fate = Fate::Lost(LossKind::Dropped, "Miniature states no total");
