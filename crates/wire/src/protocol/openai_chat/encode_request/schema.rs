//! The one place where schemas of other protocols are brought into the words of this one.

use crate::json::Json;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::reporter::Reporter;
use crate::protocol::schema_language::{Schema, fitted};
use crate::schema::SchemaLanguage;

const SPELLED_ANEW: &str = "Chat takes JSON Schema in a field of its own";

/// The schema as this protocol takes it, strictly or not; what that changed is reported inside `field`.
pub(super) fn translated<'s>(
    schema: Schema<'s>,
    (place, field): (Place, Field),
    reporter: &mut Reporter<'_>,
) -> Json<'s> {
    if schema.1 == SchemaLanguage::GeminiSchema {
        // The root is no node to speak of, but a tool is.
        match place.is_root() {
            true => reporter.renamed((place, field), SPELLED_ANEW),
            false => reporter.renamed(place, SPELLED_ANEW),
        }
    }
    fitted(reporter, schema, (place, field), |pointer| {
        // What a reference is replaced by stands beside where the reference stood.
        pointer.strip_suffix("/$ref").unwrap_or(pointer)
    })
}
