//! Whether somebody asks for a web search. Words in code and in quotation marks are not the speaker's own; a wish that is negated
//! within its clause is none.

use crate::class::words::{
    BEHIND_ENGINES, BEHIND_PLACES, CHINESE_DOUBLE_NEGATIONS, CHINESE_NEGATIONS, CHINESE_THINGS,
    CHINESE_WISHES, DOING, ENGINES, NEGATIONS, PLACES, VERBS,
};

/// Words beside those that are built in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intent {
    wishes: Vec<String>,
    negations: Vec<String>,
}

/// So much is read from both ends of a text: people say what they want before or behind what it is about.
const END_BYTES: usize = 4 * 1024;
/// How many words may stand between a verb and its place.
const GAP_MAX: usize = 10;
/// How many words before a wish a negation reaches.
const REACH_MAX: usize = 5;
/// The same in Chinese, in bytes: some twenty characters.
const CHINESE_REACH_BYTES: usize = 60;

impl Intent {
    /// More phrases that are wishes to search the web, and more words that negate one.
    pub fn new(wishes: &[String], negations: &[String]) -> Self {
        let lower = |words: &[String]| words.iter().map(|word| word.to_lowercase()).collect();
        Self { wishes: lower(wishes), negations: lower(negations) }
    }

    pub fn asks_for_web(&self, text: &str) -> bool {
        if text.is_ascii() && self.wishes.is_empty() && !may_name_web(text.as_bytes()) {
            return false;
        }
        let text = own_words(&ends(text)).to_lowercase();
        clauses(&text).any(|clause| self.asks_in_chinese(clause) || self.asks_in_english(clause))
    }

    fn asks_in_english(&self, clause: &str) -> bool {
        let words: Vec<&str> =
            clause.split(|it: char| !is_of_word(it)).filter(|it| !it.is_empty()).collect();
        (0..words.len()).any(|at| begins_wish(&words, at) && !self.is_negated(&words[..at]))
    }

    fn is_negated(&self, before: &[&str]) -> bool {
        let near = &before[before.len().saturating_sub(REACH_MAX)..];
        near.iter()
            .any(|word| NEGATIONS.contains(word) || self.negations.iter().any(|it| it == word))
    }

    fn asks_in_chinese(&self, clause: &str) -> bool {
        let built_in = if clause.is_ascii() { &[] } else { CHINESE_WISHES };
        let built_in = built_in.iter().copied();
        let mut wishes = built_in.chain(self.wishes.iter().map(String::as_str));
        wishes.any(|wish| {
            clause.match_indices(wish).any(|(at, _)| {
                let (before, behind) = (&clause[..at], &clause[at + wish.len()..]);
                !is_thing(behind) && !self.is_negated_in_chinese(before)
            })
        })
    }

    fn is_negated_in_chinese(&self, before: &str) -> bool {
        let far = before.len().saturating_sub(CHINESE_REACH_BYTES);
        let mut before = before[before.ceil_char_boundary(far)..].to_owned();
        for double in CHINESE_DOUBLE_NEGATIONS {
            before = before.replace(double, "");
        }
        let own = self.negations.iter().map(String::as_str);
        let mut words = before.split(|it: char| !is_of_word(it));
        CHINESE_NEGATIONS.iter().copied().chain(own).any(|it| before.contains(it))
            || words.any(|word| NEGATIONS.contains(&word))
    }
}

/// Whether a text may have one of the words in it that every wish in English needs: a place or an engine, in any case. Most texts have
/// none, and need not be taken apart.
fn may_name_web(text: &[u8]) -> bool {
    let lower = |at: usize| text.get(at).map(u8::to_ascii_lowercase);
    let is_at =
        |at: usize, word: &str| word.bytes().enumerate().all(|(by, it)| lower(at + by) == Some(it));
    let begins = |(_, byte): &(usize, &u8)| INITIALS[usize::from(**byte)];
    let mut candidates = text.iter().enumerate().filter(begins);
    candidates.any(|(at, _)| PLACES.iter().chain(ENGINES).any(|word| is_at(at, word)))
}

/// The bytes that places and engines begin with.
const INITIALS: [bool; 256] = {
    let mut initials = [false; 256];
    let lists = [PLACES, ENGINES];
    let mut list = 0;
    while list < lists.len() {
        let mut word = 0;
        while word < lists[list].len() {
            let initial = lists[list][word].as_bytes()[0];
            initials[initial as usize] = true;
            initials[initial.to_ascii_uppercase() as usize] = true;
            word += 1;
        }
        list += 1;
    }
    initials
};

