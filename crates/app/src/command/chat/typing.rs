//! What the user types: a line editor with the arrow keys' history, and messages of several lines. It waits for keys on a thread
//! of its own, so that the program can leave meanwhile.

use std::process::ExitCode;
use std::sync::mpsc;
use std::thread;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Behavior, Config, Editor, Helper};
use tokio::sync::mpsc as asynchronous;

use super::command::Command;
use crate::terminal::Restored;

pub(in crate::command) struct Typing {
    asked: mpsc::Sender<()>,
    typed: asynchronous::Receiver<rustyline::Result<Typed>>,
    /// Whoever leaves while keys are waited for leaves the terminal as it was.
    _restored: Restored,
}

#[derive(Debug, PartialEq)]
pub(in crate::command) enum Typed {
    Message(String),
    Command(Command),
    /// An empty line, or one that was taken back.
    Nothing,
    End,
    /// The system wants the program to end, with this code.
    Left(ExitCode),
}

const PROMPT: &str = "> ";

/// Begins and ends a message of several lines.
const FENCE: &str = "\"\"\"";

impl Typing {
    /// An editor that knows what was typed before.
    pub(in crate::command) fn new(before: Vec<String>) -> rustyline::Result<Self> {
        let restored = Restored::at_the_end();
        let mut editor = editor(before)?;
        let (asked, asks) = mpsc::channel();
        let (answers, typed) = asynchronous::channel(1);
        // Nobody joins the thread: it ends with the process, whatever it waits for.
        thread::Builder::new().name("sabir-typing".to_owned()).spawn(move || {
            while asks.recv().is_ok() && answers.blocking_send(next(&mut editor)).is_ok() {}
        })?;
        Ok(Self { asked, typed, _restored: restored })
    }

    pub(in crate::command) async fn next(&mut self) -> rustyline::Result<Typed> {
        let _ = self.asked.send(());
        self.typed.recv().await.unwrap_or(Ok(Typed::End))
    }
}

fn editor(before: Vec<String>) -> rustyline::Result<Editor<Lines, MemHistory>> {
    // What is typed is edited on the terminal, wherever the answers go.
    let config = Config::builder()
        .behavior(Behavior::PreferTerm)
        .bracketed_paste(true)
        .auto_add_history(false)
        .build();
    let mut editor = Editor::with_history(config, MemHistory::new())?;
    editor.set_helper(Some(Lines));
    for text in before {
        editor.add_history_entry(retyped(text))?;
    }
    Ok(editor)
}

fn next(editor: &mut Editor<Lines, MemHistory>) -> rustyline::Result<Typed> {
    let typed = match editor.readline(PROMPT) {
        Ok(typed) => typed,
        Err(ReadlineError::Interrupted) => return Ok(Typed::Nothing),
        Err(ReadlineError::Eof) => return Ok(Typed::End),
        Err(error) => return Err(error),
    };
    if !typed.trim().is_empty() {
        editor.add_history_entry(&typed)?;
    }
    Ok(meant(&typed))
}

/// What typed lines stand for.
fn meant(typed: &str) -> Typed {
    let line = typed.trim();
    if line.is_empty() {
        return Typed::Nothing;
    }
    if let Some(command) = Command::read(line) {
        return Typed::Command(command);
    }
    let fenced = line.strip_prefix(FENCE).and_then(|line| line.strip_suffix(FENCE));
    let text = match fenced {
        // Between fences nothing is a command: two slashes are what they are.
        Some(text) => text.trim_matches('\n').to_owned(),
        None => unescaped(line).replace("\\\n", "\n"),
    };
    match text.trim().is_empty() {
        true => Typed::Nothing,
        false => Typed::Message(text),
    }
}

/// A message whose slash is not that of a command.
fn unescaped(line: &str) -> &str {
    if line.starts_with("//") { &line[1..] } else { line }
}

/// What was said before, as it would be typed again.
fn retyped(text: String) -> String {
    if text.starts_with('/') { format!("/{text}") } else { text }
}

/// Knows whether a message goes on in the next line.
struct Lines;

fn goes_on(typed: &str) -> bool {
    match typed.trim_start().strip_prefix(FENCE) {
        Some(rest) => !rest.trim_end().ends_with(FENCE),
        None => typed.ends_with('\\'),
    }
}

impl Validator for Lines {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match goes_on(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for Lines {
    type Candidate = String;
}

impl Hinter for Lines {
    type Hint = String;
}

impl Highlighter for Lines {}

impl Helper for Lines {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_may_have_several_lines() {
        let message = |text: &str| Typed::Message(text.to_owned());
        assert_eq!(meant(" hello "), message("hello"));
        assert_eq!(meant("one\\\ntwo"), message("one\ntwo"));
        assert_eq!(meant("\"\"\"\none\n\n  two\n\"\"\""), message("one\n\n  two"));
        assert_eq!(meant("//usr"), message("/usr"));
        assert_eq!(meant("\"\"\"\n// a comment\nx();\n\"\"\""), message("// a comment\nx();"));
        assert_eq!(meant("  "), Typed::Nothing);
        assert_eq!(meant("/help"), Typed::Command(Command::Help));
    }

    #[test]
    fn what_was_said_before_means_the_same_when_it_is_typed_again() {
        for text in ["hello", "/usr/bin", "//usr", "one\n\ntwo"] {
            assert_eq!(meant(&retyped(text.to_owned())), Typed::Message(text.to_owned()));
        }
    }

    #[test]
    fn a_message_goes_on_until_it_is_closed() {
        for (typed, expected) in [
            ("one\\", true),
            ("one\\\ntwo", false),
            ("\"\"\"", true),
            ("\"\"\"\none", true),
            ("\"\"\"\none\n\"\"\"", false),
            ("\"\"\"one\"\"\"", false),
        ] {
            assert_eq!(goes_on(typed), expected, "{typed}");
        }
    }
}
