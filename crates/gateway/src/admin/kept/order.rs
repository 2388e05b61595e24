//! What a client sends to make or change a conversation.

use sabir_wire::json::{Json, Kind};

use super::metadata;
use super::metadata::{invalid, missing, mistyped};
use crate::failure::Result;
use crate::ingress;

/// The members of a body that count.
pub(super) struct Order {
    /// Each as it was sent.
    pub(super) items: Option<Vec<Json<'static>>>,
    pub(super) metadata: Option<Json<'static>>,
}

/// Items that are added at once.
const ITEMS_MAX: usize = 20;

impl Order {
    /// Reads a body.
    pub(super) fn read(body: &str) -> Result<Self> {
        let [items, metadata] = ingress::members(body, ["items", "metadata"])?;
        metadata.iter().try_for_each(metadata::check)?;
        let items = items.map(|items| elements(&items)).transpose()?;
        Ok(Self { items, metadata: metadata.map(Json::into_owned) })
    }

    pub(super) fn into_items(self) -> Result<Vec<Json<'static>>> {
        self.items.ok_or_else(|| missing("items"))
    }

    pub(super) fn metadata(&self) -> Result<&Json<'static>> {
        self.metadata.as_ref().ok_or_else(|| missing("metadata"))
    }
}

fn elements(items: &Json<'_>) -> Result<Vec<Json<'static>>> {
    if items.kind() != Kind::Array {
        return Err(mistyped("items", "an array of objects", items.kind()));
    }
    let (mut elements, mut count) = (Vec::new(), 0);
    items.reader().array(|index, reader| {
        let element = reader.raw()?;
        if index < ITEMS_MAX {
            elements.push(element.into_owned());
        }
        count = index + 1;
        Ok(())
    })?;
    if count > ITEMS_MAX {
        let message = format!(
            "Invalid 'items': array too long. Expected an array with maximum length {ITEMS_MAX}, but got an array with \
             length {count} instead."
        );
        return Err(invalid("items", message, "array_above_max_length"));
    }
    let wrong = elements.iter().enumerate().find(|(_, it)| it.kind() != Kind::Object);
    match wrong {
        Some((index, it)) => Err(mistyped(&format!("items[{index}]"), "an object", it.kind())),
        None => Ok(elements),
    }
}
