//! Printing, with a reader that may go away: a closed pipe ends the program quietly.

use std::io;
use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};

/// Prints `text` and, if it does not end one, ends its line.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    let end = if text.ends_with('\n') { "" } else { "\n" };
    stdout.write_all(text.as_bytes()).context(UNWRITABLE)?;
    stdout.write_all(end.as_bytes()).context(UNWRITABLE)?;
    stdout.flush().context(UNWRITABLE)
}

/// Prints `text` as it is and sends it on its way.
pub(crate) fn send(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).context(UNWRITABLE)?;
    stdout.flush().context(UNWRITABLE)
}

const UNWRITABLE: &str = "cannot write to standard output";

/// Says on standard error why the command failed.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    if is_closed_pipe(error) {
        return ExitCode::SUCCESS;
    }
    to_stderr(&format!("error: {}\n", printable_lines(&format!("{error:#}"))));
    ExitCode::FAILURE
}

/// An error with what to do next.
pub(crate) fn advised(error: impl Into<anyhow::Error>, advice: &str) -> anyhow::Error {
    anyhow::anyhow!("{:#}\n  try: {advice}", error.into())
}

/// Whether nobody reads the output any more, as behind `| head`.
pub(crate) fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let cause = error.root_cause().downcast_ref::<io::Error>();
    cause.is_some_and(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// Writes to standard error. Where even that is closed there is nobody left to tell.
pub(crate) fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// The same for a text of several lines.
pub(crate) fn printable_lines(text: &str) -> String {
    let lines: Vec<String> =
        text.lines().map(|line| printable(&line.replace('\t', "    "))).collect();
    lines.join("\n")
}

/// Text with what commands a terminal spelled out: what others wrote must neither move the cursor nor stand in another order.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        match commands(character) {
            true => printable.extend(character.escape_default()),
            false => printable.push(character),
        }
    }
    printable
}

/// Whether a character does something to those around it: it controls the terminal, turns the direction of what follows, ends a
/// line or hides.
pub(crate) fn commands(character: char) -> bool {
    let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let ends_line = matches!(character, '\u{2028}' | '\u{2029}');
    let hides = matches!(character, '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}');
    character.is_control() || turns || ends_line || hides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_commands_a_terminal_is_spelled_out() {
        assert_eq!(printable("a\u{1b}[2J\u{9b}\u{7f}"), "a\\u{1b}[2J\\u{9b}\\u{7f}");
        assert_eq!(
            printable("exe.\u{202e}gpj\u{2066}x\u{2069}"),
            "exe.\\u{202e}gpj\\u{2066}x\\u{2069}"
        );
        assert_eq!(printable("a\u{2028}b\u{200b}c"), "a\\u{2028}b\\u{200b}c");
        // Letters of all scripts, marks of their direction and joined emojis are text.
        let text = "שלום\u{200f}! 漢字 e\u{301} 👩\u{200d}👩 \u{ad}";
        assert_eq!(printable(text), text);
    }
}
