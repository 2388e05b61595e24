//! The binary `sabir`: reads arguments and files, has `sabir-wire` translate, prints.

mod arguments;
mod command;
mod input;
mod output;
mod report;
mod status;
mod stream;

use std::process::ExitCode;

use anyhow::Result;
use clap::CommandFactory;
use clap::Parser;
use clap::Subcommand;

/// Any LLM client, any model, one conversation.
///
/// Translates between the wire protocols openai-chat, openai-responses, anthropic-messages
/// and gemini, and says what a translation could not carry over.
#[derive(Parser)]
#[command(name = "sabir", version, disable_help_subcommand = true)]
#[command(verbatim_doc_comment, after_help = EXAMPLES)]
struct Sabir {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    Convert(command::convert::Convert),
    Inspect(command::inspect::Inspect),
    Sim(command::sim::Sim),
    Completions(command::completions::Completions),
}

const EXAMPLES: &str = "\
Examples:
  sabir convert --from chat --to messages request.json
  curl -N … | sabir convert --from gemini --to responses --kind stream
  sabir inspect --from responses --kind response answer.json";

fn main() -> ExitCode {
    match run(Sabir::parse()) {
        Ok(code) => code,
        Err(error) => output::fail(&error),
    }
}

fn run(sabir: Sabir) -> Result<ExitCode> {
    match sabir.command {
        Some(Command::Convert(convert)) => convert.run(),
        Some(Command::Inspect(inspect)) => inspect.run(),
        Some(Command::Sim(sim)) => sim.run(),
        Some(Command::Completions(completions)) => completions.run(Sabir::command()),
        None => help(),
    }
}

fn help() -> Result<ExitCode> {
    output::print(&Sabir::command().render_long_help().to_string())?;
    Ok(ExitCode::SUCCESS)
}
