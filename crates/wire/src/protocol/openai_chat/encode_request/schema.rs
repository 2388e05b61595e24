//! The one place where schemas of other protocols are brought into the words of this one.

use crate::json::Json;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::reporter::Reporter;
use crate::schema::{SchemaLanguage, translate};

const SPELLED_ANEW: &str = "Chat takes JSON Schema in a field of its own";

/// The schema as this protocol takes it, strictly or not; what that changed is reported inside `field`.
pub(super) fn translated<'s>(
    (schema, language): (&'s Json<'_>, SchemaLanguage),
    strict: Option<bool>,
    (place, field): (Place, Field),
    reporter: &mut Reporter<'_>,
) -> Json<'s> {
    if reporter.shares_vendor() {
        // The same vendor's servers take the same schemas.
        return schema.reborrow();
    }
    let strict = strict == Some(true);
    let held = reporter.source().codec().schemas.strict.filter(|_| strict);
    let from = held.unwrap_or(language);
    let to = if strict { SchemaLanguage::OpenaiStrict } else { SchemaLanguage::JsonSchema };
    if from == SchemaLanguage::GeminiSchema {
        // The root is no node to speak of, but a tool is.
        match place.is_root() {
            true => reporter.renamed((place, field), SPELLED_ANEW),
            false => reporter.renamed(place, SPELLED_ANEW),
        }
    }
    let translated = translate(schema, from, to);
    if strict && !translated.json.same_value(schema) {
        reporter.renamed((place, field), ALL_REQUIRED);
    }
    for loss in translated.losses {
        // What a reference is replaced by stands beside where the reference stood.
        let pointer = loss.pointer.strip_suffix("/$ref").unwrap_or(&loss.pointer);
        reporter.within(place, (field, pointer), loss.kind, loss.reason);
    }
    translated.json
}

const ALL_REQUIRED: &str =
    "strict schemas require every property and let the optional ones be null";
