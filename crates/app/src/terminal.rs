//! What is known of the terminal: how wide it is, whether it may be coloured, how wide a text is on it, and how it was before.

#[cfg(unix)]
use std::io::stdin;
use std::io::{IsTerminal, stderr, stdout};

use unicode_width::UnicodeWidthStr;

/// The width of the terminal that standard output goes to; none where it goes elsewhere.
pub(crate) fn width() -> Option<usize> {
    if !stdout().is_terminal() {
        return None;
    }
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    size().or(columns).filter(|width| *width > 0).or(Some(80))
}

#[cfg(unix)]
fn size() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|width| *width > 0)
}

#[cfg(not(unix))]
fn size() -> Option<usize> {
    None
}

/// Leaves the terminal that is typed at as it was, whatever a line editor did to it.
pub(crate) struct Restored {
    #[cfg(unix)]
    settings: Option<rustix::termios::Termios>,
}

impl Restored {
    #[cfg(unix)]
    pub(crate) fn at_the_end() -> Self {
        Self { settings: rustix::termios::tcgetattr(stdin()).ok() }
    }

    #[cfg(not(unix))]
    pub(crate) fn at_the_end() -> Self {
        Self {}
    }
}

#[cfg(unix)]
impl Drop for Restored {
    fn drop(&mut self) {
        let Some(settings) = &self.settings else { return };
        let _ =
            rustix::termios::tcsetattr(stdin(), rustix::termios::OptionalActions::Now, settings);
    }
}

/// Goes on in a line of its own where the line editor was left in the middle of one.
pub(crate) fn leave_line() {
    if stderr().is_terminal() {
        crate::output::to_stderr("\x1b[?2004l\n");
    }
}

/// Whether what is shown may have shades: at a terminal that knows some, unless the user wants none.
pub(crate) fn has_colours() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    stdout().is_terminal() && !is_set("NO_COLOR") && !is_dumb
}

/// How many columns a text takes: two for most characters of East Asia, none for accents that join.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// As much of a text as fits, with a sign that there is more.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut end = 0;
    for (start, character) in text.char_indices() {
        let next = start + character.len_utf8();
        if columns(&text[..next]) + 1 > width {
            break;
        }
        end = next;
    }
    match width {
        0 => String::new(),
        _ => format!("{}…", text[..end].trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_as_wide_as_it_is_shown() {
        assert_eq!(columns("abc"), 3);
        assert_eq!(columns("漢字"), 4);
        assert_eq!(columns("e\u{301}"), 1);
    }

    #[test]
    fn what_does_not_fit_is_cut_between_characters() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("ab cdef", 4), "ab…");
        assert_eq!(cut("漢字漢字", 8), "漢字漢字");
        assert_eq!(cut("漢字漢字", 7), "漢字漢…");
        assert_eq!(cut("漢字漢字", 6), "漢字…");
        assert_eq!(cut("漢", 1), "…");
        assert_eq!(cut("漢", 0), "");
    }
}
