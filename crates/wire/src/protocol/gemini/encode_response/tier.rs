//! The word for the service tier of an answer.

use crate::json::Text;
use crate::loss::LossKind;

/// The vendor's word for a service tier that another one names, and what that does to it.
pub(in crate::protocol::gemini) fn tier_word(
    tier: &Text<'_>,
) -> (Option<Text<'static>>, LossKind, &'static str) {
    let renamed = "the vendor's own value";
    match &*tier.to_str() {
        "default" | "standard" | "auto" => {
            (Some(Text::literal("standard")), LossKind::Renamed, renamed)
        }
        "flex" => (Some(Text::literal("flex")), LossKind::Renamed, renamed),
        "priority" => (Some(Text::literal("priority")), LossKind::Renamed, renamed),
        _ => (None, LossKind::Dropped, "the vendor has no such tier"),
    }
}
