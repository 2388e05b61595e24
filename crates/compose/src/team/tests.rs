//! Who speaks next, case by case and for any answers.

use proptest::prelude::*;

use super::*;
use crate::assemble::mark;

fn team(names: &[&str]) -> Floor {
    Floor::new(names.iter().map(|name| MemberName::new(name).expect("a name")).collect())
}

/// Who speaks, when the answers are these and nobody else speaks; the user has the first word.
#[track_caller]
fn check(answers: &[&str], expected: &[&str]) {
    let mut floor = team(&["ann", "bob", "Carol"]);
    let mut speakers = Vec::new();
    let mut speaker = Speaker::User;
    for answer in answers {
        floor.observe(speaker, answer);
        speaker = floor.next();
        speakers.push(floor.name(speaker).to_owned());
    }
    assert_eq!(speakers, expected, "{answers:?}");
}

#[test]
fn members_speak_in_turn_unless_somebody_is_named() {
    check(&["Begin", "a", "b", "c", "a"], &["ann", "bob", "Carol", "ann", "bob"]);
    check(&["Begin [NEXT: carol]", "c", "a"], &["Carol", "ann", "bob"]);
    check(&["Begin", "a [NEXT: Carol]", "c [NEXT:carol]", "c"], &["ann", "Carol", "Carol", "ann"]);
    check(&["Begin", "a [NEXT: user]", "u"], &["ann", "user", "bob"]);
}

#[test]
fn several_who_are_named_speak_one_after_the_other() {
    check(&["Begin [NEXT: Carol, ann]", "c", "a"], &["Carol", "ann", "bob"]);
    check(&["[NEXT: Carol, ann]", "c [NEXT: bob]", "b", "a"], &["Carol", "bob", "ann", "bob"]);
}

#[test]
fn names_that_nobody_has_come_back_and_change_nothing() {
    let mut floor = team(&["ann", "bob"]);
    assert_eq!(floor.observe(Speaker::Member(0), "Ask [NEXT: dave, bob, eve]"), ["dave", "eve"]);
    assert_eq!(floor.next(), Speaker::Member(1));
    assert_eq!(floor.addressees("[NEXT: dave, bob, user]"), ["bob", "user"]);
    assert_eq!(floor.observe(Speaker::Member(1), "Ask [NEXT: dave]"), ["dave"]);
    assert_eq!(floor.addressees("Ask [NEXT: dave]"), ["ann"]);
}

#[test]
fn what_markers_could_not_say_is_no_name() {
    for name in ["", "  ", "User", "a,b", "a]b", "a\nb"] {
        assert!(MemberName::new(name).is_err(), "{name:?}");
    }
    assert_eq!(MemberName::new(" Ann Lee ").map(|it| it.as_str().to_owned()), Ok("Ann Lee".into()));
}

/// Text that has no brackets, and neither begins nor ends with white space.
fn plain() -> impl Strategy<Value = String> {
    "[a-z`]([a-z \\n\\t`~-]{0,40}[a-z.])?"
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z]([a-zA-Z ._-]{0,8}[a-zA-Z])?".prop_filter("the user's name", |it| !is_same(it, USER))
}

proptest! {
    #[test]
    fn what_is_marked_is_found_again(from in name(), to in prop::collection::vec(name(), 0..3), text in plain()) {
        let marked = mark(&from, to.iter().map(String::as_str), &text);
        let cleaned = clean(&marked);
        prop_assert_eq!(cleaned.from, Some(from.as_str()));
        let next: Vec<&str> = cleaned.next.into_iter().flat_map(names).collect();
        prop_assert_eq!(next, to.iter().map(String::as_str).collect::<Vec<_>>());
        prop_assert_eq!(cleaned.text, text);
    }

    #[test]
    fn in_turn_nobody_speaks_twice_before_all_have(size in 1_usize..6, words in prop::collection::vec(plain(), 1..20)) {
        let names: Vec<String> = (0..size).map(|index| format!("m{index}")).collect();
        let mut floor = team(&names.iter().map(String::as_str).collect::<Vec<_>>());
        floor.observe(Speaker::User, "Begin");
        for (turn, word) in words.iter().enumerate() {
            let speaker = floor.next();
            prop_assert_eq!(speaker, Speaker::Member(turn % size));
            floor.observe(speaker, word);
        }
    }

    #[test]
    fn whoever_is_named_last_is_next(answers in prop::collection::vec((0_usize..4, "[a-z \\n.]{0,40}"), 1..20)) {
        let mut floor = team(&["ann", "bob", "carol"]);
        let mut speaker = Speaker::User;
        for (named, text) in answers {
            let name = ["ann", "bob", "carol", "user"][named];
            let answer = format!("{text} [NEXT: {name}]");
            prop_assert!(floor.observe(speaker, &answer).is_empty());
            speaker = floor.next();
            prop_assert_eq!(floor.name(speaker), name);
        }
    }
}
