//! Taking a terminal's control sequences out of a text.

use std::borrow::Cow;

const ESCAPE: char = '\u{1b}';
const BELL: char = '\u{7}';
/// The one character that says the same as an escape and a bracket.
const CONTROL: char = '\u{9b}';

/// The text without escape sequences: colours, cursor movements, titles, links.
pub(super) fn strip(text: &str) -> Cow<'_, str> {
    let Some(mut start) = text.find([ESCAPE, CONTROL]) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        out.push_str(&rest[..start]);
        rest = after_sequence(&rest[start..]);
        let Some(next) = rest.find([ESCAPE, CONTROL]) else { break };
        start = next;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A text that comes in pieces, cleaned as it comes. A sequence may be cut anywhere: its beginning waits for its end.
#[derive(Default)]
pub(super) struct Cleaner {
    held: String,
}

/// How long a sequence may be. What is longer is text.
const SEQUENCE_BYTES_MAX: usize = 4 * 1024;

impl Cleaner {
    /// What can be said now.
    pub(super) fn push(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let end = unfinished(&self.held)
            .filter(|start| self.held.len() - start <= SEQUENCE_BYTES_MAX)
            .unwrap_or(self.held.len());
        let rest = self.held.split_off(end);
        let ready = std::mem::replace(&mut self.held, rest);
        strip(&ready).into_owned()
    }

    /// What is left when no more comes.
    pub(super) fn finish(self) -> String {
        strip(&self.held).into_owned()
    }
}

/// Where a sequence begins that more text may belong to.
fn unfinished(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(found) = text[from..].find([ESCAPE, CONTROL]) {
        let start = from + found;
        if may_go_on(&text[start..]) {
            return Some(start);
        }
        from = text.len() - after_sequence(&text[start..]).len();
    }
    None
}

/// Whether the sequence at the beginning of the text has no end in it.
fn may_go_on(text: &str) -> bool {
    let lacks_final = |parameters: &str| parameters.trim_start_matches(is_parameter).is_empty();
    let mut characters = text.chars();
    if characters.next() == Some(CONTROL) {
        return lacks_final(characters.as_str());
    }
    match characters.next() {
        None => true,
        Some('[') => lacks_final(characters.as_str()),
        Some(']' | 'P' | '_' | '^' | 'X') => {
            let rest = characters.as_str();
            rest.find([BELL, ESCAPE, '\n']).is_none_or(|end| &rest[end..] == "\u{1b}")
        }
        Some('(' | ')' | '#' | '%') => characters.next().is_none(),
        Some(_) => false,
    }
}

/// What follows the sequence that the text begins with.
fn after_sequence(text: &str) -> &str {
    let mut characters = text.chars();
    match characters.next() {
        Some(CONTROL) => return after_parameters(characters.as_str()),
        Some(_) => {}
        None => return text,
    }
    let rest = characters.as_str();
    match characters.next() {
        Some('[') => after_parameters(characters.as_str()),
        Some(']' | 'P' | '_' | '^' | 'X') => after_string(characters.as_str()),
        Some('(' | ')' | '#' | '%') => {
            characters.next();
            characters.as_str()
        }
        Some(letter) if letter.is_ascii_graphic() => characters.as_str(),
        _ => rest,
    }
}

fn is_parameter(letter: char) -> bool {
    matches!(letter, ' '..='?')
}

/// Parameters end with a letter or another final character.
fn after_parameters(text: &str) -> &str {
    let rest = text.trim_start_matches(is_parameter);
    match rest.chars().next() {
        Some('@'..='~') => &rest[1..],
        _ => rest,
    }
}

/// A string ends with a bell or a terminator of its own. One without an end is kept: it may be text.
fn after_string(text: &str) -> &str {
    match text.find([BELL, ESCAPE, '\n']).map(|end| text.split_at(end).1) {
        Some(end) if end.starts_with(BELL) => &end[1..],
        Some(end) => end.strip_prefix("\u{1b}\\").unwrap_or(text),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn pieces_are_cleaned_as_the_whole_is(
            text in "[a-z;\\[\\]\\\\(\n\u{1b}\u{7}\u{9b}]{0,24}",
            cut in 0_usize..24,
        ) {
            let cut = text.floor_char_boundary(cut.min(text.len()));
            let mut cleaner = Cleaner::default();
            let pieces = cleaner.push(&text[..cut]) + &cleaner.push(&text[cut..]);
            prop_assert_eq!(pieces + &cleaner.finish(), strip(&text));
        }

        #[test]
        fn stripping_only_takes_away_and_leaves_no_escape(
            text in "[a-zé0-9;\\[\\]\\\\(\n\u{1b}\u{7}\u{9b}]{0,40}",
        ) {
            let stripped = strip(&text).into_owned();
            prop_assert!(!stripped.contains([ESCAPE, CONTROL]));
            let mut rest = text.chars();
            prop_assert!(stripped.chars().all(|kept| rest.any(|letter| letter == kept)));
        }
    }

    #[test]
    fn sequences_go_and_text_stays() {
        let rows = [
            ("plain é", "plain é"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("\u{1b}[38;5;196mx\u{1b}[1;2Hy\u{9b}32mz", "xyz"),
            ("\u{1b}]0;title\u{7}a\u{1b}]8;;http://b\u{1b}\\link\u{1b}]8;;\u{1b}\\", "alink"),
            ("\u{1b}(Ba\u{1b}7b\u{1b}Mc", "abc"),
            ("a\u{1b}", "a"),
            ("a\u{1b}[31", "a"),
            ("a\u{1b}[é", "aé"),
            ("a\u{1b}]never ended", "anever ended"),
            ("[31m is no sequence", "[31m is no sequence"),
        ];
        for (text, expected) in rows {
            assert_eq!(strip(text), expected, "{text:?}");
        }
    }

    #[test]
    fn unfinished_sequences_cost_no_more_than_one_pass() {
        assert_eq!(strip(&"\u{1b}]".repeat(200_000)), "");
        assert_eq!(strip(&"\u{1b}[".repeat(200_000)), "");
    }
}
