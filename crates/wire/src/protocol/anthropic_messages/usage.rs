//! The usage reports of Messages: what the cache had to do with is counted beside the input.

use crate::conversation::Count;
use crate::loss::LossKind;
use crate::loss::LossKind::{Implied, Renamed};
use crate::place::Place;
use crate::protocol::Fate;
use crate::protocol::anthropic_messages::types::Speaker;
use crate::protocol::reporter::Reporter;
use crate::protocol::usage::{Sum, Table, Zero, absent, count};

pub(in super::super) const USAGE: Table<Speaker> = Table {
    member: "usage",
    rows: [
        count(Count::Input, "/input_tokens", REQUIRED).needed(),
        count(Count::CacheWrite, "/cache_creation_input_tokens", Fate::Carried),
        count(Count::CacheRead, "/cache_read_input_tokens", Fate::Carried),
        count(Count::CacheWrite5m, "/cache_creation/ephemeral_5m_input_tokens", Fate::Carried),
        count(Count::CacheWrite1h, "/cache_creation/ephemeral_1h_input_tokens", Fate::Carried),
        count(Count::Output, "/output_tokens", REQUIRED).needed(),
        count(Count::Reasoning, "/output_tokens_details/thinking_tokens", Fate::Carried),
        absent(Count::Total, "/total_tokens", Fate::Lost(Implied, "the sum of the other counts")),
        absent(
            Count::ToolPrompt,
            "/tool_prompt_tokens",
            Fate::Lost(Implied, "included in the input count"),
        )
        .in_input(Renamed, "results that the vendor fed back are input"),
    ],
    sums: &[Sum {
        count: Count::Input,
        beside: &[Count::CacheRead, Count::CacheWrite],
        exceeded: "the cached tokens exceed the input tokens",
    }],
    tier: Some("service_tier"),
    zero: Zero::Stated,
    output_by_total: None,
};

const REQUIRED: Fate = Fate::Depends("required");

/// Reports that a stream states its input before the provider does: clients of Messages read it at the beginning.
pub(in crate::protocol::anthropic_messages) fn report_early_usage(reporter: &mut Reporter<'_>) {
    let pointer = reporter.source().conventions().usage_pointer;
    let reason = "a stream of Messages begins with the input tokens; an estimate is written";
    reporter.below(Place::default(), pointer, LossKind::Synthesised, reason);
}

/// Reports that clients are given counts which nobody has stated. Fixture `stream/usage/without-usage`.
pub(super) fn report_absent_usage(root: Place, reporter: &mut Reporter<'_>) {
    let pointer = reporter.source().conventions().usage_pointer;
    let reason = "Messages requires this count; zero is written";
    reporter.below(root, pointer, LossKind::Synthesised, reason);
}
