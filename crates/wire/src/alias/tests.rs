//! Aliases: readable, valid, stable, reversible, and never shared by two names.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const TOOL_RULES: [ToolNameRule; 4] = [
    ToolNameRule::CHAT,
    ToolNameRule::RESPONSES,
    ToolNameRule::ANTHROPIC.with_max_len(64),
    ToolNameRule::GEMINI,
];
const CALL_RULES: [CallIdRule; 5] = [
    CallIdRule::CHAT,
    CallIdRule::RESPONSES,
    CallIdRule::ANTHROPIC,
    CallIdRule::GEMINI,
    CallIdRule::MISTRAL,
];

fn seventy() -> String {
    "abcdefghij".repeat(7)
}

/// Checks that `name` becomes `readable`, an underscore and a hash.
fn check_renamed(rule: ToolNameRule, name: &str, readable: &str) {
    let alias = rule.alias(name);
    assert!(rule.accepts(&alias), "{alias}");
    let (prefix, hash) = alias.split_at(alias.len() - HASH_CHARS);
    assert_eq!(prefix.strip_suffix('_'), Some(readable), "{alias}");
    assert!(hash.bytes().all(|byte| HASH_ALPHABET.contains(&byte)), "{alias}");
}

#[test]
fn refused_tool_names_get_a_readable_alias() {
    check_renamed(ToolNameRule::CHAT, "  My Tool! ", "My_Tool");
    check_renamed(ToolNameRule::CHAT, "fs.read/file", "fs_read_file");
    check_renamed(ToolNameRule::CHAT, &seventy(), &seventy()[..50]);
    check_renamed(ToolNameRule::CHAT, "天气", "tool");
    check_renamed(ToolNameRule::GEMINI, "fs.read/file", "fs_read_file");
    check_renamed(ToolNameRule::GEMINI, "7zip", "_7zip");
    check_renamed(ToolNameRule::GEMINI, "-x", "_-x");
}

#[test]
fn accepted_names_never_change() {
    for name in ["get_weather", "a", "A-b_9", "tool", "x_aaaaaaaaaaaaa"] {
        for rule in TOOL_RULES {
            assert_eq!(rule.alias(name), name);
        }
    }
    assert_eq!(ToolNameRule::GEMINI.alias("fs.read:file"), "fs.read:file");
    assert_eq!(ToolNameRule::RESPONSES.alias(&seventy()), seventy());
}

#[test]
fn an_empty_name_becomes_tool_and_yields_to_a_real_one() {
    for rule in TOOL_RULES {
        assert_eq!(rule.alias(""), "tool");
    }
    let aliases = Aliases::for_tool_names(ToolNameRule::CHAT, ["", "tool"]);
    assert_eq!(aliases.alias_of("tool"), "tool");
    assert_ne!(aliases.alias_of(""), "tool");
    assert_eq!(aliases.name_of(aliases.alias_of("")), "");
    assert_eq!(aliases.name_of("tool"), "tool");
}

#[test]
fn aliases_are_the_same_in_every_release() {
    assert_eq!(ToolNameRule::CHAT.alias("fs.read/file"), "fs_read_file_zkj2qlthfnaqo");
    assert_eq!(CallIdRule::MISTRAL.alias("call_1"), "77dvgcch7");
}

#[test]
fn names_that_look_alike_stay_apart() {
    let names = ["a/b", "a.b", "a b", " a b", "a b ", "A/b", "a_b"];
    let aliases = Aliases::for_tool_names(ToolNameRule::CHAT, names);
    let spelt: BTreeSet<_> = names.iter().map(|name| aliases.alias_of(name)).collect();
    assert_eq!(spelt.len(), names.len());
}

#[test]
fn a_client_name_spelt_like_an_alias_stays_itself() {
    let stolen = ToolNameRule::CHAT.alias("a/b").into_owned();
    for names in [["a/b", stolen.as_str()], [stolen.as_str(), "a/b"]] {
        let aliases = Aliases::for_tool_names(ToolNameRule::CHAT, names);
        assert_eq!(aliases.alias_of(&stolen), stolen);
        assert_eq!(aliases.name_of(&stolen), stolen);
        let moved = aliases.alias_of("a/b");
        assert_ne!(moved, stolen);
        assert!(ToolNameRule::CHAT.accepts(moved), "{moved}");
        assert_eq!(aliases.name_of(moved), "a/b");
    }
}

#[test]
fn a_rule_with_no_room_ends_all_the_same() {
    let rule = CallIdRule { charset: Charset::Word, min_len: 1, max_len: 1 };
    let ids: Vec<String> = (0..100).map(|index| format!("call_{index}")).collect();
    let aliases = Aliases::for_call_ids(rule, ids.iter().map(String::as_str));
    assert_eq!(aliases.renamed().count(), ids.len());
}

