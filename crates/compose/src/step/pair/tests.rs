//! Pairing, case by case.

use sabir_wire::Protocol;
use sabir_wire::conversation::{Message, Part, Role, ToolCall, ToolResult};
use sabir_wire::target::Target;

use super::*;
use crate::log::Line;
use crate::policy::{Misplaced, Unanswered};
use crate::step::testing::{call, call_part, rendered, result, result_part, text, turns};

fn user(words: &str) -> Message<'static> {
    text(Role::User, words)
}

fn calls(ids: &[&'static str]) -> Message<'static> {
    Message::new(Role::Assistant, ids.iter().map(|id| call_part(id)).collect::<Vec<_>>())
}

/// Builds and compares; each change is `pointer what`.
#[track_caller]
fn check<const N: usize>(messages: [Message<'static>; N], expected: &[&str], changes: &[&str]) {
    check_by(&Policy::default(), messages, expected, changes);
}

#[track_caller]
fn check_by<const N: usize>(
    policy: &Policy,
    messages: [Message<'static>; N],
    expected: &[&str],
    changes: &[&str],
) {
    let mut notes = Notes::default();
    let paired = apply(turns(messages), policy, &mut notes);
    assert_eq!(rendered(&paired), expected);
    let found = notes.trace.changes().iter().map(|it| format!("{} {}", it.pointer, it.what));
    assert_eq!(found.collect::<Vec<_>>(), changes);
    let again = apply(paired.clone(), policy, &mut notes);
    assert_eq!(rendered(&again), rendered(&paired), "once more changes nothing");
    assert_eq!(notes.trace.changes().len(), changes.len());
}

#[test]
fn what_is_paired_stays() {
    check(
        [user("u"), calls(&["a", "b"]), result("b"), result("a"), user("v")],
        &["user: u", "assistant: ?a ?b", "tool: =b", "tool: =a", "user: v"],
        &[],
    );
    let mixed = Message::new(Role::User, vec![result_part("a"), Part::text("and?")]);
    check([call("a"), mixed], &["assistant: ?a", "user: =a and?"], &[]);
    check(
        [call("a"), call("b"), result("a"), result("b")],
        &["assistant: ?a", "assistant: ?b", "tool: =a", "tool: =b"],
        &[],
    );
}

#[test]
fn an_id_may_be_used_again_in_a_later_run() {
    check(
        [call("a"), result("a"), call("a"), result("a")],
        &["assistant: ?a", "tool: =a", "assistant: ?a", "tool: =a"],
        &[],
    );
}

#[test]
fn an_orphan_goes() {
    check(
        [call("a"), result("a"), result("b")],
        &["assistant: ?a", "tool: =a"],
        &["/messages/2 tool result left out"],
    );
    let mixed = Message::new(Role::User, vec![result_part("b"), Part::text("and?")]);
    check([user("u"), mixed], &["user: u", "user: and?"], &["/messages/1 tool result left out"]);
    let mut notes = Notes::default();
    apply(turns([user("u"), result("b")]), &Policy::default(), &mut notes);
    let line = "[MessageBuilder] Removing orphaned tool message";
    assert_eq!(notes.log.lines(), [Line::Note(line.into())]);
}

#[test]
fn of_two_results_the_first_stays() {
    check(
        [call("a"), result("a"), result("a")],
        &["assistant: ?a", "tool: =a"],
        &["/messages/2 tool result left out"],
    );
}

#[test]
fn a_call_without_result_gets_an_error() {
    check(
        [user("u"), calls(&["a", "b"]), result("b"), user("v")],
        &["user: u", "assistant: ?a ?b", "tool: =b", "tool: =a!", "user: v"],
        &["/messages/1 error result added"],
    );
    check([call("a")], &["assistant: ?a", "tool: =a!"], &["/messages/0 error result added"]);
}

#[test]
fn a_made_up_result_joins_those_that_share_a_message() {
    let shared = Message::new(Role::User, vec![result_part("a"), Part::text("and?")]);
    check(
        [calls(&["a", "b"]), shared],
        &["assistant: ?a ?b", "user: =a =b! and?"],
        &["/messages/0 error result added"],
    );
    let alone = Message::new(Role::User, vec![result_part("a")]);
    check(
        [calls(&["a", "b"]), alone, user("v")],
        &["assistant: ?a ?b", "user: =a =b!", "user: v"],
        &["/messages/0 error result added"],
    );
}

#[test]
fn a_call_without_result_may_go() {
    let policy = Policy { unanswered: Unanswered::Drop, ..Policy::default() };
    check_by(
        &policy,
        [user("u"), calls(&["a", "b"]), result("b"), call("c"), user("v")],
        &["user: u", "assistant: ?b", "tool: =b", "user: v"],
        &["/messages/1 tool call left out", "/messages/3 tool call left out"],
    );
    let with_text = Message::new(Role::Assistant, vec![Part::text("Hm."), call_part("a")]);
    check_by(&policy, [with_text], &["assistant: Hm."], &["/messages/0 tool call left out"]);
    let blank = Message::new(Role::Assistant, vec![Part::text(""), call_part("a")]);
    let changes = ["/messages/1 tool call left out", "/messages/1 message left out"];
    check_by(&policy, [user("u"), blank], &["user: u"], &changes);
}

#[test]
fn a_result_behind_other_words_moves_to_its_call() {
    check(
        [call("a"), user("wait"), result("a")],
        &["assistant: ?a", "tool: =a", "user: wait"],
        &["/messages/2 tool result moved"],
    );
    let mixed = Message::new(Role::User, vec![Part::text("here"), result_part("a")]);
    check(
        [call("a"), mixed],
        &["assistant: ?a", "tool: =a", "user: here"],
        &["/messages/1 tool result moved"],
    );
}

#[test]
fn a_result_behind_a_later_run_moves_to_its_call() {
    check(
        [call("a"), call("b"), result("b"), text(Role::Assistant, "so"), result("a")],
        &["assistant: ?a", "assistant: ?b", "tool: =b", "tool: =a", "assistant: so"],
        &["/messages/4 tool result moved"],
    );
}

#[test]
fn a_result_before_its_call_moves_behind_it() {
    check(
        [result("a"), call("a"), user("u")],
        &["assistant: ?a", "tool: =a", "user: u"],
        &["/messages/0 tool result moved"],
    );
}

#[test]
fn a_result_that_somebody_else_tells_becomes_the_tools() {
    for role in [Role::Assistant, Role::System] {
        let result_turn = || Message::new(role, vec![result_part("a")]);
        check(
            [result_turn(), call("a"), user("u")],
            &["assistant: ?a", "tool: =a", "user: u"],
            &["/messages/0 tool result moved"],
        );
        check(
            [call("a"), result_turn()],
            &["assistant: ?a", "tool: =a"],
            &["/messages/1 tool result moved"],
        );
    }
}

#[test]
fn a_result_in_place_wins_over_a_stray_one() {
    check(
        [result("a"), call("a"), result("a")],
        &["assistant: ?a", "tool: =a"],
        &["/messages/0 tool result left out"],
    );
}

#[test]
fn a_call_of_somebody_else_goes() {
    let strange = Message::new(Role::User, vec![Part::text("u"), call_part("a")]);
    check(
        [strange, result("a")],
        &["user: u"],
        &["/messages/0 tool call left out", "/messages/1 tool result left out"],
    );
    let mixed = Message::new(Role::User, vec![call_part("b"), result_part("a")]);
    check([call("a"), mixed], &["assistant: ?a", "user: =a"], &["/messages/1 tool call left out"]);
}

#[test]
fn misplaced_results_may_go_or_stay() {
    let policy = Policy { misplaced: Misplaced::Drop, ..Policy::default() };
    check_by(
        &policy,
        [call("a"), user("wait"), result("a")],
        &["assistant: ?a", "tool: =a!", "user: wait"],
        &["/messages/0 error result added", "/messages/2 tool result left out"],
    );
    let policy = Policy { misplaced: Misplaced::Keep, unanswered: Unanswered::Keep, ..policy };
    check_by(
        &policy,
        [result("a"), call("a"), call("b")],
        &["tool: =a", "assistant: ?a", "assistant: ?b"],
        &[],
    );
}

#[test]
fn results_without_ids_are_paired_by_name() {
    let body = r#"{"contents":[
        {"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"g","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"x":1}}}]}]}"#;
    let decoded = Protocol::Gemini.decode_request(body.as_bytes()).unwrap().into_owned();
    let mut notes = Notes::default();
    let policy = Policy::towards(Protocol::Gemini);
    let paired = apply(turns(decoded.into_request().messages), &policy, &mut notes);
    assert_eq!(rendered(&paired), ["assistant: ? ?", "user: = =!"]);
    assert_eq!(notes.trace.changes()[0].pointer, "/contents/0/parts/1");
}

