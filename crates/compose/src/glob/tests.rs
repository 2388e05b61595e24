//! Patterns by example, and against a matcher that is slow and plainly right.

use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(pattern: &str, matching: &[&str], other: &[&str]) {
    let glob = Glob::new(pattern).unwrap();
    for name in matching {
        assert!(glob.matches(name), "{pattern} matches {name}");
    }
    for name in other {
        assert!(!glob.matches(name), "{pattern} does not match {name}");
    }
}

#[test]
fn patterns_match_whole_names() {
    check("gpt-5", &["gpt-5"], &["gpt-5.6", "a-gpt-5", ""]);
    check("gpt-*", &["gpt-", "gpt-5.6"], &["chatgpt-4o", "GPT-5"]);
    check("o[0-9]*", &["o1", "o3-mini"], &["omni", "o", "a1"]);
    check("claude-?", &["claude-5"], &["claude-", "claude-55"]);
    check("[!gc]*", &["o1", "llama"], &["gpt", "claude", ""]);
    check("[^a]", &["b"], &["a"]);
    check("*/*", &["a/b", "a/b/c", "/"], &["ab"]);
    check("*", &["", "anything/at all"], &[]);
    check("a**b", &["ab", "axxb"], &["a"]);
    check("[a-]", &["a", "-"], &["b"]);
    check("[*]?", &["*x"], &["ax"]);
    check("*-é", &["modèle-é"], &["modèle-e"]);
}

#[test]
fn what_is_no_pattern_is_refused() {
    assert_eq!(Glob::new(""), Err(GlobError::Empty));
    assert_eq!(Glob::new("o[0-9"), Err(GlobError::UnclosedSet));
    assert_eq!(Glob::new("o[]"), Err(GlobError::EmptySet));
    assert_eq!(Glob::new("o[!]"), Err(GlobError::EmptySet));
    assert_eq!(Glob::new("[9-0]"), Err(GlobError::BackwardRange));
}

#[test]
fn narrower_patterns_are_more_specific() {
    let order = ["*", "?*", "?", "[a-z]*", "[a-z]", "g*t*", "gpt*", "gpt-*", "gpt-?", "gpt", "g"];
    let order = order.map(|pattern| Glob::new(pattern).unwrap());
    let wide_to_narrow = &order[..9];
    for pair in wide_to_narrow.windows(2) {
        assert!(pair[0].specificity() < pair[1].specificity(), "{} < {}", pair[0], pair[1]);
    }
    for pattern in wide_to_narrow {
        assert!(pattern.specificity() < order[10].specificity(), "a plain name beats {pattern}");
    }
}

/// Tries every length for every star: right by its looks, and exponential.
fn naive(tokens: &[Token], name: &[char]) -> bool {
    match tokens {
        [] => name.is_empty(),
        [Token::Star, rest @ ..] => (0..=name.len()).any(|taken| naive(rest, &name[taken..])),
        [one, rest @ ..] => match name {
            [first, after @ ..] => one.takes(*first) && naive(rest, after),
            [] => false,
        },
    }
}

proptest! {
    #[test]
    fn matching_agrees_with_the_naive_matcher(pattern in "[ab?*]{1,8}|[ab*]{0,3}\\[!?[ab]\\][ab*]{0,4}", name in "[abc]{0,10}") {
        let glob = Glob::new(&pattern).unwrap();
        let characters: Vec<char> = name.chars().collect();
        prop_assert_eq!(glob.matches(&name), naive(&glob.tokens, &characters));
    }

    #[test]
    fn no_text_panics(pattern in ".{0,20}", name in ".{0,20}") {
        if let Ok(glob) = Glob::new(&pattern) {
            glob.matches(&name);
            glob.specificity();
        }
    }
}

#[test]
fn a_pattern_of_many_stars_is_done_at_once() {
    let pattern = "a*".repeat(200) + "b";
    assert!(!Glob::new(&pattern).unwrap().matches(&"a".repeat(5_000)));
}
