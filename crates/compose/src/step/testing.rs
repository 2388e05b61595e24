//! Short ways to write messages down in the tests of the steps.

use sabir_wire::conversation::{
    Arguments, CallForm, Content, Message, Part, ResultOutput, Role, ToolCall, ToolResult,
};

use crate::turn::Turn;

pub(crate) fn text(role: Role, words: &str) -> Message<'static> {
    Message::new(role, vec![Part::text(words.to_owned())])
}

pub(crate) fn call_part(id: &'static str) -> Part<'static> {
    Part::new(Content::ToolCall(Box::new(ToolCall {
        id: Some(id.into()),
        name: "look".into(),
        arguments: Arguments::Text("{}".into()),
        form: CallForm::Function,
    })))
}

pub(crate) fn result_part(id: &'static str) -> Part<'static> {
    Part::new(Content::ToolResult(Box::new(ToolResult {
        call_id: Some(id.into()),
        name: None,
        output: ResultOutput::Parts(Part::text(format!("of {id}")).into()),
        is_error: None,
        form: CallForm::Function,
    })))
}

pub(crate) fn call(id: &'static str) -> Message<'static> {
    Message::new(Role::Assistant, vec![call_part(id)])
}

pub(crate) fn result(id: &'static str) -> Message<'static> {
    Message::new(Role::Tool, vec![result_part(id)])
}

pub(crate) fn turns(messages: impl IntoIterator<Item = Message<'static>>) -> Vec<Turn<'static>> {
    messages.into_iter().enumerate().map(|(index, it)| Turn::given(index, it)).collect()
}

/// Each message as one line: its role, and each part as its text, `?id` for a call and `=id` for a result, with `!` behind
/// one that is an error.
pub(crate) fn rendered(turns: &[Turn<'_>]) -> Vec<String> {
    turns.iter().map(|turn| line(&turn.message)).collect()
}

fn line(message: &Message<'_>) -> String {
    let role = match message.role {
        Role::System | Role::Developer => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let parts: Vec<String> = message.parts.iter().map(|part| word(part.content())).collect();
    format!("{role}: {}", parts.join(" "))
}

fn word(content: &Content<'_>) -> String {
    let id = |text: &Option<sabir_wire::json::Text<'_>>| {
        text.as_ref().map(|text| text.to_str().into_owned()).unwrap_or_default()
    };
    match content {
        Content::Text(text) => text.to_str().into_owned(),
        Content::ToolCall(call) => format!("?{}", id(&call.id)),
        Content::ToolResult(result) => {
            let mark = if result.is_error == Some(true) { "!" } else { "" };
            format!("={}{mark}", id(&result.call_id))
        }
        _ => "…".to_owned(),
    }
}
