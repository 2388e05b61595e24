//! The client's tools, which Codex takes by their own names, but for those that it keeps for itself. It asks for no more than their
//! definition: calls are the client's.

use sabir_wire::Result;
use sabir_wire::json::{Kind, Reader, Writer};

use crate::agent::json;
use crate::agent::json::string;

/// What stands before a name that the CLI keeps for itself.
const MARK: char = '_';

/// Whether the CLI keeps a name for itself. A tool that is called like its own vanishes without a word; with one that is called like the tools of
/// its servers, all that is asked is refused. What is spelled like a marked one of them is marked as well: no two become one.
pub(in crate::agent) fn is_kept(name: &str) -> bool {
    let name = name.trim_start_matches(MARK);
    matches!(name, "apply_patch" | "mcp") || name.starts_with("mcp__")
}

/// The name under which the CLI and its model know a tool.
pub(super) fn listed(name: &str) -> String {
    if is_kept(name) { format!("{MARK}{name}") } else { name.to_owned() }
}

/// The client's own name of a tool that the CLI knows.
pub(super) fn own(listed: &str) -> &str {
    listed.strip_prefix(MARK).filter(|name| is_kept(name)).unwrap_or(listed)
}

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
            it.field("name", &listed(&self.name));
            it.field("description", &self.description);
            it.key("inputSchema");
            let schema = self.schema.as_deref().unwrap_or(r#"{"type":"object","properties":{}}"#);
            json::write(schema, it);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_one_that_the_cli_keeps_and_each_is_found_again() {
        let names =
            ["Bash", "mcp", "mcp__a__b", "_mcp__a__b", "__mcp", "mcp_a", "apply_patch", "_x"];
        let shown = names.map(listed);
        for (name, shown) in names.iter().zip(&shown) {
            assert_eq!(own(shown), *name);
            assert!(
                !shown.starts_with("mcp__") && !["mcp", "apply_patch"].contains(&shown.as_str())
            );
        }
        let apart: std::collections::BTreeSet<_> = shown.iter().collect();
        assert_eq!(apart.len(), names.len(), "{shown:?}");
        assert_eq!([&shown[0], &shown[5], &shown[7]], ["Bash", "mcp_a", "_x"]);
    }
}
