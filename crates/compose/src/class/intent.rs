//! Whether somebody asks for a web search. Words in code and in quotation marks are not the speaker's own; a wish that is negated
//! within its clause is none.

use crate::class::chinese::{CHINESE_MARKS, Wishes, simplified};
use crate::class::scope::Scope;
use crate::class::words::{
    ASKED, BEHIND_ENGINES, BEHIND_PLACES, DOING, ENGINES, FINDING, PLACES, VERBS, WEB_MARKS,
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
impl Intent {
    /// More phrases that are wishes to search the web, and more words that negate one.
    pub fn new(wishes: &[String], negations: &[String]) -> Self {
        let lower = |words: &[String]| {
            let spelled = |word: &String| simplified(word.to_lowercase().replace('’', "'"));
            words.iter().map(|word| closed_up(&spelled(word))).collect()
        };
        Self { wishes: lower(wishes), negations: lower(negations) }
    }

    pub fn asks_for_web(&self, text: &str) -> bool {
        let ends = ends(text);
        if self.wishes.is_empty() && !ends.iter().any(|end| may_name_web(end)) {
            return false;
        }
        let text = simplified(own_words(&ends.join("\n")).to_lowercase().replace('’', "'"));
        clauses(&text).any(|clause| self.asks_in_chinese(clause) || self.asks_in_english(clause))
    }

    fn asks_in_english(&self, clause: &str) -> bool {
        let words: Vec<&str> =
            clause.split(|it: char| !is_of_word(it)).filter(|it| !it.is_empty()).collect();
        let mut scope = Scope::default();
        (0..words.len()).any(|at| {
            let is_wish = begins_wish(&words, at) && !scope.turns_round(&words, at);
            scope.read(&words, at, &self.negations);
            is_wish
        })
    }

    fn asks_in_chinese(&self, clause: &str) -> bool {
        let clause = closed_up(clause);
        Wishes { clause: &clause, more: &self.wishes }.any_is_meant(&self.negations)
    }
}

/// Whether a text may have one of the words in it that every wish needs: a place or an engine, in any case, or what wishes in Chinese
/// have in common. Most texts have none, and need not be taken apart.
fn may_name_web(text: &str) -> bool {
    let is_chinese = || CHINESE_MARKS.iter().any(|mark| text.contains(mark));
    may_name_place(text.as_bytes()) || !text.is_ascii() && is_chinese()
}

/// Looks at every other pair of bytes alone: of two pairs that overlap one begins at an even place.
fn may_name_place(text: &[u8]) -> bool {
    let is_marked = |pair: &[u8]| FOLLOWING[usize::from(pair[0])] & letter(pair[1]) != 0;
    // Two pairs in a step: nearly all are unmarked.
    let steps = text.chunks_exact(4);
    let rest = steps.remainder();
    let is_last = rest.len() >= 2 && is_marked(&rest[..2]);
    let mut marked = steps.enumerate().filter(|(_, it)| is_marked(&it[..2]) | is_marked(&it[2..]));
    marked.any(|(at, _)| names_place(text, 4 * at) || names_place(text, 4 * at + 2))
        || is_last && names_place(text, text.len() - rest.len())
}

/// Whether a place or an engine stands where one of its pairs is at.
fn names_place(text: &[u8], at: usize) -> bool {
    let is_from = |start: usize, word: &str| {
        let found = text.get(start..start + word.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(word.as_bytes()))
    };
    WEB_MARKS.iter().any(|(word, mark)| {
        let mut starts = [*mark, mark + 1].into_iter().filter_map(|before| at.checked_sub(before));
        starts.any(|start| is_from(start, word))
    })
}

/// The letters that follow a byte in the pairs that places and engines are found by, for each byte in either case; none for bytes
/// that begin no pair.
const FOLLOWING: [u32; 256] = following();

const fn following() -> [u32; 256] {
    let mut following = [0; 256];
    let mut at = 0;
    while at < WEB_MARKS.len() {
        let (word, mark) = (WEB_MARKS[at].0.as_bytes(), WEB_MARKS[at].1);
        let mut pair = mark;
        while pair < mark + 2 {
            following[word[pair] as usize] |= letter(word[pair + 1]);
            following[word[pair].to_ascii_uppercase() as usize] |= letter(word[pair + 1]);
            pair += 1;
        }
        at += 1;
    }
    following
}

/// A letter as a bit, the same in both cases. Other bytes share theirs with one.
const fn letter(byte: u8) -> u32 {
    1 << (byte & 31)
}

/// Whether a wish begins at this word: a verb with its place, a search as something to do, or an engine as a verb.
fn begins_wish(words: &[&str], at: usize) -> bool {
    let behind = &words[at + 1..];
    let word = words[at];
    if VERBS.contains(&word) {
        return places_follow(behind);
    }
    if goes_there(word, behind) {
        return true;
    }
    if DOING.contains(&word) {
        // "How do I build a web search" asks, and does nothing.
        let asks = word == "do" && behind.first().is_some_and(|it| ASKED.contains(it));
        return !asks && search_follows(behind);
    }
    ENGINES.contains(&word) && behind.first().is_some_and(|it| BEHIND_ENGINES.contains(it))
}

/// A place on the web that is no part of a compound.
fn places_follow(behind: &[&str]) -> bool {
    let near = behind.iter().take(GAP_MAX).enumerate();
    let mut places = near.filter(|(_, word)| PLACES.contains(word));
    places.any(|(at, _)| behind.get(at + 1).is_none_or(|it| BEHIND_PLACES.contains(it)))
}

/// "go online and", "use the web to verify".
fn goes_there(word: &str, behind: &[&str]) -> bool {
    match (word, behind) {
        ("go", ["online", "and" | "to", ..]) => true,
        ("use" | "using", ["the", place, "to", verb, ..]) => {
            PLACES.contains(place) && FINDING.contains(verb)
        }
        _ => false,
    }
}

/// `a web search`, `an online search`, `a google search`.
fn search_follows(behind: &[&str]) -> bool {
    let mut pairs = behind.windows(2).take(4);
    let is_place = |word: &str| PLACES.contains(&word) || ENGINES.contains(&word);
    let is_search = |word: &str| word.starts_with("search") || word == "research";
    let is_search = |pair: &[&str]| is_place(pair[0]) && is_search(pair[1]);
    let found = pairs.position(is_search);
    found.is_some_and(|at| behind.get(at + 2).is_none_or(|it| BEHIND_PLACES.contains(it)))
}

/// A clause without the blanks that some write between Chinese and other words: 用 google 搜.
fn closed_up(clause: &str) -> String {
    let mut closed = String::with_capacity(clause.len());
    let mut rest = clause.chars().peekable();
    while let Some(character) = rest.next() {
        let is_other = |it: char| !it.is_ascii();
        let is_between = closed.chars().next_back().is_some_and(is_other)
            || rest.peek().copied().is_some_and(is_other);
        if character != ' ' || !is_between {
            closed.push(character);
        }
    }
    closed
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

pub(super) fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '\'')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::chinese::CHINESE_WISHES;

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
    fn a_negation_reaches_as_far_as_it_is_spoken_of() {
        check(
            true,
            &[
                "it does not work search the web for the error",
                "how do i fix this error search the web",
                "Find out how by searching the web.",
                "Rather than guess search the web.",
                "Never answer without searching the web first.",
                "Do not answer before you search the web.",
                "I'm not happy with this search the web",
                "别猜了赶紧上网查",
                "这件事不能光靠猜你去网上查查",
            ],
        );
        check(
            false,
            &[
                "I have not asked you to search the web.",
                "This doesn’t require you to search the web.",
                "The prompt tells the bot not to search the web.",
                "Do not be so quick to search the web.",
                "do not open a browser and search the web",
                "Answer without having to search the web.",
                "Stop trying to search the web.",
                "Do not without my permission search the web.",
                "How can I search the web in this app?",
                "No need for you or me to go and search the web",
                "不要为了省事而联网搜索",
                "不要直接联网搜索",
                "千万不要一遇到不懂的问题就想着去网上搜索",
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
    fn blanks_between_chinese_and_other_words_say_nothing() {
        check(
            true,
            &[
                "帮我 google 一下天气",
                "帮我google一下天气",
                "用 Google 搜一下 tokio 的文档",
                "联网 搜一下 Rust 的新版本",
            ],
        );
        check(
            false,
            &["不要 google 一下", "please don't 上网查", "请 not 上网查", "用 google 地图"],
        );
    }

    #[test]
    fn both_ways_to_write_chinese_are_read() {
        check(
            true,
            &["請上網搜尋台積電最新股價", "麻煩上網查一下高鐵時刻表", "在網路上搜尋最新的匯率"],
        );
        check(false, &["請不要上網搜尋", "無需聯網搜尋", "沒必要上網查"]);
        let own = Intent::new(&["問問網友".to_owned()], &[]);
        assert!(own.asks_for_web("问问网友") && own.asks_for_web("問問網友"));
    }

    #[test]
    fn what_is_told_of_a_search_is_no_wish() {
        check(
            false,
            &[
                "你有联网搜索的能力吗？",
                "怎样关闭浏览器的联网搜索？",
                "怎么上网查社保",
                "如何让模型联网搜索",
                "关闭联网搜索",
                "系统会联网搜索",
                "用户经常上网查价格",
                "网上找不到答案，你来分析",
                "我上网查了半天没有结果",
                "联网搜索和本地检索哪个好",
                "She told him to search the web.",
                "They search the web for shoes.",
                "The button should say search the web",
            ],
        );
        check(
            true,
            &[
                "帮用户上网查一下价格",
                "真的上网查一下",
                "搜一下网上的评价",
                "请查一下网上的汇率",
                "你怎么不上网查一下",
                "联网搜索和总结今天的新闻",
                "怎么办，上网查一下",
                "I told you to search the web!",
                "Do a quick Google search for it",
                "can u google whats the time in tokyo",
            ],
        );
    }

    #[test]
    fn a_clause_is_read_once_however_many_wishes_it_has() {
        let negated = format!("不要{}", "联网搜".repeat(880));
        (0..100).for_each(|_| check(false, &[&negated]));
    }

    #[test]
    fn a_question_how_it_is_built_is_no_wish() {
        check(false, &["How do I implement web search in my app?", "how do we build a web search"]);
        check(true, &["Please do a web search for it", "do the web search now"]);
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
        for word in PLACES.iter().chain(ENGINES) {
            for before in ["", "-", "ab"] {
                let spelled = [word.to_string(), word.to_uppercase(), format!("{word}s")];
                for spelled in spelled {
                    assert!(may_name_web(&format!("{before}{spelled}")), "{before}{spelled}");
                }
            }
        }
        assert!(CHINESE_WISHES.iter().all(|wish| !wish.is_ascii() && may_name_web(wish)));
        let own = Intent::new(&["ask around".to_owned()], &[]);
        assert!(
            own.asks_for_web("please ask around")
                && !Intent::default().asks_for_web("please ask around")
        );
    }
}
