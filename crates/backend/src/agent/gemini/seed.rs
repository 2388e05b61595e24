//! What Gemini CLI is told: the conversation as a record of a session that it takes up, its system prompt as a file, and the text that
//! it answers.

use std::fmt;

use sabir_wire::json::{Json, Kind, Reader, Writer};
use sabir_wire::{FaultKind, Result};

use super::tools::{SERVER, Tool, seen};
use crate::agent::faults::{Failed, fault};
use crate::agent::json;
use crate::agent::json::string;

/// What is asked where the newest message ends with something else than a text: the CLI answers texts alone. It is no white space to
/// the CLI, and nothing to its model.
const NOTHING: &str = "\u{200b}";

/// When everything in a record happened: before the record that the CLI begins itself.
const TIME: &str = "2026-01-01T00:00:00.000Z";

/// What stands in the place of the CLI's own five thousand tokens on how to work in a project.
const SYSTEM: &str = "Answer what you are asked.";

/// What a body of Gemini's asks.
#[derive(Default)]
pub(in crate::agent) struct Question {
    system: String,
    history: Vec<Message>,
    prompt: String,
    pub(super) tools: Vec<Tool>,
}

#[derive(Default)]
struct Message {
    is_models: bool,
    parts: Vec<Part>,
}

/// A part as JSON, with the client's tools under the names that the CLI gives them.
#[derive(Default)]
struct Part {
    json: String,
    /// Its text, if it is nothing else.
    text: Option<String>,
    is_response: bool,
}

/// Reads a body.
pub(in crate::agent) fn question(body: &[u8]) -> Result<Question, Failed> {
    let mut question = read(body).map_err(|it| fault(FaultKind::BadRequest, it.to_string()))?;
    question.tools.iter().try_for_each(Tool::check)?;
    match question.history.pop() {
        Some(last) if !last.is_models => question.ask(last),
        Some(_) => {
            let message = "the agent answers the user: the last message must not be the model's";
            return Err(fault(FaultKind::BadRequest, message));
        }
        None => return Err(fault(FaultKind::BadRequest, "there is no message to answer")),
    }
    // What is blank the CLI leaves out, without a word on it.
    question.history.retain(|message| !message.is_blank());
    Ok(question)
}

fn read(body: &[u8]) -> Result<Question> {
    let mut question = Question::default();
    let mut reader = Reader::from_slice(body)?;
    reader.object(|key, reader| match &*key {
        "systemInstruction" => {
            let texts: Vec<String> =
                message(reader)?.parts.into_iter().filter_map(|part| part.text).collect();
            question.system = texts.join("\n\n");
            Ok(())
        }
        "contents" => reader.array(|_, reader| {
            question.history.push(message(reader)?);
            Ok(())
        }),
        "tools" => reader.array(|_, reader| {
            reader.object(|key, reader| match &*key {
                "functionDeclarations" => reader.array(|_, reader| {
                    question.tools.push(Tool::read(reader)?);
                    Ok(())
                }),
                _ => reader.skip(),
            })
        }),
        _ => reader.skip(),
    })?;
    Ok(question)
}

fn message(reader: &mut Reader<'_>) -> Result<Message> {
    let mut read = Message::default();
    reader.object(|key, reader| {
        match &*key {
            "role" => read.is_models = string(reader)? == "model",
            "parts" => reader.array(|_, reader| {
                read.parts.push(part(reader)?);
                Ok(())
            })?,
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(read)
}

fn part(reader: &mut Reader<'_>) -> Result<Part> {
    let (mut part, mut writer) = (Part::default(), Writer::default());
    let mut is_text_alone = true;
    writer.begin_object();
    reader.object(|key, reader| {
        let value = reader.raw()?;
        writer.key(&key);
        match (&*key, value.kind()) {
            ("functionCall" | "functionResponse", Kind::Object) => {
                part.is_response |= &*key == "functionResponse";
                renamed(&value, &mut writer)?;
            }
            ("text", Kind::String) => {
                part.text = Some(string(&mut value.reader())?);
                writer.value(&value);
            }
            _ => writer.value(&value),
        }
        is_text_alone &= &*key == "text";
        Ok(())
    })?;
    writer.end_object();
    part.json = writer.into_string();
    part.text = part.text.filter(|_| is_text_alone);
    Ok(part)
}

/// A call or a result under the name that the CLI gives the tool.
fn renamed(value: &Json<'_>, writer: &mut Writer) -> Result<()> {
    writer.begin_object();
    value.reader().object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("name", Kind::String) => writer.field("name", &seen(&string(reader)?)),
            _ => writer.field(&key, &reader.raw()?),
        }
        Ok(())
    })?;
    writer.end_object();
    Ok(())
}

impl Question {
    /// Makes the newest message what is asked: its last text, behind the rest of it. Results stand in a message of their own, or
    /// the CLI would tell the model that it was interrupted.
    fn ask(&mut self, mut last: Message) {
        let is_asked = |part: &mut Part| part.text.as_deref().is_some_and(|it| !is_blank(it));
        let asked = last.parts.pop_if(is_asked).and_then(|part| part.text);
        self.prompt = asked.unwrap_or_else(|| NOTHING.to_owned());
        let (results, rest): (Vec<_>, Vec<_>) =
            last.parts.into_iter().partition(|part| part.is_response);
        let has_results = !results.is_empty();
        let mut rest = Message { is_models: false, parts: rest };
        if has_results && rest.is_blank() {
            rest.parts.push(Part { json: text_part(NOTHING), ..Part::default() });
        }
        self.history.extend([Message { is_models: false, parts: results }, rest]);
    }

    /// The file with the system prompt.
    pub(super) fn system(&self) -> &str {
        if is_blank(&self.system) { SYSTEM } else { &self.system }
    }

    /// How many updates the CLI sends of the history before anything is asked.
    pub(super) fn updates(&self) -> usize {
        self.history.len()
    }

    /// The history as the CLI keeps one: a line for each message.
    pub(super) fn record(&self, session: &str) -> String {
        let mut lines = line(|it| {
            it.field("sessionId", session);
            it.field("projectHash", SERVER);
            it.field("startTime", TIME);
            it.field("lastUpdated", TIME);
            it.field("kind", "main");
        });
        for (index, message) in self.history.iter().enumerate() {
            lines += &line(|it| {
                it.field("id", &index.to_string());
                it.field("timestamp", TIME);
                it.field("type", if message.is_models { "gemini" } else { "user" });
                it.key("content");
                it.array(|it| message.parts.iter().for_each(|part| json::write(&part.json, it)));
            });
        }
        lines
    }

    /// What is asked.
    pub(super) fn prompt(&self) -> &str {
        &self.prompt
    }
}

impl Message {
    fn is_blank(&self) -> bool {
        self.parts.iter().all(|part| part.text.as_deref().is_some_and(is_blank))
    }
}

/// Whether the CLI takes a text for nothing: white space as its language has it.
fn is_blank(text: &str) -> bool {
    text.chars().all(|it| it == '\u{feff}' || it.is_whitespace() && it != '\u{85}')
}

fn text_part(text: &str) -> String {
    let mut writer = Writer::default();
    writer.object(|it| it.field("text", text));
    writer.into_string()
}

fn line(members: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::default();
    writer.object(members);
    writer.into_string() + "\n"
}

/// Says how much there is, never what.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Question({} messages, {} tools)", self.history.len() + 1, self.tools.len())
    }
}
