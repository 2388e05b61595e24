//! The last step: what is built is a conversation that providers take, or it is refused.

use std::collections::HashSet;

use sabir_wire::conversation::{CallKey, Content, Message, Role, ToolResult};

use super::pair;
use crate::log::{Log, NO_TURN};
use crate::refused::RefusedKind;
use crate::turn::Turn;

pub(crate) fn apply(turns: &[Turn<'_>], log: &mut Log) -> Result<(), RefusedKind> {
    let Some(first) = turns.first() else { return Err(RefusedKind::Empty) };
    if is_result_message(&first.message) {
        return Err(RefusedKind::StartsWithTool);
    }
    let messages = || turns.iter().map(|turn| &turn.message);
    // Most conversations are sound, and to see that takes no table of all calls.
    if !pair::is_sound(messages()) && has_orphan(messages()) {
        return Err(RefusedKind::OrphanedTool);
    }
    if !messages().any(|message| matches!(message.role, Role::User | Role::Assistant)) {
        log.warn(NO_TURN);
    }
    log.note(format!("[MessageBuilder] Validation passed: {} messages", turns.len()));
    Ok(())
}

fn is_result_message(message: &Message<'_>) -> bool {
    let is_result = |content: &Content<'_>| matches!(content, Content::ToolResult(_));
    message.role == Role::Tool || message.parts.first().is_some_and(|it| is_result(it.content()))
}

/// Whether there is a result that no call asks for, wherever both stand.
fn has_orphan<'m, 'a: 'm>(messages: impl Iterator<Item = &'m Message<'a>> + Clone) -> bool {
    let contents = messages.flat_map(|message| &message.parts).map(|part| part.content());
    let calls = contents.clone().filter_map(|content| match content {
        Content::ToolCall(call) => Some(&**call),
        _ => None,
    });
    let asked: HashSet<CallKey<'_>> = calls.flat_map(CallKey::of_call).collect();
    let is_asked = |result: &ToolResult<'_>| {
        CallKey::of_result(result).iter().flatten().any(|key| asked.contains(key))
    };
    contents
        .into_iter()
        .any(|content| matches!(content, Content::ToolResult(result) if !is_asked(result)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Line;
    use crate::step::testing::{call, result, text, turns};

    #[track_caller]
    fn check<const N: usize>(messages: [Message<'static>; N], expected: Result<&str, &str>) {
        let mut log = Log::default();
        let verdict = apply(&turns(messages), &mut log);
        match expected {
            Ok(line) => {
                assert_eq!(verdict, Ok(()));
                assert_eq!(log.lines().last(), Some(&Line::Note(line.to_owned().into())));
            }
            Err(words) => assert_eq!(verdict.unwrap_err().to_string(), words),
        }
    }

    #[test]
    fn the_three_errors_have_their_words() {
        check([], Err("[MessageBuilder] Messages cannot be empty"));
        let first = "[MessageBuilder] Messages cannot start with a tool message";
        check([result("a"), call("a")], Err(first));
        let orphan = "[MessageBuilder] Found orphaned tool message after validation";
        check([text(Role::User, "u"), call("a"), result("b")], Err(orphan));
    }

    #[test]
    fn success_is_counted() {
        let messages = [text(Role::User, "u"), call("a"), result("a")];
        check(messages, Ok("[MessageBuilder] Validation passed: 3 messages"));
    }

    #[test]
    fn a_list_without_turns_is_warned_of() {
        let mut log = Log::default();
        apply(&turns([text(Role::System, "s")]), &mut log).unwrap();
        let warning = "[MessageBuilder] No user or assistant turn";
        assert_eq!(log.lines()[0], Line::Warning(warning.into()));
    }
}
