//! Routing markers, by which participants of a dialogue address one another, and their removal from what was said.
//!
//! Markers are `[FROM: …]`, `[NEXT: …]`, `[TEAM_TASK: …]` and the block that `[TEAM_TASK]` begins, which ends before the
//! next bracket after a blank line. Fenced code stays as it is, and so does every other line.

use std::borrow::Cow;
use std::fmt;

use super::text::{Fence, trimmed};

/// A text without its markers, and what they said.
#[derive(Clone, PartialEq, Eq)]
pub struct Cleaned<'t> {
    pub text: Cow<'t, str>,
    /// What the last team task marker said.
    pub team_task: Option<&'t str>,
    /// Who speaks, by the first marker that says so.
    pub from: Option<&'t str>,
    /// Who is to speak next, by the last marker that says so; several names stand between commas.
    pub next: Option<&'t str>,
}

/// Takes the routing markers out of a text.
///
/// A line of nothing but markers goes as a whole, and so do blank lines between a marker and either end of the text.
pub fn clean(text: &str) -> Cleaned<'_> {
    if !text.contains('[') {
        return Cleaned::unmarked(text);
    }
    let mut cleaner = Cleaner::new(text);
    while cleaner.at < text.len() {
        cleaner.line();
    }
    cleaner.finish()
}

impl<'t> Cleaned<'t> {
    fn unmarked(text: &'t str) -> Self {
        Self { text: Cow::Borrowed(text), team_task: None, from: None, next: None }
    }
}

/// A message with the markers that say who speaks to whom, in a line of their own: [`clean`] finds them, and the text as it
/// was.
pub fn mark<'n>(from: &str, to: impl IntoIterator<Item = &'n str>, text: &str) -> String {
    let to: Vec<&str> = to.into_iter().collect();
    let next = match to.is_empty() {
        true => String::new(),
        false => format!(" [NEXT: {}]", to.join(", ")),
    };
    format!("[FROM: {from}]{next}\n{text}")
}

/// A marker that was found.
struct Marker<'t> {
    /// The place behind it.
    end: usize,
    content: Content<'t>,
}

