//! JSON objects with some of their members changed or taken out, everything else as it was.

use sabir_wire::Result;
use sabir_wire::json::{Json, Reader, Writer};

/// The object with each member as `edit` has it; a member that it makes nothing of is gone.
pub(crate) fn edited<'b>(
    body: &'b str,
    mut edit: impl FnMut(&str, Json<'b>) -> Option<Json<'b>>,
) -> Result<String> {
    let mut edited = Writer::with_capacity(body.len());
    edited.begin_object();
    Reader::new(body).object(|name, reader| {
        let value = reader.raw()?;
        if let Some(value) = edit(&name, value) {
            edited.field(&name, &value);
        }
        Ok(())
    })?;
    edited.end_object();
    Ok(edited.into_string())
}
