//! What a client adds to its history for an answer: the items, as they are.

use crate::error::Result;
use crate::json::{Kind, Reader};

pub(in super::super) fn answer_elements(body: &str) -> Result<Vec<String>> {
    let mut items = Vec::new();
    Reader::new(body).object(|key, reader| match (&*key, reader.kind()?) {
        ("output", Kind::Array) => {
            items = reader.list(|_, reader| Ok(reader.raw()?.as_str().to_owned()))?;
            Ok(())
        }
        _ => reader.skip(),
    })?;
    Ok(items)
}
