//! The binary `sabir`: reads arguments and files, has the other crates do the work, prints.

mod agent;
mod allocator;
mod archive;
mod arguments;
mod command;
mod configuration;
mod framing;
mod gateway;
mod input;
mod installed;
mod message;
mod models;
mod output;
mod report;
mod shell;
mod status;
mod stream;
mod table;
mod terminal;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

/// Any LLM client, any model, one conversation.
///
/// A gateway between the wire protocols openai-chat, openai-responses, anthropic-messages and
/// gemini: any client, any provider, and a report of what could not be carried over. Without a
/// command it serves.
#[derive(Parser)]
#[command(name = "sabir", version, disable_help_subcommand = true)]
#[command(verbatim_doc_comment, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
struct Sabir {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    serve: command::serve::Serve,
}

#[derive(Subcommand)]
enum Command {
    Serve(command::serve::Serve),
    Chat(command::chat::Chat),
    Team(command::team::TeamCommand),
    Run(command::run::Run),
    Env(command::env::Env),
    Convert(command::convert::Convert),
    Inspect(command::inspect::Inspect),
    Assemble(command::assemble::Assemble),
    Build(command::build::Build),
    Check(command::check::Check),
    Models(command::models::Models),
    Route(command::route::Route),
    Conversations(command::conversations::Conversations),
    Usage(command::usage::Usage),
    Sim(command::sim::Sim),
    Completions(command::completions::Completions),
}

const EXAMPLES: &str = "\
Examples:
  sabir
  sabir serve --config sabir.toml --listen 127.0.0.1:8080
  sabir chat --model smart
  sabir run claude --model smart -- --continue
  sabir run claude --continue tour
  sabir team review.toml --rounds 2
  sabir convert --from chat --to messages request.json
  curl -N … | sabir convert --from gemini --to responses --kind stream
  sabir inspect --from responses --kind response answer.json
  sabir assemble --agent gemini < input.json
  sabir build --to messages < history.json
  sabir conversations list
  sabir usage --by day --since 30d
  sabir check --config sabir.toml
  sabir route --from messages request.json";

fn main() -> ExitCode {
    match run(Sabir::parse()) {
        Ok(code) => code,
        Err(error) => output::fail(&error),
    }
}

fn run(sabir: Sabir) -> Result<ExitCode> {
    match sabir.command {
        Some(Command::Chat(chat)) => chat.run(),
        Some(Command::Team(team)) => team.run(),
        Some(Command::Run(run)) => run.run(),
        Some(Command::Env(env)) => env.run(),
        Some(Command::Convert(convert)) => convert.run(),
        Some(Command::Inspect(inspect)) => inspect.run(),
        Some(Command::Assemble(assemble)) => assemble.run(),
        Some(Command::Build(build)) => build.run(),
        Some(Command::Check(check)) => check.run(),
        Some(Command::Models(models)) => models.run(),
        Some(Command::Route(route)) => route.run(),
        Some(Command::Conversations(conversations)) => conversations.run(),
        Some(Command::Usage(usage)) => usage.run(),
        Some(Command::Sim(sim)) => sim.run(),
        Some(Command::Completions(completions)) => completions.run(Sabir::command()),
        Some(Command::Serve(serve)) => serve.run(),
        None => sabir.serve.run(),
    }
}