/// Pairs a Gemini history and compares; each change is `pointer what`.
#[track_caller]
fn check_gemini(contents: &str, expected: &[&str], changes: &[&str]) {
    let body = format!(r#"{{"contents":[{contents}]}}"#);
    let decoded = Protocol::Gemini.decode_request(body.as_bytes()).unwrap().into_owned();
    let mut notes = Notes::default();
    let policy = Policy::towards(Protocol::OpenaiChat);
    let paired = apply(turns(decoded.into_request().messages), &policy, &mut notes);
    assert_eq!(rendered(&paired), expected);
    let found = notes.trace.changes().iter().map(|it| format!("{} {}", it.pointer, it.what));
    assert_eq!(found.collect::<Vec<_>>(), changes);
    apply(paired, &policy, &mut notes);
    assert_eq!(notes.trace.changes().len(), changes.len(), "once more changes nothing");
}

#[test]
fn a_result_with_an_id_answers_a_call_of_its_name_that_has_none() {
    check_gemini(
        r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"f-1","name":"f","response":{}}},
            {"functionResponse":{"id":"f-2","name":"f","response":{}}}]}"#,
        &["assistant: ? ?", "user: =f-1 =f-2"],
        &[],
    );
    check_gemini(
        r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"g-1","name":"g","response":{}}}]}"#,
        &["assistant: ?", "tool: ="],
        &["/contents/0/parts/0 error result added", "/contents/1/parts/0 tool result left out"],
    );
}

