//! Between pairing and the system prompts: the user speaks first, if the provider needs that.

use sabir_wire::conversation::Message;
use sabir_wire::conversation::Part;
use sabir_wire::conversation::Role;

use super::Notes;
use crate::policy::Opening;
use crate::trace::StepName;
use crate::turn::Turn;

const ADDED: (&str, &str) = ("user turn put in front", "the assistant cannot speak first");

pub(crate) fn apply<'a>(
    mut turns: Vec<Turn<'a>>,
    opening: Opening,
    notes: &mut Notes,
) -> Vec<Turn<'a>> {
    let Opening::Placeholder(words) = opening else { return turns };
    if !is_due(turns.iter().map(|turn| &turn.message), opening) {
        return turns;
    }
    let first = turns.iter().take_while(|turn| turn.message.role.instructs()).count();
    let pointer = turns.get(first).map(Turn::pointer).unwrap_or_default();
    notes.trace.add(StepName::Open, pointer, ADDED);
    turns.insert(first, Turn::made(Message::new(Role::User, vec![Part::text(words)])));
    turns
}

/// Whether a turn of the user has to be put in front.
pub(crate) fn is_due<'m, 'a: 'm>(
    mut messages: impl Iterator<Item = &'m Message<'a>>,
    opening: Opening,
) -> bool {
    let first = messages.find(|message| !message.role.instructs());
    opening != Opening::Keep && first.is_some_and(|message| message.role == Role::Assistant)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::testing::said;
    use crate::step::testing::text;
    use crate::step::testing::turns;

    #[track_caller]
    fn check(given: &[(Role, &str)], opening: Opening, expected: &[&str]) {
        let mut notes = Notes::default();
        let given = turns(given.iter().map(|(role, words)| text(*role, words)));
        let count = given.len();
        let opened = apply(given, opening, &mut notes);
        assert_eq!(said(&opened), expected);
        assert_eq!(notes.trace.changes().len(), opened.len() - count);
    }

    const PUT: Opening = Opening::Placeholder("…");

    #[test]
    fn an_assistant_who_speaks_first_gets_a_user_before() {
        let given = [(Role::System, "s"), (Role::Assistant, "a"), (Role::User, "u")];
        check(&given, PUT, &["system: s", "user: …", "assistant: a", "user: u"]);
        check(&given, Opening::Keep, &["system: s", "assistant: a", "user: u"]);
    }

    #[test]
    fn a_user_who_speaks_first_needs_none() {
        check(&[(Role::User, "u"), (Role::Assistant, "a")], PUT, &["user: u", "assistant: a"]);
        check(&[(Role::System, "s")], PUT, &["system: s"]);
        check(&[], PUT, &[]);
    }
}
