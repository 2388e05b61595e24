//! Writing usage: the vendor counts thoughts and fed-back tool results apart, the conversation together.

use crate::conversation::Usage;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::protocol::Field;
use crate::protocol::gemini::types::CANDIDATES_SUMMED;
use crate::protocol::gemini::types::CANDIDATES_ZERO;
use crate::protocol::gemini::types::PROMPT_ZERO;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;

/// Writes a usage report. Counts of zero that were not stated stay away, as the vendor has it.
pub(in crate::protocol::gemini) fn write_usage(
    writer: &mut Writer,
    usage: &Usage<'_>,
    tier: Option<&Text<'_>>,
    same: bool,
) {
    let semantics = usage.semantics();
    let extras = semantics.extras().filter(|_| same).map(|extras| (extras, ""));
    let stated = |shape| same && semantics.has_shape(shape);
    let kept = |count: Option<u64>| nonzero(count, same);
    let prompt = apart(usage.input, usage.tool_prompt);
    let candidates = apart(usage.output, usage.reasoning).filter(|_| !stated(CANDIDATES_SUMMED));
    let mut object = Object::open(writer, extras);
    object.optional("promptTokenCount", nonzero(prompt, stated(PROMPT_ZERO)).as_ref());
    object.optional("candidatesTokenCount", nonzero(candidates, stated(CANDIDATES_ZERO)).as_ref());
    object.optional("cachedContentTokenCount", kept(usage.cache_read).as_ref());
    object.optional("toolUsePromptTokenCount", kept(usage.tool_prompt).as_ref());
    object.optional("thoughtsTokenCount", kept(usage.reasoning).as_ref());
    let total = if same { usage.total } else { kept(usage.total.or_else(|| total(usage))) };
    object.optional("totalTokenCount", total.as_ref());
    object.optional("serviceTier", tier);
    object.close();
}

/// Says that zeros stay away, and that tokens written to a cache are counted with the rest of the input.
pub(in crate::protocol::gemini) fn report_usage(losing: &mut Losing<'_>, usage: &Usage<'_>) {
    if usage.cache_write.is_some_and(|count| count > 0) {
        let reason = "tokens written to the cache are counted with the input";
        losing.count(usage, Field::UsageInput, (LossKind::Renamed, reason));
    }
    if usage.reasoning > usage.output {
        let reason = "there are more thoughts than there is output";
        losing.count(usage, Field::UsageOutput, (LossKind::Repaired, reason));
    }
    let counts = [
        (Field::UsageInput, usage.input),
        (Field::UsageCacheRead, usage.cache_read),
        (Field::UsageToolPrompt, usage.tool_prompt),
        (Field::UsageOutput, usage.output),
        (Field::UsageReasoning, usage.reasoning),
        (Field::UsageTotal, usage.total),
    ];
    for (field, _) in counts.into_iter().filter(|(_, count)| *count == Some(0)) {
        losing.count(usage, field, (LossKind::Implied, "a count of zero is left out"));
    }
}

/// What is left of a sum without one of its parts.
fn apart(sum: Option<u64>, part: Option<u64>) -> Option<u64> {
    sum.map(|sum| sum.saturating_sub(part.unwrap_or_default()))
}

fn nonzero(count: Option<u64>, stated: bool) -> Option<u64> {
    count.filter(|count| stated || *count > 0)
}

fn total(usage: &Usage<'_>) -> Option<u64> {
    match (usage.input, usage.output) {
        (None, None) => None,
        (input, output) => {
            Some(input.unwrap_or_default().saturating_add(output.unwrap_or_default()))
        }
    }
}

/// The vendor's word for a service tier that another one names, and what that does to it.
pub(in crate::protocol::gemini) fn tier_word(
    tier: &Text<'_>,
) -> (Option<Text<'static>>, LossKind, &'static str) {
    let renamed = "the vendor's word for it";
    match &*tier.to_str() {
        "default" | "standard" | "auto" => {
            (Some(Text::literal("standard")), LossKind::Renamed, renamed)
        }
        "flex" => (Some(Text::literal("flex")), LossKind::Renamed, renamed),
        "priority" => (Some(Text::literal("priority")), LossKind::Renamed, renamed),
        _ => (None, LossKind::Dropped, "the vendor has no such tier"),
    }
}
