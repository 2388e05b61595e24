//! Wishes to search the web in a clause of Chinese. Words are not parted there, so that what stands before and behind a wish tells
//! whether it is one; the clause is read once, however many there are in it.

mod words;

pub(super) use words::{CHINESE_MARKS, CHINESE_WISHES};

use self::words::{
    CHINESE_ASKING_HOW, CHINESE_ASKING_WHY, CHINESE_BEHIND_HOW, CHINESE_BEHIND_OTHERS,
    CHINESE_COMPARING, CHINESE_CONDITIONS, CHINESE_FAVOURS, CHINESE_JOINING, CHINESE_NAMING,
    CHINESE_NEAR_NEGATIONS, CHINESE_NEGATIONS, CHINESE_OTHER_NEGATIONS, CHINESE_OTHERS,
    CHINESE_PAST, CHINESE_PLACES, CHINESE_THINGS, CHINESE_TURNS, TRADITIONAL, TRADITIONAL_WORDS,
};
use crate::class::intent::is_of_word;
use crate::class::words::{LINKED_NEGATIONS, NEGATIONS};

/// The wishes of a clause.
pub(super) struct Wishes<'c> {
    pub(super) clause: &'c str,
    /// Phrases beside those that are built in.
    pub(super) more: &'c [String],
}

impl Wishes<'_> {
    /// Whether one of them is neither negated nor the name of something; `negations` are further words that negate.
    pub(super) fn any_is_meant(&self, negations: &[String]) -> bool {
        let built_in = if self.clause.is_ascii() { &[] } else { CHINESE_WISHES };
        let wishes = built_in.iter().copied().chain(self.more.iter().map(String::as_str));
        let mut found = wishes.flat_map(|wish| self.clause.match_indices(wish)).peekable();
        if found.peek().is_none() {
            return false;
        }
        let read = Read::of(self.clause, negations);
        found.any(|(at, wish)| {
            let (before, behind) = (&self.clause[..at], &self.clause[at + wish.len()..]);
            let is_wanted = !read.negates(before) || read.condition.is_some_and(|it| it > at);
            let is_name = is_named(before) || is_attribute(wish, behind) || read.names(at, behind);
            is_wanted && !is_name && !read.states(before, behind)
        })
    }
}

/// What there is in a clause, and where.
struct Read {
    /// From each of these places on, in their order, whether what follows is negated.
    changes: Vec<(usize, bool)>,
    /// Where words end that negate what follows at once.
    near: Vec<usize>,
    /// Where it is said last what must not be done without something: 不上网查就别回答.
    condition: Option<usize>,
    /// Where it is last asked what differs.
    comparing: Option<usize>,
    /// Where it is first told of a wish that was spoken before.
    past: Option<usize>,
    /// Where a favour is first asked for.
    favour: Option<usize>,
}

impl Read {
    fn of(clause: &str, negations: &[String]) -> Self {
        let first = |words: &[&str]| words.iter().filter_map(|it| clause.find(it)).min();
        let last = |words: &[&str]| words.iter().filter_map(|it| clause.rfind(it)).max();
        let mut read = Self {
            changes: Vec::new(),
            near: Vec::new(),
            condition: last(CHINESE_CONDITIONS),
            comparing: last(CHINESE_COMPARING),
            past: first(CHINESE_PAST),
            favour: first(CHINESE_FAVOURS),
        };
        let mut at = 0;
        while let Some(first) = clause[at..].chars().next() {
            let step = read.step(clause, at, negations);
            at += step.unwrap_or(first.len_utf8());
        }
        read
    }

