//! A stored conversation, handed to an agent CLI: one prompt of all that was said, as the beginning of a session that the CLI
//! takes up. How a session looks and is taken up is the matter of each CLI's file.

use std::ffi::OsString;
use std::hash::{BuildHasher, RandomState};

use anyhow::{Result, anyhow, bail};
use sabir_compose::assemble::{Dialogue, Output, Utterance};
use sabir_compose::team::USER;
use sabir_wire::Protocol;
use sabir_wire::conversation::Role;

use super::moment::Moment;
use super::{Agent, Folder, RunFiles, claude, codex, gemini};

/// The protocol in which a conversation is read: it has media in results, and keeps what somebody said apart
/// from what the next one did.
pub(crate) const PROTOCOL: Protocol = Protocol::OpenaiResponses;

/// What an agent is told of a conversation.
pub(crate) struct Handoff {
    pub(super) prompt: String,
    /// What the CLI takes beside its prompt.
    pub(super) instructions: Option<String>,
    state: State,
    /// What the prompt lacks, in words.
    pub(crate) notes: Vec<String>,
}

/// How a conversation was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The last word was the user's or a tool's: it is to be answered.
    Open,
    /// The last word was an answer.
    Answered,
}

/// How a CLI is made to take a session up.
pub(crate) struct TakenUp {
    /// All arguments but those by which the CLI finds its gateway.
    pub(crate) arguments: Vec<OsString>,
    /// Files that are of no use once the CLI has ended.
    pub(crate) files: Option<RunFiles>,
}

/// The beginning of a session, for the file of a CLI to write.
pub(super) struct Session<'h> {
    pub(super) id: String,
    pub(super) message_id: String,
    pub(super) moment: Moment,
    /// Where the CLI works.
    pub(super) place: String,
    pub(super) prompt: &'h str,
}

/// Asks for an answer to what the prompt ends with. It is short and the same for everybody, and hence an argument.
pub(super) const GO_ON: &str = "Go on.";

/// What stands for the task where nothing is left to answer.
const WAIT: &str = "This is the conversation so far. What I say next goes on from here.";

const SHORTEN: &str = "allow more with --max-bytes";

impl Handoff {
    /// Reads a conversation as the gateway gives it, and fits it into the budget.
    pub(crate) fn of(agent: Agent, history: &str, bytes_max: usize) -> Result<Self> {
        let decoded = PROTOCOL.decode_request_text(history)?;
        let messages = &decoded.request().messages;
        let mut dialogue =
            Dialogue { window: usize::MAX, bytes_max, ..Dialogue::of(messages.as_slice()) };
        let state = match messages.last().map(|message| message.role) {
            None => bail!("nothing has been said in it yet"),
            Some(Role::User | Role::Tool) => State::Open,
            Some(Role::Assistant | Role::System | Role::Developer) => State::Answered,
        };
        if state == State::Answered {
            dialogue.utterances.push(Utterance::new(USER, WAIT));
        }
        let prepared = dialogue.prepare();
        let assembled = agent.assembler().assemble(&prepared.input);
        let output = assembled.map_err(|overflow| anyhow!("{overflow}\n  try: {SHORTEN}"))?;
        let mut notes: Vec<String> = prepared.warnings.iter().map(ToString::to_string).collect();
        notes.extend(trimmed(&output, bytes_max));
        Ok(Self { prompt: output.prompt, instructions: output.system_flag, state, notes })
    }

    /// Writes what the CLI takes up, and says how it does.
    pub(crate) fn write(
        &self,
        agent: Agent,
        folder: &Folder,
        invocation: &Invocation<'_>,
    ) -> Result<TakenUp> {
        let session = Session {
            id: made_id(),
            message_id: made_id(),
            moment: Moment::now(),
            place: std::env::current_dir()?.display().to_string(),
            prompt: &self.prompt,
        };
        let is_asked = self.state == State::Open && invocation.is_bare();
        let go_on = is_asked.then_some(GO_ON);
        let users = invocation.arguments;
        match agent {
            Agent::Claude => claude::take_up(&session, folder, self, (users, go_on)),
            Agent::Codex => codex::take_up(&session, (users, go_on)),
            Agent::Gemini => gemini::take_up(&session, folder, (users, go_on)),
        }
    }
}

