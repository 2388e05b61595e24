//! Reading and writing the JSON of lines.

use sabir_wire::Result;
use sabir_wire::json::{Json, Reader, Writer};

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
