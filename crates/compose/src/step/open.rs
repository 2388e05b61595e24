//! Between pairing and the system prompts: the user speaks first, if the provider needs that, and last, if that was so.

use sabir_wire::conversation::{Message, Part, Role};

use super::Notes;
use super::filter::SILENCE;
use crate::policy::Opening;
use crate::trace::{StepName, Words, words};
use crate::turn::Turn;

const ADDED: Words = words!("user turn put in front", "the assistant cannot speak first");

const CLOSED: Words = words!(
    "user turn put behind",
    "nothing is left of the last message, and the assistant has answered already",
);

const LEFT_ALONE: Words =
    words!("user turn put behind", "nothing is left of the conversation but its instructions");

/// The last of those who converse, in a history as it was given.
pub(crate) struct LastSpeaker {
    role: Role,
    index: usize,
    pointer: String,
}

impl LastSpeaker {
    pub(crate) fn of(turns: &[Turn<'_>]) -> Option<Self> {
        let last = last_conversing(turns)?;
        let index = last.origin.index()?;
        Some(Self { role: last.message.role, index, pointer: last.pointer() })
    }
}

fn last_conversing<'t, 'a>(turns: &'t [Turn<'a>]) -> Option<&'t Turn<'a>> {
    turns.iter().rfind(|turn| !turn.message.role.instructs())
}

pub(crate) fn apply<'a>(
    turns: Vec<Turn<'a>>,
    opening: Opening,
    last: Option<LastSpeaker>,
    notes: &mut Notes,
) -> Vec<Turn<'a>> {
    let mut turns = opened(turns, opening, notes);
    if let Some(last) = last
        && opening != Opening::Keep
        && last.role != Role::Assistant
        && let Some(lack) = lack(&turns)
    {
        notes.trace.add(StepName::Open, last.pointer, lack);
        let words = Message::new(Role::User, vec![Part::text(SILENCE)]);
        let stands_behind = |turn: &Turn<'_>| turn.origin.index().is_some_and(|at| at > last.index);
        let place = turns.iter().position(stands_behind).unwrap_or(turns.len());
        turns.insert(place, Turn::made(words));
    }
    turns
}

/// Why a turn of the user is missing at the end, if it is.
fn lack(turns: &[Turn<'_>]) -> Option<Words> {
    match last_conversing(turns) {
        // Without it a provider takes the assistant's words for the beginning of the answer to come.
        Some(turn) => (turn.message.role == Role::Assistant).then_some(CLOSED),
        // Most providers take no instructions alone. Where not even those are left, there is nothing to answer.
        None => (!turns.is_empty()).then_some(LEFT_ALONE),
    }
}

fn opened<'a>(mut turns: Vec<Turn<'a>>, opening: Opening, notes: &mut Notes) -> Vec<Turn<'a>> {
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
    use crate::step::testing::{rendered, text, turns};

    #[track_caller]
    fn check(given: &[(Role, &str)], opening: Opening, expected: &[&str]) {
        let mut notes = Notes::default();
        let given = turns(given.iter().map(|(role, words)| text(*role, words)));
        let count = given.len();
        let opened = apply(given, opening, None, &mut notes);
        assert_eq!(rendered(&opened), expected);
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

    #[test]
    fn an_assistant_who_is_left_with_the_last_word_gets_a_user_behind() {
        let given = || turns([text(Role::User, "u"), text(Role::Assistant, "a")]);
        let built = |last: Role, opening: Opening| {
            let last = LastSpeaker { role: last, index: 2, pointer: "/messages/2".to_owned() };
            let mut notes = Notes::default();
            let built = rendered(&apply(given(), opening, Some(last), &mut notes));
            assert_eq!(notes.trace.changes().len(), built.len() - 2);
            built
        };
        let closed = ["user: u", "assistant: a", "user: (The user said nothing.)"];
        assert_eq!(built(Role::Tool, PUT), closed);
        assert_eq!(built(Role::User, PUT), closed);
        assert_eq!(built(Role::Assistant, PUT), closed[..2]);
        assert_eq!(built(Role::Tool, Opening::Keep), closed[..2]);
    }

    #[test]
    fn instructions_that_are_left_alone_get_a_user_behind() {
        let built = |given: &[(Role, &str)], last: Role| {
            let given = turns(given.iter().map(|(role, words)| text(*role, words)));
            let last = LastSpeaker { role: last, index: 1, pointer: "/messages/1".to_owned() };
            rendered(&apply(given, PUT, Some(last), &mut Notes::default()))
        };
        let silent = ["system: s", "user: (The user said nothing.)"];
        assert_eq!(built(&[(Role::System, "s")], Role::User), silent);
        assert_eq!(built(&[(Role::System, "s")], Role::Tool), silent);
        assert_eq!(built(&[(Role::System, "s")], Role::Assistant), silent[..1]);
        assert!(built(&[], Role::User).is_empty());
        let later = [(Role::System, "s"), (Role::System, "t"), (Role::System, "u")];
        let last = Role::User;
        assert_eq!(built(&later[..2], last), ["system: s", "system: t", silent[1]]);
        assert_eq!(built(&later, last), ["system: s", "system: t", silent[1], "system: u"]);
    }
}
