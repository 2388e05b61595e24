//! Whether thinking is shown to clients that did not say so, because their own protocol does so unasked.

use crate::conversation::Thinking;
use crate::conversation::ThinkingMode;
use crate::protocol::Protocol;

/// Whether a client of `source` that says nothing on showing expects to see the thinking it asks for.
///
/// Chat has no word for it, so that an effort asks for both. Anthropic's models that take `enabled` show what they think
/// unless told otherwise.
pub(in crate::protocol) fn is_shown_unasked(thinking: &Thinking<'_>, source: Protocol) -> bool {
    match source {
        Protocol::OpenaiChat => thinking.effort.as_ref().is_some_and(|word| *word != "none"),
        Protocol::AnthropicMessages => thinking.mode == Some(ThinkingMode::Enabled),
        Protocol::OpenaiResponses | Protocol::Gemini => false,
    }
}
