//! How far one telling of a conversation says what another does. A client's own file of a session leaves out what the client
//! adds on the way, such as reminders beside the user's words: such context may stand in one telling alone.

use super::Entry;
use super::meaning::{instructs, is_users, text_of};

/// How far a telling is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// How many of its elements, from the first on, stand in what is known, in the same order.
    pub elements: usize,
    /// Whether nothing is known beyond those.
    pub is_all: bool,
}

impl Coverage {
    /// Compares a telling with what is known. A user's text counts as said where it is part of a longer one.
    pub fn of(given: &[Entry<'_>], known: &[Entry<'_>]) -> Self {
        let mut walk = Walk { known: meanings(known), at: Cursor::default() };
        let mut elements = 0;
        for entry in given {
            let before = walk.at;
            let counts = entry.content.meanings.iter().filter(|meaning| !instructs(meaning));
            if !counts.map(Vec::as_slice).all(|meaning| walk.find(meaning)) {
                walk.at = before;
                break;
            }
            elements += 1;
        }
        Self { elements, is_all: walk.is_at_end() }
    }
}

fn meanings<'e>(entries: &'e [Entry<'_>]) -> Vec<&'e [u8]> {
    let all = entries.iter().flat_map(|entry| &entry.content.meanings);
    all.map(Vec::as_slice).filter(|meaning| !instructs(meaning)).collect()
}

/// A meaning, and how many bytes of its text are behind.
#[derive(Clone, Copy, Default)]
struct Cursor {
    index: usize,
    bytes: usize,
}

/// A way through what is known, which never turns back: comparing takes as long as both are.
struct Walk<'e> {
    known: Vec<&'e [u8]>,
    at: Cursor,
}

impl Walk<'_> {
    /// Goes behind what means this, past nothing but what a client may have added to the user's side.
    fn find(&mut self, meaning: &[u8]) -> bool {
        while let Some(known) = self.known.get(self.at.index) {
            if let Some(bytes) = behind(known, self.at.bytes, meaning) {
                self.at.bytes = bytes;
                if bytes >= known.len() {
                    self.step();
                }
                return true;
            }
            if !is_users(known) {
                return false;
            }
            self.step();
        }
        false
    }

    fn step(&mut self) {
        self.at = Cursor { index: self.at.index + 1, bytes: 0 };
    }

    /// Whether all that is known is behind. What stands behind words of the user in the same text is context.
    fn is_at_end(&self) -> bool {
        let begun = usize::from(self.at.bytes > 0);
        self.at.index + begun >= self.known.len()
    }
}

/// Where in a known meaning the end of this one is, from `from` on.
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
    Some(known.len() - rest.len() + start + words.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;

    fn entries(messages: &str) -> Vec<Entry<'static>> {
        Protocol::AnthropicMessages.kept_entries(messages).unwrap()
    }

    fn coverage(given: &str, known: &str) -> (usize, bool) {
        let Coverage { elements, is_all } = Coverage::of(&entries(given), &entries(known));
        (elements, is_all)
    }

    const ASKED: &str = r#"{"role":"user","content":"Say hello."}"#;
    const REMINDED: &str = r#"{"role":"user","content":[{"type":"text","text":"<reminder>"},{"type":"text","text":"Say hello.\n"}]}"#;
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
    fn an_answer_is_never_passed_over() {
        let known = [ASKED, HELLO, AGAIN, BYE].join(",");
        assert_eq!(coverage(&[ASKED, BYE].join(","), &known), (1, false));
        assert_eq!(coverage(&[AGAIN, BYE].join(","), &known), (0, false));
    }

    #[test]
    fn what_is_said_twice_is_known_twice() {
        let known = [AGAIN, HELLO].join(",");
        assert_eq!(coverage(&[AGAIN, AGAIN].join(","), &known), (1, false));
        assert_eq!(coverage(&[AGAIN, HELLO, AGAIN].join(","), &known), (2, true));
    }

    #[test]
    fn nothing_is_known_of_nothing() {
        assert_eq!(coverage(ASKED, ""), (0, true));
        assert_eq!(coverage("", ASKED), (0, false));
    }
}