/// What a marker says.
enum Content<'t> {
    From(&'t str),
    Next(&'t str),
    TeamTask(&'t str),
}

/// Copies a text line by line.
struct Cleaner<'t> {
    text: &'t str,
    at: usize,
    out: String,
    /// The code block that the cursor is in.
    fence: Option<Fence>,
    /// Up to here a search has shown that team tasks have no closing bracket; without it many of them would cost the square.
    unclosed_until: usize,
    /// The first and last places where something was removed.
    removed: Option<(usize, usize)>,
    team_task: Option<&'t str>,
    from: Option<&'t str>,
    next: Option<&'t str>,
}

impl<'t> Cleaner<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            out: String::with_capacity(text.len()),
            fence: None,
            unclosed_until: 0,
            removed: None,
            team_task: None,
            from: None,
            next: None,
        }
    }

    /// Copies the line that begins at the cursor.
    fn line(&mut self) {
        let line = first_line(&self.text[self.at..]);
        let was_code = self.fence.is_some();
        self.fence = Fence::after(self.fence, line);
        match was_code || self.fence.is_some() {
            true => self.copy_to(self.at + line.len()),
            false => self.prose(),
        }
    }

    /// Copies a line that is no code, without its markers, or leaves it out if it holds nothing else.
    ///
    /// A marker may span lines, so the end is found on the way.
    fn prose(&mut self) {
        let start = self.out.len();
        let mut has_markers = false;
        while let Some(offset) = self.text[self.at..].find(['[', '\n']) {
            self.copy_to(self.at + offset);
            if self.text[self.at..].starts_with('\n') {
                break;
            }
            match self.marker() {
                Some(marker) => {
                    has_markers = true;
                    self.remove(marker, start);
                }
                None => self.copy_to(self.at + 1),
            }
        }
        let end = first_line(&self.text[self.at..]);
        if has_markers && self.out[start..].trim().is_empty() && end.trim().is_empty() {
            self.out.truncate(start);
            self.at += end.len();
        } else {
            self.copy_to(self.at + end.len());
        }
    }

    /// Passes over a marker and the gap that it would leave in the line that was begun at `start`.
    fn remove(&mut self, marker: Marker<'t>, start: usize) {
        let first = self.removed.map_or(self.at, |(first, _)| first);
        self.removed = Some((first, marker.end));
        self.note(marker.content);
        self.at = marker.end;
        let rest = &self.text[self.at..];
        let gap = rest.len() - rest.trim_start_matches(BLANKS).len();
        let line = &self.out[start..];
        if rest[gap..].is_empty() || rest[gap..].starts_with(['\n', '\r']) {
            self.out.truncate(start + line.trim_end_matches(BLANKS).len());
            self.at += gap;
        } else if line.is_empty() || line.ends_with(BLANKS) {
            self.at += gap;
        }
    }

    fn note(&mut self, content: Content<'t>) {
        match content {
            Content::From(name) => self.from = self.from.or(Some(name)),
            Content::Next(names) => self.next = Some(names),
            Content::TeamTask(task) => self.team_task = Some(task),
        }
    }

    /// The marker that begins at the cursor, which stands at a bracket.
    fn marker(&mut self) -> Option<Marker<'t>> {
        let inner = &self.text[self.at + 1..];
        if let Some(rest) = strip_word(inner, "FROM:") {
            return self.name(rest, Content::From);
        }
        if let Some(rest) = strip_word(inner, "NEXT:") {
            return self.name(rest, Content::Next);
        }
        if let Some(rest) = strip_word(inner, "TEAM_TASK]") {
            return Some(self.block(rest));
        }
        self.team_task_marker(strip_word(inner, "TEAM_TASK:")?)
    }

    /// A marker with a name, which ends in its line.
    fn name(&self, rest: &'t str, kind: impl Fn(&'t str) -> Content<'t>) -> Option<Marker<'t>> {
        let close = rest.find(['[', ']', '\n']).filter(|at| rest[*at..].starts_with(']'))?;
        let end = self.place_of(rest) + close + 1;
        Some(Marker { end, content: kind(trimmed(&rest[..close])) })
    }

    /// The block that goes on until a bracket follows a blank line, else to the end.
    fn block(&self, rest: &'t str) -> Marker<'t> {
        let (length, bracket) = bracket_after_blank(rest).unwrap_or((rest.len(), rest.len()));
        let is_alone = self.out.is_empty() || self.out.ends_with('\n');
        let end = self.place_of(rest) + if is_alone { bracket } else { length };
        Marker { end, content: Content::TeamTask(trimmed(&rest[..length])) }
    }

    /// Brackets inside the task must pair up, and code is no part of one.
    fn team_task_marker(&mut self, rest: &'t str) -> Option<Marker<'t>> {
        if self.at < self.unclosed_until {
            return None;
        }
        let mut depth = 1_usize;
        let mut from = 0;
        for line in rest.split_inclusive('\n') {
            if from > 0 && Fence::after(None, line).is_some() {
                break;
            }
            for (offset, bracket) in line.match_indices(['[', ']']) {
                depth = if bracket == "[" { depth + 1 } else { depth - 1 };
                if depth == 0 {
                    let close = from + offset;
                    let content = Content::TeamTask(trimmed(&rest[..close]));
                    return Some(Marker { end: self.place_of(rest) + close + 1, content });
                }
            }
            from += line.len();
        }
        self.unclosed_until = self.place_of(rest) + from;
        None
    }

    fn finish(mut self) -> Cleaned<'t> {
        let Some((first, last)) = self.removed else {
            return Cleaned::unmarked(self.text);
        };
        if self.text[last..].trim().is_empty() {
            self.out.truncate(self.out.trim_end().len());
        }
        if self.text[..first].trim().is_empty() {
            let blank = self.out.len() - self.out.trim_start().len();
            let lines = self.out[..blank].rfind('\n').map_or(0, |end| end + 1);
            self.out.drain(..lines);
        }
        let is_filled = |text: &&str| !text.is_empty();
        Cleaned {
            text: Cow::Owned(self.out),
            team_task: self.team_task.filter(is_filled),
            from: self.from.filter(is_filled),
            next: self.next.filter(is_filled),
        }
    }

    fn copy_to(&mut self, end: usize) {
        self.out.push_str(&self.text[self.at..end]);
        self.at = end;
    }

    /// Where a rest of the text begins.
    fn place_of(&self, rest: &str) -> usize {
        self.text.len() - rest.len()
    }
}

/// The names of a marker that has several.
pub fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').map(trimmed).filter(|name| !name.is_empty())
}

const BLANKS: [char; 2] = [' ', '\t'];

/// The first line with its end.
fn first_line(text: &str) -> &str {
    text.split_inclusive('\n').next().unwrap_or_default()
}

/// Where the text before a blank line ends and the bracket right behind that line stands, whichever way lines end.
fn bracket_after_blank(text: &str) -> Option<(usize, usize)> {
    let line_end = |text: &str| text.strip_suffix('\r').map_or(text.len(), str::len);
    text.match_indices("\n[").find_map(|(at, _)| {
        let before = text[..line_end(&text[..at])].strip_suffix('\n')?;
        Some((line_end(before), at + 1))
    })
}

/// What follows the word, whichever case it is written in.
fn strip_word<'t>(text: &'t str, word: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(word.len())?;
    start.eq_ignore_ascii_case(word).then_some(rest)
}

