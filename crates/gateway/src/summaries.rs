//! Summaries in a conversation: they stand for messages that are not sent any more.

mod kept;

pub(crate) use kept::{Carried, KeptSummary};

use std::fmt;
use std::sync::Arc;

use sabir_compose::SummaryRole;
use sabir_compose::compact::{Keep, Plan, compacted, plan};
use sabir_wire::conversation::{Content, Message, Opaque, Part, Role};
use sabir_wire::json::Kind;

/// The type of the items and blocks that stand for a summary, in every protocol that has them.
pub(crate) const COMPACTION: &str = "compaction";

/// The summaries that a call's conversation has.
#[derive(Clone, Default)]
pub(crate) struct Summaries {
    /// That of the conversation which the call goes on from. It stands before what was recalled.
    pub(crate) kept: Option<Arc<KeptSummary>>,
    /// That of an earlier compaction, which the client has sent back.
    pub(crate) returned: Option<Returned>,
    /// One that was made for this call.
    pub(crate) made: Option<Made>,
}

/// A compaction that came back, and what stands in its place.
#[derive(Clone)]
pub(crate) struct Returned {
    /// The message that holds it, and its part there.
    pub(crate) at: (usize, usize),
    pub(crate) stands_for: StandsFor,
    pub(crate) before: Before,
}

