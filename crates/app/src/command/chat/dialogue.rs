//! The turns of a conversation: asked of the gateway, which keeps them, or kept here where it keeps nothing.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use sabir_client::{Client, ErrorKind, Gateway, Head, Message, Page, Role, Stream};
use tokio::runtime::Runtime;

use super::leaving::Leaving;
use super::screen::Screen;
use super::turn::{Ended, Turn, stopped};
use super::typing::{Typed, Typing};
use crate::output;

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
    /// The turn of the last answer, as the gateway calls it.
    turn: Option<String>,
    /// Whether something has been said in the conversation that the gateway has.
    is_begun: bool,
}

/// What became of an answer that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Kept,
    /// Its conversation is gone.
    Deleted,
    /// Its conversation is there without it: somebody else changed it meanwhile.
    Left,
    /// The gateway does not say.
    Unknown,
}

/// Where conversations are found.
const LIST: &str = "sabir conversations list";

/// What helps where a conversation cannot be read.
const MEND: &str = "mend or delete what it names; `sabir check` says where the store is";

/// How often it is asked whether a turn has ended, and how long apart: the gateway closes one that was stopped within some
/// milliseconds.
const LOOKS_MAX: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

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
            turn: None,
            is_begun: false,
        };
        dialogue.earlier = dialogue.transcript()?;
        dialogue.is_begun = !dialogue.earlier.is_empty();
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
            Err(error) => {
                let advice = match (error.kind(), error.code()) {
                    (ErrorKind::NotFound, _) => Some(LIST),
                    (_, Some("storage_error")) => Some(MEND),
                    _ => None,
                };
                let error =
                    anyhow::Error::from(error).context("the conversation cannot be continued");
                Err(match advice {
                    Some(advice) => output::advised(error, advice),
                    None => error,
                })
            }
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

    /// Goes on with another model, unless nobody serves it. Whatever else is in the way the next turn says.
    pub(super) fn change_model(&mut self, model: String) -> Result<()> {
        match self.runtime.block_on(self.gateway.check_model(&model)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Err(error.into()),
            Ok(()) | Err(_) => {
                self.model = model;
                Ok(())
            }
        }
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
        if self.was_stopped {
            self.is_free_soon();
        }
    }

    /// Waits for the end of the turn that is under way in the conversation, for as long as one takes that was stopped.
    fn is_free_soon(&self) -> bool {
        let is_open = || matches!(self.last_status().as_deref(), Some("opened" | "streaming"));
        (0..LOOKS_MAX).any(|_| {
            self.runtime.block_on(async { tokio::time::sleep(BETWEEN_LOOKS).await });
            !is_open()
        })
    }

    /// What became of the last answer, which was stopped: as soon as the gateway knows, or never.
    pub(super) fn fate(&self) -> Fate {
        let (Some(id), Some(turn)) = (self.id(), &self.turn) else { return Fate::Unknown };
        for _ in 0..LOOKS_MAX {
            self.runtime.block_on(async { tokio::time::sleep(BETWEEN_LOOKS).await });
            let turns = match self.runtime.block_on(self.gateway.turns(id)) {
                Ok(turns) => turns,
                Err(error) if error.kind() == ErrorKind::NotFound => return Fate::Deleted,
                Err(_) => return Fate::Unknown,
            };
            match turns.iter().find(|it| it.id == *turn).map(|it| it.status.as_str()) {
                Some("opened" | "streaming") => {}
                Some(_) => return Fate::Kept,
                None => return Fate::Left,
            }
        }
        Fate::Unknown
    }

    /// Whether the conversation that was had is gone: under its name another would begin.
    fn is_gone(&self) -> bool {
        let Some(id) = self.id().filter(|_| self.is_begun) else { return false };
        let turns = self.runtime.block_on(self.gateway.turns(id));
        turns.is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }

    /// Goes on where nothing has been said: under the name of the conversation that is gone, or under the id that the gateway
    /// gives, since such an id is nobody else's to give.
    fn begin_anew(&mut self, screen: &mut Screen) -> Result<()> {
        self.is_begun = false;
        let id = self.id().unwrap_or_default().to_owned();
        if !is_name(&id) {
            self.memory = Memory::Gateway(None);
        }
        screen.note(&format!("[{id} was deleted meanwhile: what was said in it is gone]"))
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
        self.settle();
        if self.is_gone() {
            self.begin_anew(screen)?;
        }
        let client = self.client()?;
        let messages: Vec<Message> = match &self.memory {
            Memory::Gateway(_) => new.clone(),
            Memory::Here { messages, .. } => messages.iter().chain(&new).cloned().collect(),
        };
        let turn = Turn { client: &client, messages: &messages };
        let (ended, stream) = match self.ask(&turn, screen) {
            // Each refusal counts as a call: it is asked again once there is room, and no sooner.
            Err(error) if is_locked(&error) && self.is_free_soon() => self.ask(&turn, screen),
            asked => asked,
        }?;
        self.was_stopped = matches!(ended, Ok(Ended::Stopped | Ended::Unanswered));
        let Some(stream) = stream else { return ended };
        self.turn = stream.head().header("sabir-turn").map(str::to_owned);
        self.is_begun = true;
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

    fn ask(
        &mut self,
        turn: &Turn<'_>,
        screen: &mut Screen,
    ) -> Result<(Result<Ended>, Option<Stream>)> {
        let stopped = stopped(&mut self.leaving);
        self.runtime.block_on(turn.run(screen, stopped))
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

/// Whether another turn is under way in the conversation.
fn is_locked(error: &anyhow::Error) -> bool {
    let refused = error.downcast_ref::<sabir_client::Error>();
    refused.is_some_and(|error| error.code() == Some("conversation_locked"))
}

/// Whether a conversation may be begun under this name.
fn is_name(id: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    id.len() <= 64 && id.bytes().all(is_fit) && !id.starts_with("conv_")
}
