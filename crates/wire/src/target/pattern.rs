//! Patterns over model names: `*` is one word, `#` a version number of one or two digits.
//! A pattern may stand anywhere in the name, but only on whole words, so `gpt-4` is not `gpt-4o`.

/// A model name with everything taken off that vendors spell differently.
pub(super) struct ModelName {
    name: Vec<u8>,
    /// Where its words begin, and with which bytes (a bit for each of ASCII): the table of families is long, and most of
    /// its rows are ruled out by their first byte.
    starts: Vec<usize>,
    initials: u128,
}

/// How much of a name a pattern explains; the greater one is the more specific.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Specificity {
    covered: usize,
    literal: usize,
}

impl ModelName {
    pub(super) fn new(model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model);
        let spell = |byte: u8| match byte.to_ascii_lowercase() {
            b'.' | b'_' => b'-',
            byte => byte,
        };
        let name: Vec<u8> = name.bytes().map(spell).collect();
        let starts: Vec<usize> =
            (0..name.len()).filter(|start| begins_word(&name, *start)).collect();
        let initials = starts.iter().fold(0, |initials, start| initials | bit(name[*start]));
        Self { name, starts, initials }
    }

    /// The best way in which `pattern`, which begins with a letter, stands in this name.
    pub(super) fn matches(&self, pattern: &str) -> Option<Specificity> {
        let pattern = pattern.as_bytes();
        if self.initials & bit(*pattern.first()?) == 0 {
            return None;
        }
        let tails = self.starts.iter().map(|start| &self.name[*start..]);
        let covered = tails.filter_map(|tail| match_at(pattern, tail)).max()?;
        let literal = pattern.iter().filter(|byte| !matches!(byte, b'*' | b'#')).count();
        Some(Specificity { covered, literal })
    }
}

/// Bytes beyond ASCII have no bit; no pattern begins with one.
fn bit(byte: u8) -> u128 {
    1_u128.checked_shl(byte.into()).unwrap_or_default()
}

fn begins_word(name: &[u8], start: usize) -> bool {
    start == 0 || !name[start - 1].is_ascii_alphanumeric()
}

/// How many bytes of `name` the whole `pattern` covers.
fn match_at(pattern: &[u8], name: &[u8]) -> Option<usize> {
    let mut at = 0;
    for symbol in pattern {
        at += match symbol {
            b'*' => run(&name[at..], u8::is_ascii_alphanumeric)?,
            b'#' => run(&name[at..], u8::is_ascii_digit).filter(|digits| *digits <= 2)?,
            literal => name.get(at).filter(|byte| *byte == literal).map(|_| 1)?,
        };
    }
    ends_word(&name[..at], name.get(at)).then_some(at)
}

fn run(name: &[u8], belongs: impl Fn(&u8) -> bool) -> Option<usize> {
    let len = name.iter().take_while(|byte| belongs(byte)).count();
    (len > 0).then_some(len)
}

/// A letter may be followed by a version number (`llama3`), but a number ends only where it ends.
fn ends_word(matched: &[u8], next: Option<&u8>) -> bool {
    match (matched.last(), next) {
        (Some(last), Some(next)) if next.is_ascii_digit() => !last.is_ascii_digit(),
        (_, Some(next)) => !next.is_ascii_alphanumeric(),
        (_, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, model: &str, expected: bool) {
        let found = ModelName::new(model).matches(pattern).is_some();
        assert_eq!(found, expected, "{pattern} in {model}");
    }

    #[test]
    fn patterns_stand_on_whole_words() {
        check("gpt-4", "gpt-4-0613", true);
        check("gpt-4", "gpt-4o", false);
        check("gpt-4", "chatgpt-4", false);
        check("gpt-4-1", "gpt-4.1-mini", true);
        check("gpt-4-1", "gpt-4-1106-preview", false);
        check("llama", "llama3.1:8b", true);
        check("o3", "ft:o3-mini:team", true);
        check("o3", "foo3", false);
        check("o3", "", false);
    }

    #[test]
    fn wildcards_take_one_word_or_one_version() {
        check("claude-*-4", "claude-sonnet-4-20250514", true);
        check("claude-*-4", "claude-4", false);
        check("gpt-5-#", "gpt-5.12-mini", true);
        check("gpt-5-#", "gpt-5-2025-08-07", false);
        check("gpt-5-#", "gpt-5-mini", false);
    }

    #[test]
    fn paths_prefixes_and_suffixes_are_no_obstacle() {
        check("claude-*-4-5", "us.anthropic.claude-sonnet-4-5-v1:0", true);
        check("claude-*-4-5", "Anthropic/Claude-Haiku-4.5:free", true);
        check("claude-*-4", "publishers/anthropic/models/claude-opus-4@20250514", true);
        check("gpt", "gpt-5/custom", false);
    }

    #[test]
    fn the_pattern_that_covers_more_is_more_specific() {
        let name = ModelName::new("claude-opus-4-5");
        assert!(name.matches("claude-*-4-5") > name.matches("claude-opus-4"));
        assert!(name.matches("claude-opus-4-5") > name.matches("claude-*-4-5"));
    }
}
