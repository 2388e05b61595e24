//! The turns of a conversation: asked of the gateway, which keeps them, or kept here where it keeps nothing.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use sabir_client::{Client, ErrorKind, Gateway, Head, Message, Page, Role};
use tokio::runtime::Runtime;

use super::leaving::Leaving;
use super::screen::Screen;
use super::turn::{BETWEEN_TRIES, Ended, TRIES_MAX, Turn, stopped};
use super::typing::{Typed, Typing};

pub(super) struct Dialogue {
    gateway: Gateway,
    runtime: Runtime,
    leaving: Leaving,
    memory: Memory,
    pub(super) model: String,
    /// Instructions that the next turn brings with it.
    pub(super) system: Option<String>,
    /// What was said before this program began.
    earlier: Vec<Message>,
    /// The name that nobody serves and that the user has been told of.
    unserved: Option<String>,
    /// Whether the last answer was stopped, so that the gateway may still be about to close its turn.
    was_stopped: bool,
}

/// Who remembers what was said.
enum Memory {
    /// The gateway, under this id once it has one.
    Gateway(Option<String>),
    /// Nobody but this program.
    Here { messages: Vec<Message>, reason: String },
}

impl Dialogue {
    /// Goes on with a conversation, or begins one. `unkept` says why the gateway keeps it for as long as this program runs
    /// only, if so.
    pub(super) fn begin(
        gateway: Gateway,
        conversation: Option<String>,
        unkept: Option<String>,
    ) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let leaving = runtime.block_on(async { Leaving::listen() })?;
        let kept =
            runtime.block_on(gateway.conversations(&Page { limit: Some(1), ..Page::default() }));
        let unkept = match kept {
            Ok(_) => unkept,
            Err(error) if error.kind() == ErrorKind::Refused => Some(error.to_string()),
            Err(error) if error.kind() == ErrorKind::Authentication => {
                bail!("{error}\n  try: give the gateway's key with --key or $SABIR_KEY")
            }
            Err(error) => return Err(error.into()),
        };
        let memory = match (unkept, conversation) {
            (None, conversation) => Memory::Gateway(conversation),
            (Some(reason), None) => Memory::Here { messages: Vec::new(), reason },
            (Some(reason), Some(id)) => bail!("{id} cannot be continued or begun: {reason}"),
        };
        let mut dialogue = Self {
            gateway,
            runtime,
            leaving,
            memory,
            model: String::new(),
            system: None,
            earlier: Vec::new(),
            unserved: None,
            was_stopped: false,
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
            Err(error) if error.kind() == ErrorKind::NotFound && is_name(id) => Ok(Vec::new()),
            Err(error) if error.kind() == ErrorKind::NotFound && !id.starts_with("conv_") => {
                bail!("a name for a conversation has up to 64 letters, digits, `_` and `-`")
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
        let last = self.turns().into_iter().rev().find(|turn| turn.model.is_some())?;
        Some(format!("{}/{}", last.provider?, last.model?))
    }

    /// How its last turn ended, as the gateway says it.
    pub(super) fn last_status(&self) -> Option<String> {
        self.turns().pop().map(|turn| turn.status)
    }

    fn turns(&self) -> Vec<sabir_client::Turn> {
        let turns = |id| self.runtime.block_on(self.gateway.turns(id)).ok();
        self.id().and_then(turns).unwrap_or_default()
    }

    pub(super) fn models(&self) -> Result<Vec<String>> {
        Ok(self.runtime.block_on(self.gateway.models())?)
    }

    /// All that was said.
    pub(super) fn history(&self) -> Result<Vec<Message>> {
        self.settle();
        match &self.memory {
            Memory::Gateway(_) => self.transcript(),
            Memory::Here { messages, .. } => Ok(messages.clone()),
        }
    }

    /// The instructions that the next turn goes by.
    pub(super) fn instructions(&self) -> Result<Option<String>> {
        if let Some(text) = &self.system {
            return Ok(Some(text.clone()));
        }
        let history = self.history()?;
        let leading = history.iter().take_while(|message| message.role == Role::System);
        let texts: Vec<&str> = leading.map(|message| message.content.as_str()).collect();
        Ok((!texts.is_empty()).then(|| texts.join("\n\n")))
    }

    /// Waits until what came of an answer that was stopped is in its conversation.
    fn settle(&self) {
        let is_open = || matches!(self.last_status().as_deref(), Some("opened" | "streaming"));
        let mut tries = 0;
        while self.was_stopped && tries < TRIES_MAX && is_open() {
            self.runtime.block_on(tokio::time::sleep(BETWEEN_TRIES));
            tries += 1;
        }
    }

    /// Goes on in a copy.
    pub(super) fn fork(&mut self) -> Result<String> {
        self.settle();
        let Some(id) = self.id() else { bail!("nothing is kept that could be forked") };
        let forked = self.runtime.block_on(self.gateway.fork(id, None))?;
        self.memory = Memory::Gateway(Some(forked.id.clone()));
        Ok(forked.id)
    }

    /// What the user types next. Whoever is to leave types nothing more.
    pub(super) fn wait_for(&mut self, typing: &mut Typing) -> Result<Typed> {
        let Self { runtime, leaving, .. } = self;
        runtime.block_on(async {
            tokio::select! {
                biased;
                code = leaving.asked() => Ok(Typed::Left(code)),
                typed = typing.next() => Ok(typed?),
            }
        })
    }

    /// The exit code of a program that the system wants to end.
    pub(super) fn left(&self) -> Option<ExitCode> {
        self.leaving.code()
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
        let stopped = stopped(&mut self.leaving);
        let (ended, stream) = self.runtime.block_on(turn.run(screen, stopped))?;
        self.was_stopped = matches!(ended, Ok(Ended::Stopped | Ended::Unanswered));
        let Some(stream) = stream else { return ended };
        self.note_substitute(stream.head(), screen)?;
        self.system = None;
        if stream.head().header("sabir-compacted").is_some() {
            screen.note("[the oldest turns are summarised from here on]")?;
        }
        match &mut self.memory {
            Memory::Gateway(id) => {
                *id = stream.head().conversation().map(str::to_owned).or(id.take());
            }
            Memory::Here { messages, .. } => {
                let answer = stream.into_answer().reply.into_message();
                if !answer.content.is_empty() || !answer.tool_calls.is_empty() {
                    messages.extend(new);
                    messages.push(answer);
                }
            }
        }
        ended
    }

    /// Says who answers in place of a model that nobody serves, once.
    fn note_substitute(&mut self, head: &Head, screen: &mut Screen) -> Result<()> {
        let is_substituted = head.header("sabir-route") == Some("substituted");
        if !is_substituted || self.unserved.as_ref() == Some(&self.model) {
            return Ok(());
        }
        self.unserved = Some(self.model.clone());
        let who: Vec<&str> = [head.provider(), head.model()].into_iter().flatten().collect();
        screen.note(&format!("[nobody serves {}: {} answered]", self.model, who.join("/")))
    }

    fn client(&self) -> Result<Client> {
        let client = self.gateway.client(self.model.as_str());
        Ok(match &self.memory {
            Memory::Gateway(id) => client.with_conversation(id.as_deref().unwrap_or("new"))?,
            Memory::Here { .. } => client,
        })
    }
}

/// Whether a conversation may be begun under this name.
fn is_name(id: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    id.len() <= 64 && id.bytes().all(is_fit) && !id.starts_with("conv_")
}
