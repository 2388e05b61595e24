//! The second step: messages that say nothing are left out.

use sabir_wire::conversation::{Message, Part, Role};

use super::Notes;
use crate::draining::Draining;
use crate::log::FILTERING;
use crate::policy::Blank;
use crate::trace::{StepName, Words, words};
use crate::turn::Turn;

const EMPTY: Words = words!("message left out", "it is blank");
const FILLED: Words =
    words!("words put in for a message", "it is blank, and keeps two turns of the assistant apart");

/// What a user's turn says that is needed and blank.
pub(super) const SILENCE: &str = "(The user said nothing.)";

pub(crate) fn apply<'a>(turns: Vec<Turn<'a>>, blank: Blank, notes: &mut Notes) -> Vec<Turn<'a>> {
    if !turns.iter().any(|turn| drops(&turn.message, blank)) {
        return turns;
    }
    let mut filter = Filter { kept: Vec::new(), speaker: None, silent: None };
    for turn in Draining::of(turns) {
        match drops(&turn.message, blank) {
            true => filter.drop(turn, notes),
            false => filter.keep(turn, notes),
        }
    }
    filter.settle(Role::Assistant, notes);
    filter.kept
}

/// Messages on their way through.
struct Filter<'a> {
    kept: Vec<Turn<'a>>,
    /// Who spoke last of those who converse.
    speaker: Option<Role>,
    /// A blank turn of the user behind the assistant, with its place among those that are kept. Without it a provider takes
    /// what comes next for the same turn.
    silent: Option<(usize, Turn<'a>)>,
}

impl<'a> Filter<'a> {
    fn drop(&mut self, turn: Turn<'a>, notes: &mut Notes) {
        let parts = turn.message.role == Role::User && self.speaker == Some(Role::Assistant);
        if parts && self.silent.is_none() {
            self.silent = Some((self.kept.len(), turn));
            return;
        }
        notes.trace.add(StepName::Filter, turn.pointer(), EMPTY);
        if turn.message.role == Role::Assistant {
            notes.log.note(FILTERING);
        }
    }

    fn keep(&mut self, turn: Turn<'a>, notes: &mut Notes) {
        let role = turn.message.role;
        if !role.instructs() {
            self.settle(role, notes);
            self.speaker = Some(role);
        }
        self.kept.push(turn);
    }

    /// Decides on the blank turn, now that it is known who speaks next. Behind the last message that is the assistant, who
    /// would be taken to go on with what it said before.
    fn settle(&mut self, next: Role, notes: &mut Notes) {
        let Some((place, silent)) = self.silent.take() else { return };
        if next != Role::Assistant {
            return notes.trace.add(StepName::Filter, silent.pointer(), EMPTY);
        }
        notes.trace.add(StepName::Filter, silent.pointer(), FILLED);
        let words = Message::new(Role::User, vec![Part::text(SILENCE)]);
        self.kept.insert(place, Turn::made(words));
    }
}

/// Whether a message is left out: blank text is all it has. Refusals, thinking, sounds and signed texts are content.
pub(crate) fn drops(message: &Message<'_>, blank: Blank) -> bool {
    let is_due = match message.role {
        Role::Assistant => true,
        Role::User => blank == Blank::Speakers,
        Role::System | Role::Developer | Role::Tool => false,
    };
    is_due && message.is_blank()
}

#[cfg(test)]
mod tests {
    use sabir_wire::Protocol;
    use sabir_wire::conversation::{Content, Reasoning, ReasoningForm};

    use super::*;
    use crate::log::Line;
    use crate::step::testing::{call, rendered, text, turns};

    #[track_caller]
    fn check(message: Message<'static>, blank: Blank, kept: usize) {
        let mut notes = Notes::default();
        let kept_turns = apply(turns([message]), blank, &mut notes);
        assert_eq!(kept_turns.len(), kept);
        assert_eq!(notes.trace.changes().len(), 1 - kept);
    }

    #[test]
    fn blank_words_of_the_assistant_go() {
        for words in ["", " \n\t"] {
            check(text(Role::Assistant, words), Blank::Assistant, 0);
        }
        check(Message::new(Role::Assistant, Vec::new()), Blank::Assistant, 0);
        let blanks = vec![Part::text(""), Part::text(" ")];
        check(Message::new(Role::Assistant, blanks), Blank::Assistant, 0);
    }

    #[test]
    fn other_roles_stay_unless_asked_for() {
        check(text(Role::User, ""), Blank::Assistant, 1);
        check(text(Role::User, " "), Blank::Speakers, 0);
        check(text(Role::System, ""), Blank::Speakers, 1);
        check(text(Role::Tool, ""), Blank::Speakers, 1);
    }

    #[test]
    fn what_is_no_text_is_content() {
        check(call("a"), Blank::Assistant, 1);
        let refusal = Part::new(Content::Refusal("".into()));
        check(Message::new(Role::Assistant, vec![refusal]), Blank::Assistant, 1);
        let reasoning = Reasoning { form: ReasoningForm::Redacted, texts: Vec::new() };
        let reasoning = Part::new(Content::Reasoning(Box::new(reasoning)));
        check(Message::new(Role::Assistant, vec![reasoning]), Blank::Assistant, 1);
    }

    #[test]
    fn a_signed_empty_text_and_a_sound_are_content() {
        let gemini =
            r#"{"contents":[{"role":"model","parts":[{"text":"","thoughtSignature":"c2ln"}]}]}"#;
        let chat = r#"{"messages":[{"role":"assistant","audio":{"id":"audio_1"}}]}"#;
        for (protocol, body) in [(Protocol::Gemini, gemini), (Protocol::OpenaiChat, chat)] {
            let decoded = protocol.decode_request(body.as_bytes()).unwrap().into_owned();
            let [message] = decoded.into_request().messages.try_into().unwrap();
            check(message, Blank::Speakers, 1);
        }
    }

    #[test]
    fn a_blank_turn_between_two_of_the_assistant_keeps_them_apart() {
        let check = |given: &[(Role, &str)], expected: &[&str]| {
            let mut notes = Notes::default();
            let given = turns(given.iter().map(|(role, words)| text(*role, words)));
            assert_eq!(rendered(&apply(given, Blank::Speakers, &mut notes)), expected);
        };
        let (user, assistant, system) = (Role::User, Role::Assistant, Role::System);
        let apart = ["assistant: a", "user: (The user said nothing.)", "assistant: b"];
        check(&[(assistant, "a"), (user, " "), (user, ""), (assistant, "b")], &apart);
        check(&[(assistant, "a"), (assistant, ""), (user, ""), (assistant, "b")], &apart);
        check(&[(assistant, "a"), (user, ""), (user, "u")], &["assistant: a", "user: u"]);
        // The answer to come is a turn of the assistant too.
        let last = ["assistant: a", "user: (The user said nothing.)"];
        check(&[(user, ""), (assistant, "a"), (user, ""), (user, " ")], &last);
        check(
            &[(assistant, "a"), (user, ""), (system, "s"), (assistant, "b")],
            &["assistant: a", "user: (The user said nothing.)", "system: s", "assistant: b"],
        );
    }

    #[test]
    fn it_is_said_aloud() {
        let mut notes = Notes::default();
        apply(turns([text(Role::Assistant, "")]), Blank::Assistant, &mut notes);
        let line = "[MessageBuilder] Filtering empty assistant message";
        assert_eq!(notes.log.lines(), [Line::Note(line.into())]);
    }
}
