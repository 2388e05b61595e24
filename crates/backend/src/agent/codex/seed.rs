//! What Codex is told: the requests that set up a thread, the conversation as items of Responses, and the turn that answers it.

use std::fmt;

use sabir_wire::json::{Json, Kind, Reader, Writer};
use sabir_wire::{FaultKind, Result};

use super::isolate;
use super::tools::{Tool, listed};
use crate::agent::Abilities;
use crate::agent::faults::{Failed, fault};
use crate::agent::json;
use crate::agent::json::{member as member_of, string, text};

/// What a body of Responses asks.
#[derive(Default)]
pub(in crate::agent) struct Question {
    pub(super) instructions: String,
    /// The conversation, an item each, as JSON; never empty.
    pub(super) items: Vec<String>,
    pub(super) tools: Vec<Tool>,
    pub(super) effort: Option<String>,
    pub(super) schema: Option<String>,
    /// The one text that is asked, of a CLI that takes no items.
    pub(super) text: Option<String>,
}

/// Reads a body.
pub(in crate::agent) fn question(body: &[u8], abilities: Abilities) -> Result<Question, Failed> {
    let mut question =
        read(body).map_err(|error| fault(FaultKind::BadRequest, error.to_string()))?;
    match question.items.is_empty() {
        true => Err(fault(FaultKind::BadRequest, "there is no message to answer")),
        false => {
            question.text = question.only_text().filter(|_| !abilities.replays);
            Ok(question)
        }
    }
}

fn read(body: &[u8]) -> Result<Question> {
    let mut question = Question::default();
    let mut reader = Reader::from_slice(body)?;
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("instructions", Kind::String) => {
            question.instructions = string(reader)?;
            Ok(())
        }
        ("input", Kind::String) => {
            question.items.push(user_message(&string(reader)?));
            Ok(())
        }
        ("input", Kind::Array) => reader.array(|_, reader| {
            question.items.push(item(reader)?);
            Ok(())
        }),
        ("tools", Kind::Array) => reader.array(|_, reader| {
            question.tools.extend(Tool::read(reader)?);
            Ok(())
        }),
        ("reasoning", Kind::Object) => member(reader, "effort", &mut |reader| {
            question.effort = Some(string(reader)?);
            Ok(())
        }),
        ("text", Kind::Object) => member(reader, "format", &mut |reader| {
            member(reader, "schema", &mut |reader| {
                question.schema = Some(reader.raw()?.as_str().to_owned());
                Ok(())
            })
        }),
        _ => reader.skip(),
    })?;
    Ok(question)
}

/// Reads one member of an object; a null is none.
fn member(
    reader: &mut Reader<'_>,
    name: &str,
    read: &mut dyn FnMut(&mut Reader<'_>) -> Result<()>,
) -> Result<()> {
    reader.object(|key, reader| match (&*key == name, reader.kind()?) {
        (true, Kind::String | Kind::Object) => read(reader),
        _ => reader.skip(),
    })
}

/// An item without its id and state: the server makes its own.
fn item(reader: &mut Reader<'_>) -> Result<String> {
    let mut writer = Writer::default();
    writer.begin_object();
    let mut is_message = true;
    reader.object(|key, reader| {
        let value = reader.raw()?;
        match &*key {
            "id" | "status" => {}
            key => {
                is_message &= key != "type";
                writer.field(key, &value);
            }
        }
        Ok(())
    })?;
    if is_message {
        writer.field("type", "message");
    }
    writer.end_object();
    typed(&writer.into_string())
}

/// The item as the server takes it. A message whose content is a string says the same as a list; what a system says it leaves out, but not what
/// a developer says; and calls are those of the tools that it knows.
fn typed(item: &str) -> Result<String> {
    let mut writer = Writer::with_capacity(item.len() + 64);
    let is = |tag: &str, word: &str| {
        Ok(Reader::new(item).peek_tag(tag)?.is_some_and(|found| found == *word))
    };
    let kind = if is("role", "assistant")? { "output_text" } else { "input_text" };
    let is_call = is("type", "function_call")?;
    writer.begin_object();
    Reader::new(item).object(|key, reader| {
        writer.key(&key);
        match (&*key, reader.kind()?) {
            ("content", Kind::String) => {
                let text = reader.string()?;
                writer.array(|it| {
                    it.object(|it| {
                        it.field("type", kind);
                        it.field("text", &text);
                    });
                });
            }
            ("role", Kind::String) => {
                let role = string(reader)?;
                writer.value(if role == "system" { "developer" } else { &role });
            }
            ("name", Kind::String) if is_call => writer.value(&listed(&string(reader)?)),
            _ => writer.value(&reader.raw()?),
        }
        Ok(())
    })?;
    writer.end_object();
    Ok(writer.into_string())
}

fn user_message(text: &str) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("type", "message");
        it.field("role", "user");
        it.key("content");
        it.array(|it| {
            it.object(|it| {
                it.field("type", "input_text");
                it.field("text", text);
            });
        });
    });
    writer.into_string()
}

