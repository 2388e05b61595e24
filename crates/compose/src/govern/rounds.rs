//! How long a model has been calling tools without a word from its user.

use sabir_wire::conversation::{Content, Message, Role};

/// The turns with calls since the user's last message.
pub fn rounds(messages: &[Message<'_>]) -> usize {
    let since = messages.iter().rev().take_while(|message| !is_users_word(message));
    since.filter(|message| has_calls(message)).count()
}

/// Whether the user says something, beside what tools have answered.
fn is_users_word(message: &Message<'_>) -> bool {
    let says = |content: &Content<'_>| match content {
        Content::Text(text) => !text.is_blank(),
        Content::Media(_) => true,
        Content::ToolCall(_)
        | Content::ToolResult(_)
        | Content::Reasoning(_)
        | Content::Refusal(_)
        | Content::Opaque(_) => false,
    };
    let has_results =
        message.parts.iter().any(|part| matches!(part.content(), Content::ToolResult(_)));
    // Agents put reminders of their own beside the results.
    message.role == Role::User
        && !has_results
        && message.parts.iter().any(|part| says(part.content()))
}

fn has_calls(message: &Message<'_>) -> bool {
    message.parts.iter().any(|part| matches!(part.content(), Content::ToolCall(_)))
}
