//! What holds for every conversation that is compacted.

use std::collections::HashSet;

use proptest::prelude::*;
use sabir_wire::conversation::{
    Arguments, CallForm, Content, Message, Part, ResultOutput, Role, ToolCall, ToolResult,
};

use super::*;
use crate::policy::SummaryRole;
use crate::step::testing::{rendered, turns};

/// What is said at one place of a conversation. Results answer any of the calls before them, in any order and distance.
#[derive(Clone, Debug)]
enum Move {
    Instruct,
    User(u16),
    Assistant(u16),
    Calls(u8),
    Results(Vec<prop::sample::Index>),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        1 => Just(Move::Instruct),
        4 => any::<u16>().prop_map(Move::User),
        4 => any::<u16>().prop_map(Move::Assistant),
        3 => (1..4_u8).prop_map(Move::Calls),
        3 => prop::collection::vec(any::<prop::sample::Index>(), 1..4).prop_map(Move::Results),
    ];
    prop::collection::vec(one, 0..40)
}

fn conversation(moves: &[Move]) -> Vec<Message<'static>> {
    let (mut messages, mut open) = (Vec::new(), Vec::new());
    let mut calls = 0;
    let words =
        |length: u16, at: usize| vec![Part::text(format!("{at} {}", "w".repeat(length.into())))];
    for (at, step) in moves.iter().enumerate() {
        messages.push(match step {
            Move::Instruct => Message::new(Role::System, words(3, at)),
            Move::User(length) => Message::new(Role::User, words(length % 400, at)),
            Move::Assistant(length) => Message::new(Role::Assistant, words(length % 400, at)),
            Move::Calls(count) => {
                let ids: Vec<u32> = (calls..calls + u32::from(*count)).collect();
                calls += u32::from(*count);
                open.extend(&ids);
                Message::new(Role::Assistant, ids.into_iter().map(call).collect::<Vec<_>>())
            }
            Move::Results(chosen) => {
                let mut results = Vec::new();
                for index in chosen.iter().take(open.len()) {
                    results.push(result(open.remove(index.index(open.len()))));
                }
                Message::new(Role::Tool, results)
            }
        });
    }
    messages
}

fn call(id: u32) -> Part<'static> {
    Part::new(Content::ToolCall(Box::new(ToolCall {
        id: Some(id.to_string().into()),
        name: "look".into(),
        arguments: Arguments::Text("{}".into()),
        form: CallForm::Function,
    })))
}

fn result(id: u32) -> Part<'static> {
    Part::new(Content::ToolResult(Box::new(ToolResult {
        call_id: Some(id.to_string().into()),
        name: None,
        output: ResultOutput::Parts(Part::text(format!("of {id}")).into()),
        is_error: None,
        form: CallForm::Function,
    })))
}

/// The ids of all calls, and of all results.
fn ids(messages: &[Message<'_>]) -> (HashSet<String>, HashSet<String>) {
    let (mut calls, mut results) = (HashSet::new(), HashSet::new());
    for part in messages.iter().flat_map(|message| &message.parts) {
        match part.content() {
            Content::ToolCall(call) => {
                calls.extend(call.id.as_ref().map(|id| id.to_str().into_owned()))
            }
            Content::ToolResult(result) => {
                results.extend(result.call_id.as_ref().map(|id| id.to_str().into_owned()));
            }
            _ => {}
        }
    }
    (calls, results)
}

fn newest_user(messages: &[Message<'_>]) -> Option<String> {
    let newest = messages.iter().rev().find(|message| message.role == Role::User)?;
    rendered(&turns([newest.clone().into_owned()])).pop()
}

proptest! {
    #[test]
    fn a_compaction_keeps_what_it_must(moves in moves(), kept_turns in 0..5_usize, bytes_max in 0..3000_usize, step in 1..4_usize) {
        let messages = conversation(&moves);
        let keep = Keep { turns: kept_turns, bytes_max };
        // Somebody may be able to cut at some places alone.
        let Some(plan) = plan_where(&messages, keep, |at| at % step == 0) else { return Ok(()) };
        prop_assert!(plan.covered().end % step == 0);
        let before = ids(&messages);
        let after = compacted(messages.clone(), &plan, "SUM".to_owned(), SummaryRole::System);

        // A call never loses its result, nor a result its call.
        let (calls, results) = ids(&after);
        let answered: HashSet<&String> = before.0.intersection(&before.1).collect();
        for id in calls.union(&results).filter(|id| answered.contains(id)) {
            prop_assert!(calls.contains(id) && results.contains(id), "{id} stands alone");
        }
        // The newest words of the user are there, and the newest message is where it was.
        prop_assert_eq!(newest_user(&after), newest_user(&messages));
        prop_assert_eq!(
            rendered(&turns(after.last().cloned())),
            rendered(&turns(messages.last().cloned()))
        );
        // Instructions that lead are not covered.
        let leading = messages.iter().take_while(|message| message.role.instructs()).count();
        prop_assert_eq!(plan.covered().start, leading);
        // The same summary gives the same conversation.
        let again = plan_where(&messages, keep, |at| at % step == 0);
        prop_assert_eq!(again.as_ref(), Some(&plan));
        let again = compacted(messages, &plan, "SUM".to_owned(), SummaryRole::System);
        prop_assert_eq!(rendered(&turns(again)), rendered(&turns(after)));
    }

    #[test]
    fn what_is_asked_for_a_summary_depends_on_the_conversation_alone(moves in moves(), bytes_max in 300..5000_usize) {
        let messages = conversation(&moves);
        let Some(plan) = Plan::whole(&messages) else { return Ok(()) };
        let texts = |questions: &Questions| -> Vec<String> {
            let requests = (0..questions.len()).filter_map(|at| questions.request(at, PROMPT, None));
            requests.flat_map(|request| rendered(&turns(request.messages))).collect()
        };
        let (one, other) = (questions(&messages, &plan, bytes_max), questions(&messages, &plan, bytes_max));
        prop_assert_eq!(texts(&one), texts(&other));
        // Every user message is asked about, whole if it fits.
        let all = texts(&one).join("\n");
        for (at, step) in moves.iter().enumerate() {
            if let Move::User(length) = step && usize::from(length % 400) + 200 < bytes_max {
                let words = format!("{at} {}", "w".repeat((length % 400).into()));
                prop_assert!(all.contains(words.trim_end()), "{words}");
            }
        }
    }
}
