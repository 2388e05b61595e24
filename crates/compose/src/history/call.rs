//! Calls beside the content of a message, in OpenAI's spelling or a plainer one.

use std::collections::HashSet;

use sabir_wire::Result;
use sabir_wire::conversation::{Arguments, CallForm, Content, Part, Parts, ToolCall};
use sabir_wire::json::{Json, Kind, Reader, Text};

/// Adds the calls of a list to the parts of a message; those that its blocks hold already are the same.
pub(super) fn add<'a>(calls: &Json<'a>, parts: &mut Parts<'a>) -> Result<()> {
    let known: HashSet<Text<'a>> = parts.iter().filter_map(call_id).cloned().collect();
    // What is read from the input is a slice of it.
    let Some(mut reader) = calls.input_reader() else { return Ok(()) };
    reader.array(|_, reader| {
        let call = call(reader)?;
        if !call.id.as_ref().is_some_and(|id| known.contains(id)) {
            parts.push(Part::new(Content::ToolCall(Box::new(call))));
        }
        Ok(())
    })
}

pub(super) fn call_id<'p, 'a>(part: &'p Part<'a>) -> Option<&'p Text<'a>> {
    match part.content() {
        Content::ToolCall(call) => call.id.as_ref(),
        _ => None,
    }
}

pub(super) fn call<'a>(reader: &mut Reader<'a>) -> Result<ToolCall<'a>> {
    let mut call = ToolCall {
        id: None,
        name: Text::default(),
        arguments: Arguments::Text("".into()),
        form: CallForm::Function,
    };
    reader.object(|key, reader| match &*key {
        "function" if reader.kind()? == Kind::Object => {
            reader.object(|key, reader| field(&mut call, &key, reader))
        }
        "id" => {
            call.id = reader.or_null(Reader::string)?;
            Ok(())
        }
        key => field(&mut call, key, reader),
    })?;
    Ok(call)
}

fn field<'a>(call: &mut ToolCall<'a>, key: &str, reader: &mut Reader<'a>) -> Result<()> {
    match (key, reader.kind()?) {
        ("name", Kind::String) => call.name = reader.string()?,
        ("arguments" | "args" | "input", Kind::String) => {
            call.arguments = Arguments::Text(reader.string()?);
        }
        ("arguments" | "args" | "input", Kind::Object) => {
            call.arguments = Arguments::Json(reader.raw()?);
        }
        _ => reader.skip()?,
    }
    Ok(())
}