    /// Reads what begins at a place; none if nothing does, or what does may hold more.
    fn step(&mut self, clause: &str, at: usize, negations: &[String]) -> Option<usize> {
        let rest = &clause[at..];
        let begun = |words: &[&str]| {
            words.iter().filter(|it| rest.starts_with(**it)).map(|it| it.len()).max()
        };
        if let Some(length) = begun(CHINESE_TURNS) {
            self.changes.push((at, false));
            return Some(length);
        }
        if let Some(length) = begun(CHINESE_OTHER_NEGATIONS) {
            return Some(length);
        }
        let near = CHINESE_NEAR_NEGATIONS.iter().filter(|it| rest.starts_with(**it));
        self.near.extend(near.map(|it| at + it.len()));
        let own = negations.iter().find(|it| rest.starts_with(it.as_str())).map(String::len);
        if let Some(length) = begun(CHINESE_NEGATIONS).or(own) {
            self.changes.push((at + length, true));
            return None;
        }
        let word = word(rest)?;
        if NEGATIONS.contains(&word) || LINKED_NEGATIONS.contains(&word) {
            self.changes.push((at + word.len(), true));
        }
        // A word that configures a negation may stand within another.
        negations.is_empty().then_some(word.len())
    }

    /// Whether what follows these words of the clause is negated.
    fn negates(&self, before: &str) -> bool {
        let known = self.changes.partition_point(|(from, _)| *from <= before.len());
        let is_negated = known.checked_sub(1).is_some_and(|last| self.changes[last].1);
        is_negated || self.near.contains(&before.trim_end().len())
    }

    /// Whether what looks like a wish is the name of something, or tells what came of a search.
    fn names(&self, at: usize, behind: &str) -> bool {
        let behind = behind.trim_start_matches(ENDS_OF_WISHES);
        let is_joined = CHINESE_JOINING.iter().any(|it| behind.starts_with(it));
        CHINESE_THINGS.iter().any(|it| behind.starts_with(it))
            || is_joined && self.comparing.is_some_and(|comparing| comparing > at)
    }

    /// Whether it is told, or asked how, somebody searches.
    fn states(&self, before: &str, behind: &str) -> bool {
        let is_possessed = before.ends_with('的') && !before.ends_with("真的");
        let is_at_end = behind.trim_start_matches(ENDS_OF_WISHES).is_empty();
        let is_favour = self.favour.is_some_and(|favour| favour < before.len());
        is_possessed && is_at_end
            || before.ends_with('会')
            || CHINESE_ASKING_WHY.iter().any(|it| before.ends_with(it))
            || is_asked_how(before)
            || is_of_others(before) && !is_favour
            || self.past.is_some_and(|past| past < before.len())
    }
}

/// A wish may end within a word: 联网搜(索)引擎.
const ENDS_OF_WISHES: [char; 3] = ['索', '询', '找'];

/// The English word that a text begins with.
fn word(text: &str) -> Option<&str> {
    let end = text.find(|it: char| !it.is_ascii() || !is_of_word(it)).unwrap_or(text.len());
    (end > 0).then(|| &text[..end])
}

fn is_named(before: &str) -> bool {
    CHINESE_NAMING.iter().any(|it| before.ends_with(it))
}

/// Whether a search is told of to say something of another thing: 联网搜索的能力. What the web has is searched for: 搜一下网上的评价.
fn is_attribute(wish: &str, behind: &str) -> bool {
    let is_place = CHINESE_PLACES.iter().any(|it| wish.ends_with(it));
    !is_place && behind.trim_start_matches(ENDS_OF_WISHES).starts_with('的')
}

fn is_asked_how(before: &str) -> bool {
    let behind_how = |gap: &&str| before.strip_suffix(*gap).is_some_and(ends_with_how);
    CHINESE_BEHIND_HOW.iter().any(behind_how)
}

fn ends_with_how(before: &str) -> bool {
    CHINESE_ASKING_HOW.iter().any(|it| before.ends_with(it))
}

fn is_of_others(before: &str) -> bool {
    let is_other = |who: &str| CHINESE_OTHERS.iter().any(|it| who.ends_with(it));
    let mut doing = CHINESE_BEHIND_OTHERS.iter().filter_map(|it| before.strip_suffix(it));
    is_other(before) || doing.any(is_other)
}

/// A text in the characters and words that wishes are known by.
pub(super) fn simplified(text: String) -> String {
    if text.is_ascii() {
        return text;
    }
    let simple = |it: char| TRADITIONAL.iter().find(|(from, _)| *from == it).map_or(it, |it| it.1);
    let text: String = text.chars().map(simple).collect();
    TRADITIONAL_WORDS.iter().fold(text, |text, (from, to)| text.replace(from, to))
}
