//! How far one telling of a conversation says what another does. A client's own file of a session leaves out what the client
//! adds on the way, such as reminders beside the user's words: such context may stand in one telling alone.

use super::Entry;
use super::meaning::{instructs, is_users, text_of};

/// How far a telling is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How many of its elements, from the first on, stand in what is known, in the same order.
    pub elements: usize,
    /// Whether nothing is known beyond those.
    pub is_all: bool,
    /// For each of those elements, how many elements of what is known stand up to there, all of them whole.
    pub ends: Vec<usize>,
}

impl Coverage {
    /// Compares a telling with what is known. A user's text counts as said where it is all of a longer one but for context in tags.
    pub fn of(given: &[Entry<'_>], known: &[Entry<'_>]) -> Self {
        let mut walk = Walk { known: meanings(known), at: Cursor::default() };
        let mut ends = Vec::new();
        for entry in given {
            let before = walk.at;
            let counts = entry.content.meanings.iter().filter(|meaning| !instructs(meaning));
            if !counts.map(Vec::as_slice).all(|meaning| walk.find(meaning)) {
                walk.at = before;
                break;
            }
            ends.push(walk.elements_behind());
        }
        Self { elements: ends.len(), is_all: walk.is_at_end(), ends }
    }
}

/// What is known, and the number of the element that says it.
struct Known<'e> {
    meaning: &'e [u8],
    element: usize,
}

fn meanings<'e>(entries: &'e [Entry<'_>]) -> Vec<Known<'e>> {
    let all = entries.iter().enumerate().flat_map(|(element, entry)| {
        entry.content.meanings.iter().map(move |meaning| Known { meaning, element })
    });
    all.filter(|known| !instructs(known.meaning)).collect()
}

/// A meaning, and how many bytes of its text are behind.
#[derive(Clone, Copy, Default)]
struct Cursor {
    index: usize,
    bytes: usize,
}

/// A way through what is known, which never turns back: comparing takes as long as both are.
struct Walk<'e> {
    known: Vec<Known<'e>>,
    at: Cursor,
}

impl Walk<'_> {
    /// Goes behind what means this, past nothing but what a client may have added to the user's side: context in tags, and media.
    fn find(&mut self, meaning: &[u8]) -> bool {
        while let Some(Known { meaning: known, .. }) = self.known.get(self.at.index) {
            if let Some(bytes) = behind(known, self.at.bytes, meaning) {
                self.at.bytes = bytes;
                if bytes >= known.len() {
                    self.step();
                }
                return true;
            }
            if !is_users(known) || !self.is_at_context() {
                return false;
            }
            self.step();
        }
        false
    }

    /// Whether the user says nothing in what is left of this meaning.
    fn is_at_context(&self) -> bool {
        let known = self.known[self.at.index].meaning;
        let Some(text) = text_of(known) else { return true };
        let head = known.len() - text.len();
        text.get(self.at.bytes.saturating_sub(head)..).is_some_and(is_context)
    }

    fn step(&mut self) {
        self.at = Cursor { index: self.at.index + 1, bytes: 0 };
    }

    /// How many elements of what is known are behind as a whole, and those without a meaning before them.
    fn elements_behind(&self) -> usize {
        let begun = usize::from(self.at.bytes > 0);
        let Some(last) = (self.at.index + begun).checked_sub(1) else { return 0 };
        let element = self.known[last].element;
        let goes_on = self.known.get(last + 1).is_some_and(|next| next.element == element);
        element + usize::from(!goes_on)
    }

    /// Whether all that is known is behind. What stands behind words of the user in the same text is context.
    fn is_at_end(&self) -> bool {
        let begun = usize::from(self.at.bytes > 0);
        self.at.index + begun >= self.known.len()
    }
}

/// Where in a known meaning the end of this one is, from `from` on. Beside it stands nothing, or context: a shorter prompt is not
/// said by a longer one that happens to hold its words.
fn behind(known: &[u8], from: usize, meaning: &[u8]) -> Option<usize> {
    if known == meaning {
        return (from == 0).then_some(known.len());
    }
    if !is_users(known) || !is_users(meaning) {
        return None;
    }
    let (long, words) = (text_of(known)?, text_of(meaning)?.trim());
    let head = known.len() - long.len();
    let rest = long.get(from.saturating_sub(head)..)?;
    let start = rest.find(words).filter(|_| !words.is_empty())?;
    let (before, after) = (rest[..start].trim_end(), rest[start + words.len()..].trim_start());
    let is_apart = (before.is_empty() || before.ends_with('>'))
        && (after.is_empty() || after.starts_with('<'));
    is_apart.then(|| known.len() - rest.len() + start + words.len())
}

/// Whether a text is nothing but what stands in tags. What a tag opens that nothing closes goes to the end.
fn is_context(text: &str) -> bool {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some(name) = tag(rest) else { return false };
        let Some((_, behind)) = rest.split_once(&format!("</{name}>")) else { return true };
        rest = behind.trim_start();
    }
    true
}

