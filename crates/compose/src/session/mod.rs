//! Session files of agent CLIs, read into the history that the CLI would send next, in the words of its own protocol.
//!
//! A file holds more than that: what was rewound, what a compaction stands for, sub-agents, notes of the CLI to itself. What
//! is left out is counted. A file of each agent's is read by a module of its own; none knows another.

mod claude;
mod codex;
mod draft;
mod error;
mod gemini;
mod left_out;
mod line;
mod place;
#[cfg(test)]
mod tests;

use std::fmt;

use sabir_wire::Protocol;
use sabir_wire::json::Writer;

use crate::assemble::Agent;
use draft::Draft;
use line::{Line, Members};

pub use error::SessionError;
pub use left_out::LeftOut;

/// Bytes of a session file.
pub const FILE_BYTES_MAX: usize = 512 << 20;
/// Bytes of one of its lines.
pub const LINE_BYTES_MAX: usize = 64 << 20;
/// How many lines it may have.
pub const LINES_MAX: usize = 1_000_000;
/// How many messages its history may have.
pub const MESSAGES_MAX: usize = 100_000;

/// An agent's session as its file holds it.
///
/// ```
/// use sabir_compose::session::Session;
///
/// let session = Session::parse(concat!(
///     r#"{"type":"user","uuid":"1","parentUuid":null,"sessionId":"a-b","message":{"role":"user","content":"Hi"}}"#, "\n",
///     r#"{"type":"assistant","uuid":"2","parentUuid":"1","sessionId":"a-b","message":{"id":"msg_1","role":"assistant","content":[{"type":"text","text":"Hello."}]}}"#,
/// ))?;
/// assert_eq!((session.id(), session.title(), session.messages()), ("a-b", "Hi", 2));
/// # Ok::<(), sabir_compose::session::SessionError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Session {
    agent: Agent,
    id: String,
    title: String,
    protocol: Protocol,
    request: String,
    /// When each message was said.
    times: Vec<Option<i64>>,
    instructed_at: Option<i64>,
    left_out: Vec<LeftOut>,
}

/// What reads the lines of one agent's files.
trait SessionReader<'a> {
    fn line(&mut self, line: Line<'a>) -> Result<(), SessionError>;

    /// The history that the lines hold.
    fn finish(self) -> Result<Draft<'a>, SessionError>;
}

/// Whose session file begins like this, if anybody's does.
pub fn recognise(text: &str) -> Option<Agent> {
    let text = text.trim_start_matches('\u{feff}');
    if let Some(whole) = line::document(text) {
        return gemini::is_own(&whole).then_some(Agent::GoogleGemini);
    }
    let firsts = line::valid(text).take(16).filter_map(|json| Members::of(&json));
    firsts.filter_map(|first| of_line(&first)).next()
}

fn of_line(line: &Members<'_>) -> Option<Agent> {
    match line {
        line if codex::is_own(line) => Some(Agent::OpenaiCodex),
        line if gemini::is_own(line) => Some(Agent::GoogleGemini),
        line if claude::is_own(line) => Some(Agent::ClaudeCode),
        _ => None,
    }
}

impl Session {
    /// Reads the session file of an agent. A last line that was cut off, as by a CLI that was killed, is left out.
    pub fn parse(text: &str) -> Result<Self, SessionError> {
        line::check_size(text.len())?;
        let text = text.trim_start_matches('\u{feff}');
        let agent = recognise(text).ok_or_else(SessionError::unknown)?;
        match agent {
            Agent::OpenaiCodex => {
                read(agent, Protocol::OpenaiResponses, codex::Codex::default(), text)
            }
            Agent::GoogleGemini => read(agent, Protocol::Gemini, gemini::Gemini::default(), text),
            Agent::ClaudeCode | Agent::Plain => {
                read(agent, Protocol::AnthropicMessages, claude::Claude::default(), text)
            }
        }
    }

    /// Whose session it is.
    pub fn agent(&self) -> Agent {
        self.agent
    }

    /// The id that the agent gave it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What it is called, else the beginning of what the user said first.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The protocol that the agent speaks.
    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    /// A request of that protocol with the history, and the instructions and the tools as far as the file has them.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// How many messages the history has, as the protocol counts them.
    pub fn messages(&self) -> usize {
        self.times.len()
    }

    /// When each of them was said, in milliseconds since 1970, as far as the file tells.
    pub fn times(&self) -> &[Option<i64>] {
        &self.times
    }

    /// When its instructions were given, if it has some and the file tells.
    pub fn instructed_at(&self) -> Option<i64> {
        self.instructed_at
    }

    /// What the file holds beside it.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }
}

fn read<'a>(
    agent: Agent,
    protocol: Protocol,
    mut reader: impl SessionReader<'a>,
    text: &'a str,
) -> Result<Session, SessionError> {
    let is_cut = line::each(text, |line| reader.line(line))?;
    let mut draft = reader.finish()?;
    if is_cut {
        draft.left_out.add("a last line that was cut off");
    }
    session(agent, protocol, draft)
}

fn session(agent: Agent, protocol: Protocol, draft: Draft<'_>) -> Result<Session, SessionError> {
    let id = draft.id.as_deref().ok_or_else(SessionError::nameless)?.to_owned();
    let messages = draft.elements.len();
    if messages == 0 {
        return Err(SessionError::empty());
    }
    if messages > MESSAGES_MAX {
        return Err(SessionError::too_many(messages));
    }
    let request = draft.request(protocol);
    if let Err(error) = protocol.decode_request_text(&request) {
        return Err(draft.misread(protocol, &error));
    }
    let title = draft.title();
    let times = draft.elements.iter().map(|element| element.place.time).collect();
    let instructed_at = draft.instructed_at;
    let left_out = draft.left_out.into_list();
    Ok(Session { agent, id, title, protocol, request, times, instructed_at, left_out })
}

/// One JSON object.
fn object(members: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::default();
    writer.object(members);
    writer.into_string()
}

// Sessions are content, which does not belong in logs.
impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("agent", &self.agent)
            .field("protocol", &self.protocol)
            .field("messages", &self.times.len())
            .field("left_out", &self.left_out)
            .finish_non_exhaustive()
    }
}
