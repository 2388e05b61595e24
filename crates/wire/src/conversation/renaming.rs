//! Other names for the tools of a request, wherever it names them. What was meant by the nodes stays with them: a name is
//! nothing that a vendor seals.

use crate::conversation::{Content, Message, Request, Tool, ToolChoice, ToolKind};
use crate::json::Text;

/// Has other names for tools; none for those that keep theirs.
pub trait Rename<'a> {
    /// For a tool on offer.
    fn offered(&mut self, name: &str) -> Option<Text<'a>>;

    /// For one that is chosen, called or has answered. Those on offer are asked for first.
    fn named(&mut self, name: &str) -> Option<Text<'a>>;
}

impl<'a> Request<'a> {
    /// Calls tools by other names, on offer, in the choice and in the history.
    pub fn rename_tools(&mut self, rename: &mut impl Rename<'a>) {
        self.tools.iter_mut().for_each(|tool| rename_offered(tool, rename));
        if let Some(choice) = &mut self.tool_choice {
            rename_choice(choice, rename);
        }
        self.messages.iter_mut().for_each(|message| rename_called(message, rename));
    }
}

fn rename_offered<'a>(tool: &mut Tool<'a>, rename: &mut impl Rename<'a>) {
    let name = match &mut tool.kind {
        ToolKind::Function(function) => &mut function.name,
        ToolKind::Custom(custom) => &mut custom.name,
        ToolKind::Hosted(_) => return,
        ToolKind::Namespace(namespace) => {
            return namespace.tools.iter_mut().for_each(|tool| rename_offered(tool, rename));
        }
    };
    if let Some(other) = rename.offered(&name.to_str()) {
        *name = other;
    }
}

/// Changes a name, and says whether it had to.
fn change<'a>(name: &mut Text<'a>, rename: &mut impl Rename<'a>) -> bool {
    let other = rename.named(&name.to_str());
    let is_other = other.is_some();
    other.into_iter().for_each(|other| *name = other);
    is_other
}

fn rename_choice<'a>(choice: &mut ToolChoice<'a>, rename: &mut impl Rename<'a>) {
    match choice {
        ToolChoice::Named { name, .. } => {
            change(name, rename);
        }
        ToolChoice::Allowed { tools, .. } => {
            for tool in tools {
                // The element as it was spelled has the old name.
                if tool.name.as_mut().is_some_and(|name| change(name, rename)) {
                    tool.json = None;
                }
            }
        }
        ToolChoice::Auto | ToolChoice::None | ToolChoice::Required | ToolChoice::Other { .. } => {}
    }
}

fn rename_called<'a>(message: &mut Message<'a>, rename: &mut impl Rename<'a>) {
    for part in message.parts.iter_mut() {
        match part.content_mut() {
            Content::ToolCall(call) => {
                change(&mut call.name, rename);
            }
            Content::ToolResult(result) => {
                result.name.as_mut().map(|name| change(name, rename));
            }
            Content::Text(_)
            | Content::Media(_)
            | Content::Reasoning(_)
            | Content::Refusal(_)
            | Content::Opaque(_) => {}
        }
    }
}
