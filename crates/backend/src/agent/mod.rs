//! Agent CLIs as models: started, asked, read and ended. Each has a folder with the same file names: `drive` is its dialogue, `seed`
//! what it is told, `read` what it prints, `tools` the client's tools, `faults` how it fails, `isolate` what it must not load.

mod ansi;
mod answer;
mod claude;
mod codex;
mod faults;
mod folder;
mod gemini;
mod json;
mod leader;
mod plain;
mod process;
mod rest;
mod schema;
mod spawn;
mod speech;
mod suspend;
mod task;
#[cfg(test)]
mod tests;
mod version;
mod work;

pub use answer::{Answer, Patience};
pub use leader::settle;
pub use rest::Warmth;
pub use spawn::Program;
pub use task::{Digest, Permissions, Speaker, Task, Thread, Utterance, Workplace};
pub use version::ask_version;

use std::sync::Arc;

use bytes::Bytes;
use sabir_wire::Fault;
use tokio::sync::OnceCell;

use faults::Failed;
use rest::Lent;
use spawn::{Launch, Spawner};
use speech::Speech;
use suspend::Returned;

/// Which CLI it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Asked with a body of Messages.
    ClaudeCode,
    /// Asked with a body of Responses.
    OpenaiCodex,
    /// Asked with a body of Gemini's, or with a prompt where its command names an output format.
    GoogleGemini,
    /// Any program that reads a prompt and writes text.
    Plain,
}

impl Kind {
    /// Whether a CLI takes a conversation, or nothing but a prompt.
    pub fn takes_conversation(self, command: &[String]) -> bool {
        match self {
            Self::ClaudeCode | Self::OpenaiCodex => true,
            Self::GoogleGemini => !gemini::is_complete(command),
            Self::Plain => false,
        }
    }

    /// Whether the model of a CLI knows a tool of the client by another name than its own.
    pub fn renames(self, tool: &str) -> bool {
        match self {
            Self::OpenaiCodex => codex::is_kept(tool),
            Self::GoogleGemini => true,
            Self::ClaudeCode | Self::Plain => false,
        }
    }
}

/// What not every version of a CLI can.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// To be told a conversation as it was.
    pub replays: bool,
}

impl Default for Abilities {
    fn default() -> Self {
        Self { replays: true }
    }
}

/// An agent CLI that answers.
#[derive(Debug)]
pub struct Agent {
    kind: Kind,
    spawner: Arc<Spawner>,
    patience: Patience,
    abilities: OnceCell<Option<Abilities>>,
}

/// The name of the model that is the CLI's own choice.
pub const OWN_CHOICE: &str = "default";

/// Who asks for nothing but what a process can.
const NOBODY: (&str, Option<&Returned>) = ("", None);

impl Agent {
    pub fn new(kind: Kind, program: Program, patience: Patience, warmth: Warmth) -> Self {
        let spawner = Arc::new(Spawner::new(program, warmth));
        Self { kind, spawner, patience, abilities: OnceCell::new() }
    }

    /// Asks for an answer, in the form that the agent is asked in, for somebody. Dropping the answer, or this future, ends the process.
    pub async fn ask(
        &self,
        model: &str,
        body: Bytes,
        owner: &str,
    ) -> Result<Answer, Box<Fault<'static>>> {
        let chosen = Some(model).filter(|model| *model != OWN_CHOICE);
        let patience = self.patience;
        if self.works() {
            let agent = (self.kind, Arc::clone(&self.spawner));
            return work::begin(agent, chosen, body, patience).await;
        }
        match self.kind {
            Kind::Plain => {
                let (process, model) = (self.spawn(Launch::default()).await?, model.to_owned());
                Ok(Answer::new(patience, |sink| {
                    plain::drive(process, body, Speech::new(sink, model))
                }))
            }
            Kind::GoogleGemini if gemini::is_complete(&self.spawner.program().command) => {
                let (process, model) =
                    (self.spawn(gemini::launch_prompt()).await?, model.to_owned());
                Ok(Answer::new(patience, |sink| {
                    gemini::drive_prompt(process, body, Speech::new(sink, model))
                }))
            }
            Kind::GoogleGemini => {
                let question = gemini::question(&body)?;
                let lent = self.lend(gemini::launch(chosen), (owner, None)).await?;
                let model = model.to_owned();
                Ok(Answer::new(patience, |sink| {
                    gemini::drive(lent, question, Speech::new(sink, model))
                }))
            }
            Kind::ClaudeCode => {
                let question = claude::question(&body)?;
                let launch = claude::launch(&question, chosen);
                let launch = claude::apart(launch, &self.spawner).await;
                let lent = self.lend(launch, (owner, question.returned().as_ref())).await?;
                Ok(Answer::new(patience, |sink| claude::drive(lent, question, sink)))
            }
            Kind::OpenaiCodex => {
                let question = codex::question(&body, self.abilities())?;
                let returned = question.returned();
                let lent = self.lend(codex::launch(chosen), (owner, returned.as_ref())).await?;
                let model = chosen.map(str::to_owned);
                Ok(Answer::new(patience, |sink| codex::drive(lent, question, model, sink)))
            }
        }
    }

    /// Whether it works with its own tools. It is asked with a [`Task`] then.
    pub fn works(&self) -> bool {
        self.spawner.program().workplace.is_some()
    }

    /// What the CLI can that is started for a model: it is asked once, by a process that then waits for the call.
    pub async fn probe(&self, model: &str) -> Abilities {
        if self.works() {
            return Abilities::default();
        }
        let probe = async {
            let chosen = Some(model).filter(|model| *model != OWN_CHOICE);
            std::io::Result::Ok(match self.kind {
                Kind::GoogleGemini if !gemini::is_complete(&self.spawner.program().command) => {
                    gemini::probe(self.spawner.lend(gemini::launch(chosen), NOBODY).await?).await
                }
                Kind::OpenaiCodex => {
                    codex::probe(self.spawner.lend(codex::launch(chosen), NOBODY).await?).await
                }
                Kind::GoogleGemini | Kind::ClaudeCode | Kind::Plain => None,
            })
        };
        // One that did not even start may be there the next time, and is asked again.
        let probe = self.abilities.get_or_try_init(|| async {
            tokio::time::timeout(self.patience.first_event, probe).await.unwrap_or(Ok(None))
        });
        // One that did not even answer is asked as if it could all: it fails by itself, or not.
        probe.await.ok().copied().flatten().unwrap_or_default()
    }

    /// What it is known to be able to.
    pub fn abilities(&self) -> Abilities {
        self.abilities.get().copied().flatten().unwrap_or_default()
    }

    /// Ends the processes that wait for calls; none waits again.
    pub fn close(&self) {
        self.spawner.close();
    }

    /// The version of the CLI, once a process has stated it.
    pub fn version(&self) -> Option<String> {
        self.spawner.version()
    }

    async fn lend(&self, launch: Launch, from: (&str, Option<&Returned>)) -> Result<Lent, Failed> {
        self.spawner.lend(launch, from).await.map_err(|error| self.unstarted(&error))
    }

    async fn spawn(&self, launch: Launch) -> Result<process::Process, Failed> {
        self.spawner.spawn(launch).await.map_err(|error| self.unstarted(&error))
    }

    fn unstarted(&self, error: &std::io::Error) -> Failed {
        faults::unstarted(self.spawner.name(), error)
    }
}
