//! `sabir chat`: a conversation in the terminal. What is typed is read by `typing`, what it asks for is in `command`, the turns
//! are had by `dialogue` and `turn`, `screen` shows them, and `leaving` knows when the system wants the program to end.

mod command;
mod dialogue;
mod leaving;
mod screen;
mod turn;
mod typing;

pub(in crate::command) use command::Command;
pub(in crate::command) use leaving::Leaving;
pub(in crate::command) use screen::Screen;
pub(in crate::command) use turn::{Ended, Turn, stopped};
pub(in crate::command) use typing::{Typed, Typing};

use std::io::{IsTerminal, stdin};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use sabir_client::Gateway;

use crate::archive::GatewayOptions;
use crate::gateway::Running;
use crate::input::Input;
use crate::models::default_model;
use crate::{configuration, output, terminal};

use dialogue::Dialogue;

/// Hold a conversation in the terminal.
///
/// Uses the gateway that runs at the configured address, else one that lives as long as the
/// conversation does. What is said is kept, so that it goes on with --conversation, with another
/// model, and in any client with the header `sabir-conversation`.
///
/// A line that ends in a backslash goes on in the next; lines between """ and """ are one message.
/// Ctrl-C stops an answer and keeps what came of it; Ctrl-D ends. /help lists the commands.
/// A terminal that is closed in the middle of an answer keeps what came of it, too.
/// What comes through a pipe is one turn: its answer goes to standard output.
///
/// Example:
///   sabir chat --model sim --conversation tour
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Chat {
    /// The model to ask for [default: the conversation's last, else what the gateway offers first]
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    model: Option<String>,

    /// The conversation to go on with, or the name of a new one
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    conversation: Option<String>,

    #[command(flatten)]
    place: GatewayOptions,
}

impl Chat {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let config = self.place.load()?;
        // The answers are on the terminal: a log would write over them.
        let log = configuration::names_log_level().then(|| sabir_gateway::start_log(&config.log));
        let running = Running::find_or_start(&config)?;
        let mut gateway = Gateway::new(&format!("http://{}", running.address()))?;
        if let Some(key) = self.place.key(&config) {
            gateway = gateway.with_key(key.expose())?;
        }
        let unkept = running.forgets(&config);
        let begun = Dialogue::begin(gateway, self.conversation, unkept);
        let done = begun.and_then(|mut dialogue| {
            let model = self.model.or_else(|| dialogue.last_model());
            dialogue.model = match model.or_else(|| default_model(&config)) {
                Some(model) => model,
                None => bail!(
                    "no model can be asked for: name one with --model, or give a provider's key"
                ),
            };
            match stdin().is_terminal() {
                true => converse(dialogue),
                false => answer_pipe(dialogue),
            }
        });
        running.end();
        log.inspect(|log| log.flush());
        done
    }
}

/// One turn: what comes through the pipe, and its answer.
fn answer_pipe(mut dialogue: Dialogue) -> Result<ExitCode> {
    let text = Input::Stdin.text()?;
    if text.trim().is_empty() {
        bail!("nothing came through the pipe: write the message to standard input");
    }
    let mut screen = Screen::of_answer();
    let ended = dialogue.send(text.trim_end(), &mut screen)?;
    screen.end_line()?;
    if ended == Ended::Stopped && dialogue.unkept().is_none() {
        screen.note(screen::stopped(dialogue.fate()))?;
    }
    match (dialogue.id(), dialogue.unkept()) {
        (_, Some(reason)) => screen.note(&format!("not kept: {reason}"))?,
        (Some(id), None) => screen.note(&format!("conversation: {id}"))?,
        (None, None) => {}
    }
    Ok(match ended {
        Ended::Whole => ExitCode::SUCCESS,
        Ended::Stopped | Ended::Unanswered => dialogue.left().unwrap_or(ExitCode::FAILURE),
    })
}

/// Turn by turn, until the user leaves.
fn converse(mut dialogue: Dialogue) -> Result<ExitCode> {
    let mut screen = Screen::of_dialogue();
    let mut typing = Typing::new(dialogue.typed_before()).context("cannot read the terminal")?;
    screen.greet(&dialogue)?;
    loop {
        let text = match dialogue.wait_for(&mut typing)? {
            Typed::Message(text) => text,
            Typed::Command(command) => {
                match command {
                    Command::Quit => return Ok(ExitCode::SUCCESS),
                    command => command.run(&mut dialogue, &mut screen)?,
                }
                continue;
            }
            Typed::Nothing => continue,
            Typed::End => return Ok(ExitCode::SUCCESS),
            Typed::Left(code) => {
                terminal::leave_line();
                return Ok(code);
            }
        };
        let before = dialogue.id().map(str::to_owned);
        match dialogue.send(&text, &mut screen) {
            Ok(ended) => screen.close(&ended, &dialogue, before.as_deref())?,
            // The conversation goes on: what was said is still to be answered.
            Err(error) if !output::is_closed_pipe(&error) => screen.fail(&error)?,
            Err(error) => return Err(error),
        }
    }
}
