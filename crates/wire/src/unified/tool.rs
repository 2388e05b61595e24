//! A tool in unified form: a function with a name, a description and a schema.

use std::fmt;

use crate::error::{Error, ErrorKind, Result};
use crate::json::{Encode, Json, Kind, Reader, Writer};
use crate::protocol::object::{put, set};

/// A tool that the model may call.
///
/// ```
/// use sabir_wire::unified::UnifiedTool;
///
/// let tool = UnifiedTool::from_json(
///     r#"{"type": "function", "function": {"name": "bash", "description": "Runs a command",
///         "parameters": {"type": "object", "properties": {"cmd": {"type": "string"}}}}}"#,
/// )?;
/// assert_eq!(tool.name, "bash");
/// # Ok::<(), sabir_wire::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct UnifiedTool {
    pub name: String,
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Json<'static>,
}

impl UnifiedTool {
    /// A tool whose arguments are those of a JSON Schema, which is given as text.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: &str,
    ) -> Result<Self> {
        let parameters = schema(Json::parse(parameters)?)?;
        Ok(Self { name: name.into(), description: description.into(), parameters })
    }

    pub fn from_json(json: &str) -> Result<Self> {
        Reader::whole(json, Self::read)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let (mut name, mut description, mut parameters) = (String::new(), String::new(), None);
        reader.object(|key, reader| {
            if key != "function" {
                return reader.skip();
            }
            let text = |reader: &mut Reader<'_>| Ok(reader.string()?.into_str().into_owned());
            reader.object(|key, reader| match &*key {
                "name" => put(&mut name, text(reader)),
                "description" => put(&mut description, text(reader)),
                "parameters" => set(&mut parameters, reader.raw().and_then(schema)),
                _ => reader.skip(),
            })
        })?;
        if name.is_empty() {
            return Err(Error::new(ErrorKind::Missing, "expected a function with a name"));
        }
        let parameters =
            parameters.unwrap_or(Json::literal(r#"{"type":"object","properties":{}}"#));
        Ok(Self { name, description, parameters })
    }
}

fn schema(json: Json<'_>) -> Result<Json<'static>> {
    match json.kind() {
        Kind::Object => Ok(json.into_owned()),
        kind => Err(Error::new(ErrorKind::Type, format!("expected a schema, found {kind}"))),
    }
}

impl Encode for UnifiedTool {
    fn encode(&self, writer: &mut Writer) {
        writer.object(|object| {
            object.field("type", "function");
            object.object_field("function", |function| {
                function.field("name", &self.name);
                function.field("description", &self.description);
                function.field("parameters", &self.parameters);
            });
        });
    }
}

impl fmt::Debug for UnifiedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnifiedTool").field("name", &self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_reads_back_as_it_was_written() {
        let json = r#"{"type":"function","function":{"name":"bash","description":"Runs","parameters":{"type":"object"}}}"#;
        let tool = UnifiedTool::from_json(json).unwrap();
        let mut writer = Writer::default();
        tool.encode(&mut writer);
        assert_eq!(writer.into_string(), json);
        assert!(tool == UnifiedTool::new("bash", "Runs", r#"{"type":"object"}"#).unwrap());
    }

    #[test]
    fn a_tool_without_a_name_or_with_a_schema_that_is_none_is_refused() {
        let unnamed = UnifiedTool::from_json(r#"{"type":"function","function":{}}"#).unwrap_err();
        assert_eq!(unnamed.kind(), ErrorKind::Missing);
        let json = r#"{"function":{"name":"f","parameters":[]}}"#;
        assert_eq!(UnifiedTool::from_json(json).unwrap_err().pointer(), "/function/parameters");
    }
}
