//! `sabir team`: members on several agents and models talk in one conversation. `file` reads who they are, `casting` finds who
//! answers for each, `room` has them speak, and `minutes` keeps what was said.

mod casting;
mod file;
mod minutes;
mod room;

use std::io::{IsTerminal, stdin};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use sabir_client::Gateway;
use sabir_compose::team::Speaker;

use super::chat::{Command, Ended, Screen, Typed, Typing};
use crate::archive::GatewayOptions;
use crate::gateway::Running;
use crate::input::Input;
use crate::{configuration, output, terminal};

use minutes::Minutes;
use room::Room;

/// Let agents and models talk with one another.
///
/// FILE names the members: who answers for each (`agent` or `model`), and its instructions. They
/// speak in turn, or as an answer says with [NEXT: name]; each is shown the team's task, the last
/// messages and the one to answer. All is one conversation, which is kept.
///
/// After so many rounds the user may speak; so after Ctrl-C, which stops the speaker. /go lets the
/// team go on. Without a terminal it ends there, and the task may come through a pipe.
///
/// Example:
///   sabir team review.toml --rounds 2 "Review the design in design.md"
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TeamCommand {
    /// The file that names the members
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// What the user says first; where the file has no task, it is the team's
    #[arg(value_name = "TASK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    task: Option<String>,

    /// How often each member speaks before the user does, about: it is so many answers for each
    #[arg(long, value_name = "N", default_value = "3")]
    rounds: NonZeroUsize,

    #[command(flatten)]
    place: GatewayOptions,
}

/// What lines with a slash do.
const HELP: &str = "\
/go     let the team go on
/quit   leave; so does Ctrl-D
A line is a message to whoever speaks next, or to whom it names with [NEXT: name]. Ctrl-C stops the speaker.";

impl TeamCommand {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let team = file::read(&self.file)?;
        let mut config = self.place.load()?;
        let found = crate::gateway::find(&config).is_some();
        let models = match found {
            true => casting::with_running(&team, &config)?,
            false => casting::with_own(&team, &mut config)?,
        };
        // The answers are on the terminal: a log would write over them.
        let log = configuration::names_log_level().then(|| sabir_gateway::start_log(&config.log));
        let running = Running::find_or_start(&config)?;
        let mut gateway = Gateway::new(&format!("http://{}", running.address()))?;
        if let Some(key) = self.place.key(&config) {
            gateway = gateway.with_key(key.expose())?;
        }
        let minutes = Minutes::new(running.forgets(&config));
        let room = Room::open(gateway, (team, models), minutes);
        let done = room.and_then(|room| Session::new(room, self.rounds)?.hold(self.task));
        running.end();
        log.inspect(|log| log.flush());
        done
    }
}

/// A team at work, with whoever watches.
struct Session {
    room: Room,
    screen: Screen,
    /// Where the user types, if there is a user.
    typing: Option<Typing>,
    /// How many answers there are before the user may speak.
    answers_max: usize,
}

/// What the user wants.
enum Wish {
    GoOn,
    Leave(ExitCode),
}

impl Session {
    fn new(room: Room, rounds: NonZeroUsize) -> Result<Self> {
        let typing = match stdin().is_terminal() {
            true => Some(Typing::new(Vec::new()).context("cannot read the terminal")?),
            false => None,
        };
        let answers_max = room.members().saturating_mul(rounds.get());
        Ok(Self { room, screen: Screen::of_dialogue(), typing, answers_max })
    }

    /// The whole of it, and where it is kept, however it ends.
    fn hold(mut self, task: Option<String>) -> Result<ExitCode> {
        let held = self.talk(task);
        if self.room.has_begun() {
            let kept = self.room.kept();
            self.screen.note(&kept)?;
        }
        held
    }

    /// Turn by turn, until the rounds are over and the user leaves.
    fn talk(&mut self, task: Option<String>) -> Result<ExitCode> {
        if let Wish::Leave(code) = self.open(task)? {
            return Ok(code);
        }
        let mut left = self.answers_max;
        loop {
            left = match self.room.next() {
                Speaker::Member(index) if left > 0 => self.answers_left(index, left)?,
                _ => match self.ask_user()? {
                    Wish::GoOn => self.answers_max,
                    Wish::Leave(code) => return Ok(code),
                },
            };
            if let Some(code) = self.room.left() {
                return Ok(code);
            }
        }
    }

    /// Has a member speak; whoever stops it wants to speak next.
    fn answers_left(&mut self, index: usize, left: usize) -> Result<usize> {
        match self.room.answer(index, &mut self.screen) {
            Ok(Ended::Whole) => Ok(left - 1),
            Ok(Ended::Stopped | Ended::Unanswered) => Ok(0),
            // At a terminal the user can say what to do about it.
            Err(error) if self.typing.is_some() && !output::is_closed_pipe(&error) => {
                self.screen.fail(&error)?;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// The first word is the user's.
    fn open(&mut self, task: Option<String>) -> Result<Wish> {
        let text = match (task, &self.typing) {
            (Some(task), _) => task,
            (None, Some(_)) => {
                self.screen.note(&format!("{} · /help", self.room.cast()))?;
                return self.ask_user();
            }
            (None, None) => Input::Stdin.text()?,
        };
        if text.trim().is_empty() {
            bail!(
                "there is nothing to talk about\n  try: sabir team FILE TASK, or write the task to standard input"
            );
        }
        self.room.take_word(text.trim_end(), &mut self.screen)?;
        Ok(Wish::GoOn)
    }

    /// Waits until the user says something, or lets the team go on.
    fn ask_user(&mut self) -> Result<Wish> {
        loop {
            let Some(typing) = &mut self.typing else { return Ok(Wish::Leave(ExitCode::SUCCESS)) };
            self.screen.end_line()?;
            match self.room.wait_for(typing)? {
                Typed::Message(text) => {
                    self.room.take_word(&text, &mut self.screen)?;
                    return Ok(Wish::GoOn);
                }
                Typed::Command(Command::Quit) | Typed::End => {
                    return Ok(Wish::Leave(ExitCode::SUCCESS));
                }
                Typed::Command(Command::Unknown(name)) if name == "go" && self.room.has_begun() => {
                    self.room.pass_over_user();
                    return Ok(Wish::GoOn);
                }
                Typed::Command(_) => self.screen.note(HELP)?,
                Typed::Nothing => {}
                Typed::Left(code) => {
                    terminal::leave_line();
                    return Ok(Wish::Leave(code));
                }
            }
        }
    }
}
