//! What is not part of a history, though an SDK may send it back: no provider's model reads it there.

use crate::canonical::Difference;

/// The statements by the beginning of their names, each with the reason.
const EXEMPT: &[(&str, &str)] = &[
    ("log probabilities", "they tell how an answer was sampled, and no request has them"),
    (
        "unknown /namespace",
        "clients without namespaces have it in the name of the tool, or its alias",
    ),
    ("unknown /annotations", "Chat has citations in answers only, and ignores them in requests"),
];

pub(super) fn is_exempt(difference: &Difference) -> bool {
    let is_listed = EXEMPT.iter().any(|(name, _)| difference.name().starts_with(name));
    is_listed || has_no_arguments(difference)
}

/// Whether these are arguments that are no object, such as those that a limit cut off. An SDK that holds arguments as an
/// object makes of them what it can.
fn has_no_arguments(difference: &Difference) -> bool {
    difference.name() == "arguments" && !difference.before().is_object()
}