/// How the user wants the CLI started.
pub(crate) struct Invocation<'u> {
    pub(crate) arguments: &'u [OsString],
    pub(crate) at: At,
}

/// What standard input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Terminal,
    Elsewhere,
}

impl Invocation<'_> {
    /// Whether the user sits at a terminal and has said nothing: then the CLI may begin by itself.
    fn is_bare(&self) -> bool {
        self.at == At::Terminal && self.arguments.is_empty()
    }
}

/// What the budget cost, if anything.
fn trimmed(output: &Output, bytes_max: usize) -> Option<String> {
    let sabir_compose::assemble::Trimmed { context_messages, task_bytes } = output.trimmed;
    let messages = (context_messages > 0).then(|| match context_messages {
        1 => "the oldest message is left out".to_owned(),
        many => format!("the {many} oldest messages are left out"),
    });
    let task = (task_bytes > 0).then(|| format!("the last message is {task_bytes} bytes shorter"));
    let lacks: Vec<String> = messages.into_iter().chain(task).collect();
    (!lacks.is_empty()).then(|| {
        format!("{}: the prompt may have {bytes_max} bytes (--max-bytes)", lacks.join(" and "))
    })
}

/// A UUID that nobody else has made.
fn made_id() -> String {
    let random = || RandomState::new().hash_one(std::process::id());
    let (high, low) = (random(), random());
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xfff,
        0x8000 | low >> 48 & 0x3fff,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: &str = r#"{"input":[{"role":"developer","content":"Be brief."},{"role":"user","content":"My name is Ada."},
        {"role":"assistant","content":"Hello, Ada."},{"role":"user","content":"What is my name?"}],"losses":[]}"#;

    #[test]
    fn what_is_open_is_the_task_and_what_is_answered_waits() {
        let handoff = Handoff::of(Agent::Claude, OPEN, 1024).unwrap();
        assert_eq!((handoff.state, handoff.notes.len()), (State::Open, 0));
        assert_eq!(handoff.instructions.as_deref(), Some("Be brief."));
        assert!(handoff.prompt.ends_with("[MESSAGE]\nWhat is my name?"), "{}", handoff.prompt);

        let answered = OPEN.replace(
            r#"{"role":"user","content":"What is my name?"}"#,
            r#"{"role":"assistant","content":"Yes?"}"#,
        );
        let handoff = Handoff::of(Agent::Gemini, &answered, 1024).unwrap();
        assert_eq!(handoff.state, State::Answered);
        let expected = "Instructions:\nBe brief.\n\nConversation so far:\n- user: My name is Ada.\n- assistant: Hello, Ada.\n\
             Yes?\n\nYour task:\n";
        assert_eq!(handoff.prompt, format!("{expected}{WAIT}"));
    }

    #[test]
    fn what_does_not_fit_is_said() {
        let handoff = Handoff::of(Agent::Claude, OPEN, 50).unwrap();
        let expected =
            "the 2 oldest messages are left out: the prompt may have 50 bytes (--max-bytes)";
        assert_eq!(handoff.notes, [expected]);
        let handoff = Handoff::of(Agent::Claude, OPEN, 30).unwrap();
        assert!(handoff.notes[0].contains(" and the last message is "), "{:?}", handoff.notes);
        let refused = Handoff::of(Agent::Claude, OPEN, 3).err().unwrap().to_string();
        assert!(refused.contains("need 9 bytes, 3 are allowed"), "{refused}");
        assert!(Handoff::of(Agent::Codex, r#"{"input":[]}"#, 9).is_err());
    }

    #[test]
    fn a_cli_begins_by_itself_where_a_person_sits_and_has_said_nothing() {
        let words = [OsString::from("-p")];
        let bare = Invocation { arguments: &[], at: At::Terminal };
        assert!(bare.is_bare());
        assert!(!Invocation { arguments: &words, at: At::Terminal }.is_bare());
        assert!(!Invocation { arguments: &[], at: At::Elsewhere }.is_bare());
    }

    #[test]
    fn ids_have_the_form_of_a_uuid() {
        let (one, other) = (made_id(), made_id());
        assert_ne!(one, other);
        let lengths: Vec<usize> = one.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12]);
        assert_eq!(&one[14..15], "4");
        assert!("89ab".contains(&one[19..20]), "{one}");
    }
}
