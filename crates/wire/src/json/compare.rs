//! Equality of JSON values by meaning rather than by spelling.

use std::collections::BTreeMap;

use super::kind::Kind;
use super::raw::Json;
use super::text::Text;
use crate::error::Result;

/// Whether two values mean the same. The nesting is bounded, since every [`Json`] has been checked.
pub(super) fn same_value(one: &Json<'_>, two: &Json<'_>) -> bool {
    one.as_str() == two.as_str() || (one.kind() == two.kind() && same_parts(one, two))
}

fn same_parts(one: &Json<'_>, two: &Json<'_>) -> bool {
    match one.kind() {
        Kind::Null => true,
        // Equal spellings have been dealt with.
        Kind::Boolean | Kind::Number => false,
        Kind::String => both(one.reader().string(), two.reader().string()),
        Kind::Array => both(elements(one), elements(two)),
        Kind::Object => both(members(one), members(two)),
    }
}

fn both<T: PartialEq>(one: Result<T>, two: Result<T>) -> bool {
    matches!((one, two), (Ok(one), Ok(two)) if one == two)
}

fn elements<'s>(json: &'s Json<'_>) -> Result<Vec<Json<'s>>> {
    json.reader().list(|_, reader| reader.raw())
}

/// The members by key; the last of equal keys counts, as in every reader of JSON that matters here.
fn members<'s>(json: &'s Json<'_>) -> Result<BTreeMap<Text<'s>, Json<'s>>> {
    let mut members = BTreeMap::new();
    json.reader().members(|key, reader| {
        members.insert(key, reader.raw()?);
        Ok(())
    })?;
    Ok(members)
}
