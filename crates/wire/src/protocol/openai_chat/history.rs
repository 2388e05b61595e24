//! What a client adds to its history for an answer: the first message, with the voice of the assistant by its id.

use crate::error::Result;
use crate::json::{Json, Kind, Reader, Text, Writer};

pub(in super::super) fn answer_elements(body: &str) -> Result<Vec<String>> {
    let mut message = None;
    Reader::new(body).object(|key, reader| match &*key {
        "choices" if reader.kind()? == Kind::Array => reader.array(|index, reader| match index {
            0 => choice(reader, &mut message),
            _ => reader.skip(),
        }),
        _ => reader.skip(),
    })?;
    message.iter().map(element).collect()
}

fn choice<'a>(reader: &mut Reader<'a>, message: &mut Option<Json<'a>>) -> Result<()> {
    reader.object(|key, reader| match (&*key, reader.kind()?) {
        ("message", Kind::Object) => {
            *message = Some(reader.raw()?);
            Ok(())
        }
        _ => reader.skip(),
    })
}

fn element(message: &Json<'_>) -> Result<String> {
    let mut writer = Writer::with_capacity(message.as_str().len() + 32);
    writer.begin_object();
    let mut reader = message.reader();
    if reader.peek_tag("role")?.is_none() {
        writer.word("role", "assistant");
    }
    reader.object(|key, reader| {
        let json = reader.raw()?;
        match audio_id(&key, &json)? {
            Some(id) => {
                writer.object_field(&key, |audio| audio.field("id", &id));
            }
            None if key == "role" && json.is_null() => {}
            // Some servers answer with the JSON that was asked for instead of its text.
            // Fixture `answer/text/content-that-is-json`.
            None if key == "content" && json.kind() == Kind::Object => {
                writer.key(&key);
                writer.embedded(&json);
            }
            None => writer.field(&key, &json),
        }
        Ok(())
    })?;
    writer.end_object();
    Ok(writer.into_string())
}

/// The id by which the server knows its spoken answer.
fn audio_id<'j>(key: &str, json: &'j Json<'_>) -> Result<Option<Text<'j>>> {
    match (key, json.kind()) {
        ("audio", Kind::Object) => json.reader().peek_tag("id"),
        _ => Ok(None),
    }
}
