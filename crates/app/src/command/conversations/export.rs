//! `sabir conversations export`: a conversation as a file, with what the file cannot hold on standard error.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use clap::builder::{
    NonEmptyStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};
use sabir_wire::json::{Json, Reader as JsonReader, Writer};
use sabir_wire::{Protocol, Report};
use serde_json::json;

use super::{Reader, path_of};
use crate::archive::Archive;
use crate::output::printable;
use crate::{output, report};

/// Write a conversation as a transcript, or as the messages of any protocol.
///
/// A transcript is an array of messages with `role`, `content`, `tool_calls`, `tool_call_id` and
/// `timestamp`; `jsonl` has one a line. As a protocol's messages it has the form of
/// `sabir build --to`. What the form cannot hold is reported on standard error.
///
/// Example:
///   sabir conversations export tour --as messages -o tour.json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Export {
    /// The conversation
    #[arg(value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    id: String,

    /// The form: transcript, jsonl, or the name of a protocol
    #[arg(long = "as", value_name = "FORM", default_value = "transcript", value_parser = forms())]
    form: Form,

    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Transcript,
    Lines,
    Messages(Protocol),
}

impl Export {
    pub(super) fn run(self, archive: &Archive, reader: Reader) -> Result<()> {
        // All that was said, also where a summary stands for some of it from now on.
        let query = match self.form {
            Form::Transcript | Form::Lines => "as=transcript".to_owned(),
            Form::Messages(protocol) => format!("as={}&whole=true", protocol.as_str()),
        };
        let answer = archive.get(&format!("{}/messages?{query}", path_of(&self.id)))?;
        let answer = Answer::read(&answer)?;
        let (text, report) = (self.form.text(&answer)?, answer.report);
        match self.output.as_deref().filter(|file| file.as_os_str() != "-") {
            None => output::print(&text)?,
            Some(file) => {
                write(file, &text)?;
                let message = match reader {
                    Reader::Program => json!({"id": self.id, "file": file}).to_string(),
                    Reader::Person => printable(&format!("{} is in {}", self.id, file.display())),
                };
                output::print(&message)?;
            }
        }
        match reader {
            Reader::Program => output::to_stderr(&report::json(&report)),
            Reader::Person if report.is_empty() => {}
            Reader::Person => output::to_stderr(&report::text(&report)),
        }
        Ok(())
    }
}

impl Form {
    /// What is written, spelled as the gateway spells it.
    fn text(self, answer: &Answer<'_>) -> Result<String> {
        let transcript = || answer.transcript.as_ref().context(NO_MESSAGES);
        Ok(match self {
            Self::Messages(_) => {
                let mut writer = Writer::default();
                writer.object(|object| {
                    answer.members.iter().for_each(|(name, value)| object.field(name, value));
                });
                Json::parse(writer.into_string())?.indented()
            }
            Self::Transcript => transcript()?.indented(),
            Self::Lines => {
                let mut lines = String::new();
                let read = transcript()?.reader().array(|_, message| {
                    lines.push_str(&message.raw()?.compact());
                    lines.push('\n');
                    Ok(())
                });
                read.context(NO_MESSAGES)?;
                lines
            }
        })
    }
}

/// What the gateway answers.
#[derive(Default)]
struct Answer<'a> {
    transcript: Option<Json<'a>>,
    /// The messages of a protocol and what leads them.
    members: Vec<(String, Json<'a>)>,
    report: Report,
}

impl<'a> Answer<'a> {
    fn read(text: &'a str) -> Result<Self> {
        let mut answer = Self::default();
        let read = JsonReader::new(text).object(|key, reader| {
            let value = reader.raw()?;
            match &*key {
                "losses" => answer.report = report::read(value.as_str()),
                "transcript" => answer.transcript = Some(value),
                _ => answer.members.push((key.into_owned(), value)),
            }
            Ok(())
        });
        read.map(|()| answer).context(NO_MESSAGES)
    }
}

const ELSEWHERE: &str = "name a file with -o in a folder that is there and that you may write to";

const NO_MESSAGES: &str = "the gateway answers no messages";

/// Whole or not at all: a file of that name stays as it was until the new one is complete.
fn write(file: &Path, text: &str) -> Result<()> {
    let unwritable = || format!("cannot write {}", file.display());
    let mut beside = file.as_os_str().to_owned();
    beside.push(format!(".{}.new", std::process::id()));
    let end = if text.ends_with('\n') { "" } else { "\n" };
    let written = fs::write(&beside, format!("{text}{end}"));
    let written = written.and_then(|()| fs::rename(&beside, file)).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    });
    let written = written.with_context(unwritable);
    written.map_err(|error| output::advised(error, ELSEWHERE))
}

fn forms() -> impl TypedValueParser<Value = Form> {
    let protocols = Protocol::ALL.map(|protocol| {
        PossibleValue::new(protocol.as_str()).aliases(protocol.facts().aliases.iter().copied())
    });
    let own = ["transcript", "jsonl"].map(PossibleValue::new);
    PossibleValuesParser::new(own.into_iter().chain(protocols)).try_map(|name| match &*name {
        "transcript" => Ok(Form::Transcript),
        "jsonl" => Ok(Form::Lines),
        name => Protocol::parse(name).map(Form::Messages).ok_or("expected the name of a form"),
    })
}