#[test]
fn unknown_names_pass_through() {
    let aliases = Aliases::for_tool_names(ToolNameRule::CHAT, ["a/b", "a/b"]);
    assert_eq!(aliases.alias_of("other"), "other");
    assert_eq!(aliases.name_of("other"), "other");
    assert_eq!(aliases.renamed().count(), 1);
}

#[test]
fn a_refused_name_says_why() {
    let cases = [
        (seventy(), "Tool name exceeds max length of 64"),
        (String::new(), "Tool name is empty"),
        ("a/b".to_owned(), "Tool name has a character that the target does not allow"),
    ];
    for (name, expected) in cases {
        let error = ToolNameRule::CHAT.check(&name).unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Refused, expected));
    }
    assert!(ToolNameRule::CHAT.check("read_file").is_ok());
}

#[test]
fn call_ids_follow_the_rule_of_the_receiver() {
    let long = "x".repeat(80);
    let cases = [
        (CallIdRule::ANTHROPIC, "functions.get:0", false),
        (CallIdRule::ANTHROPIC, "toolu_01A", true),
        (CallIdRule::ANTHROPIC, &long, false),
        (CallIdRule::CHAT, "functions.get:0", true),
        (CallIdRule::CHAT, &long[..41], false),
        (CallIdRule::RESPONSES, &long[..64], true),
        (CallIdRule::RESPONSES, &long[..65], false),
        (CallIdRule::MISTRAL, "D681PevKs", true),
        (CallIdRule::MISTRAL, "call_1234", false),
        (CallIdRule::MISTRAL, "abc123", false),
        (CallIdRule::GEMINI, &long, true),
        (CallIdRule::GEMINI, "", true),
    ];
    for (rule, id, kept) in cases {
        assert_eq!(rule.accepts(id), kept, "{rule:?} {id}");
        assert_eq!(rule.alias(id) == id, kept, "{rule:?} {id}");
        assert!(rule.accepts(&rule.alias(id)), "{rule:?} {id}");
    }
}

#[test]
fn a_narrow_model_narrows_the_rule_and_never_widens_it() {
    assert_eq!(ToolNameRule::ANTHROPIC.with_max_len(64).max_len, 64);
    assert_eq!(ToolNameRule::CHAT.with_max_len(128).max_len, 64);
}

#[test]
fn ten_thousand_ids_get_as_many_short_aliases() {
    let ids: Vec<String> = (0..10_000).map(|index| format!("call_{index}")).collect();
    let aliases: BTreeSet<_> = ids.iter().map(|id| CallIdRule::MISTRAL.alias(id)).collect();
    assert_eq!(aliases.len(), ids.len());
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof!["\\PC{0,90}", "[a-c./ _-]{0,6}", "[A-Za-z0-9_-]{60,70}"]
}

fn check_laws(aliases: &Aliases, names: &[String], accepts: impl Fn(&str) -> bool) {
    let distinct: BTreeSet<&str> = names.iter().map(String::as_str).collect();
    let spelt: BTreeSet<&str> = distinct.iter().map(|name| aliases.alias_of(name)).collect();
    assert_eq!(spelt.len(), distinct.len(), "two names share an alias");
    for name in distinct {
        let alias = aliases.alias_of(name);
        assert!(accepts(alias), "{name:?} became {alias:?}");
        assert_eq!(accepts(name), alias == name, "{name:?} became {alias:?}");
        assert_eq!(aliases.name_of(alias), name);
    }
}

proptest! {
    #[test]
    fn tool_aliases_are_valid_distinct_and_reversible(
        mut names in prop::collection::vec(any_name(), 0..12),
        rule in prop::sample::select(TOOL_RULES.to_vec()),
        thief in any::<prop::sample::Index>(),
    ) {
        if !names.is_empty() {
            let victim: &String = thief.get(&names);
            names.push(rule.alias(victim).into_owned());
        }
        let aliases = Aliases::for_tool_names(rule, names.iter().map(String::as_str));
        check_laws(&aliases, &names, |name| rule.accepts(name));
    }

    #[test]
    fn call_aliases_are_valid_distinct_and_reversible(
        ids in prop::collection::vec(any_name(), 0..12),
        rule in prop::sample::select(CALL_RULES.to_vec()),
    ) {
        let aliases = Aliases::for_call_ids(rule, ids.iter().map(String::as_str));
        check_laws(&aliases, &ids, |id| rule.accepts(id));
    }

    #[test]
    fn an_alias_does_not_depend_on_the_other_names(
        name in any_name(),
        others in prop::collection::vec("[a-z]{1,5}/[a-z]{1,5}", 0..8),
        rule in prop::sample::select(TOOL_RULES.to_vec()),
    ) {
        prop_assume!(!name.is_empty());
        let names = others.iter().map(String::as_str).chain([name.as_str()]);
        let aliases = Aliases::for_tool_names(rule, names);
        prop_assert_eq!(aliases.alias_of(&name), rule.alias(&name));
        let alias = rule.alias(&name).into_owned();
        prop_assert_eq!(rule.alias(&alias), alias.as_str());
    }
}
