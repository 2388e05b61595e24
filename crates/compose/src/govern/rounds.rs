//! How long a model has been calling tools without a word from its user.

use sabir_wire::conversation::{Content, Message};

use crate::class::is_word_of_user;

/// The turns with calls since the user's last word.
pub fn rounds(messages: &[Message<'_>]) -> usize {
    let since = messages.iter().rev().take_while(|message| !is_word_of_user(message));
    since.filter(|message| has_calls(message)).count()
}

fn has_calls(message: &Message<'_>) -> bool {
    message.parts.iter().any(|part| matches!(part.content(), Content::ToolCall(_)))
}
