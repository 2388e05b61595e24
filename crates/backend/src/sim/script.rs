//! What a user may write to steer a simulator: `call TOOL with {…}`, `please refuse`, `repeat N words`, `unicode`.

use serde_json::Value;

/// A call that the user dictated.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dictated {
    pub(super) tool: String,
    pub(super) arguments: Value,
}

pub(super) const WORDS_MAX: usize = 100_000;

/// How many calls a text dictates at most. A call of an answer takes many times as much memory as the line that asks for it.
const CALLS_MAX: usize = 1_000;

/// The calls that a text dictates, one list for each round: `then call …` begins a round.
pub(super) fn rounds(text: &str) -> Vec<Vec<Dictated>> {
    let mut rounds: Vec<Vec<Dictated>> = Vec::new();
    let mut calls = 0;
    for line in text.lines() {
        if calls == CALLS_MAX {
            break;
        }
        let line = line.trim();
        let (begins, order) = match line.strip_prefix("then ") {
            Some(order) => (true, order),
            None => (rounds.is_empty(), line),
        };
        let Some(call) = dictated(order) else { continue };
        if begins || rounds.is_empty() {
            rounds.push(Vec::new());
        }
        if let Some(round) = rounds.last_mut() {
            round.push(call);
            calls += 1;
        }
    }
    rounds
}

fn dictated(order: &str) -> Option<Dictated> {
    let (tool, arguments) = order.strip_prefix("call ")?.split_once(" with ")?;
    let tool = tool.trim().trim_matches('`').to_owned();
    let arguments = arguments.trim().trim_end_matches('.');
    let arguments = serde_json::from_str(arguments).ok()?;
    Some(Dictated { tool, arguments })
}

/// Whether the user asks to be refused, on a line of its own.
pub(super) fn asks_refusal(text: &str) -> bool {
    text.lines().any(|line| line.trim().eq_ignore_ascii_case("please refuse"))
}

pub(super) fn asks_unicode(text: &str) -> bool {
    words(text).any(|word| word.eq_ignore_ascii_case("unicode"))
}

/// The number in `repeat N words`. No list of the words is made: of short ones it would be many times as long as the text.
pub(super) fn asks_words(text: &str) -> Option<usize> {
    let mut words = words(text);
    let (mut verb, mut number) = (words.next()?, words.next()?);
    words.find_map(|noun| {
        let three = (verb, number, noun);
        (verb, number) = (number, noun);
        match three {
            (verb, number, noun)
                if verb.eq_ignore_ascii_case("repeat") && noun.starts_with("word") =>
            {
                number.parse::<usize>().ok().map(|number| number.min(WORDS_MAX))
            }
            _ => None,
        }
    })
}

/// Whether a text holds a tool's name as a word of its own.
pub(super) fn names(text: &str, tool: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
    text.match_indices(tool).any(|(start, _)| {
        let before = text[..start].chars().next_back();
        let after = text[start + tool.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// A text of so many words.
pub(super) fn repeated(count: usize) -> String {
    const WORDS: [&str; 8] = ["lorem", "ipsum", "dolor", "sit", "amet", "sed", "do", "eiusmod"];
    let words = WORDS.iter().cycle().take(count).copied();
    words.collect::<Vec<_>>().join(" ")
}

/// Emoji of several code points, combining marks, scripts from right to left, separators that some parsers split at.
pub(super) const UNICODE: &str = "Unicode: \u{1F469}\u{200D}\u{1F469}\u{200D}\u{1F467} \u{1F1FA}\u{1F1F3} e\u{301}a\u{308} \u{6F22}\u{5B57}\u{304B}\u{306A} \u{D55C}\u{AE00} \u{5E9}\u{5DC}\u{5D5}\u{5DD} \u{2028}\u{2029} \u{10348} \"quoted\" \\ tab\t end";

/// The beginning of a text, cut at a character.
pub(super) fn beginning(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(tool: &str, arguments: Value) -> Dictated {
        Dictated { tool: tool.to_owned(), arguments }
    }

    #[test]
    fn lines_dictate_calls_in_rounds() {
        let text = "First:\n  call a with {\"x\": 1}.\ncall `b` with {}\nthen call a with \"free text\"\ncall c\ncall d with {broken";
        let first = vec![call("a", json!({"x": 1})), call("b", json!({}))];
        assert_eq!(rounds(text), [first, vec![call("a", json!("free text"))]]);
        assert_eq!(rounds("please call a with {}"), Vec::<Vec<Dictated>>::new());
    }

    #[test]
    fn no_more_calls_are_dictated_than_an_answer_may_have() {
        let text = "call a with {}\nthen call a with {}\n".repeat(CALLS_MAX);
        assert_eq!(rounds(&text).iter().map(Vec::len).sum::<usize>(), CALLS_MAX);
    }

    #[test]
    fn names_are_whole_words() {
        for (text, expected) in [
            ("use get_it now", true),
            ("get_it", true),
            ("(`get_it`)", true),
            ("forget_it", false),
            ("get_it_all", false),
            ("get_item, then get_it", true),
            ("get-it", false),
        ] {
            assert_eq!(names(text, "get_it"), expected, "{text}");
        }
    }

    #[test]
    fn numbers_of_words_are_read_and_bounded() {
        assert_eq!(asks_words("Please repeat 12 words."), Some(12));
        assert_eq!(asks_words("repeat 1 word"), Some(1));
        assert_eq!(asks_words("repeat 999999999 words"), Some(WORDS_MAX));
        assert_eq!(asks_words("repeat your words"), None);
        assert_eq!(asks_words("repeat repeat 3 words"), Some(3));
        assert_eq!(asks_words("repeat 3"), None);
    }

    #[test]
    fn a_beginning_ends_at_a_character() {
        assert_eq!(beginning("äöü", 2), "äö…");
        assert_eq!(beginning("äöü", 3), "äöü");
    }
}
