//! The client's tools, as a server of tools that speaks through the CLI's own pipes. It lists them, and answers calls with what the
//! client returns, if it ever does.

use sabir_wire::Result;
use sabir_wire::json::{Json, Kind, Reader, Text, Writer};

use crate::agent::faults::Failed;
use crate::agent::json;
use crate::agent::json::{member, string, text};
use crate::agent::schema;
use crate::agent::suspend::{Outcome, Pending};

/// The name of the server.
pub(super) const SERVER: &str = "sabir";

/// How long a result may be before the CLI shows the model a preview of it instead.
const RESULT_CHARACTERS_MAX: u64 = 500_000;

/// A tool of the client.
#[derive(Debug)]
pub(super) struct Tool {
    name: String,
    description: Option<String>,
    schema: Option<String>,
}

impl Tool {
    /// Reads a tool; those that the vendor runs are none of the client's.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<Self>> {
        let mut tool = Self { name: String::new(), description: None, schema: None };
        let mut is_hosted = false;
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("name", Kind::String) => tool.name = string(reader)?,
                ("description", Kind::String) => {
                    tool.description = Some(string(reader)?);
                }
                ("input_schema", _) => tool.schema = Some(reader.raw()?.as_str().to_owned()),
                ("type", Kind::String) => is_hosted = reader.string()?.to_str() != "custom",
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok((!is_hosted).then_some(tool))
    }

    /// Whether the CLI takes it, and with it the others.
    pub(super) fn check(&self) -> Result<(), Failed> {
        schema::check(&self.name, self.schema.as_deref())
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.object(|it| {
            it.field("name", &self.name);
            it.optional("description", self.description.as_ref());
            it.key("inputSchema");
            schema::write(self.schema.as_deref(), it);
            it.key("annotations");
            // Calls of others wait for each other.
            it.object(|it| it.field("readOnlyHint", &true));
            it.key("_meta");
            it.object(|it| it.field("anthropic/maxResultSizeChars", &RESULT_CHARACTERS_MAX));
        });
    }
}

/// The answer to a message that the CLI has for the server; none for a call.
pub(super) fn answer(request_id: &str, message: &Json<'_>, tools: &[Tool]) -> Option<String> {
    let message = Message::read(message).ok()?;
    if Some(message.method.as_str()) == CALL {
        return None;
    }
    let id = message.id.as_ref().map_or("0", |id| id.as_str());
    Some(response(request_id, id, |it| message.write_result(tools, it)))
}

/// The call that a message makes, if it makes one.
pub(super) fn called(request_id: &str, message: &Json<'_>) -> Option<Pending> {
    let id = member(message, "id")?;
    let params =
        member(message, "params").filter(|_| text(message, "method").as_deref() == CALL)?;
    let call = text(&member(&params, "_meta")?, "claudecode/toolUseId")?;
    Some(Pending { call, request: request_id.to_owned(), message: id.as_str().to_owned() })
}

const CALL: Option<&str> = Some("tools/call");

/// The result of a call, as an answer to the message that makes it.
pub(super) fn returned(pending: &Pending, outcome: &Outcome) -> String {
    response(&pending.request, &pending.message, |it| {
        it.array_field("content", |it| {
            for text in &outcome.texts {
                it.object(|it| {
                    it.field("type", "text");
                    it.field("text", text);
                });
            }
        });
        it.field("isError", &outcome.is_error);
    })
}

/// The answer to the message of that number, in the request of that id.
fn response(request_id: &str, message: &str, result: impl FnOnce(&mut Writer)) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("type", "control_response");
        it.object_field("response", |it| {
            it.field("subtype", "success");
            it.field("request_id", request_id);
            it.object_field("response", |it| {
                it.object_field("mcp_response", |it| {
                    it.field("jsonrpc", "2.0");
                    it.key("id");
                    json::write(message, it);
                    it.object_field("result", result);
                });
            });
        });
    });
    writer.into_string()
}

/// The answer to what the CLI asks for and nobody is here to give.
pub(super) fn declined(request_id: &str) -> String {
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("type", "control_response");
        it.object_field("response", |it| {
            it.field("subtype", "error");
            it.field("request_id", request_id);
            it.field("error", "nobody is here to answer");
        });
    });
    writer.into_string()
}

/// A message of the tools' protocol.
#[derive(Default)]
struct Message<'l> {
    method: String,
    id: Option<Json<'l>>,
    version: Option<Text<'l>>,
}

impl<'l> Message<'l> {
    fn read(message: &'l Json<'_>) -> Result<Self> {
        let mut read = Self::default();
        message.reader().object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("method", Kind::String) => read.method = string(reader)?,
                ("id", _) => read.id = Some(reader.raw()?),
                ("params", Kind::Object) => reader.object(|key, reader| {
                    match (&*key, reader.kind()?) {
                        ("protocolVersion", Kind::String) => read.version = Some(reader.string()?),
                        _ => reader.skip()?,
                    }
                    Ok(())
                })?,
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(read)
    }

    fn write_result(&self, tools: &[Tool], writer: &mut Writer) {
        match self.method.as_str() {
            "initialize" => {
                writer.optional("protocolVersion", self.version.as_ref());
                writer.key("capabilities");
                writer.object(|it| {
                    it.key("tools");
                    it.object(|_| {});
                });
                writer.key("serverInfo");
                writer.object(|it| {
                    it.field("name", SERVER);
                    it.field("version", env!("CARGO_PKG_VERSION"));
                });
            }
            "tools/list" => {
                writer.key("tools");
                writer.array(|it| tools.iter().for_each(|tool| tool.write(it)));
            }
            _ => {}
        }
    }
}
