//! Other names for the tools of a request, wherever it names them. What was meant by the nodes stays with them: a name is
//! nothing that a vendor seals.

use crate::conversation::{Content, Message, Request, Tool, ToolChoice, ToolKind};
use crate::json::Text;

impl<'a> Request<'a> {
    /// Calls tools by other names, on offer, in the choice and in the history; `rename` has none for those that keep theirs.
    pub fn rename_tools(&mut self, rename: &dyn Fn(&str) -> Option<&'a str>) {
        let mut change = |name: &mut Text<'a>| match rename(&name.to_str()) {
            Some(other) => {
                *name = Text::plain(other);
                true
            }
            None => false,
        };
        self.tools.iter_mut().for_each(|tool| rename_offered(tool, &mut change));
        if let Some(choice) = &mut self.tool_choice {
            rename_choice(choice, &mut change);
        }
        self.messages.iter_mut().for_each(|message| rename_called(message, &mut change));
    }
}

/// Changes a name, and says whether it had to.
type Change<'f, 'a> = dyn FnMut(&mut Text<'a>) -> bool + 'f;

fn rename_offered<'a>(tool: &mut Tool<'a>, change: &mut Change<'_, 'a>) {
    match &mut tool.kind {
        ToolKind::Function(function) => {
            change(&mut function.name);
        }
        ToolKind::Custom(custom) => {
            change(&mut custom.name);
        }
        ToolKind::Hosted(_) => {}
        ToolKind::Namespace(namespace) => {
            namespace.tools.iter_mut().for_each(|tool| rename_offered(tool, change));
        }
    }
}

fn rename_choice<'a>(choice: &mut ToolChoice<'a>, change: &mut Change<'_, 'a>) {
    match choice {
        ToolChoice::Named { name, .. } => {
            change(name);
        }
        ToolChoice::Allowed { tools, .. } => {
            for tool in tools {
                // The element as it was spelled has the old name.
                if tool.name.as_mut().is_some_and(&mut *change) {
                    tool.json = None;
                }
            }
        }
        ToolChoice::Auto | ToolChoice::None | ToolChoice::Required | ToolChoice::Other { .. } => {}
    }
}

fn rename_called<'a>(message: &mut Message<'a>, change: &mut Change<'_, 'a>) {
    for part in message.parts.iter_mut() {
        match part.content_mut() {
            Content::ToolCall(call) => {
                change(&mut call.name);
            }
            Content::ToolResult(result) => {
                result.name.as_mut().map(&mut *change);
            }
            Content::Text(_)
            | Content::Media(_)
            | Content::Reasoning(_)
            | Content::Refusal(_)
            | Content::Opaque(_) => {}
        }
    }
}
