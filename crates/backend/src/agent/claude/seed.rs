//! What Claude Code is told: the system prompt, the conversation so far message by message, and the one that it answers.

use std::fmt;

use sabir_wire::json::{Json, Kind, Reader, Text, Writer};
use sabir_wire::{FaultKind, Result};

use super::tools::Tool;
use crate::agent::faults::{Failed, fault};
use crate::agent::json;
use crate::agent::json::string;

/// What a body of Messages asks.
#[derive(Default)]
pub(in crate::agent) struct Question {
    pub(super) system: Vec<String>,
    /// The history, the newest message last; never empty.
    pub(super) messages: Vec<Message>,
    pub(super) tools: Vec<Tool>,
    pub(super) max_tokens: Option<u64>,
    pub(super) effort: Option<String>,
    pub(super) is_thinking_off: bool,
}

/// A message of the conversation.
pub(super) struct Message {
    pub(super) speaker: Speaker,
    /// A string or a list of blocks, as JSON.
    content: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
}

/// Reads a body.
pub(in crate::agent) fn question(body: &[u8]) -> Result<Question, Failed> {
    let question = read(body).map_err(|error| fault(FaultKind::BadRequest, error.to_string()))?;
    question.tools.iter().try_for_each(Tool::check)?;
    match question.messages.last().map(|last| last.speaker) {
        Some(Speaker::User) => Ok(question),
        Some(Speaker::Assistant) => Err(fault(
            FaultKind::BadRequest,
            "the agent answers the user: the last message must not be the assistant's",
        )),
        None => Err(fault(FaultKind::BadRequest, "there is no message to answer")),
    }
}

fn read(body: &[u8]) -> Result<Question> {
    let mut question = Question::default();
    let mut reader = Reader::from_slice(body)?;
    reader.object(|key, reader| match &*key {
        "system" => texts(reader, &mut question.system),
        "messages" => reader.array(|_, reader| {
            question.messages.push(message(reader)?);
            Ok(())
        }),
        "tools" => reader.array(|_, reader| {
            question.tools.extend(Tool::read(reader)?);
            Ok(())
        }),
        "max_tokens" => {
            question.max_tokens = reader.number()?.as_u64();
            Ok(())
        }
        "thinking" => {
            let kind = reader.peek_tag("type")?;
            question.is_thinking_off = kind.is_some_and(|kind| kind.to_str() == "disabled");
            reader.skip()
        }
        "output_config" => reader.object(|key, reader| match (&*key, reader.kind()?) {
            ("effort", Kind::String) => {
                question.effort = Some(string(reader)?);
                Ok(())
            }
            _ => reader.skip(),
        }),
        _ => reader.skip(),
    })?;
    Ok(question)
}

/// A string, or the texts of a list of blocks.
fn texts(reader: &mut Reader<'_>, into: &mut Vec<String>) -> Result<()> {
    if reader.kind()? == Kind::String {
        into.push(string(reader)?);
        return Ok(());
    }
    reader.array(|_, reader| {
        reader.object(|key, reader| match &*key {
            "text" => {
                into.push(string(reader)?);
                Ok(())
            }
            _ => reader.skip(),
        })
    })
}

fn message(reader: &mut Reader<'_>) -> Result<Message> {
    let (mut speaker, mut content) = (Speaker::User, String::new());
    reader.object(|key, reader| {
        match &*key {
            "role" if string(reader)? == "assistant" => speaker = Speaker::Assistant,
            "role" => {}
            "content" => {
                let mut writer = Writer::default();
                unmarked(&reader.raw()?, &mut writer)?;
                content = writer.into_string();
            }
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(Message { speaker, content })
}

/// Content without cache markers: the CLI sets its own, and there may be only so many.
fn unmarked(content: &Json<'_>, writer: &mut Writer) -> Result<()> {
    if content.kind() != Kind::Array {
        writer.value(content);
        return Ok(());
    }
    writer.begin_array();
    content.reader().array(|_, reader| {
        writer.begin_object();
        reader.object(|key, reader| {
            let value = reader.raw()?;
            match &*key {
                "cache_control" => {}
                "content" => {
                    writer.key("content");
                    unmarked(&value, writer)?;
                }
                key => writer.field(key, &value),
            }
            Ok(())
        })?;
        writer.end_object();
        Ok(())
    })?;
    writer.end_array();
    Ok(())
}

impl Question {
    /// The first line: who the model is, and whether there are tools.
    pub(super) fn initialize(&self, id: &str) -> String {
        let mut writer = Writer::default();
        writer.object(|it| {
            it.field("type", "control_request");
            it.field("request_id", id);
            it.key("request");
            it.object(|it| {
                it.field("subtype", "initialize");
                it.key("systemPrompt");
                it.array(|it| self.system.iter().for_each(|text| it.value(text)));
                it.key("sdkMcpServers");
                it.array(|it| {
                    if !self.tools.is_empty() {
                        it.value(super::tools::SERVER);
                    }
                });
            });
        });
        writer.into_string()
    }
}

impl Speaker {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Message {
    pub(super) fn content(&self) -> &str {
        &self.content
    }

    /// The message as a line. One that is told and not asked is answered by a result at once.
    pub(super) fn line(&self, seed: Seed<'_>) -> String {
        let kind = self.speaker.name();
        let model = match (self.speaker, seed) {
            (Speaker::Assistant, Seed::Past { model }) => model,
            (Speaker::User, _) | (Speaker::Assistant, Seed::Asked) => None,
        };
        let mut writer = Writer::with_capacity(self.content.len() + 128);
        writer.object(|it| {
            it.field("type", kind);
            it.key("message");
            it.object(|it| {
                it.field("role", kind);
                // Thinking is kept only where the model that thought is named.
                it.optional("model", model);
                it.key("content");
                json::write(&self.content, it);
            });
            if self.speaker == Speaker::User && seed != Seed::Asked {
                it.field("shouldQuery", &false);
            }
        });
        writer.into_string()
    }
}

/// Why a message is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seed<'m> {
    /// It was said before, by this model if that is known.
    Past { model: Option<&'m str> },
    /// It is to be answered.
    Asked,
}

/// Says how much there is, never what.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Question({} messages, {} tools)", self.messages.len(), self.tools.len())
    }
}

/// A text of a line, where it is one.
pub(super) fn text_of(text: &Option<Text<'_>>) -> Option<String> {
    text.as_ref().map(|text| text.to_str().into_owned())
}