/// Whether a wish begins at this word: a verb with its place, a search as something to do, or an engine as a verb.
fn begins_wish(words: &[&str], at: usize) -> bool {
    let behind = &words[at + 1..];
    let word = words[at];
    if VERBS.contains(&word) {
        return places_follow(behind);
    }
    if DOING.contains(&word) {
        return search_follows(behind);
    }
    ENGINES.contains(&word) && behind.first().is_some_and(|it| BEHIND_ENGINES.contains(it))
}

/// A place on the web that is no part of a compound.
fn places_follow(behind: &[&str]) -> bool {
    let near = behind.iter().take(GAP_MAX).enumerate();
    let mut places = near.filter(|(_, word)| PLACES.contains(word));
    places.any(|(at, _)| behind.get(at + 1).is_none_or(|it| BEHIND_PLACES.contains(it)))
}

/// `a web search`, `an online search`.
fn search_follows(behind: &[&str]) -> bool {
    let mut pairs = behind.windows(2).take(4);
    let is_search = |pair: &[&str]| PLACES.contains(&pair[0]) && pair[1].starts_with("search");
    let found = pairs.position(is_search);
    found.is_some_and(|at| behind.get(at + 2).is_none_or(|it| BEHIND_PLACES.contains(it)))
}

fn is_thing(behind: &str) -> bool {
    // The wish may end within a word: 联网搜(索)引擎.
    let behind = behind.trim_start_matches(['索', '询', '找']);
    CHINESE_THINGS.iter().any(|it| behind.starts_with(it))
}

/// Both ends of a long text.
fn ends(text: &str) -> std::borrow::Cow<'_, str> {
    if text.len() <= 2 * END_BYTES {
        return text.into();
    }
    let head = &text[..text.floor_char_boundary(END_BYTES)];
    let tail = &text[text.ceil_char_boundary(text.len() - END_BYTES)..];
    format!("{head}\n{tail}").into()
}

/// The text without code and quotations.
fn own_words(text: &str) -> String {
    let mut own = String::with_capacity(text.len());
    let mut unclosed = Vec::new();
    let mut rest = text;
    while let Some((at, quotation)) = next_quotation(rest, &unclosed) {
        own.push_str(&rest[..at]);
        own.push(' ');
        let inside = &rest[at + quotation.open.len()..];
        rest = match inside.find(quotation.close) {
            Some(end) => &inside[end + quotation.close.len()..],
            None => {
                unclosed.push(quotation.open);
                inside
            }
        };
    }
    own.push_str(rest);
    own
}

/// What opens words that are not the speaker's own, and what closes them.
#[derive(Clone, Copy)]
struct Quotation {
    open: &'static str,
    close: &'static str,
}

/// A fence stands before the mark that it begins with.
const QUOTATIONS: [Quotation; 8] = [
    Quotation { open: "```", close: "```" },
    Quotation { open: "`", close: "`" },
    Quotation { open: "\"", close: "\"" },
    Quotation { open: "“", close: "”" },
    Quotation { open: "「", close: "」" },
    Quotation { open: "『", close: "』" },
    Quotation { open: "《", close: "》" },
    Quotation { open: "«", close: "»" },
];

/// The next quotation and where it opens. A mark that is never closed is a mark like any other, from then on.
fn next_quotation(text: &str, unclosed: &[&str]) -> Option<(usize, Quotation)> {
    text.char_indices().find_map(|(at, _)| {
        let is_open = |it: &&Quotation| text[at..].starts_with(it.open);
        let opened = QUOTATIONS.iter().find(is_open)?;
        (!unclosed.contains(&opened.open)).then_some((at, *opened))
    })
}

fn clauses(text: &str) -> impl Iterator<Item = &str> {
    text.split([
        '.', ',', ';', ':', '!', '?', '\n', '，', '。', '；', '：', '！', '？', '、', '(', ')',
        '（', '）',
    ])
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '\'' | '’')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_name_no_web_are_passed_over_and_no_others() {
        for text in
            ["search the Web", "look it up ONLINE", "DuckDuckGo for it", "use the internet", "www"]
        {
            assert!(may_name_web(text.as_bytes()), "{text}");
        }
        for text in ["", "w", "we", "search the code", "go on", "bind it", "do it by duck"] {
            assert!(!may_name_web(text.as_bytes()), "{text}");
        }
        assert!(CHINESE_WISHES.iter().all(|wish| !wish.is_ascii()));
        let own = Intent::new(&["ask around".to_owned()], &[]);
        assert!(
            own.asks_for_web("please ask around")
                && !Intent::default().asks_for_web("please ask around")
        );
    }
}
