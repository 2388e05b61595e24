//! Whether somebody asks for a web search. Words in code and in quotation marks are not the speaker's own; a wish that is negated
//! within its clause is none.

use crate::class::words::{
    ASKING_NEGATIONS, BEHIND_ENGINES, BEHIND_OTHER_NEGATIONS, BEHIND_PLACES, CHINESE_MARKS,
    CHINESE_NEAR_NEGATIONS, CHINESE_NEGATIONS, CHINESE_OTHER_NEGATIONS, CHINESE_THINGS,
    CHINESE_WISHES, DOING, ENGINES, NEGATING_PAIRS, NEGATIONS, PLACES, VERBS,
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
        let ends = ends(text);
        if self.wishes.is_empty() && !ends.iter().any(|end| may_name_web(end)) {
            return false;
        }
        let text = own_words(&ends.join("\n")).to_lowercase();
        clauses(&text).any(|clause| self.asks_in_chinese(clause) || self.asks_in_english(clause))
    }

    fn asks_in_english(&self, clause: &str) -> bool {
        let words: Vec<&str> =
            clause.split(|it: char| !is_of_word(it)).filter(|it| !it.is_empty()).collect();
        (0..words.len()).any(|at| begins_wish(&words, at) && !self.is_negated(&words[..at]))
    }

    fn is_negated(&self, before: &[&str]) -> bool {
        let near = before.len().saturating_sub(REACH_MAX)..before.len();
        let mut near = near.map(|at| (at, before[at]));
        near.any(|(at, word)| negates(before, at) || self.negations.iter().any(|it| it == word))
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
        for other in CHINESE_OTHER_NEGATIONS {
            before = before.replace(other, "");
        }
        let near = before.trim_end();
        if CHINESE_NEAR_NEGATIONS.iter().any(|it| near.ends_with(it)) {
            return true;
        }
        let own = self.negations.iter().map(String::as_str);
        let mut words = before.split(|it: char| !is_of_word(it));
        CHINESE_NEGATIONS.iter().copied().chain(own).any(|it| before.contains(it))
            || words.any(|word| NEGATIONS.contains(&word))
    }
}

/// Whether the word at this place turns round what follows. Some say by what stands beside them that they do not.
fn negates(words: &[&str], at: usize) -> bool {
    let (word, next) = (words[at], words.get(at + 1).copied().unwrap_or_default());
    if NEGATING_PAIRS.contains(&(word, next)) {
        return true;
    }
    let is_suggestion = at > 0 && words[at - 1] == "why";
    let is_question = next == "you" && ASKING_NEGATIONS.contains(&word);
    let is_other = BEHIND_OTHER_NEGATIONS.contains(&next);
    NEGATIONS.contains(&word) && !is_suggestion && !is_question && !is_other
}

/// Whether a text may have one of the words in it that every wish needs: a place or an engine, in any case, or what wishes in Chinese
/// have in common. Most texts have none, and need not be taken apart.
fn may_name_web(text: &str) -> bool {
    let is_chinese = || CHINESE_MARKS.iter().any(|mark| text.contains(mark));
    may_name_place(text.as_bytes()) || !text.is_ascii() && is_chinese()
}

fn may_name_place(text: &[u8]) -> bool {
    let begins = |pair: &[u8]| INITIALS[usize::from(pair[0])] && SECONDS[usize::from(pair[1])];
    let is_at = |at: usize, word: &&str| {
        let found = text.get(at..at + word.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
    };
    let mut candidates = text.windows(2).enumerate().filter(|(_, pair)| begins(pair));
    candidates.any(|(at, _)| PLACES.iter().chain(ENGINES).any(|word| is_at(at, word)))
}

/// The bytes that places and engines begin with, and those that follow.
const INITIALS: [bool; 256] = letters(0);
const SECONDS: [bool; 256] = letters(1);

/// The bytes that stand at one place of the words.
const fn letters(at: usize) -> [bool; 256] {
    let mut letters = [false; 256];
    let lists = [PLACES, ENGINES];
    let mut list = 0;
    while list < lists.len() {
        let mut word = 0;
        while word < lists[list].len() {
            let letter = lists[list][word].as_bytes()[at];
            letters[letter as usize] = true;
            letters[letter.to_ascii_uppercase() as usize] = true;
            word += 1;
        }
        list += 1;
    }
    letters
}

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

/// Both ends of a long text; of another it is the first.
fn ends(text: &str) -> [&str; 2] {
    if text.len() <= 2 * END_BYTES {
        return [text, ""];
    }
    let head = &text[..text.floor_char_boundary(END_BYTES)];
    let tail = &text[text.ceil_char_boundary(text.len() - END_BYTES)..];
    [head, tail]
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

    #[track_caller]
    fn check(is_wish: bool, texts: &[&str]) {
        for text in texts {
            assert_eq!(Intent::default().asks_for_web(text), is_wish, "{text}");
        }
    }

    #[test]
    fn a_negation_of_something_else_leaves_the_wish() {
        check(
            true,
            &[
                "Don't hesitate to search the web.",
                "Do not forget to look online",
                "why not search the web?",
                "Why don't you search the internet for it",
                "can't you search the web for that",
                "I'm not sure so search the web",
                "Instead search the web for it",
                "I'd rather you search the web for this",
            ],
        );
        check(
            false,
            &[
                "Answer instead of searching the web",
                "I'd think rather than search the web",
                "do not search the web",
                "You can't search the web here",
                "No need to search the web",
            ],
        );
    }

    #[test]
    fn a_chinese_word_that_holds_a_negation_is_none() {
        check(
            true,
            &[
                "能不能联网搜索一下今天的新闻",
                "可不可以上网查一下",
                "请分别联网搜索这三家公司",
                "特别要上网查一下价格",
                "别忘了联网搜索",
                "为什么不上网查一下呢",
                "不如上网搜一下",
                "把不同版本的发布日期联网查一下",
            ],
        );
        check(
            false,
            &[
                "不联网搜索也能回答",
                "先不上网查",
                "不要联网搜索",
                "特别不要联网搜索",
                "不希望你联网搜索",
                "请不要去网上搜",
                "没有联网搜索就回答了",
            ],
        );
    }

    #[test]
    fn texts_that_name_no_web_are_passed_over_and_no_others() {
        for text in
            ["search the Web", "look it up ONLINE", "DuckDuckGo for it", "use the internet", "www"]
        {
            assert!(may_name_web(text), "{text}");
        }
        for text in
            ["", "w", "we", "search the code", "go on", "bind it", "do it by duck", "搜索代码"]
        {
            assert!(!may_name_web(text), "{text}");
        }
        assert!(CHINESE_WISHES.iter().all(|wish| !wish.is_ascii() && may_name_web(wish)));
        let own = Intent::new(&["ask around".to_owned()], &[]);
        assert!(
            own.asks_for_web("please ask around")
                && !Intent::default().asks_for_web("please ask around")
        );
    }
}