#[test]
fn an_id_outranks_a_name() {
    check_gemini(
        r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"id":"a","name":"f","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{}}}]}"#,
        &["assistant: ? ?a", "user: =a ="],
        &["/contents/0/parts/0 error result added"],
    );
    // The result belongs to the earlier call, so that the later one is left without.
    check_gemini(
        r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}}]},
        {"role":"user","parts":[{"text":"wait"}]},
        {"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"id":"a","name":"f","response":{}}}]}"#,
        &["assistant: ?a", "user: =a", "user: wait", "assistant: ?", "tool: ="],
        &["/contents/2/parts/0 error result added", "/contents/3/parts/0 tool result moved"],
    );
}

#[test]
fn a_result_without_an_id_answers_a_call_without_one_if_there_is_such() {
    let calls = r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]}"#;
    check_gemini(
        &format!(
            r#"{calls},{{"role":"user","parts":[{{"functionResponse":{{"name":"f","response":{{}}}}}},
            {{"functionResponse":{{"id":"a","name":"f","response":{{}}}}}}]}}"#
        ),
        &["assistant: ?a ?", "user: = =a"],
        &[],
    );
    check_gemini(
        &format!(
            r#"{calls},{{"role":"user","parts":[{{"functionResponse":{{"name":"f","response":{{}}}}}},
            {{"functionResponse":{{"name":"f","response":{{}}}}}}]}}"#
        ),
        &["assistant: ?a ?", "user: = ="],
        &[],
    );
}

