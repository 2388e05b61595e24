//! The client's tools, as a server of tools that speaks through the CLI's own pipes. It lists them and answers no call: calls are the
//! client's, and the conversation goes on with their results in another process.

use sabir_wire::Result;
use sabir_wire::json::{Json, Kind, Reader, Text, Writer};

use crate::agent::json;
use crate::agent::json::string;

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

    fn write(&self, writer: &mut Writer) {
        writer.object(|it| {
            it.field("name", &self.name);
            it.optional("description", self.description.as_ref());
            it.key("inputSchema");
            json::write(self.schema.as_deref().unwrap_or(r#"{"type":"object"}"#), it);
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
    if message.method == "tools/call" {
        return None;
    }
    let mut writer = Writer::default();
    writer.object(|it| {
        it.field("type", "control_response");
        it.key("response");
        it.object(|it| {
            it.field("subtype", "success");
            it.field("request_id", request_id);
            it.key("response");
            it.object(|it| {
                it.key("mcp_response");
                it.object(|it| {
                    it.field("jsonrpc", "2.0");
                    it.key("id");
                    match &message.id {
                        Some(id) => it.value(id),
                        None => it.value(&0_u64),
                    }
                    it.key("result");
                    it.object(|it| message.write_result(tools, it));
                });
            });
        });
    });
    Some(writer.into_string())
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
