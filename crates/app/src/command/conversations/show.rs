//! `sabir conversations show`: one conversation, what was said in it and who answered.

use std::fmt::Write;

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use sabir_client::Transcript;
use sabir_gateway::config::date;
use sabir_wire::LossKind;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Reader, path_of};
use crate::archive::Archive;
use crate::message::shown;
use crate::output::printable;
use crate::table::{Column, Squeeze, fitted};
use crate::{output, terminal};

/// Show a conversation: its turns, and what was said in them.
///
/// Example:
///   sabir conversations show tour
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Show {
    /// The conversation
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    id: String,
}

/// What the gateway says of a conversation.
#[derive(Deserialize)]
struct Shown {
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    id: String,
    created_at: i64,
    provider: Option<String>,
    model: Option<String>,
    status: String,
    losses: Vec<Value>,
}

/// What was content, and what a transcript has no room for of it.
#[derive(Deserialize)]
struct Content {
    transcript: Box<RawValue>,
    losses: Vec<Loss>,
}

#[derive(Deserialize)]
struct Loss {
    pointer: String,
    kind: String,
    reason: String,
}

const COLUMNS: [Column; 5] = [
    Column::left("TURN", Squeeze::Never),
    Column::left("WHEN", Squeeze::Away(2)),
    Column::left("MODEL", Squeeze::To(12)),
    Column::left("STATUS", Squeeze::Away(1)),
    Column::right("LOSSES", Squeeze::Away(3)),
];

impl Show {
    pub(super) fn run(self, archive: &Archive, reader: Reader) -> Result<()> {
        let answer = archive.get(&path_of(&self.id))?;
        let content = archive.get(&format!("{}/messages?as=transcript", path_of(&self.id)))?;
        let content: Content = serde_json::from_str(&content).context(NO_CONVERSATION)?;
        match reader {
            Reader::Program => output::print(&joined(&answer, content.transcript)?),
            Reader::Person => {
                let answer: Shown = serde_json::from_str(&answer).context(NO_CONVERSATION)?;
                output::print(&listed(&answer, &content)?)
            }
        }
    }
}

const NO_CONVERSATION: &str = "the gateway answers no conversation";

/// The conversation with its messages in it, as the gateway wrote both.
fn joined(answer: &str, messages: Box<RawValue>) -> Result<String> {
    let mut answer: serde_json::Map<String, Value> =
        serde_json::from_str(answer).context(NO_CONVERSATION)?;
    answer.insert("messages".to_owned(), serde_json::to_value(messages)?);
    Ok(Value::Object(answer).to_string())
}

fn listed(answer: &Shown, content: &Content) -> Result<String> {
    let transcript = Transcript::parse(content.transcript.get()).context(NO_CONVERSATION)?;
    let rows: Vec<Vec<String>> = answer.turns.iter().map(Turn::cells).collect();
    let mut text = match rows.is_empty() {
        true => String::new(),
        false => fitted(&COLUMNS, &rows, terminal::width()),
    };
    let mut unshown = content.losses.iter().peekable();
    for (index, message) in transcript.messages().iter().enumerate() {
        let _ = write!(text, "\n{}", shown(message.message()));
        // The losses stand in the order of the messages.
        while let Some(loss) = unshown.next_if(|loss| loss.pointer == format!("/{index}")) {
            if loss.kind == LossKind::Dropped.as_str() {
                let what = loss.reason.trim_start_matches("a transcript has no ");
                let _ = writeln!(text, "  [not shown: {}]", printable(what));
            }
        }
    }
    if text.is_empty() {
        text.push_str("nothing has been said in it yet\n");
    }
    Ok(text.trim_start().to_owned())
}

impl Turn {
    fn cells(&self) -> Vec<String> {
        let who = [self.provider.as_deref(), self.model.as_deref()];
        let who: Vec<&str> = who.into_iter().flatten().collect();
        vec![
            printable(&self.id),
            moment(self.created_at),
            printable(&who.join("/")),
            printable(&self.status),
            self.losses.len().to_string(),
        ]
    }
}

/// A time in UTC, to the minute.
fn moment(seconds: i64) -> String {
    let (day, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    format!("{} {:02}:{:02}", date(day), rest / 3_600, rest / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_to_the_minute() {
        assert_eq!(moment(1_794_917_860), "2026-11-17 12:17");
    }
}