/// The name of the tag that a text begins with.
fn tag(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('<')?;
    let name = &inside[..inside.find(|it: char| it == '>' || it.is_whitespace())?];
    name.starts_with(|it: char| it.is_ascii_alphabetic()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    fn entries(messages: &str) -> Vec<Entry<'static>> {
        Protocol::AnthropicMessages.kept_entries(messages).unwrap()
    }

    fn coverage(given: &str, known: &str) -> (usize, bool) {
        let Coverage { elements, is_all, .. } = Coverage::of(&entries(given), &entries(known));
        (elements, is_all)
    }

    fn ends(given: &str, known: &str) -> Vec<usize> {
        Coverage::of(&entries(given), &entries(known)).ends
    }

    const ASKED: &str = r#"{"role":"user","content":"Say hello."}"#;
    const REMINDED: &str = r#"{"role":"user","content":[{"type":"text","text":"<reminder>"},{"type":"text","text":"Say hello.\n"}]}"#;
    const REMINDED_TWICE: &str =
        r#"{"role":"user","content":"<reminder>a</reminder>\nSay hello.\n<reminder>b</reminder>"}"#;
    const SYSTEM: &str = r#"{"role":"system","content":"You are in a folder."}"#;
    const HELLO: &str = r#"{"role":"assistant","content":"Hello."}"#;
    const BYE: &str = r#"{"role":"assistant","content":"Bye."}"#;
    const AGAIN: &str = r#"{"role":"user","content":"Again."}"#;

    #[test]
    fn a_telling_without_context_is_known() {
        let known = [REMINDED, SYSTEM, HELLO].join(",");
        assert_eq!(coverage(&[ASKED, HELLO].join(","), &known), (2, true));
        assert_eq!(coverage(ASKED, &known), (1, false));
        assert_eq!(coverage(&[ASKED, HELLO, AGAIN].join(","), &known), (2, true));
    }

    #[test]
    fn another_answer_is_another_way() {
        let known = [REMINDED, SYSTEM, HELLO].join(",");
        assert_eq!(coverage(&[ASKED, BYE].join(","), &known), (1, false));
        assert_eq!(coverage(&[AGAIN, HELLO].join(","), &known), (0, false));
    }

    #[test]
    fn a_prompt_that_was_shortened_is_another_one() {
        let user = |text: &str| format!(r#"{{"role":"user","content":"{text}"}}"#);
        let given = user("Delete the file");
        for long in
            ["Delete the file but ask me first", "please Delete the file", "Delete the files"]
        {
            assert_eq!(coverage(&given, &[&user(long), HELLO].join(",")), (0, false), "{long}");
        }
        let known = user("<note>a</note>\\nDelete the file\\n<note>b</note>");
        assert_eq!(coverage(&given, &known), (1, true));
    }

    #[test]
    fn an_answer_is_never_passed_over() {
        let known = [ASKED, HELLO, AGAIN, BYE].join(",");
        assert_eq!(coverage(&[ASKED, BYE].join(","), &known), (1, false));
        assert_eq!(coverage(&[AGAIN, BYE].join(","), &known), (0, false));
    }

    #[test]
    fn what_the_user_said_is_never_passed_over() {
        let known = [ASKED, AGAIN].join(",");
        assert_eq!(coverage(AGAIN, &known), (0, false));
        assert_eq!(
            coverage(&[AGAIN, HELLO].join(","), &[ASKED, AGAIN, HELLO].join(",")),
            (0, false)
        );
        assert_eq!(coverage(HELLO, &[REMINDED_TWICE, HELLO].join(",")), (0, false));
        let context = r#"{"role":"user","content":"<a>one</a>\n<b x=\"1\">two</b>"}"#;
        assert_eq!(coverage(AGAIN, &[context, AGAIN].join(",")), (1, true));
        let open = r#"{"role":"user","content":"<session_context>\nIt is Tuesday."}"#;
        assert_eq!(coverage(AGAIN, &[open, AGAIN].join(",")), (1, true));
    }

    #[test]
    fn what_is_said_twice_is_known_twice() {
        let known = [AGAIN, HELLO].join(",");
        assert_eq!(coverage(&[AGAIN, AGAIN].join(","), &known), (1, false));
        assert_eq!(coverage(&[AGAIN, HELLO, AGAIN].join(","), &known), (2, true));
    }

    #[test]
    fn what_both_have_ends_with_whole_elements() {
        let known = [REMINDED, SYSTEM, HELLO, AGAIN, BYE].join(",");
        assert_eq!(ends(&[ASKED, HELLO, ASKED].join(","), &known), [1, 3]);
        assert_eq!(ends(&[ASKED, HELLO, AGAIN, BYE].join(","), &known), [1, 3, 4, 5]);
        let both = r#"{"role":"assistant","content":[{"type":"text","text":"Hello."},{"type":"tool_use","id":"c","name":"f","input":{}}]}"#;
        assert_eq!(ends(&[ASKED, HELLO].join(","), &[ASKED, both].join(",")), [1, 1]);
        let context = r#"{"role":"user","content":"Say hello. <reminder>"}"#;
        assert_eq!(ends(ASKED, &[context, HELLO].join(",")), [1]);
    }

    #[test]
    fn nothing_is_known_of_nothing() {
        assert_eq!(coverage(ASKED, ""), (0, true));
        assert_eq!(coverage("", ASKED), (0, false));
    }
}
