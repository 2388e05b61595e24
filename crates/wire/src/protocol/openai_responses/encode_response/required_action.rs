//! Answers with open calls for clients that want to be asked for results: a status and a list of their own, in the older
//! form of assistants.

use crate::error::Result;
use crate::json::{Json, Reader, Text, Writer};

/// What a client has to do before the model goes on.
pub(super) struct RequiredAction {
    /// The list of calls.
    calls: Json<'static>,
    /// The list of items, those of open calls in progress.
    pub(super) output: Json<'static>,
}

impl RequiredAction {
    /// None if the items hold no call for the client.
    pub(super) fn of(output: &Json<'_>) -> Option<Self> {
        let mut calls = Vec::new();
        let items = output.reader().list(|_, item| match arguments_key(item)? {
            Some(key) => {
                calls.push(call(item, key)?);
                in_progress(item)
            }
            None => item.raw(),
        });
        let output = items.ok().filter(|_| !calls.is_empty())?;
        let list = |items: &[Json<'_>]| Json::written(|writer| writer.value(items));
        Some(Self { calls: list(&calls), output: list(&output) })
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.object(|action| {
            action.field("type", "submit_tool_outputs");
            action.object_field("submit_tool_outputs", |it| it.field("tool_calls", &self.calls));
        });
    }
}

/// The member that holds what a client's tool is called with; none for other items.
fn arguments_key(item: &Reader<'_>) -> Result<Option<&'static str>> {
    let kind = item.peek_tag("type")?;
    Ok(match kind.as_ref().map(Text::to_str).as_deref() {
        Some("function_call") => Some("arguments"),
        Some("custom_tool_call") => Some("input"),
        _ => None,
    })
}

/// The call that an item is, in the older form.
fn call(item: &Reader<'_>, key: &str) -> Result<Json<'static>> {
    let (id, name) = (item.peek_tag("call_id")?, item.peek_tag("name")?);
    let arguments = item.peek_tag(key)?;
    Ok(Json::of_object(|call| {
        call.field("id", &id);
        call.field("type", "function");
        call.object_field("function", |function| {
            function.field("name", &name);
            function.field("arguments", &arguments);
        });
    }))
}

/// An item with the status of one that is not complete, where it has a status.
fn in_progress<'a>(item: &mut Reader<'a>) -> Result<Json<'a>> {
    let mut written = Ok(());
    let json = Json::of_object(|object| {
        written = item.object(|name, value| {
            let value = value.raw()?;
            match &*name {
                "status" => object.field("status", "in_progress"),
                name => object.field(name, &value),
            }
            Ok(())
        });
    });
    written.map(|()| json)
}
