//! Compaction of small conversations, written down as lines.

use sabir_wire::conversation::{Message, Part, Role};

use super::*;
use crate::policy::SummaryRole;
use crate::step::testing::{call, rendered, result, text, turns};

const ROOM: usize = 1 << 20;

/// `s`, `u` and `a` are messages of that role, `?1` a call and `=1` its result.
fn conversation(lines: &[&'static str]) -> Vec<Message<'static>> {
    let message = |line: &&'static str| match line.split_at(1) {
        ("?", id) => call(id),
        ("=", id) => result(id),
        ("s", words) => text(Role::System, words),
        ("a", words) => text(Role::Assistant, words),
        (_, words) => text(Role::User, words),
    };
    lines.iter().map(message).collect()
}

#[track_caller]
fn check(lines: &[&'static str], keep: Keep, expected: &[&str]) {
    let messages = conversation(lines);
    let plan = plan(&messages, keep);
    let after = match &plan {
        Some(plan) => compacted(messages, plan, "SUM".to_owned(), SummaryRole::System),
        None => messages,
    };
    assert_eq!(rendered(&turns(after)), expected, "{plan:?}");
}

#[test]
fn the_newest_turns_stay_whole() {
    let keep = Keep { turns: 1, bytes_max: ROOM };
    let lines = ["sBe brief.", "u1", "a2", "u3", "?1", "=1", "a4"];
    let after = ["system: Be brief.", "system: SUM", "user: 3", "assistant: ?1", "tool: =1"];
    check(&lines, keep, &[&after[..], &["assistant: 4"]].concat());
    let keep = Keep { turns: 2, bytes_max: ROOM };
    check(&lines[1..4], keep, &["user: 1", "assistant: 2", "user: 3"]);
}

#[test]
fn a_call_stays_with_a_result_that_comes_late() {
    let keep = Keep { turns: 1, bytes_max: ROOM };
    let lines = ["u1", "?1", "u2", "=1", "a3"];
    check(&lines, keep, &["system: SUM", "user: 2", "assistant: 3"]);
}

#[test]
fn a_turn_that_takes_too_much_room_is_cut_between_its_rounds() {
    let long: &'static str = "a234567890123456789012345678901234567890";
    let keep = Keep { turns: 6, bytes_max: 80 };
    let lines = ["u1", long, "?1", "=1", long, "?2", "=2"];
    check(&lines, keep, &["system: SUM", "user: 1", "assistant: ?2", "tool: =2"]);
}

#[test]
fn the_newest_message_is_never_summarised() {
    let keep = Keep { turns: 0, bytes_max: 0 };
    check(&["u1", "a2", "u3"], keep, &["system: SUM", "user: 3"]);
    check(&["u1"], keep, &["user: 1"]);
    check(&[], keep, &[]);
    check(&["sAlone."], keep, &["system: Alone."]);
    // Nothing but the newest message of the user would be covered.
    check(&["u1", "a2"], keep, &["user: 1", "assistant: 2"]);
}

#[test]
fn instructions_are_not_summarised() {
    assert_eq!(Plan::whole(&conversation(&["sA", "sB"])), None);
    let whole = Plan::whole(&conversation(&["sA", "u1", "a2"]));
    assert_eq!(whole.map(|plan| plan.covered()), Some(1..3));
}

#[test]
fn a_question_has_the_earlier_summary_and_what_was_said() {
    let messages = conversation(&["u1", "?7", "=7", "a2"]);
    let plan = Plan::whole(&messages).unwrap();
    let questions = questions(&messages, &plan, 4096);
    assert_eq!((questions.len(), questions.messages()), (1, 4));
    let request = questions.request(0, PROMPT, Some("Before.")).unwrap();
    let [system, user] = &request.messages[..] else { panic!("two messages") };
    assert_eq!(rendered(&turns([system.clone()])), [format!("system: {PROMPT}")]);
    let expected = "user: <earlier_summary>\nBefore.\n</earlier_summary>\n\n<conversation>\n### user\n1\n\n\
        ### assistant\n(calls look with {})\n\n### look\nof 7\n\n### assistant\n2\n\n\
        </conversation>\n\nWrite the summary now.";
    assert_eq!(rendered(&turns([user.clone()])), [expected]);
    assert!(questions.request(1, PROMPT, None).is_none());
}

#[test]
fn a_long_conversation_is_asked_for_in_pieces() {
    let message = |index: usize| {
        let words = format!("{index}{}", "é".repeat(900));
        Message::new(Role::User, vec![Part::text(words)])
    };
    let messages: Vec<Message<'_>> = (0..9).map(message).collect();
    let plan = Plan::whole(&messages).unwrap();
    for bytes_max in [300, 1000, 4000, 100_000] {
        let questions = questions(&messages, &plan, bytes_max);
        let texts = (0..questions.len()).filter_map(|at| questions.request(at, "", None));
        for request in texts {
            // What is put around a piece takes little.
            assert!(weight(&request.messages) <= bytes_max + 200, "{bytes_max}");
        }
    }
    assert_eq!(questions(&messages, &plan, 4000).len(), 5);
    // A model may turn out to read less.
    let shorter = questions(&messages, &plan, 100_000).within(4000);
    assert_eq!((shorter.len(), shorter.messages(), shorter.bytes_max()), (5, 9, 4000));
}
