//! Requests to Gemini CLI and its answers, a line each, in one session.

use std::future::poll_fn;
use std::io;
use std::path::{Path, PathBuf};

use sabir_wire::FaultKind;
use sabir_wire::json::{Json, Writer};

use super::faults;
use super::read::{Line, Update};
use super::tools::Server;
use crate::agent::Abilities;
use crate::agent::faults::{Failed, fault, unreadable};
use crate::agent::folder::on_disk;
use crate::agent::process::Process;

/// A process that is spoken to.
pub(super) struct Talk {
    pub(super) process: Process,
    /// The client's tools, where there are any.
    pub(super) server: Option<Server>,
    pub(super) session: String,
    /// The number of our last request.
    request: u64,
}

/// What matters of the answer to a request.
pub(super) struct Answered {
    pub(super) session: Option<String>,
    replays: bool,
    version: Option<String>,
}

impl Talk {
    pub(super) fn new(process: Process) -> Self {
        let request = u64::from(process.uses()) << 8;
        Self { process, server: None, session: String::new(), request }
    }

    /// Introduces us: what the process can, and the version that it states.
    pub(super) async fn introduce(&mut self) -> Result<(Abilities, Option<String>), Failed> {
        let request = self.send("initialize", |it, _| {
            it.field("protocolVersion", &1_u64);
            it.object_field("clientCapabilities", |_| {});
        });
        let Answered { replays, version, .. } = self.answered(request, 0).await?;
        Ok((Abilities { replays }, version))
    }

    /// Begins a session in a folder, or takes one up, of which so many updates come before anything else.
    pub(super) async fn open(
        &mut self,
        known: Option<(&str, usize)>,
        folder: &Path,
    ) -> Result<(), Failed> {
        let method = if known.is_some() { "session/load" } else { "session/new" };
        self.session = known.map_or_else(String::new, |(session, _)| session.to_owned());
        let request = self.send(method, |it, talk| {
            if known.is_some() {
                it.field("sessionId", &talk.session);
            }
            it.field("cwd", &*folder.to_string_lossy());
            it.array_field("mcpServers", |it| {
                talk.server.iter().for_each(|server| server.write(it));
            });
        });
        let updates = known.map_or(0, |(_, updates)| updates);
        if let Some(begun) = self.answered(request, updates).await?.session {
            self.session = begun;
        }
        Ok(())
    }

    /// Sends a prompt, and returns the number of the request.
    pub(super) fn prompt(&mut self, text: &str) -> u64 {
        self.send("session/prompt", |it, talk| {
            it.field("sessionId", &talk.session);
            it.array_field("prompt", |it| {
                it.object(|it| {
                    it.field("type", "text");
                    it.field("text", text);
                });
            });
        })
    }

    /// Sends a request, and returns its number.
    fn send(&mut self, method: &str, params: impl FnOnce(&mut Writer, &Self)) -> u64 {
        self.request += 1;
        let mut writer = Writer::default();
        writer.object(|it| {
            it.field("jsonrpc", "2.0");
            it.field("id", &self.request);
            it.field("method", method);
            it.object_field("params", |it| params(it, self));
        });
        self.process.send_line(&writer.into_string());
        self.request
    }

    /// Fails a question of the CLI. What failed it records, and what was refused it does not.
    pub(super) fn decline(&mut self, id: &Json<'_>) {
        let mut writer = Writer::default();
        writer.object(|it| {
            it.field("jsonrpc", "2.0");
            it.field("id", id);
            it.object_field("error", |it| {
                it.field("code", &-32601_i64);
                it.field("message", "the client answers");
            });
        });
        self.process.send_line(&writer.into_string());
    }

    /// Waits for the answer to a request and for so many updates of the history.
    async fn answered(&mut self, request: u64, mut updates: usize) -> Result<Answered, Failed> {
        let mut answer = None;
        loop {
            if let Some(answer) = answer.take_if(|_| updates == 0) {
                return Ok(answer);
            }
            let bytes = self.next().await?;
            let Ok(line) = Line::read(&bytes) else { continue };
            if line.answers() == Some(request) {
                if let Some(error) = &line.error {
                    return Err(faults::refused(error));
                }
                let session = line.stated("sessionId");
                let (replays, version) = (line.takes_up_sessions(), line.version());
                answer = Some(Answered { session, replays, version });
            }
            let update = line.update(&self.session);
            let is_history = update.is_some_and(|update| update != Update::Other);
            updates = updates.saturating_sub(usize::from(is_history));
        }
    }

    /// The next line, while the client's tools are listed to whoever asks.
    pub(super) async fn next(&mut self) -> Result<Vec<u8>, Failed> {
        let (process, server) = (&mut self.process, &mut self.server);
        let line = poll_fn(|cx| {
            server.iter_mut().for_each(|server| server.poll(cx));
            process.poll_line(cx)
        });
        match line.await.map_err(|error| unreadable(&error))? {
            Some(line) => Ok(line),
            None => {
                let code = self.process.exit().await;
                Err(faults::unfinished(code, &self.process.complaint()))
            }
        }
    }
}

/// Does something in a folder, where nobody who serves waits for it.
pub(super) async fn in_folder<T: Send + 'static>(
    folder: PathBuf,
    work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T, Failed> {
    on_disk(move || work(&folder)).await.map_err(|error| {
        fault(FaultKind::Internal, format!("the agent's folder cannot be used: {}", error.kind()))
    })
}
