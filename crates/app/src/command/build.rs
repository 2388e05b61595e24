//! `sabir build`: the messages of a request, of a stored history.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use sabir_compose::history::History;
use sabir_compose::{Log, Policy, Trace, history};
use sabir_wire::{Protocol, Report};

use crate::arguments::protocols;
use crate::input::Document;
use crate::output;

/// Build the messages of a request from a stored history.
///
/// Reads {"messages": […], "systemPrompts": […], "summary": {…}|null} from standard input.
/// The summary takes the place of what it sums up, empty messages go, tool calls and results
/// are paired, system prompts are put in front, and the whole is validated. Prints
/// {"messages": […], "trace": […]}, where the trace has every change.
///
/// Example:
///   sabir build --to messages < history.json
#[derive(Args)]
#[command(verbatim_doc_comment, after_help = EXIT_CODES)]
pub(crate) struct Build {
    /// Print the messages as a request in this protocol has them, without the trace
    #[arg(long, value_name = "PROTOCOL", value_parser = protocols())]
    to: Option<Protocol>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0 built
  1 the history cannot be read, or no request can be built of it
  2 wrong usage";

impl Build {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let bytes = HISTORY.read()?;
        let history = parse(&bytes)?;
        let policy = self.to.map(policy).unwrap_or_default();
        let built = match history.builder().set_policy(policy).build() {
            Ok(built) => built,
            Err(refused) => {
                print_log(refused.log());
                output::to_stderr(&format!("{refused}\n"));
                return Ok(ExitCode::FAILURE);
            }
        };
        print_log(&built.log);
        match self.to {
            None => output::print(&history.to_json(&built))?,
            Some(protocol) => {
                print_changes(&built.trace);
                let encoded = history::encode(built, protocol)?;
                output::print(&encoded.body)?;
                print_losses(&encoded.report);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

const HISTORY: Document = Document { phrase: "a history" };

fn parse(bytes: &[u8]) -> Result<History<'_>> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| HISTORY.wrong("expected UTF-8, found other bytes", ""))?;
    let history = History::parse(text.strip_prefix('\u{feff}').unwrap_or(text));
    Ok(history.map_err(|error| HISTORY.wrong(error.message(), error.pointer()))?)
}

/// Blank messages of users and an assistant who speaks first stay where the protocol's providers take them.
fn policy(protocol: Protocol) -> Policy {
    match protocol.facts().needs_user_turn {
        true => Policy::towards(protocol),
        false => Policy { target: Some(protocol), ..Policy::default() },
    }
}

fn print_log(log: &Log) {
    log.lines().iter().for_each(|line| output::to_stderr(&format!("{line}\n")));
}

/// Says what was mended, where the trace is not printed.
fn print_changes(trace: &Trace) {
    for change in trace.changes().iter().filter(|change| change.step.repairs()) {
        output::to_stderr(&format!(
            "repaired at {}: {}: {}\n",
            change.pointer, change.what, change.why
        ));
    }
}

/// Says what the protocol cannot carry; places in it are not those of the history.
fn print_losses(report: &Report) {
    for loss in report.entries().iter().filter(|loss| loss.kind.matters()) {
        output::to_stderr(&format!("{}: {}\n", loss.kind, loss.reason));
    }
}
