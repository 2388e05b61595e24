//! The third step: every result stands right behind its call, and every call has one.
//!
//! A run is what the assistant says in consecutive messages. The results of its calls come next, before anything else is
//! said; each call has one, and each result a call. Nobody but the assistant calls.

mod mend;
mod open_calls;
mod plan;
#[cfg(test)]
mod tests;

use sabir_wire::conversation::{CallKey, Content, Message, Role};

use self::open_calls::OpenCalls;
use self::plan::Plan;
use super::Notes;
use crate::policy::Policy;
use crate::turn::Turn;

pub(crate) fn apply<'a>(turns: Vec<Turn<'a>>, policy: &Policy, notes: &mut Notes) -> Vec<Turn<'a>> {
    if is_sound(turns.iter().map(|turn| &turn.message)) {
        return turns;
    }
    let plan = Plan::of(&turns, policy.misplaced);
    mend::mend(turns, &plan, policy, notes)
}

/// Whether calls and results are paired and in place. Nothing is copied to find out.
pub(crate) fn is_sound<'m, 'a: 'm>(messages: impl Iterator<Item = &'m Message<'a>>) -> bool {
    let mut open_calls = OpenCalls::default();
    let mut speaks = Speaks::Others;
    for message in messages {
        if message.role != Role::Assistant {
            if !results_fit(message, &mut open_calls, &mut speaks) {
                return false;
            }
            continue;
        }
        if speaks != Speaks::Assistant {
            if open_calls.count() > 0 {
                return false;
            }
            open_calls.clear();
            speaks = Speaks::Assistant;
        }
        for part in &message.parts {
            match part.content() {
                Content::ToolCall(call) => open_calls.push(call),
                Content::ToolResult(_) => return false,
                _ => {}
            }
        }
    }
    open_calls.count() == 0
}

/// Who has spoken since the last run began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Assistant,
    Tools,
    Others,
}

/// Whether the results of a message are in place.
fn results_fit<'m>(
    message: &'m Message<'_>,
    open_calls: &mut OpenCalls<'m>,
    speaks: &mut Speaks,
) -> bool {
    if message.parts.is_empty() {
        *speaks = Speaks::Others;
    }
    for part in &message.parts {
        match part.content() {
            Content::ToolResult(result) => {
                let is_due = *speaks != Speaks::Others && takes_results(message.role);
                if !is_due || open_calls.answer(CallKey::of_result(result)).is_none() {
                    return false;
                }
                *speaks = Speaks::Tools;
            }
            Content::ToolCall(_) => return false,
            _ => *speaks = Speaks::Others,
        }
    }
    true
}

/// Whether results may stand in messages of this role.
fn takes_results(role: Role) -> bool {
    match role {
        Role::User | Role::Tool => true,
        Role::System | Role::Developer | Role::Assistant => false,
    }
}
