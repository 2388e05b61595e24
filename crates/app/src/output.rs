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
    to_stderr(&format!("error: {error:#}\n"));
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

/// Text with its control characters spelled out: keys of the input must not command the user's terminal.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            character if character.is_control() => printable.extend(character.escape_default()),
            character => printable.push(character),
        }
    }
    printable
}
