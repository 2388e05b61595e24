//! Writing what an answer cost.

use crate::conversation::Usage;
use crate::json::Kind;
use crate::json::Text;
use crate::json::Writer;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::Protocol;
use crate::protocol::anthropic_messages::types::HERE;
use crate::protocol::losing::Losing;
use crate::protocol::object::Object;
use crate::protocol::tier;
use crate::protocol::tier::Asking;

/// How much a usage report must say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::protocol::anthropic_messages) enum Told {
    /// What was reported.
    AsItWas,
    /// At least the input and the output, which clients rely on.
    AtLeastTotals,
}

pub(in crate::protocol::anthropic_messages) fn write_usage(
    writer: &mut Writer,
    usage: &Usage<'_>,
    service_tier: Option<&Text<'_>>,
    told: Told,
) {
    let extras = match told {
        Told::AsItWas => usage.semantics().extras(),
        Told::AtLeastTotals => None,
    };
    // A later number beyond counting takes the place of an earlier count.
    let is_beyond = |key: &str| {
        let mut within = extras.into_iter().flat_map(|extras| extras.within(""));
        within.any(|extra| extra.key == key && extra.json.kind() == Kind::Number)
    };
    let total = |key: &str, count: Option<u64>| {
        let count = count.filter(|_| !is_beyond(key));
        count.or((told == Told::AtLeastTotals).then_some(0))
    };
    let uncached = usage.input.map(|input| input.saturating_sub(cached(usage)));
    let mut object = Object::open(writer, extras.map(|extras| (extras, "")));
    object.optional("input_tokens", total("input_tokens", uncached).as_ref());
    object.optional("cache_creation_input_tokens", usage.cache_write.as_ref());
    object.optional("cache_read_input_tokens", usage.cache_read.as_ref());
    let writes = [
        ("ephemeral_5m_input_tokens", usage.cache_write_5m),
        ("ephemeral_1h_input_tokens", usage.cache_write_1h),
    ];
    if writes.iter().any(|(_, count)| count.is_some()) {
        let extras = extras.map(|extras| (extras, "cache_creation"));
        let mut inner = Object::open(object.key("cache_creation"), extras);
        writes.iter().for_each(|(key, count)| inner.optional(key, count.as_ref()));
        inner.close();
    }
    object.optional("output_tokens", total("output_tokens", usage.output).as_ref());
    if let Some(reasoning) = usage.reasoning {
        let extras = extras.map(|extras| (extras, "output_tokens_details"));
        let mut inner = Object::open(object.key("output_tokens_details"), extras);
        inner.field("thinking_tokens", &reasoning);
        inner.close();
    }
    object.optional("service_tier", service_tier);
    object.close();
}

/// The input that the cache had to do with, which is counted apart here.
fn cached(usage: &Usage<'_>) -> u64 {
    usage.cache_read.unwrap_or(0).saturating_add(usage.cache_write.unwrap_or(0))
}

/// What this protocol calls the tier that served the answer.
pub(in crate::protocol::anthropic_messages) fn tier_word(
    tier: &Text<'_>,
    root: Place,
    losing: &mut Losing<'_>,
) -> Option<&'static str> {
    let served = tier.to_str();
    let word = tier::translated(&served, losing.source(), HERE, Asking::Answer);
    let lost = match word {
        Some(word) if *served == *word => None,
        Some(_) => Some((LossKind::Renamed, "the vendor's own word")),
        None => Some((LossKind::Dropped, "the vendor has no such tier")),
    };
    if let Some((kind, reason)) = lost {
        losing.field(root, Field::ResponseServiceTier, kind, reason);
    }
    word
}

/// Reports what the counts of another vendor say otherwise here.
pub(in crate::protocol::anthropic_messages) fn lose_counts(
    usage: &Usage<'_>,
    losing: &mut Losing<'_>,
) {
    let lost = [
        (Field::UsageInput, usage.input.is_none(), ABSENT),
        (Field::UsageOutput, usage.output.is_none(), ABSENT),
        (
            Field::UsageInput,
            usage.tool_prompt.is_some(),
            (LossKind::Renamed, "results that the vendor fed back are input"),
        ),
        (Field::UsageInput, cached(usage) > usage.input.unwrap_or(u64::MAX), MORE_CACHED),
        (Field::UsageReasoning, usage.reasoning == Some(0), (LossKind::Implied, "a count of zero")),
    ];
    for (field, is_lost, loss) in lost {
        if is_lost {
            losing.count(usage, field, loss);
        }
    }
}

const MORE_CACHED: (LossKind, &str) =
    (LossKind::Repaired, "the cache had to do with more than all of the input");

const ABSENT: (LossKind, &str) = (LossKind::Synthesised, "clients rely on the count");

/// Reports that clients are told counts which nobody has given.
pub(in crate::protocol::anthropic_messages) fn lose_absent_usage(
    root: Place,
    losing: &mut Losing<'_>,
) {
    let suffix = match losing.source() {
        Protocol::Gemini => "/usageMetadata",
        Protocol::OpenaiChat | Protocol::OpenaiResponses | Protocol::AnthropicMessages => "/usage",
    };
    losing.below(
        root,
        suffix,
        LossKind::Synthesised,
        "clients rely on counts, so that they are zero",
    );
}
