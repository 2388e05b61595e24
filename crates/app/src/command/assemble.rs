//! `sabir assemble`: the prompt of an agent CLI.

use std::borrow::Cow;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use sabir_compose::assemble::{Agent, ContextMessage, Input, Output};
use sabir_wire::json::{Reader, Writer};

use crate::input::Document;
use crate::output;

/// Print the prompt of an agent CLI, as JSON.
///
/// Reads {"contextMessages":[{"from","to"?,"content"}], "currentMessage", "teamTask"?,
/// "systemInstruction"?, "instructionFileText"?, "maxBytes"?} on standard input and prints
/// {"prompt", "systemFlag"?, "report"}. What is over the budget is left out: the oldest context
/// first, then the end of the task.
///
/// Exit codes: 0 assembled, 1 bad input, or instructions and team task alone are over the budget
///
/// Example:
///   sabir assemble --agent gemini < input.json
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Assemble {
    /// Who reads the prompt; `claude`, `codex` and `gemini` will do
    #[arg(long, value_name = "AGENT", value_parser = agents())]
    agent: Agent,

    /// How many bytes prompt and system flag may have together [default: the input's `maxBytes`, else 786432]
    #[arg(long, value_name = "N")]
    max_bytes: Option<usize>,
}

impl Assemble {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let body = DOCUMENT.read()?;
        let mut document = Draft::default();
        document.read(&body).map_err(|error| DOCUMENT.explain(&error, &body))?;
        if let Some((pointer, key)) = document.missing {
            return Err(DOCUMENT.wrong(&format!("expected `{key}`, found none"), &pointer).into());
        }
        let mut input = document.input;
        input.bytes_max = self.max_bytes.unwrap_or(input.bytes_max);
        let assembled = self.agent.assemble(&input);
        let output = assembled.map_err(|overflow| anyhow!("{overflow}{SHORTEN}"))?;
        if let Some(warning) = output.warning() {
            output::to_stderr(&format!("warning: {warning}\n"));
        }
        output::print(&written(&output, input.bytes_max, &document.ignored))?;
        Ok(ExitCode::SUCCESS)
    }
}

const DOCUMENT: Document = Document { phrase: "the parts of a prompt" };
const SHORTEN: &str = "\n  try: shorten them, or allow more with maxBytes or --max-bytes";

/// Reads an agent's name; completions and errors list the full names, the short ones count too.
fn agents() -> impl TypedValueParser<Value = Agent> {
    let names = Agent::ALL.map(|agent| PossibleValue::new(agent.as_str()).aliases(agent.alias()));
    PossibleValuesParser::new(names)
        .try_map(|name| Agent::parse(&name).ok_or("expected the name of an agent"))
}

/// An input as far as it is read.
#[derive(Default)]
struct Draft<'a> {
    input: Input<'a>,
    /// The first message that lacks something, and what it lacks.
    missing: Option<(String, &'static str)>,
    /// Pointers of members that mean nothing here.
    ignored: Vec<String>,
}

impl<'a> Draft<'a> {
    fn read(&mut self, body: &'a [u8]) -> sabir_wire::Result<()> {
        let mut reader = Reader::from_slice(body)?;
        reader.object(|key, reader| self.member(&key, reader))?;
        reader.finish()
    }

    fn member(&mut self, key: &str, reader: &mut Reader<'a>) -> sabir_wire::Result<()> {
        let input = &mut self.input;
        match key {
            "contextMessages" => {
                input.context.clear();
                let read = |reader: &mut Reader<'a>| {
                    reader.array(|index, reader| self.message(index, reader))
                };
                reader.or_null(read)?;
            }
            "currentMessage" => input.current_message = optional(reader)?.unwrap_or_default(),
            "teamTask" => input.team_task = optional(reader)?,
            "systemInstruction" => input.system_instruction = optional(reader)?,
            "instructionFileText" => input.instruction_file = optional(reader)?,
            "maxBytes" => {
                let bytes_max = reader.or_null(Reader::u64)?;
                let bytes_max = bytes_max.map(|it| usize::try_from(it).unwrap_or(usize::MAX));
                input.bytes_max = bytes_max.unwrap_or(input.bytes_max);
            }
            _ => self.ignore("", key, reader)?,
        }
        Ok(())
    }

    fn message(&mut self, index: usize, reader: &mut Reader<'a>) -> sabir_wire::Result<()> {
        let place = || format!("/contextMessages/{index}");
        let mut from = None;
        let mut message = ContextMessage::default();
        let mut content = None;
        reader.object(|key, reader| {
            match &*key {
                "from" => from = Some(reader.string()?.into_str()),
                "to" => message.to = optional(reader)?,
                "content" => content = Some(reader.string()?.into_str()),
                _ => self.ignore(&place(), &key, reader)?,
            }
            Ok(())
        })?;
        let missing = [("from", from.is_none()), ("content", content.is_none())];
        if let Some((key, _)) = missing.into_iter().find(|(_, is_missing)| *is_missing) {
            self.missing.get_or_insert_with(|| (place(), key));
        }
        message.from = from.unwrap_or_default();
        message.content = content.unwrap_or_default();
        self.input.context.push(message);
        Ok(())
    }

    fn ignore(
        &mut self,
        place: &str,
        key: &str,
        reader: &mut Reader<'a>,
    ) -> sabir_wire::Result<()> {
        let key = key.replace('~', "~0").replace('/', "~1");
        self.ignored.push(format!("{place}/{key}"));
        reader.skip()
    }
}

/// A string, or null for none.
fn optional<'a>(reader: &mut Reader<'a>) -> sabir_wire::Result<Option<Cow<'a, str>>> {
    reader.or_null(|reader| Ok(reader.string()?.into_str()))
}

fn written(output: &Output, bytes_max: usize, ignored: &[String]) -> String {
    let mut writer = Writer::with_capacity(output.bytes() * 9 / 8 + 256);
    writer.object(|writer| {
        writer.field("prompt", &output.prompt);
        writer.optional("systemFlag", output.system_flag.as_ref());
        writer.key("report");
        writer.object(|writer| {
            writer.field("bytes", &output.bytes());
            writer.field("maxBytes", &bytes_max);
            writer.field("messagesDropped", &output.trimmed.context_messages);
            writer.field("taskBytesCut", &output.trimmed.task_bytes);
            writer.optional("ignored", (!ignored.is_empty()).then_some(ignored));
        });
    });
    writer.into_string()
}
