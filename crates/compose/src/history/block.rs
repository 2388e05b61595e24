//! The content of a message: a string, blocks, or one block without a list around it.

use sabir_wire::conversation::{CallForm, Content, Part, Parts, ResultOutput, Role, ToolResult};
use sabir_wire::json::{Json, Kind, Reader, Text};
use sabir_wire::{Error, Protocol, Result};

use super::call;

pub(super) fn read_all<'a>(content: &Json<'a>, role: Role) -> Result<Vec<Part<'a>>> {
    // What is read from the input is a slice of it.
    match content.input_reader() {
        Some(mut reader) => blocks(&mut reader, role),
        None => Ok(Vec::new()),
    }
}

/// Reads one block of a list.
pub(super) fn read_one<'a>(json: &Json<'a>, role: Role) -> Result<Vec<Part<'a>>> {
    match json.input_reader() {
        Some(mut reader) => block(&mut reader, role),
        None => Ok(Vec::new()),
    }
}

fn blocks<'a>(reader: &mut Reader<'a>, role: Role) -> Result<Vec<Part<'a>>> {
    match reader.kind()? {
        Kind::Null => reader.null().map(|()| Vec::new()),
        Kind::Array => {
            let mut parts = Vec::new();
            reader.array(|_, reader| {
                parts.extend(block(reader, role)?);
                Ok(())
            })?;
            Ok(parts)
        }
        _ => block(reader, role),
    }
}

fn block<'a>(reader: &mut Reader<'a>, role: Role) -> Result<Vec<Part<'a>>> {
    let part = match reader.kind()? {
        Kind::Object => return object(reader, role),
        Kind::Null => return reader.null().map(|()| Vec::new()),
        Kind::String => Part::text(reader.string()?),
        Kind::Array | Kind::Boolean | Kind::Number => {
            Part::text(reader.raw()?.compact().into_owned())
        }
    };
    Ok(vec![part])
}

fn object<'a>(reader: &mut Reader<'a>, role: Role) -> Result<Vec<Part<'a>>> {
    let tag = reader.peek_tag("type")?;
    let tag = tag.as_ref().map(Text::to_str).unwrap_or_default();
    match &*tag {
        "tool_use" => {
            let call = call::call(reader)?;
            Ok(vec![Part::new(Content::ToolCall(Box::new(call)))])
        }
        tag if tag == "tool_result" || answers(reader)? => {
            let result = result(reader, role)?;
            Ok(vec![Part::new(Content::ToolResult(Box::new(result)))])
        }
        "" | "text" | "input_text" | "output_text" => text(reader),
        _ => foreign(&reader.raw()?, &tag, role),
    }
}

/// Whether a block names a call, whatever its type.
fn answers(reader: &Reader<'_>) -> Result<bool> {
    Ok(reader.peek_tag("tool_use_id")?.is_some())
}

fn text<'a>(reader: &mut Reader<'a>) -> Result<Vec<Part<'a>>> {
    let mut parts = Vec::new();
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("text", Kind::String) => {
            parts.push(Part::text(reader.string()?));
            Ok(())
        }
        _ => reader.skip(),
    })?;
    Ok(parts)
}

fn result<'a>(reader: &mut Reader<'a>, role: Role) -> Result<ToolResult<'a>> {
    let mut result = ToolResult {
        call_id: None,
        name: None,
        output: ResultOutput::Parts(Parts::default()),
        is_error: None,
        form: CallForm::Function,
    };
    reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("tool_use_id", Kind::String) => result.call_id = Some(reader.string()?),
            ("content" | "output" | "text", _) => {
                result.output = ResultOutput::Parts(blocks(reader, role)?.into());
            }
            ("is_error", Kind::Boolean) => result.is_error = Some(reader.boolean()?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok(result)
}

/// Where a block stands in the request that it is wrapped in to be read by a protocol.
const WRAPPED: &str = "/messages/0/content/0";

/// The place that an error points to, below the content.
pub(super) fn place(error: &Error) -> String {
    error.pointer().replacen(WRAPPED, "", 1)
}

/// Blocks that only the protocols know, such as images, are read by them.
fn foreign<'a>(block: &Json<'_>, tag: &str, role: Role) -> Result<Vec<Part<'a>>> {
    let protocol = match tag {
        "image_url" | "input_audio" | "file" | "refusal" => Protocol::OpenaiChat,
        _ => Protocol::AnthropicMessages,
    };
    let role = match role {
        Role::Assistant => "assistant",
        Role::System | Role::Developer | Role::User | Role::Tool => "user",
    };
    let body = format!(r#"{{"messages":[{{"role":"{role}","content":[{}]}}]}}"#, block.as_str());
    let decoded = protocol.decode_request(body.as_bytes())?.into_owned();
    Ok(decoded.into_request().messages.into_iter().flat_map(|message| message.parts).collect())
}