/// Says how much there is, never what.
impl fmt::Debug for Cleaned<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cleaned")
            .field("text", &self.text.len())
            .field("team_task", &self.team_task.map(str::len))
            .field("from", &self.from.map(str::len))
            .field("next", &self.next.map(str::len))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(clean(text).text, expected, "{text:?}");
    }

    #[track_caller]
    fn team_task(text: &str, expected: Option<&str>) {
        assert_eq!(clean(text).team_task, expected, "{text:?}");
    }

    #[test]
    fn markers_leave_no_gap_in_their_line() {
        check("[FROM: max] Hello", "Hello");
        check("Hello [NEXT: carol]", "Hello");
        check("Hello [next:carol] and bye", "Hello and bye");
        check("Hello[NEXT: carol], bye", "Hello, bye");
        check("[FROM: max][NEXT: carol]Hello", "Hello");
        check("two  spaces [Next: a]  \nand  more", "two  spaces\nand  more");
        check("Hello [NEXT: carol]\r\nBye", "Hello\r\nBye");
    }

    #[test]
    fn a_line_of_markers_goes_as_a_whole() {
        check("one\n[NEXT: carol]\ntwo", "one\ntwo");
        check("one\n\n  [FROM: a] [NEXT: b]\n\ntwo", "one\n\n\ntwo");
        check("[FROM: a]\n\n    indented\n", "    indented\n");
        check("one\n\n[NEXT: carol]\n", "one");
        check("[NEXT: carol]", "");
    }

    #[test]
    fn blank_lines_and_spaces_elsewhere_stay() {
        check("\n\none  two\n\n\n\tthree [NEXT: a]", "\n\none  two\n\n\n\tthree");
        check("[0] and [x](y)\n\n", "[0] and [x](y)\n\n");
        check("no marker at all  \n", "no marker at all  \n");
    }

    #[test]
    fn fenced_code_stays_as_it_is() {
        check("```\n[NEXT: a]\n\n\tx\n```\n[NEXT: a]", "```\n[NEXT: a]\n\n\tx\n```");
        check(
            "- so:\n  ~~~~ text\n  [FROM: a]\n  ~~~\n  [FROM: b]\n  ~~~~\n[FROM: c] x",
            "- so:\n  ~~~~ text\n  [FROM: a]\n  ~~~\n  [FROM: b]\n  ~~~~\nx",
        );
        check("```rust\n[NEXT: a]", "```rust\n[NEXT: a]");
        check("a ``` b [NEXT: a]", "a ``` b");
        check("```[NEXT: a]``` is code [NEXT: b]", "`````` is code");
    }

    #[test]
    fn what_only_looks_like_a_marker_stays() {
        check(
            "[NEXT carol] [NEXTS: a] [FROM: a\nb] [FROM:",
            "[NEXT carol] [NEXTS: a] [FROM: a\nb] [FROM:",
        );
        check("[TEAM_TASK: never closed", "[TEAM_TASK: never closed");
        check("[TEAM_TASK: open\n```\nlist[0]]\n```", "[TEAM_TASK: open\n```\nlist[0]]\n```");
        check("[ÄÖÜ] [", "[ÄÖÜ] [");
    }

    #[test]
    fn team_tasks_are_taken_out_and_handed_over() {
        check("[TEAM_TASK: Fix list[0]\n\nsoon] Now", "Now");
        team_task("[TEAM_TASK: Fix list[0]\n\nsoon] Now", Some("Fix list[0]\n\nsoon"));
        check("Hi\n\n[Team_Task]\nA\n\nB\n\n[MESSAGE]\nC", "Hi\n\n[MESSAGE]\nC");
        team_task("Hi\n\n[Team_Task]\nA\n\nB\n\n[MESSAGE]\nC", Some("A\n\nB"));
        check("Hi\n[TEAM_TASK]\nto the end\n", "Hi");
        check("Hi [TEAM_TASK] x\n\n[NEXT: a]\nBye", "Hi\n\nBye");
        check("Hi\r\n\r\n[TEAM_TASK]\r\nA\r\n\r\n[MESSAGE]\r\nC", "Hi\r\n\r\n[MESSAGE]\r\nC");
        team_task("[TEAM_TASK]\r\nA\r\n[b]\r\n\r\n[MESSAGE]\r\nC", Some("A\r\n[b]"));
        check("Hi [TEAM_TASK] x\r\n\r\n[NEXT: a]\r\nBye", "Hi\r\n\r\nBye");
        team_task("[TEAM_TASK: one] [TEAM_TASK: two]", Some("two"));
        team_task("[TEAM_TASK: ] [FROM: a]", None);
    }

    #[test]
    fn who_speaks_and_who_is_next_is_handed_over() {
        let cleaned = clean("[FROM: max] [NEXT: a] Hello [From: no] [next: carol, bob ]");
        assert_eq!((cleaned.from, cleaned.next), (Some("max"), Some("carol, bob")));
        assert_eq!(cleaned.text, "Hello");
        let cleaned = clean("Hello [NEXT: ]\n```\n[NEXT: code]\n```\n");
        assert_eq!((cleaned.from, cleaned.next), (None, None));
    }

    #[test]
    fn many_unclosed_markers_cost_no_more_than_one_pass() {
        for word in ["[TEAM_TASK:", "[FROM:", "["] {
            let text = word.repeat(200_000);
            assert_eq!(clean(&text).text, text);
        }
    }
}
