//! What a client adds to its history for an answer: the content, as a message of the assistant.

use crate::error::Result;
use crate::json::{Json, Kind, Reader, Writer};

pub(in super::super) fn answer_elements(body: &str) -> Result<Vec<String>> {
    let mut content = None;
    Reader::new(body).object(|key, reader| match (&*key, reader.kind()?) {
        ("content", Kind::Array | Kind::String) => {
            content = Some(reader.raw()?);
            Ok(())
        }
        _ => reader.skip(),
    })?;
    Ok(content.iter().map(element).collect())
}

fn element(content: &Json<'_>) -> String {
    let mut writer = Writer::with_capacity(content.as_str().len() + 40);
    writer.object(|message| {
        message.word("role", "assistant");
        message.field("content", content);
    });
    writer.into_string()
}
