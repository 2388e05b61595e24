//! The first step: a summary takes the place of the messages that it sums up.

use std::collections::HashSet;

use sabir_wire::conversation::{Message, Part, Role};

use super::Notes;
use crate::builder::{Stored, Summary};
use crate::compact::summary_text;
use crate::log::START_NOT_FOUND;
use crate::policy::SummaryRole;
use crate::trace::{StepName, Words, words};
use crate::turn::Turn;

const LISTED: Words = words!("message left out", "the summary stands for it");
const EARLIER: Words = words!("message left out", "it stands before the start of the summary");
const ADDED: Words = words!("message added", "it summarises the messages that were left out");

/// Puts the summary first and leaves out what it stands for. A message without an id cannot be listed, so it stays.
pub(crate) fn apply<'a>(
    stored: Vec<Stored<'a>>,
    summary: Option<&Summary<'_>>,
    role: SummaryRole,
    notes: &mut Notes,
) -> Vec<Turn<'a>> {
    let Some(summary) = summary else { return all(stored) };
    let is_start = |stored: &Stored<'_>| stored.id.as_ref() == Some(&summary.start_message_id);
    let Some(start) = stored.iter().position(is_start) else {
        notes.log.warn(START_NOT_FOUND);
        return all(stored);
    };
    let listed: HashSet<&str> = summary.message_ids.iter().map(|id| &**id).collect();
    notes.trace.add(StepName::Summarise, "/summary".to_owned(), ADDED);
    let mut turns = Vec::with_capacity(stored.len() - start + 1);
    turns.push(Turn::made(message(summary, role)));
    for (index, stored) in stored.into_iter().enumerate() {
        let why = match &stored.id {
            _ if index < start => Some(EARLIER),
            Some(id) if listed.contains(&**id) => Some(LISTED),
            Some(_) | None => None,
        };
        let turn = Turn::given(index, stored.message);
        match why {
            Some(why) => notes.trace.add(StepName::Summarise, turn.pointer(), why),
            None => turns.push(turn),
        }
    }
    turns
}

fn all(stored: Vec<Stored<'_>>) -> Vec<Turn<'_>> {
    stored.into_iter().enumerate().map(|(index, it)| Turn::given(index, it.message)).collect()
}

fn message<'a>(summary: &Summary<'_>, role: SummaryRole) -> Message<'a> {
    let text = summary_text(summary.message_ids.len(), &summary.summary);
    let role = match role {
        SummaryRole::System => Role::System,
        SummaryRole::User => Role::User,
    };
    Message::new(role, vec![Part::text(text)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Line;
    use crate::step::testing::{rendered, text};

    fn history(ids: &[Option<&'static str>]) -> Vec<Stored<'static>> {
        let stored = |(index, id): (usize, &Option<&'static str>)| Stored {
            id: id.map(Into::into),
            message: text(Role::User, &format!("m{index}")),
        };
        ids.iter().enumerate().map(stored).collect()
    }

    fn summary(start: &'static str, ids: &[&'static str]) -> Summary<'static> {
        Summary {
            message_ids: ids.iter().map(|id| (*id).into()).collect(),
            start_message_id: start.into(),
            summary: "They talked.".into(),
        }
    }

    #[track_caller]
    fn check(ids: &[Option<&'static str>], summary: Option<Summary<'_>>, expected: &[&str]) {
        let mut notes = Notes::default();
        let turns = apply(history(ids), summary.as_ref(), SummaryRole::System, &mut notes);
        assert_eq!(rendered(&turns), expected);
        // Whatever is missing has an entry.
        let kept = turns.iter().filter(|turn| turn.origin != crate::Origin::Made).count();
        let added = turns.len() - kept;
        assert_eq!(notes.trace.changes().len(), added + ids.len() - kept);
    }

    #[test]
    fn without_a_summary_all_messages_stay() {
        check(&[Some("1"), None], None, &["user: m0", "user: m1"]);
    }

    #[test]
    fn the_summary_stands_first_and_counts_what_it_lists() {
        let summary_text =
            "system: [Previous conversation summary (2 messages compressed)]\n\nThey talked.";
        let ids = [Some("1"), Some("2"), Some("3")];
        check(&ids, Some(summary("1", &["1", "2"])), &[summary_text, "user: m2"]);
    }

    #[test]
    fn messages_before_the_start_vanish_though_not_listed() {
        let summary_text =
            "system: [Previous conversation summary (1 messages compressed)]\n\nThey talked.";
        let ids = [Some("1"), None, Some("3"), Some("4")];
        check(&ids, Some(summary("3", &["3"])), &[summary_text, "user: m3"]);
    }

    #[test]
    fn a_message_without_an_id_stays_behind_the_start() {
        let summary_text =
            "system: [Previous conversation summary (1 messages compressed)]\n\nThey talked.";
        check(&[Some("1"), None], Some(summary("1", &["1"])), &[summary_text, "user: m1"]);
    }

    #[test]
    fn an_unknown_start_is_warned_of_and_changes_nothing() {
        let mut notes = Notes::default();
        let summary = summary("9", &["1"]);
        let stored = history(&[Some("1"), Some("2")]);
        let turns = apply(stored, Some(&summary), SummaryRole::System, &mut notes);
        assert_eq!(rendered(&turns), ["user: m0", "user: m1"]);
        let warning = "[MessageBuilder] startMessageId not found, using all messages";
        assert_eq!(notes.log.lines(), [Line::Warning(warning.into())]);
        assert!(notes.trace.is_empty());
    }

    #[test]
    fn the_user_may_tell_the_summary() {
        let mut notes = Notes::default();
        let summary = summary("1", &["1"]);
        let turns = apply(history(&[Some("1")]), Some(&summary), SummaryRole::User, &mut notes);
        assert_eq!(turns[0].message.role, Role::User);
    }
}