/// Our requests, in their order; each is answered under its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Request {
    Initialize = 1,
    StartThread,
    Inject,
    StartTurn,
}

impl Question {
    pub(super) fn initialize() -> String {
        request(Request::Initialize, "initialize", |it| {
            it.key("clientInfo");
            it.object(|it| {
                it.field("name", "sabir");
                it.field("title", "Sabir");
                it.field("version", env!("CARGO_PKG_VERSION"));
            });
            it.key("capabilities");
            it.object(|it| {
                it.field("experimentalApi", &true);
                it.key("optOutNotificationMethods");
                it.array(|it| {
                    ["thread/status/changed", "account/rateLimits/updated"]
                        .iter()
                        .for_each(|method| it.value(*method));
                });
            });
        })
    }

    pub(super) fn start_thread(&self, model: Option<&str>) -> String {
        request(Request::StartThread, "thread/start", |it| {
            it.optional("model", model);
            it.field("ephemeral", &true);
            it.field("approvalPolicy", "never");
            it.field("sandbox", "read-only");
            // Without one nothing can run.
            it.key("environments");
            it.array(|_| {});
            it.field("baseInstructions", &self.instructions);
            it.key("dynamicTools");
            it.array(|it| self.tools.iter().for_each(|tool| tool.write(it)));
            it.field("experimentalRawEvents", &true);
            it.key("config");
            isolate::write_config(it);
        })
    }

    /// A question that is one text.
    pub(super) fn of_text(text: &str) -> Self {
        Self { text: Some(text.to_owned()), ..Self::default() }
    }

    /// Whether the conversation is told in items.
    pub(super) fn is_injected(&self) -> bool {
        self.text.is_none()
    }

    /// The text of a conversation that is nothing else.
    fn only_text(&self) -> Option<String> {
        let [item] = &self.items[..] else { return None };
        let item = Json::parse(item.as_str()).ok()?;
        let content = member_of(&item, "content")?;
        let mut texts = Vec::new();
        let read = content.reader().array(|_, reader| {
            let part = reader.raw()?;
            texts.push(text(&part, "text"));
            Ok(())
        });
        read.ok()?;
        texts.into_iter().collect::<Option<String>>()
    }

    pub(super) fn inject(&self, thread: &str) -> String {
        request(Request::Inject, "thread/inject_items", |it| {
            it.field("threadId", thread);
            it.key("items");
            it.array(|it| self.items.iter().for_each(|item| json::write(item, it)));
        })
    }

    pub(super) fn start_turn(&self, thread: &str) -> String {
        request(Request::StartTurn, "turn/start", |it| {
            it.field("threadId", thread);
            it.array_field("input", |it| {
                if let Some(text) = &self.text {
                    it.object(|it| {
                        it.field("type", "text");
                        it.field("text", text);
                    });
                }
            });
            it.optional("effort", self.effort.as_ref());
            it.field("summary", "auto");
            if let Some(schema) = &self.schema {
                it.key("outputSchema");
                json::write(schema, it);
            }
        })
    }
}

pub(super) fn request(id: Request, method: &str, params: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("id", &(id as u64));
        it.field("method", method);
        it.key("params");
        it.object(params);
    });
    writer.into_string()
}

/// Says how much there is, never what.
impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Question({} items, {} tools)", self.items.len(), self.tools.len())
    }
}
