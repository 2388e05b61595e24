//! The fourth step: the system prompts become one message in front of everything.

use std::borrow::Cow;

use sabir_wire::conversation::{Message, Part, Role};

use super::Notes;
use crate::trace::{StepName, Words, words};
use crate::turn::Turn;

const ADDED: Words = words!("message added", "the system prompts stand in front, in one message");

pub(crate) fn apply<'a>(
    mut turns: Vec<Turn<'a>>,
    prompts: &[Cow<'_, str>],
    notes: &mut Notes,
) -> Vec<Turn<'a>> {
    if prompts.is_empty() {
        return turns;
    }
    notes.trace.add(StepName::System, "/systemPrompts".to_owned(), ADDED);
    let message = Message::new(Role::System, vec![Part::text(prompts.join("\n"))]);
    turns.insert(0, Turn::made(message));
    turns
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::testing::{rendered, text, turns};

    #[track_caller]
    fn check(prompts: &[&'static str], expected: &[&str]) {
        let mut notes = Notes::default();
        let prompts: Vec<Cow<'_, str>> = prompts.iter().map(|it| (*it).into()).collect();
        let built = apply(turns([text(Role::User, "u")]), &prompts, &mut notes);
        assert_eq!(rendered(&built), expected);
        assert_eq!(notes.trace.changes().len(), built.len() - 1);
    }

    #[test]
    fn prompts_are_joined_by_line_ends_and_stand_first() {
        check(&["P1", "P2"], &["system: P1\nP2", "user: u"]);
        check(&["P1"], &["system: P1", "user: u"]);
    }

    #[test]
    fn without_prompts_there_is_no_message() {
        check(&[], &["user: u"]);
    }
}