#[test]
fn a_result_without_an_id_answers_the_call_that_no_other_result_names() {
    check_gemini(
        r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"id":"b","name":"f","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}},
            {"functionResponse":{"id":"a","name":"f","response":{}}}]}"#,
        &["assistant: ?a ?b", "user: = =a"],
        &[],
    );
}

#[test]
fn late_results_stand_in_the_order_in_which_they_found_their_calls() {
    // The numbered one takes the call without an id, and the other what is left; the other way round it would find none.
    check_gemini(
        r#"{"role":"model","parts":[{"functionCall":{"id":"a","name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]},
        {"role":"user","parts":[{"text":"wait"}]},{"role":"model","parts":[{"text":"ok"}]},
        {"role":"user","parts":[{"functionResponse":{"id":"b","name":"f","response":{}}},{"functionResponse":{"name":"f","response":{}}}]}"#,
        &["assistant: ?a ?", "tool: =b", "tool: =", "user: wait", "assistant: ok"],
        &["/contents/3/parts/0 tool result moved", "/contents/3/parts/1 tool result moved"],
    );
}

#[test]
fn late_results_without_ids_keep_the_order_of_their_calls() {
    let call = r#"{"functionCall":{"name":"f","args":{}}}"#;
    let answer = |number: usize| {
        format!(
            r#"{{"role":"user","parts":[{{"functionResponse":{{"name":"f","response":{{"r":{number}}}}}}}]}}"#
        )
    };
    let body = format!(
        r#"{{"contents":[{{"role":"model","parts":[{call},{call}]}},{{"role":"user","parts":[{{"text":"wait"}}]}},
        {{"role":"model","parts":[{{"text":"ok"}}]}},{},{}]}}"#,
        answer(0),
        answer(1)
    );
    let mut decoded = Protocol::Gemini.decode_request(body.as_bytes()).unwrap();
    let policy = Policy { opening: crate::Opening::Keep, ..Policy::towards(Protocol::OpenaiChat) };
    let trace = crate::repair(decoded.edit(), &policy).unwrap();
    assert_eq!(trace.changes().len(), 2);
    let encoded = decoded.encode(Protocol::OpenaiChat, &Target::default()).unwrap().body;
    let places = ["call_g_0_0", r#"\"r\":0"#, "call_g_0_1", r#"\"r\":1"#]
        .map(|it| encoded.rfind(it).unwrap_or_else(|| panic!("{it} in {encoded}")));
    assert!(places.is_sorted(), "{encoded}");
}

fn nameless(message: Message<'static>) -> Message<'static> {
    let parts = message.parts.into_iter().map(|part| match part.into_content() {
        Content::ToolCall(call) => {
            Part::new(Content::ToolCall(Box::new(ToolCall { id: None, ..*call })))
        }
        Content::ToolResult(result) => {
            Part::new(Content::ToolResult(Box::new(ToolResult { call_id: None, ..*result })))
        }
        content => Part::new(content),
    });
    Message::new(message.role, parts.collect::<Vec<_>>())
}

#[test]
fn a_result_that_says_nothing_of_its_call_answers_one_that_has_no_id() {
    let bare = || nameless(result("a"));
    check([nameless(call("a")), bare()], &["assistant: ?", "tool: ="], &[]);
    check(
        [call("a"), bare()],
        &["assistant: ?a", "tool: =a!"],
        &["/messages/0 error result added", "/messages/1 tool result left out"],
    );
}

#[test]
fn many_calls_of_one_run_are_found_in_any_order() {
    let ids: Vec<&'static str> =
        (0..20_000).map(|number| &*Box::leak(format!("c{number}").into_boxed_str())).collect();
    let mut messages = vec![calls(&ids)];
    messages.extend(ids.iter().rev().map(|id| result(id)));
    assert!(is_sound(messages.iter()));
    messages.remove(1);
    let mut notes = Notes::default();
    apply(turns(messages), &Policy::default(), &mut notes);
    assert_eq!(notes.trace.changes().len(), 1);
}
