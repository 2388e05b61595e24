//! Answers with open calls for clients that want to be asked for results: a status and a list of their own, in the older
//! form of assistants.

use crate::error::Result;
use crate::json::{Json, Reader, Text, Writer};

/// What a client has to do before the model goes on.
pub(super) struct RequiredAction {
    /// The calls, as a JSON list.
    calls: String,
    /// The items, those of open calls in progress.
    pub(super) output: String,
}

impl RequiredAction {
    /// None if the items, as a JSON list, hold no call for the client.
    pub(super) fn of(output: &str) -> Option<Self> {
        let (mut calls, mut items) = (Writer::default(), Writer::default());
        calls.begin_array();
        items.begin_array();
        let mut count = 0;
        let read = Reader::new(output).array(|_, item| match arguments_key(item)? {
            Some(key) => {
                count += 1;
                write_call(&mut calls, &mut items, &item.raw()?, key)
            }
            None => {
                items.value(&item.raw()?);
                Ok(())
            }
        });
        calls.end_array();
        items.end_array();
        let is_needed = read.is_ok() && count > 0;
        is_needed.then(|| Self { calls: calls.into_string(), output: items.into_string() })
    }

    pub(super) fn write(&self, writer: &mut Writer) {
        writer.object(|action| {
            action.field("type", "submit_tool_outputs");
            action.object_field("submit_tool_outputs", |it| {
                it.field("tool_calls", &Json::trusted(self.calls.as_str().into()))
            });
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

fn write_call(calls: &mut Writer, items: &mut Writer, item: &Json<'_>, key: &str) -> Result<()> {
    let reader = item.reader();
    let (id, name) = (reader.peek_tag("call_id")?, reader.peek_tag("name")?);
    let arguments = reader.peek_tag(key)?;
    calls.object(|call| {
        call.field("id", &id);
        call.field("type", "function");
        call.object_field("function", |function| {
            function.field("name", &name);
            function.field("arguments", &arguments);
        });
    });
    items.begin_object();
    item.reader().object(|name, value| {
        let value = value.raw()?;
        match &*name {
            "status" => items.field("status", "in_progress"),
            name => items.field(name, &value),
        }
        Ok(())
    })?;
    items.end_object();
    Ok(())
}
