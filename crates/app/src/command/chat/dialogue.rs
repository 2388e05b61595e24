//! The turns of a conversation: asked of the gateway, which keeps them, or kept here where it keeps nothing.

use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use sabir_client::{Client, ErrorKind, Gateway, Message, Page, Role, Stream};
use tokio::runtime::Runtime;

use super::screen::Screen;

pub(super) struct Dialogue {
    gateway: Gateway,
    runtime: Runtime,
    memory: Memory,
    pub(super) model: String,
    /// Instructions that the next turn brings with it.
    pub(super) system: Option<String>,
    /// What was said before this program began.
    earlier: Vec<Message>,
}

/// Who remembers what was said.
enum Memory {
    /// The gateway, under this id once it has one.
    Gateway(Option<String>),
    /// Nobody but this program.
    Here { messages: Vec<Message>, reason: String },
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Whole,
    /// The user stopped the answer: what came is kept.
    Stopped,
    /// The user stopped before anything came: nothing is kept of the turn.
    Unanswered,
}

/// A call that meets the end of the one before is sent again so often, after so long: the gateway closes a turn that was stopped
/// within some milliseconds.
const TRIES_MAX: u32 = 20;
const BETWEEN_TRIES: Duration = Duration::from_millis(100);

impl Dialogue {
    /// Goes on with a conversation, or begins one.
    pub(super) fn begin(gateway: Gateway, conversation: Option<String>) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let kept =
            runtime.block_on(gateway.conversations(&Page { limit: Some(1), ..Page::default() }));
        let memory = match kept {
            Ok(_) => Memory::Gateway(conversation),
            Err(error) if error.kind() == ErrorKind::Refused && conversation.is_none() => {
                Memory::Here { messages: Vec::new(), reason: error.to_string() }
            }
            Err(error) if error.kind() == ErrorKind::Authentication => {
                bail!("{error}\n  try: give the gateway's key with --key or $SABIR_KEY")
            }
            Err(error) => return Err(error.into()),
        };
        let mut dialogue = Self {
            gateway,
            runtime,
            memory,
            model: String::new(),
            system: None,
            earlier: Vec::new(),
        };
        dialogue.earlier = dialogue.transcript()?;
        Ok(dialogue)
    }

    /// What is kept of the conversation; a name that nobody has given yet is a new one's.
    fn transcript(&self) -> Result<Vec<Message>> {
        let Memory::Gateway(Some(id)) = &self.memory else { return Ok(Vec::new()) };
        match self.runtime.block_on(self.gateway.transcript(id)) {
            Ok(transcript) => {
                Ok(transcript.messages().iter().map(|it| it.message().clone()).collect())
            }
            Err(error) if error.kind() == ErrorKind::NotFound && !id.starts_with("conv_") => {
                Ok(Vec::new())
            }
            Err(error) => Err(error).context("the conversation cannot be continued"),
        }
    }

    pub(super) fn id(&self) -> Option<&str> {
        match &self.memory {
            Memory::Gateway(id) => id.as_deref(),
            Memory::Here { .. } => None,
        }
    }

    /// Why nothing is kept, if nothing is.
    pub(super) fn unkept(&self) -> Option<&str> {
        match &self.memory {
            Memory::Gateway(_) => None,
            Memory::Here { reason, .. } => Some(reason),
        }
    }

    pub(super) fn earlier(&self) -> &[Message] {
        &self.earlier
    }

    /// What the user typed in it before.
    pub(super) fn typed_before(&self) -> Vec<String> {
        let users = self.earlier.iter().filter(|message| message.role == Role::User);
        users.map(|message| message.content.clone()).collect()
    }

    /// Who answered last.
    pub(super) fn last_model(&self) -> Option<String> {
        let turns = self.runtime.block_on(self.gateway.turns(self.id()?)).ok()?;
        let last = turns.into_iter().rev().find(|turn| turn.model.is_some())?;
        Some(format!("{}/{}", last.provider?, last.model?))
    }

    pub(super) fn models(&self) -> Result<Vec<String>> {
        Ok(self.runtime.block_on(self.gateway.models())?)
    }

    /// All that was said.
    pub(super) fn history(&self) -> Result<Vec<Message>> {
        match &self.memory {
            Memory::Gateway(_) => self.transcript(),
            Memory::Here { messages, .. } => Ok(messages.clone()),
        }
    }

    /// Goes on in a copy.
    pub(super) fn fork(&mut self) -> Result<String> {
        let Some(id) = self.id() else { bail!("nothing is kept that could be forked") };
        let forked = self.runtime.block_on(self.gateway.fork(id, None))?;
        self.memory = Memory::Gateway(Some(forked.id.clone()));
        Ok(forked.id)
    }

    /// One turn: what the user says, and the answer as it comes.
    pub(super) fn send(&mut self, text: &str, screen: &mut Screen) -> Result<Ended> {
        let new = self.system.iter().map(Message::system).chain([Message::user(text)]);
        let new: Vec<Message> = new.collect();
        let client = self.client()?;
        let messages: Vec<Message> = match &self.memory {
            Memory::Gateway(_) => new.clone(),
            Memory::Here { messages, .. } => messages.iter().chain(&new).cloned().collect(),
        };
        let turn = Turn { client: &client, messages: &messages };
        let (ended, stream) = self.runtime.block_on(turn.run(screen))?;
        let Some(stream) = stream else { return ended };
        // Nothing is kept of it, wherever it was to be kept.
        if matches!(ended, Ok(Ended::Unanswered)) {
            return ended;
        }
        self.system = None;
        if stream.head().header("sabir-compacted").is_some() {
            screen.note("[the oldest turns are summarised from here on]")?;
        }
        match &mut self.memory {
            Memory::Gateway(id) => {
                *id = stream.head().conversation().map(str::to_owned).or(id.take());
            }
            Memory::Here { messages, .. } => {
                messages.extend(new);
                messages.push(stream.into_answer().reply.into_message());
            }
        }
        ended
    }

    fn client(&self) -> Result<Client> {
        let client = self.gateway.client(self.model.as_str());
        Ok(match &self.memory {
            Memory::Gateway(id) => client.with_conversation(id.as_deref().unwrap_or("new"))?,
            Memory::Here { .. } => client,
        })
    }
}

