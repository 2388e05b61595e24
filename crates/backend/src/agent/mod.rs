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
mod spawn;
mod speech;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Patience};
pub use leader::settle;
pub use spawn::Program;

use bytes::Bytes;
use sabir_wire::Fault;

use faults::Failed;
use spawn::{Launch, Spawner};
use speech::Speech;

/// Which CLI it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Asked with a body of Messages.
    ClaudeCode,
    /// Asked with a body of Responses.
    OpenaiCodex,
    /// Asked with a prompt.
    GoogleGemini,
    /// Any program that reads a prompt and writes text.
    Plain,
}

/// An agent CLI that answers, a process for each call.
#[derive(Debug)]
pub struct Agent {
    kind: Kind,
    spawner: Spawner,
    patience: Patience,
}

/// The name of the model that is the CLI's own choice.
pub const OWN_CHOICE: &str = "default";

impl Agent {
    pub fn new(kind: Kind, program: Program, patience: Patience) -> Self {
        Self { kind, spawner: Spawner::new(program), patience }
    }

    /// Asks for an answer, in the form that the agent is asked in. Dropping the answer, or this future, ends the process.
    pub async fn ask(&self, model: &str, body: Bytes) -> Result<Answer, Box<Fault<'static>>> {
        let chosen = Some(model).filter(|model| *model != OWN_CHOICE);
        let patience = self.patience;
        match self.kind {
            Kind::Plain => {
                let (process, model) = (self.spawn(Launch::default()).await?, model.to_owned());
                Ok(Answer::new(patience, |sink| {
                    plain::drive(process, body, Speech::new(sink, model))
                }))
            }
            Kind::GoogleGemini => {
                let launch = gemini::launch(self.spawner.program(), chosen);
                let (process, model) = (self.spawn(launch).await?, model.to_owned());
                Ok(Answer::new(patience, |sink| {
                    gemini::drive(process, body, Speech::new(sink, model))
                }))
            }
            Kind::ClaudeCode => {
                let question = claude::question(&body)?;
                let process =
                    self.spawn(claude::launch(self.spawner.program(), &question, chosen)).await?;
                Ok(Answer::new(patience, |sink| claude::drive(process, question, sink)))
            }
            Kind::OpenaiCodex => {
                let question = codex::question(&body)?;
                let process = self.spawn(codex::launch(chosen)).await?;
                let model = chosen.map(str::to_owned);
                Ok(Answer::new(patience, |sink| codex::drive(process, question, model, sink)))
            }
        }
    }

    async fn spawn(&self, launch: Launch) -> Result<process::Process, Failed> {
        let spawned = self.spawner.spawn(launch).await;
        spawned.map_err(|error| faults::unstarted(self.spawner.name(), &error))
    }
}
