//! What assembling needs to know of texts: what whitespace is, and where code begins and ends.

/// The text without the whitespace around it.
///
/// As JavaScript trims: a byte order mark, with which many an instruction file begins, is whitespace; U+0085 is none.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches(is_whitespace)
}

fn is_whitespace(character: char) -> bool {
    match character {
        '\u{feff}' => true,
        '\u{85}' => false,
        character => character.is_whitespace(),
    }
}

/// The line that began a block of code in Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// The block that the next line stands in, when this line stood in `current`.
    pub(super) fn after(current: Option<Self>, line: &str) -> Option<Self> {
        let line = line.trim();
        let found = Self::beginning(line, '`').or_else(|| Self::beginning(line, '~'));
        match (current, found) {
            (None, Some(fence)) => fence.opens(line).then_some(fence),
            (Some(open), Some(fence)) if fence.closes(open, line) => None,
            (current, _) => current,
        }
    }

    /// Three marks make a fence.
    fn beginning(line: &str, mark: char) -> Option<Self> {
        let length = line.len() - line.trim_start_matches(mark).len();
        (length >= 3).then_some(Self { mark, length })
    }

    /// Backticks later in the line make it code within a sentence.
    fn opens(self, line: &str) -> bool {
        self.mark != '`' || !line[self.length..].contains('`')
    }

    fn closes(self, open: Self, line: &str) -> bool {
        self.mark == open.mark && self.length >= open.length && line.len() == self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_is_what_javascript_takes_for_it() {
        assert_eq!(trimmed("\u{feff}\u{2028} \t\r\n a \u{a0}b\u{3000}\u{b}\u{c}"), "a \u{a0}b");
        assert_eq!(trimmed("\u{85}"), "\u{85}");
        assert_eq!(trimmed(" \n"), "");
    }

    #[test]
    fn a_fence_ends_with_as_many_of_its_own_marks() {
        let open = Fence::after(None, "  ````rust\n");
        assert!(open.is_some());
        for line in ["```", "~~~~", "````x", "text"] {
            assert_eq!(Fence::after(open, line), open, "{line}");
        }
        assert_eq!(Fence::after(open, "`````  \n"), None);
        assert_eq!(Fence::after(None, "``` a ``` b"), None);
    }
}
