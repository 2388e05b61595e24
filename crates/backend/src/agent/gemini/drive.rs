//! The dialogue with Gemini CLI by its protocol for editors: a session is taken up where the conversation stands, asked, and listened to
//! until the model's first answer is there. Where that has calls, the session is cancelled before the CLI runs any.

use std::fs;

use sabir_wire::FaultKind;
use sabir_wire::conversation::{Count, Counts, FinishKind};
use sabir_wire::json::{Json, Writer};

use super::faults;
use super::read::{Line, Update, unframed};
use super::record;
use super::seed::Question;
use super::talk::{Talk, in_folder};
use super::tools::{Server, called};
use crate::agent::Abilities;
use crate::agent::faults::{Failed, fault, silent, unreadable};
use crate::agent::rest::{Bed, Lent};
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
    dialogue.talk.server = server;
    if number == 0 {
        let (_, version) = dialogue.talk.introduce().await?;
        dialogue.bed.states_version(version);
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
    let (abilities, version) = dialogue.talk.introduce().await.ok()?;
    dialogue.bed.states_version(version);
    dialogue.bed.rest(dialogue.talk.process);
    Some(abilities)
}

struct Dialogue {
    talk: Talk,
    bed: Bed,
    question: Question,
    /// Whether the turn was cancelled because of its calls.
    is_stopped: bool,
}

/// How a turn ended.
struct Ending {
    reason: String,
    counts: Option<Counts>,
}

impl Dialogue {
    fn new(Lent { process, bed, .. }: Lent, question: Question) -> Self {
        Self { talk: Talk::new(process), bed, question, is_stopped: false }
    }

    /// Begins a session, or takes one up whose record was just written.
    async fn open(&mut self, number: u64) -> Result<(), Failed> {
        let updates = self.question.updates();
        let session = format!("{number:08x}-0000-4000-8000-000000000000");
        let record = (updates > 0).then(|| self.question.record(&session));
        let (system, written) = (self.question.system().to_owned(), session.clone());
        in_folder(self.talk.process.folder().to_owned(), move |folder| {
            fs::write(folder.join(super::isolate::SYSTEM), system)?;
            record.map_or(Ok(()), |record| record::write(folder, &written, &record))
        })
        .await?;
        let folder = self.talk.process.folder().join("work");
        let known = (updates > 0).then_some((session.as_str(), updates));
        self.talk.open(known, &folder).await
    }

    async fn ask(&mut self, speech: &mut Speech) -> Result<Ending, Failed> {
        let request = self.talk.prompt(self.question.prompt());
        loop {
            let bytes = self.talk.next().await?;
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
                self.talk.decline(id);
            }
            match line.update(&self.talk.session).filter(|_| !self.is_stopped) {
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
                it.object_field("params", |it| it.field("sessionId", &self.talk.session));
            });
            self.talk.process.send_line(&writer.into_string());
        }
    }

    async fn finish(self, ending: Ending, mut speech: Speech) -> Result<(), Failed> {
        let session = self.talk.session.clone();
        let answered = in_folder(self.talk.process.folder().to_owned(), move |folder| {
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
        self.bed.rest(self.talk.process);
        speech.finish(kind, counts);
        Ok(())
    }
}

pub(super) fn broken_off() -> Failed {
    fault(FaultKind::Truncated, "the answer of the agent's model broke off")
}
