//! What a client adds to its history for an answer: the content of the first candidate, unless it is empty.

use crate::error::Result;
use crate::json::{Json, Kind, Reader, Writer};

pub(in super::super) fn answer_elements(body: &str) -> Result<Vec<String>> {
    let mut content = None;
    Reader::new(body).object(|key, reader| match (&*key, reader.kind()?) {
        ("candidates", Kind::Array) => reader.array(|_, reader| {
            let (is_first, of_candidate) = candidate(reader)?;
            content = content.take().or(of_candidate.filter(|_| is_first));
            Ok(())
        }),
        _ => reader.skip(),
    })?;
    content.iter().filter_map(|content| element(content).transpose()).collect()
}

/// Whether a candidate is the first, and its content.
fn candidate<'a>(reader: &mut Reader<'a>) -> Result<(bool, Option<Json<'a>>)> {
    let (mut is_first, mut content) = (true, None);
    reader.object(|key, reader| {
        match (&*key, reader.kind()?) {
            ("index", Kind::Number) => is_first = reader.number()?.as_u64() == Some(0),
            ("content", Kind::Object) => content = Some(reader.raw()?),
            _ => reader.skip()?,
        }
        Ok(())
    })?;
    Ok((is_first, content))
}

fn element(content: &Json<'_>) -> Result<Option<String>> {
    let mut writer = Writer::with_capacity(content.as_str().len() + 16);
    let mut has_parts = false;
    writer.begin_object();
    if content.reader().peek_tag("role")?.is_none() {
        writer.word("role", "model");
    }
    content.reader().object(|key, reader| {
        let json = reader.raw()?;
        has_parts |= key == "parts" && !matches!(&*json.compact(), "[]" | "null");
        if !(key == "role" && json.is_null()) {
            writer.field(&key, &json);
        }
        Ok(())
    })?;
    writer.end_object();
    Ok(has_parts.then(|| writer.into_string()))
}
