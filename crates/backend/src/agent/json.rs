//! Reading and writing the JSON of lines.

use sabir_wire::Result;
use sabir_wire::json::{Json, Kind, Reader, Writer};

pub(super) fn string(reader: &mut Reader<'_>) -> Result<String> {
    Ok(reader.string()?.into_str().into_owned())
}

/// Writes a value that was kept as text.
pub(super) fn write(json: &str, writer: &mut Writer) {
    match Json::parse(json) {
        Ok(json) => writer.value(&json),
        // It was read before it was kept.
        Err(_) => writer.null(),
    }
}

/// A member of an object.
pub(super) fn member<'j>(object: &'j Json<'_>, name: &str) -> Option<Json<'j>> {
    let mut found = None;
    let read = object.reader().object(|key, reader| match &*key == name {
        true => {
            found = Some(reader.raw()?);
            Ok(())
        }
        false => reader.skip(),
    });
    read.ok().and(found)
}

/// A string of an object.
pub(super) fn text(object: &Json<'_>, name: &str) -> Option<String> {
    let value = member(object, name).filter(|value| value.kind() == Kind::String)?;
    value.reader().string().ok().map(|text| text.into_str().into_owned())
}
