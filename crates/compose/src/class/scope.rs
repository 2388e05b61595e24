//! What stands before a wish in its clause and turns it round, read word by word: how far a negation reaches depends on the words
//! that follow it, not on how many there are.

use crate::class::words::{
    ASKING_HOW, ASKING_NEGATIONS, BEHIND_OTHER_NEGATIONS, DESCRIBED, DESCRIBING, FORBIDDING_NOUNS,
    LINKED_NEGATIONS, NAMING, NEGATING_PAIRS, NEGATIONS, OTHERS, STATING, SUBJECTS, TURNS, VERBS,
};

/// What was said of whatever comes next in a clause.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scope {
    /// It shall not be done: "do not", "never".
    is_forbidden: bool,
    /// It shall be done without, or is not so, which concerns only what is linked to it: "without asking search the web" is a wish.
    is_without: bool,
    /// Somebody else does it: "the prompt tells the bot to".
    is_described: bool,
    /// `to` links what comes next.
    is_linked: bool,
}

/// How many words may stand between "how to" or "how does" and what is asked for.
const HOW_REACH: usize = 4;

impl Scope {
    /// Whether a wish that begins at a word, and behind the words that were read, is none.
    pub(super) fn turns_round(self, words: &[&str], at: usize) -> bool {
        let before = &words[..at];
        if is_asked_how(before) || is_anothers(before) {
            return true;
        }
        match self.is_linked || ends_with_negation(before) || words[at].ends_with("ing") {
            // Not to do without it is to do it.
            true => self.is_described || self.is_forbidden != self.is_without,
            false => self.is_forbidden,
        }
    }

    /// Goes on behind the word at a place; `more` are further words that forbid.
    pub(super) fn read(&mut self, words: &[&str], at: usize, more: &[String]) {
        let word = words[at];
        if ends_scope(words, at) {
            *self = Self::default();
        } else if forbids(words, at) || more.iter().any(|it| it == word) {
            self.is_forbidden = true;
        } else if is_linked_negation(words, at) {
            (self.is_without, self.is_linked) = (true, false);
        } else if describes(words, at) {
            self.is_described = true;
        }
        self.is_linked |= word == "to";
    }
}

/// Whether something new is said from this word on.
fn ends_scope(words: &[&str], at: usize) -> bool {
    let next = next(words, at);
    match words[at] {
        "and" => SUBJECTS.contains(&next),
        "so" => SUBJECTS.contains(&next) || VERBS.contains(&next),
        word => TURNS.contains(&word),
    }
}

/// Whether the word forbids what follows.
fn forbids(words: &[&str], at: usize) -> bool {
    match words[at] {
        "not" => !is_statement(words, at) && negates(words, at),
        "no" => FORBIDDING_NOUNS.contains(&next(words, at)),
        word => NEGATIONS.contains(&word) && negates(words, at),
    }
}

/// Whether the word takes out what is linked to it.
fn is_linked_negation(words: &[&str], at: usize) -> bool {
    let (word, next) = (words[at], next(words, at));
    let is_one = LINKED_NEGATIONS.contains(&word) || word == "not" && is_statement(words, at);
    NEGATING_PAIRS.contains(&(word, next)) || is_one && negates(words, at)
}

/// Whether what follows is told of somebody else.
fn describes(words: &[&str], at: usize) -> bool {
    DESCRIBING.contains(&words[at]) || DESCRIBED.contains(&words[at]) && next(words, at) != "you"
}

/// Whether the words before make what follows the doing of others, or a name.
fn is_anothers(before: &[&str]) -> bool {
    before.last().is_some_and(|it| OTHERS.contains(it) || NAMING.contains(it))
}

fn ends_with_negation(before: &[&str]) -> bool {
    match before {
        [.., first, second] if NEGATING_PAIRS.contains(&(*first, *second)) => true,
        [.., last] => *last == "not" || LINKED_NEGATIONS.contains(last),
        [] => false,
    }
}

/// Whether a negation means what follows. Some say by what stands beside them that they do not.
fn negates(words: &[&str], at: usize) -> bool {
    let next = next(words, at);
    let is_suggestion = at > 0 && words[at - 1] == "why";
    let is_question = next == "you" && ASKING_NEGATIONS.contains(&words[at]);
    !is_suggestion && !is_question && !BEHIND_OTHER_NEGATIONS.contains(&next)
}

/// Whether `not` at a place says what is, and not what shall be done.
fn is_statement(words: &[&str], at: usize) -> bool {
    at > 0 && STATING.contains(&words[at - 1])
}

/// Whether the words before end with a question how something is done: "how to", "how does it".
fn is_asked_how(before: &[&str]) -> bool {
    let near = &before[before.len().saturating_sub(HOW_REACH)..];
    near.windows(2).any(|pair| pair[0] == "how" && ASKING_HOW.contains(&pair[1]))
}

fn next<'w>(words: &[&'w str], at: usize) -> &'w str {
    words.get(at + 1).copied().unwrap_or_default()
}
