//! Words for an effort that are no step of the ladder.

use crate::json::Text;
use crate::loss::LossKind;
use crate::target::Effort;

/// The loss of a word for an effort that is no step of the ladder: no model has it.
pub(super) fn unknown_effort(word: &Text<'_>) -> (LossKind, &'static str) {
    match Effort::is_left_open(&word.to_str()) {
        true => (LossKind::Implied, "the effort is left to the model"),
        false => (LossKind::Dropped, "no model has an effort of this name"),
    }
}
