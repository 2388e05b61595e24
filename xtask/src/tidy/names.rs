//! Words that no name may hold: a reader looks for the field's own term, which stands beside each.

use super::Finding;
use super::source::Source;
use super::tree::Tree;

/// Words that names must not hold, and what they were used for.
const BANNED: &[(&[&str], &str)] = &[
    (&["tell", "tells", "telling", "told", "retold", "untold"], "emit, write, report or state"),
    (&["say", "says", "saying", "said", "unsaid"], "text, content, stated or emitted"),
    (&["hear", "hears", "hearing", "heard", "unheard"], "observe, read or received"),
    (&["spoken", "tongue"], "history, text, protocol or language"),
    (&["manner", "farewell"], "mode, protocol or last write"),
];

/// The name of a test is a sentence of at least so many words, and may have any.
const SENTENCE_WORDS: usize = 4;

/// A name is looked for by the word that everybody uses for the thing.
pub(super) fn private_words(tree: &Tree) -> Vec<Finding> {
    tree.sources().iter().flat_map(findings).collect()
}

fn findings(source: &Source) -> Vec<Finding> {
    let is_sentence =
        |line: usize, name: &str| source.is_test(line) && words(name).count() >= SENTENCE_WORDS;
    let names = source.names().filter(|(line, name)| !is_sentence(*line, name));
    let found = names.filter_map(|(line, name)| Some((line, name, instead_of(name)?)));
    found
        .map(|(line, name, instead)| {
            let message = format!("`{name}` holds a word of our own: name it by {instead}");
            Finding::new(&source.path, line, message)
        })
        .collect()
}

fn instead_of(name: &str) -> Option<&'static str> {
    let is_banned = |word: String| {
        let mut rows = BANNED.iter();
        rows.find(|(banned, _)| banned.contains(&word.as_str())).map(|(_, instead)| *instead)
    };
    words(name).find_map(is_banned)
}

/// The words of a name in any case: `told_apart`, `ToldApart`, `TOLD_MAX`.
fn words(name: &str) -> impl Iterator<Item = String> {
    let is_upper = name.chars().all(|c| !c.is_lowercase());
    let mut words = vec![String::new()];
    for c in name.chars() {
        if c == '_' || c.is_uppercase() && !is_upper {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c != '_') {
            word.extend(c.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::super::tests::places;
    use super::*;

    const FILE: &str = "crates/app/src/a.rs";

    #[track_caller]
    fn check(text: &str, lines: &[usize]) {
        let expected: Vec<String> = lines.iter().map(|line| format!("{FILE}:{line}")).collect();
        assert_eq!(places(private_words, &[(FILE, text)]), expected, "{text}");
    }

    #[test]
    fn names_hold_no_private_words() {
        check(
            "let told = 1;\nstruct ToldApart;\nconst TOLD_MAX: u8 = 1;\nfn is_said() {}",
            &[1, 2, 3, 4],
        );
        check("let retold = 1;\nself.tell_taps();", &[1, 2]);
    }

    #[test]
    fn other_words_comments_and_literals_pass() {
        check("let intelligent = 1;\nlet a = \"told\"; // said\nlet stellar = 1;", &[]);
    }

    #[test]
    fn the_names_of_tests_are_sentences() {
        let test = "#[cfg(test)]\nmod tests {\n    fn who_asks_is_told() {}\n    fn told() {}\n}";
        check(test, &[4]);
        check("fn who_asks_is_told() {}", &[1]);
    }
}
