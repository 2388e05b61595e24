//! The dialogue with Gemini CLI by its protocol for editors: a session is taken up where the conversation stands, asked, and listened to
//! until the model's first answer is there. Where that has calls, the session is cancelled before the CLI runs any.

use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::{fs, io};

use sabir_wire::FaultKind;
use sabir_wire::conversation::{Count, Counts, FinishKind};
use sabir_wire::json::{Json, Writer};

use super::faults;
use super::read::{Line, Update, unframed};
use super::record;
use super::seed::Question;
use super::tools::{Server, called};
use crate::agent::Abilities;
use crate::agent::faults::{Failed, fault, silent, unreadable};
use crate::agent::rest::Lent;
use crate::agent::speech::Speech;

pub(in crate::agent) async fn drive(
    lent: Lent,
    question: Question,
    mut speech: Speech,
) -> Result<(), Failed> {
    let server = match question.tools.is_empty() {
        true => None,
        false => Some(Server::start(&question.tools).await.map_err(|error| unreadable(&error))?),
    };
    let number = u64::from(lent.process.uses());
    let mut dialogue = Dialogue::new(lent, question);
    dialogue.server = server;
    if number == 0 {
        dialogue.introduce().await?;
    }
    dialogue.open(number).await?;
    let ending = dialogue.ask(&mut speech).await?;
    dialogue.finish(ending, speech).await
}

/// What a process says that it can. It then waits for a call.
pub(in crate::agent) async fn probe(lent: Lent) -> Option<Abilities> {
    if lent.process.uses() > 0 {
        return None;
    }
    let mut dialogue = Dialogue::new(lent, Question::default());
    let abilities = dialogue.introduce().await.ok()?;
    dialogue.lent.rest();
    Some(abilities)
}

struct Dialogue {
    lent: Lent,
    question: Question,
    server: Option<Server>,
    session: String,
    /// The number of our last request.
    request: u64,
    /// Whether the turn was cancelled because of its calls.
    is_stopped: bool,
}

/// What matters of the answer to a request.
struct Answered {
    session: Option<String>,
    replays: bool,
}

/// How a turn ended.
struct Ending {
    reason: String,
    counts: Option<Counts>,
}

impl Dialogue {
    fn new(lent: Lent, question: Question) -> Self {
        let request = u64::from(lent.process.uses()) << 8;
        Self { lent, question, server: None, session: String::new(), request, is_stopped: false }
    }

    async fn introduce(&mut self) -> Result<Abilities, Failed> {
        let request = self.send("initialize", |it, _| {
            it.field("protocolVersion", &1_u64);
            it.object_field("clientCapabilities", |_| {});
        });
        let Answered { replays, .. } = self.answered(request, 0).await?;
        Ok(Abilities { replays })
    }

    /// Begins a session, or takes one up whose record was just written.
    async fn open(&mut self, number: u64) -> Result<(), Failed> {
        let updates = self.question.updates();
        let session = format!("{number:08x}-0000-4000-8000-000000000000");
        let record = (updates > 0).then(|| self.question.record(&session));
        let (system, written) = (self.question.system().to_owned(), session.clone());
        on_disk(self.lent.process.folder().to_owned(), move |folder| {
            fs::write(folder.join(super::isolate::SYSTEM), system)?;
            record.map_or(Ok(()), |record| record::write(folder, &written, &record))
        })
        .await?;
        let method = if updates > 0 { "session/load" } else { "session/new" };
        let folder = self.lent.process.folder().join("work");
        self.session = session;
        let request = self.send(method, |it, dialogue| {
            if updates > 0 {
                it.field("sessionId", &dialogue.session);
            }
            it.field("cwd", &*folder.to_string_lossy());
            it.array_field("mcpServers", |it| {
                dialogue.server.iter().for_each(|server| server.write(it));
            });
        });
        if let Some(begun) = self.answered(request, updates).await?.session {
            self.session = begun;
        }
        Ok(())
    }

    async fn ask(&mut self, speech: &mut Speech) -> Result<Ending, Failed> {
        let request = self.send("session/prompt", |it, dialogue| {
            it.field("sessionId", &dialogue.session);
            it.key("prompt");
            dialogue.question.write_prompt(it);
        });
        loop {
            let bytes = self.next().await?;
            let Ok(line) = Line::read(&bytes) else { continue };
            if line.answers() == Some(request) {
                if let Some(error) = &line.error {
                    return Err(faults::refused(error));
                }
                let reason = line.stated("stopReason").unwrap_or_default();
                return Ok(Ending { reason, counts: line.counts() });
            }
            if let Some((id, _)) = line.asks() {
                // It asks before it runs a tool.
                self.stop();
                self.decline(id);
            }
            match line.update(&self.session).filter(|_| !self.is_stopped) {
                Some(Update::Text(text)) => speech.push(text).await,
                Some(Update::Thought(thought)) => speech.think(unframed(&thought)).await,
                // It could not even ask: the call does not fit its schema.
                Some(Update::Call) => self.stop(),
                Some(Update::User | Update::Other) | None => {}
            }
        }
    }

