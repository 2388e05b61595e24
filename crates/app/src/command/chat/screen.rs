//! What is shown of a conversation: text as it comes, thinking dimmed, calls of tools in a line. What a model writes cannot
//! command the terminal.

use std::io::{IsTerminal, stdout};

use anyhow::Result;
use sabir_client::{ErrorKind, Message, StreamEvent};

use super::dialogue::{Dialogue, Fate};
use super::turn::Ended;
use crate::message::shown;
use crate::output::{commands, printable, printable_lines};
use crate::{output, terminal};

pub(in crate::command) struct Screen {
    reader: Reader,
    at: At,
}

/// For whom it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// A person at a terminal, with shades or without.
    Shaded,
    Plain,
    /// A program, which is given the text of answers alone, as it is. All else is said beside it.
    Piped,
    /// A person at a terminal who asked through a pipe.
    Asked,
}

/// What stands last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    LineStart,
    Text,
    Thinking,
}

/// How many messages of a conversation that goes on are shown.
const SHOWN_MAX: usize = 6;

/// What brings back a gateway that has gone.
const START: &str = "  try: start `sabir serve`, and say it again\n";

const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

impl Screen {
    /// For a conversation in which somebody types.
    pub(in crate::command) fn of_dialogue() -> Self {
        let reader = match stdout().is_terminal() {
            true if terminal::has_colours() => Reader::Shaded,
            true => Reader::Plain,
            false => Reader::Piped,
        };
        Self { reader, at: At::LineStart }
    }

    /// For one answer to what came through a pipe.
    pub(super) fn of_answer() -> Self {
        let reader = if stdout().is_terminal() { Reader::Asked } else { Reader::Piped };
        Self { reader, at: At::LineStart }
    }

    /// Who is there, and what was said last.
    pub(super) fn greet(&mut self, dialogue: &Dialogue) -> Result<()> {
        let earlier = dialogue.earlier();
        if !earlier.is_empty() {
            let hidden = earlier.len().saturating_sub(SHOWN_MAX);
            if hidden > 0 {
                self.note(&format!("… {hidden} messages before; /history shows all"))?;
            }
            self.history(&earlier[hidden..])?;
        }
        if dialogue.last_status().is_some_and(|status| status == "interrupted") {
            self.note("[the last turn was interrupted]")?;
        }
        let conversation = match (dialogue.id(), dialogue.unkept()) {
            (_, Some(reason)) => format!("kept here alone, until you leave: {reason}"),
            (Some(id), None) => format!("conversation {id}"),
            (None, None) => "a new conversation".to_owned(),
        };
        self.note(&format!("{} · {conversation} · /help", dialogue.model))
    }

    /// A piece of an answer.
    pub(in crate::command) fn show(&mut self, event: &StreamEvent) -> Result<()> {
        match event {
            StreamEvent::Text(text) => self.write(At::Text, text),
            StreamEvent::Reasoning(_) if self.is_text_alone() => Ok(()),
            StreamEvent::Reasoning(text) => self.write(At::Thinking, text),
            StreamEvent::ToolCall(call) => {
                let line =
                    format!("→ {} {}", printable(&call.name), printable(&call.input.compact()));
                self.note(&line)
            }
            _ => Ok(()),
        }
    }

    fn write(&mut self, kind: At, text: &str) -> Result<()> {
        if self.at != kind {
            self.end_line()?;
        }
        self.at = kind;
        if self.reader == Reader::Piped {
            return output::send(text);
        }
        let text = clean(text);
        output::send(&if kind == At::Thinking { self.dimmed(&text) } else { text })
    }

    /// Ends a line that has been begun.
    pub(in crate::command) fn end_line(&mut self) -> Result<()> {
        if self.at == At::LineStart {
            return Ok(());
        }
        self.at = At::LineStart;
        output::send("\n")
    }

    /// What stands under an answer; the conversation is named when it is another than before.
    pub(super) fn close(
        &mut self,
        ended: &Ended,
        dialogue: &Dialogue,
        before: Option<&str>,
    ) -> Result<()> {
        self.end_line()?;
        match ended {
            Ended::Whole => {}
            Ended::Stopped if dialogue.unkept().is_some() => self.note("[stopped]")?,
            Ended::Stopped => self.note(stopped(dialogue.fate()))?,
            Ended::Unanswered => self.note("[stopped before anything came]")?,
        }
        match dialogue.id().filter(|id| before != Some(id)) {
            Some(id) => self.note(&format!("[conversation {id}]")),
            None => Ok(()),
        }
    }

    pub(super) fn history(&mut self, messages: &[Message]) -> Result<()> {
        let shown: Vec<String> = messages.iter().map(shown).collect();
        self.print_beside(&format!("{}\n", shown.join("\n")))
    }

    /// Who speaks, in a line of its own that everybody is shown.
    pub(in crate::command) fn head(&mut self, name: &str) -> Result<()> {
        self.end_line()?;
        output::print(&format!("{}:", printable(name)))
    }

    /// Something that nobody said.
    pub(in crate::command) fn note(&mut self, text: &str) -> Result<()> {
        self.end_line()?;
        self.print_beside(&self.dimmed(&printable_lines(text)))
    }

    /// Lines that are no part of an answer.
    fn print_beside(&self, text: &str) -> Result<()> {
        if self.is_text_alone() {
            output::to_stderr(&format!("{}\n", text.trim_end_matches('\n')));
            return Ok(());
        }
        output::print(text)
    }

    /// Whether nothing but the text of answers goes to standard output.
    fn is_text_alone(&self) -> bool {
        matches!(self.reader, Reader::Piped | Reader::Asked)
    }

    /// What went wrong. The gateway may have gone while somebody typed.
    pub(in crate::command) fn fail(&mut self, error: &anyhow::Error) -> Result<()> {
        self.end_line()?;
        let advice = if is_unreachable(error) { START } else { "" };
        let error = printable_lines(&format!("{error:#}"));
        output::to_stderr(&format!("error: {error}\n{advice}"));
        Ok(())
    }

    fn dimmed(&self, text: &str) -> String {
        match self.reader {
            Reader::Shaded => format!("{DIM}{text}{RESET}"),
            Reader::Plain | Reader::Piped | Reader::Asked => text.to_owned(),
        }
    }
}

/// Whether nobody answers at the gateway's address.
fn is_unreachable(error: &anyhow::Error) -> bool {
    let asked = error.downcast_ref::<sabir_client::Error>();
    asked.is_some_and(|error| error.kind() == ErrorKind::Connect)
}

/// What became of an answer that was stopped, in words.
pub(super) fn stopped(fate: Fate) -> &'static str {
    match fate {
        Fate::Kept => "[stopped; what came is kept]",
        Fate::Deleted => "[stopped; nothing is kept of it: the conversation was deleted meanwhile]",
        Fate::Left => "[stopped; nothing is kept of it: the conversation was changed meanwhile]",
        Fate::Unknown => "[stopped; whether what came is kept, the gateway does not say]",
    }
}

/// Text without what commands a terminal; its lines and tabs stay.
fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => clean.push(character),
            '\r' => {}
            character if commands(character) => clean.extend(character.escape_default()),
            character => clean.push(character),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_cannot_command_the_terminal() {
        assert_eq!(clean("a\u{1b}[2J\r\n\tb\u{202e}"), "a\\u{1b}[2J\n\tb\\u{202e}");
    }
}
