//! The word for the service tier of an answer.

use crate::json::Text;
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::anthropic_messages::types::SELF;
use crate::protocol::reporter::Reporter;
use crate::protocol::tier::Asking;
use crate::protocol::{Field, tier};

/// What this protocol calls the tier that served the answer.
pub(in super::super) fn tier_word<'t>(
    tier: &'t Text<'_>,
    root: Place,
    reporter: &mut Reporter<'_>,
) -> Option<Text<'t>> {
    if reporter.is_same() {
        return Some(tier.reborrow());
    }
    let served = tier.to_str();
    let word = tier::translated(&served, reporter.source(), SELF, Asking::Answer);
    let lost = match word {
        Some(word) if *served == *word => None,
        Some(_) => Some((LossKind::Renamed, "the vendor's own value")),
        None => Some((LossKind::Dropped, "the vendor has no such tier")),
    };
    if let Some((kind, reason)) = lost {
        reporter.lose((root, Field::ResponseServiceTier), kind, reason);
    }
    word.map(Text::literal)
}
