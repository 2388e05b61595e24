//! Agent CLIs where processes have no groups: the same face, and nobody behind it.

#[path = "task.rs"]
mod task;

pub use task::{Digest, Permissions, Speaker, Task, Thread, Utterance, Workplace};

use std::io;
use std::path::PathBuf;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use sabir_wire::json::Text;
use sabir_wire::protocol::Event;
use sabir_wire::{Fault, FaultKind};

use crate::Secret;

/// Which CLI it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    ClaudeCode,
    OpenaiCodex,
    GoogleGemini,
    Plain,
}

/// A program and what all its processes have in common.
#[derive(Debug)]
pub struct Program {
    pub command: Vec<String>,
    pub environment: Vec<(String, Secret)>,
    pub login: Option<PathBuf>,
    pub folders: PathBuf,
    pub processes_max: usize,
    pub workplace: Option<Workplace>,
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    pub first_event: Duration,
    pub deadline: Duration,
}

/// How many processes wait for calls, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Warmth {
    pub processes: usize,
    pub idle: Duration,
}

impl Kind {
    pub fn takes_conversation(self, _command: &[String]) -> bool {
        matches!(self, Self::ClaudeCode | Self::OpenaiCodex)
    }

    pub fn renames(self, _tool: &str) -> bool {
        false
    }
}

/// The name of the model that is the CLI's own choice.
pub const OWN_CHOICE: &str = "default";

/// What not every version of a CLI can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    pub replays: bool,
}

/// An agent CLI that cannot be asked.
#[derive(Debug)]
pub struct Agent;

/// Events, of which there are none.
#[derive(Debug)]
pub struct Answer;

impl Agent {
    pub fn new(_kind: Kind, _program: Program, _patience: Patience, _warmth: Warmth) -> Self {
        Self
    }

    pub async fn ask(
        &self,
        _model: &str,
        _body: Bytes,
        _owner: &str,
    ) -> Result<Answer, Box<Fault<'static>>> {
        let message = Text::literal("agent CLIs are models on Unix systems only");
        Err(Box::new(Fault::new(FaultKind::Internal, message)))
    }
}

impl Agent {
    pub fn close(&self) {}

    pub fn version(&self) -> Option<String> {
        None
    }

    pub fn works(&self) -> bool {
        false
    }

    pub async fn probe(&self, _model: &str) -> Abilities {
        self.abilities()
    }

    pub fn abilities(&self) -> Abilities {
        Abilities { replays: false }
    }
}

impl Answer {
    pub fn poll_events(
        &mut self,
        _cx: &mut Context<'_>,
        _take: &mut dyn FnMut(Event<'static>),
    ) -> Poll<Option<()>> {
        Poll::Ready(None)
    }
}

/// Asks nobody.
pub async fn ask_version(_program: Program, _patience: Duration) -> io::Result<Option<String>> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Waits for nobody.
pub fn settle(_patience: Duration) {}
