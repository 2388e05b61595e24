//! What a client sends to make or change a conversation.

use sabir_wire::json::{Json, Kind, Reader};

use super::metadata::{invalid, missing, mistyped};
use crate::failure::Result;

/// The members of a body that count.
#[derive(Default)]
pub(super) struct Order<'b> {
    /// Each as it was sent.
    pub(super) items: Option<Vec<Json<'b>>>,
    pub(super) metadata: Option<Json<'b>>,
}

/// Items that are added at once.
const ITEMS_MAX: usize = 20;

impl<'b> Order<'b> {
    /// Reads a body. One without any text says nothing.
    pub(super) fn read(body: &'b str) -> Result<Self> {
        let mut order = Self::default();
        if body.trim().is_empty() {
            return Ok(order);
        }
        let mut items = None;
        Reader::new(body).object(|key, reader| {
            match &*key {
                "items" => items = Some(reader.raw()?).filter(|json| !json.is_null()),
                "metadata" => order.metadata = Some(reader.raw()?),
                _ => reader.skip()?,
            }
            Ok(())
        })?;
        order.items = items.map(|items| elements(&items)).transpose()?;
        Ok(order)
    }

    pub(super) fn into_items(self) -> Result<Vec<Json<'b>>> {
        self.items.ok_or_else(|| missing("items"))
    }

    pub(super) fn metadata(&self) -> Result<&Json<'b>> {
        self.metadata.as_ref().ok_or_else(|| missing("metadata"))
    }
}

fn elements<'b>(items: &Json<'b>) -> Result<Vec<Json<'b>>> {
    if items.kind() != Kind::Array {
        return Err(mistyped("items", "an array of objects", items.kind()));
    }
    let mut elements = Vec::new();
    items.reader().array(|_, reader| {
        elements.push(reader.raw()?.into_owned());
        Ok(())
    })?;
    if elements.len() > ITEMS_MAX {
        let message = format!(
            "Invalid 'items': array too long. Expected an array with maximum length {ITEMS_MAX}, but got an array with \
             length {} instead.",
            elements.len()
        );
        return Err(invalid("items", message, "array_above_max_length"));
    }
    let wrong = elements.iter().enumerate().find(|(_, it)| it.kind() != Kind::Object);
    match wrong {
        Some((index, it)) => Err(mistyped(&format!("items[{index}]"), "an object", it.kind())),
        None => Ok(elements),
    }
}
