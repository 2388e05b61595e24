//! The client's tools, which Codex takes by their own names. It asks for no more than their definition: calls are the client's.

use sabir_wire::Result;
use sabir_wire::json::{Kind, Reader, Writer};

use crate::agent::json;
use crate::agent::json::string;

/// A tool of the client.
#[derive(Debug, Default)]
pub(super) struct Tool {
    name: String,
    description: String,
    schema: Option<String>,
}

impl Tool {
    /// Reads a tool; those that the vendor runs are none of the client's.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Option<Self>> {
        let mut tool = Self::default();
        let mut is_function = false;
        reader.object(|key, reader| {
            match (&*key, reader.kind()?) {
                ("type", Kind::String) => is_function = reader.string()?.to_str() == "function",
                ("name", Kind::String) => tool.name = string(reader)?,
                ("description", Kind::String) => {
                    tool.description = string(reader)?;
                }
                ("parameters", Kind::Object) => {
                    tool.schema = Some(reader.raw()?.as_str().to_owned());
                }
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        Ok(is_function.then_some(tool))
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.object(|it| {
            it.field("type", "function");
            it.field("name", &self.name);
            it.field("description", &self.description);
            it.key("inputSchema");
            let schema = self.schema.as_deref().unwrap_or(r#"{"type":"object","properties":{}}"#);
            json::write(schema, it);
        });
    }
}