    /// Cancels the turn: its calls are the client's to answer.
    fn stop(&mut self) {
        if !std::mem::replace(&mut self.is_stopped, true) {
            let mut writer = Writer::default();
            writer.object(|it| {
                it.field("jsonrpc", "2.0");
                it.field("method", "session/cancel");
                it.object_field("params", |it| it.field("sessionId", &self.session));
            });
            self.lent.process.send_line(&writer.into_string());
        }
    }

    /// Fails a question of the CLI. What failed it records, and what was refused it does not.
    fn decline(&mut self, id: &Json<'_>) {
        let mut writer = Writer::default();
        writer.object(|it| {
            it.field("jsonrpc", "2.0");
            it.field("id", id);
            it.object_field("error", |it| {
                it.field("code", &-32601_i64);
                it.field("message", "the client answers");
            });
        });
        self.lent.process.send_line(&writer.into_string());
    }

    async fn finish(self, ending: Ending, mut speech: Speech) -> Result<(), Failed> {
        let session = self.session.clone();
        let answered = on_disk(self.lent.process.folder().to_owned(), move |folder| {
            let answered = record::read(folder, &session);
            record::clear(folder);
            answered
        });
        let record::Answered { calls, counts } = answered.await?;
        let counts = counts.or(ending.counts);
        let kind = match (self.is_stopped, ending.reason.as_str()) {
            (true, _) if calls.is_empty() => return Err(silent()),
            (true, _) => FinishKind::ToolCalls,
            // A window that would overflow is the one limit that it keeps itself.
            (false, "max_tokens") if !speech.has_begun() => {
                let message = "the conversation does not fit the window of the agent's model";
                return Err(fault(FaultKind::ContextTooLong, message));
            }
            (false, "max_tokens" | "max_turn_requests") => FinishKind::Length,
            (false, "refusal") => FinishKind::Refusal,
            // An answer that broke off ends like any other, but has no count.
            (false, _) if counts.as_ref().is_none_or(|it| it[Count::Output].unwrap_or(0) == 0) => {
                return Err(broken_off());
            }
            (false, _) => FinishKind::Stop,
        };
        for call in calls.iter().filter(|_| self.is_stopped) {
            if let Ok(arguments) = Json::parse(&*call.arguments) {
                let (name, arguments) = called(&self.question.tools, &call.name, &arguments);
                speech.call(call.id.clone(), name, arguments);
            }
        }
        self.lent.rest();
        speech.finish(kind, counts);
        Ok(())
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
        self.lent.process.send_line(&writer.into_string());
        self.request
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
                answer = Some(Answered { session, replays: line.takes_up_sessions() });
            }
            let update = line.update(&self.session);
            let is_history = update.is_some_and(|update| update != Update::Other);
            updates = updates.saturating_sub(usize::from(is_history));
        }
    }

    /// The next line, while the client's tools are listed to whoever asks.
    async fn next(&mut self) -> Result<Vec<u8>, Failed> {
        let (process, server) = (&mut self.lent.process, &mut self.server);
        let line = poll_fn(|cx| {
            server.iter_mut().for_each(|server| server.poll(cx));
            process.poll_line(cx)
        });
        match line.await.map_err(|error| unreadable(&error))? {
            Some(line) => Ok(line),
            None => {
                let code = self.lent.process.exit().await;
                Err(faults::unfinished(code, &self.lent.process.complaint()))
            }
        }
    }
}

/// Does something in the folder of a process, where nobody who serves waits for it.
async fn on_disk<T: Send + 'static>(
    folder: PathBuf,
    work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T, Failed> {
    let done = tokio::task::spawn_blocking(move || work(&folder)).await;
    let done = done.map_err(io::Error::other).and_then(|done| done);
    done.map_err(|error| {
        fault(FaultKind::Internal, format!("the agent's folder cannot be used: {}", error.kind()))
    })
}

fn broken_off() -> Failed {
    fault(FaultKind::Truncated, "the answer of the agent's model broke off")
}
