//! The one place where schemas of other protocols are brought into the words of this one.

use std::borrow::Cow;

use crate::json::Json;

/// The schema in the words of JSON Schema, which this protocol takes.
pub(super) fn translated<'s>(schema: &'s Json<'s>) -> Cow<'s, Json<'s>> {
    Cow::Borrowed(schema)
}