/// A question on its way.
struct Turn<'d> {
    client: &'d Client,
    messages: &'d [Message],
}

impl Turn<'_> {
    /// Asks and shows. Dropping the stream that comes back, if it did not end, has the gateway stop.
    async fn run(&self, screen: &mut Screen) -> Result<(Result<Ended>, Option<Stream>)> {
        let mut stop = pin!(tokio::signal::ctrl_c());
        let mut stream = tokio::select! {
            stream = self.ask() => stream?,
            _ = &mut stop => return Ok((Ok(Ended::Unanswered), None)),
        };
        let mut has_begun = false;
        loop {
            let event = tokio::select! {
                event = stream.next() => event,
                _ = &mut stop => {
                    let ended = if has_begun { Ended::Stopped } else { Ended::Unanswered };
                    return Ok((Ok(ended), Some(stream)));
                }
            };
            match event {
                Ok(Some(event)) => {
                    has_begun = true;
                    screen.show(&event)?;
                }
                Ok(None) => return Ok((Ok(Ended::Whole), Some(stream))),
                Err(error) => return Ok((Err(error.into()), Some(stream))),
            }
        }
    }

    async fn ask(&self) -> sabir_client::Result<Stream> {
        let mut tries = 1;
        loop {
            match self.client.stream(self.messages, &[]).await {
                Err(error) if error.code() == Some("conversation_locked") && tries < TRIES_MAX => {
                    tries += 1;
                    tokio::time::sleep(BETWEEN_TRIES).await;
                }
                outcome => return outcome,
            }
        }
    }
}