/// What becomes of the messages before a compaction.
#[derive(Clone, Copy)]
pub(crate) enum Before {
    /// Some still count beside it.
    Still(fn(&Message<'_>) -> bool),
    /// The newest stand behind the summary: with them the answer was given that it came with, and the next one goes on from
    /// there. All others are in the summary, or it would be due again at once.
    Newest,
}

/// What a compaction stands for.
#[derive(Clone)]
pub(crate) enum StandsFor {
    Summary(String),
    /// The conversation itself, where nobody here can read the summary.
    History(Vec<Message<'static>>),
}

/// A new summary, and what it covers of the conversation with the earlier one in place.
#[derive(Clone)]
pub(crate) struct Made {
    pub(crate) plan: Plan,
    pub(crate) text: String,
}

impl Summaries {
    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_none() && self.returned.is_none() && self.made.is_none()
    }

    /// Puts the summaries that are not before all else in their places.
    pub(crate) fn apply(&self, messages: &mut Vec<Message<'_>>) {
        if let Some(returned) = &self.returned {
            returned.apply(messages);
        }
        if let Some(Made { plan, text }) = &self.made {
            let all = std::mem::take(messages);
            *messages = compacted(all, plan, text.clone(), SummaryRole::User);
        }
    }
}

impl Returned {
    fn apply(&self, messages: &mut Vec<Message<'_>>) {
        let (index, part) = self.at;
        if index >= messages.len() {
            return;
        }
        let mut behind = messages.split_off(index);
        if let Before::Still(still_counts) = self.before {
            messages.retain(|message| still_counts(message));
        }
        match &self.stands_for {
            StandsFor::Summary(text) => {
                let all = std::mem::take(messages);
                *messages = self.before.with_summary(all, text.clone());
            }
            StandsFor::History(history) => {
                messages.extend(history.iter().cloned());
                // Those before it are no use to anybody either.
                messages.iter_mut().for_each(leave_out_items);
                messages.retain(|message| !message.parts.is_empty());
            }
        }
        let parts = std::mem::take(&mut behind[0].parts);
        behind[0].parts = parts.into_iter().skip(part + 1).collect();
        let is_spent = behind[0].parts.is_empty();
        messages.extend(behind.into_iter().skip(usize::from(is_spent)));
    }
}

impl Before {
    fn with_summary(self, mut messages: Vec<Message<'_>>, text: String) -> Vec<Message<'_>> {
        let at = match (self, all_but_newest(&messages)) {
            (Self::Newest, Some(plan)) => {
                return compacted(messages, &plan, text, SummaryRole::User);
            }
            // The client has left out what it covers.
            (Self::Newest, None) => {
                messages.iter().take_while(|message| message.role.instructs()).count()
            }
            (Self::Still(_), _) => messages.len(),
        };
        messages.insert(at, Message::new(Role::User, vec![Part::text(text)]));
        messages
    }
}

/// What a summary covers with which the model goes on at once: all but the newest message, with what that belongs to.
pub(crate) fn all_but_newest(messages: &[Message<'_>]) -> Option<Plan> {
    plan(messages, Keep { turns: 0, bytes_max: 0 })
}

/// Whether a message is nothing but the wish for a compaction.
pub(crate) fn is_trigger(message: &Message<'_>) -> bool {
    let is_wish = |part: &Part<'_>| match part.content() {
        Content::Opaque(opaque) => opaque.kind == "compaction_trigger",
        _ => false,
    };
    !message.parts.is_empty() && message.parts.iter().all(is_wish)
}

fn leave_out_items(message: &mut Message<'_>) {
    let is_item = |part: &Part<'_>| match part.content() {
        Content::Opaque(opaque) => opaque.kind == *COMPACTION,
        _ => false,
    };
    if message.parts.iter().any(is_item) {
        let parts = std::mem::take(&mut message.parts);
        message.parts = parts.into_iter().filter(|part| !is_item(part)).collect();
    }
}

/// The newest part that stands for a compaction, and where it is. One that came to nothing stands for nothing.
pub(crate) fn newest<'m, 'a>(
    messages: &'m [Message<'a>],
    kind: &str,
) -> Option<((usize, usize), &'m Part<'a>, &'m Opaque<'a>)> {
    let is_one = |part: &'m Part<'a>| match part.content() {
        Content::Opaque(opaque) if opaque.kind == *kind && !is_void(opaque) => Some(&**opaque),
        _ => None,
    };
    messages.iter().enumerate().rev().find_map(|(index, message)| {
        let parts: Vec<&Part<'a>> = message.parts.iter().collect();
        let found = parts.iter().enumerate().rev();
        let mut found = found.filter_map(|(at, part)| Some(((index, at), *part, is_one(part)?)));
        found.next()
    })
}

/// Whether a compaction came to nothing, as its maker says by content that is null: clients may send it back, and it changes
/// nothing.
fn is_void(opaque: &Opaque<'_>) -> bool {
    let (mut is_null, mut is_sealed) = (false, false);
    let read = opaque.json.reader().object(|name, reader| {
        match (&*name, reader.kind()?) {
            ("content", kind) => is_null = kind == Kind::Null,
            ("encrypted_content", kind) => is_sealed = kind != Kind::Null,
            _ => {}
        }
        reader.skip()
    });
    read.is_ok() && is_null && !is_sealed
}

/// Content is shown to nobody.
impl fmt::Debug for Summaries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let are_there = (self.kept.is_some(), self.returned.is_some(), self.made.is_some());
        write!(f, "Summaries{are_there:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(messages: &[Message<'_>]) -> Vec<String> {
        let word = |part: &Part<'_>| match part.content() {
            Content::Text(text) => text.to_str().into_owned(),
            _ => "?".to_owned(),
        };
        messages.iter().map(|it| it.parts.iter().map(word).collect::<Vec<_>>().join(" ")).collect()
    }

    fn text(role: Role, words: &[&'static str]) -> Message<'static> {
        Message::new(role, words.iter().map(|it| Part::text(*it)).collect::<Vec<_>>())
    }

    #[test]
    fn a_compaction_takes_the_place_of_what_it_covers() {
        let mut messages = vec![
            text(Role::System, &["s"]),
            text(Role::User, &["u1"]),
            text(Role::Assistant, &["a1", "item", "a2"]),
            text(Role::User, &["u2"]),
        ];
        let none = Summaries::default;
        let returned = |at, before| {
            let stands_for = StandsFor::Summary("SUM".to_owned());
            Returned { at, stands_for, before }
        };
        let instructions = Before::Still(|it| it.role.instructs());
        let summaries = Summaries { returned: Some(returned((2, 1), instructions)), ..none() };
        summaries.apply(&mut messages);
        assert_eq!(words(&messages), ["s", "SUM", "a2", "u2"]);
        let mut messages = vec![text(Role::User, &["u1"]), text(Role::Assistant, &["item"])];
        let all = Before::Still(|_| true);
        let summaries = Summaries { returned: Some(returned((1, 0), all)), ..none() };
        summaries.apply(&mut messages);
        assert_eq!(words(&messages), ["u1", "SUM"]);
        // A place that is not there changes nothing.
        let summaries = Summaries { returned: Some(returned((9, 0), all)), ..none() };
        summaries.apply(&mut messages);
        assert_eq!(words(&messages), ["u1", "SUM"]);
    }

    #[test]
    fn a_compaction_before_an_answer_stands_where_it_stood_for_that_answer() {
        let all = || {
            vec![
                text(Role::System, &["s"]),
                text(Role::User, &["u1"]),
                text(Role::Assistant, &["a1"]),
                text(Role::User, &["u2"]),
            ]
        };
        let made = Summaries {
            made: all_but_newest(&all()).map(|plan| Made { plan, text: "SUM".to_owned() }),
            ..Summaries::default()
        };
        let mut first = all();
        made.apply(&mut first);
        assert_eq!(words(&first), ["s", "SUM", "u2"]);
        let answered = |mut before: Vec<Message<'static>>| {
            let index = before.len();
            before.extend([text(Role::Assistant, &["item", "a2"]), text(Role::User, &["u3"])]);
            let stands_for = StandsFor::Summary("SUM".to_owned());
            let returned = Returned { at: (index, 0), stands_for, before: Before::Newest };
            Summaries { returned: Some(returned), ..Summaries::default() }.apply(&mut before);
            words(&before)
        };
        assert_eq!(answered(all()), ["s", "SUM", "u2", "a2", "u3"]);
        // A client may leave out what stands before it.
        assert_eq!(answered(vec![text(Role::System, &["s"])]), ["s", "SUM", "a2", "u3"]);
        assert_eq!(answered(Vec::new()), ["SUM", "a2", "u3"]);
    }
}
