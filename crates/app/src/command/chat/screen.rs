//! What is shown of a conversation: text as it comes, thinking dimmed, calls of tools in a line. What a model writes cannot
//! command the terminal.

use anyhow::Result;
use sabir_client::{Message, StreamEvent};

use super::dialogue::{Dialogue, Ended};
use crate::message::shown;
use crate::output::{printable, printable_lines};
use crate::{output, terminal};

pub(super) struct Screen {
    reader: Reader,
    at: At,
}

/// For whom it is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// A person at a terminal, with shades or without.
    Shaded,
    Plain,
    /// A program, which is given the text alone.
    Piped,
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

const DIM: &str = "\x1b[2m";
const RESET: &str = "\x1b[0m";

impl Screen {
    pub(super) fn terminal() -> Self {
        let reader = if terminal::has_colours() { Reader::Shaded } else { Reader::Plain };
        Self { reader, at: At::LineStart }
    }

    pub(super) fn piped() -> Self {
        Self { reader: Reader::Piped, at: At::LineStart }
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
        let conversation = match (dialogue.id(), dialogue.unkept()) {
            (_, Some(reason)) => format!("kept here alone, until you leave: {reason}"),
            (Some(id), None) => format!("conversation {id}"),
            (None, None) => "a new conversation".to_owned(),
        };
        self.note(&format!("{} · {conversation} · /help", dialogue.model))
    }

    /// A piece of an answer.
    pub(super) fn show(&mut self, event: &StreamEvent) -> Result<()> {
        match event {
            StreamEvent::Text(text) => self.write(At::Text, text),
            StreamEvent::Reasoning(_) if self.reader == Reader::Piped => Ok(()),
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
        let text = clean(text);
        output::send(&if kind == At::Thinking { self.dimmed(&text) } else { text })
    }

    /// Ends a line that has been begun.
    pub(super) fn end_line(&mut self) -> Result<()> {
        if self.at == At::LineStart {
            return Ok(());
        }
        self.at = At::LineStart;
        output::send("\n")
    }

    /// What stands under an answer.
    pub(super) fn close(
        &mut self,
        ended: &Ended,
        dialogue: &Dialogue,
        is_first: bool,
    ) -> Result<()> {
        self.end_line()?;
        match ended {
            Ended::Whole => {}
            Ended::Stopped if dialogue.unkept().is_some() => self.note("[stopped]")?,
            Ended::Stopped => self.note("[stopped; what came is kept]")?,
            Ended::Unanswered => {
                self.note("[stopped before anything came; nothing is kept of it]")?
            }
        }
        match dialogue.id().filter(|_| is_first) {
            Some(id) => self.note(&format!("[conversation {id}]")),
            None => Ok(()),
        }
    }

    pub(super) fn history(&mut self, messages: &[Message]) -> Result<()> {
        for message in messages {
            output::print(&format!("{}\n", shown(message)))?;
        }
        Ok(())
    }

    /// Something that nobody said.
    pub(super) fn note(&mut self, text: &str) -> Result<()> {
        self.end_line()?;
        let text = printable_lines(text);
        match self.reader {
            Reader::Piped => {
                output::to_stderr(&format!("{text}\n"));
                Ok(())
            }
            Reader::Plain | Reader::Shaded => output::print(&self.dimmed(&text)),
        }
    }

    pub(super) fn fail(&mut self, error: &anyhow::Error) -> Result<()> {
        self.end_line()?;
        output::to_stderr(&format!("error: {}\n", printable_lines(&format!("{error:#}"))));
        Ok(())
    }

    fn dimmed(&self, text: &str) -> String {
        match self.reader {
            Reader::Shaded => format!("{DIM}{text}{RESET}"),
            Reader::Plain | Reader::Piped => text.to_owned(),
        }
    }
}

/// Text without what commands a terminal; its lines and tabs stay.
fn clean(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => clean.push(character),
            '\r' => {}
            character if character.is_control() => clean.extend(character.escape_default()),
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
        assert_eq!(clean("a\u{1b}[2J\r\n\tb"), "a\\u{1b}[2J\n\tb");
    }
}
