//! Schemas on their way here: the root of a tool's is an object, and strict ones know a part of the language.

use crate::json::{Json, Kind};
use crate::loss::LossKind;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::arguments::VALUE;
use crate::protocol::reporter::Reporter;
use crate::schema;
use crate::schema::SchemaLanguage;

/// The schema of a tool without arguments.
pub(super) const NO_ARGUMENTS: Json<'static> =
    Json::literal(r#"{"type":"object","properties":{}}"#);

/// Where a schema stands: its node and its field.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) place: Place,
    pub(super) field: Field,
    /// The language that it is written in.
    pub(super) language: SchemaLanguage,
}

/// The schema as the target takes it, with what it loses reported.
pub(super) fn translate<'s>(
    schema: &Json<'s>,
    to: SchemaLanguage,
    at: At,
    reporter: &mut Reporter<'_>,
) -> Json<'s> {
    let translated = schema::translate(schema, at.language, to);
    for loss in translated.losses {
        reporter.within(at.place, (at.field, &loss.pointer), loss.kind, loss.reason);
    }
    if translated.json.as_str() != schema.as_str() || at.language == SchemaLanguage::GeminiSchema {
        let reason = "rewritten in the target's schema keywords";
        match (at.language, at.field) {
            // Gemini has a field for each of its two languages, so that a schema of the older one comes back in another field.
            (SchemaLanguage::GeminiSchema, Field::ToolParameters) => {
                reporter.renamed(at.place, reason);
            }
            _ => reporter.renamed((at.place, at.field), reason),
        }
    }
    translated.json
}

/// The schema of a tool's arguments, which must be an object by its first word. Fixture `request/schema/root-anyof-in-a-tool`.
pub(super) fn with_object_root<'s>(
    schema: Json<'s>,
    at: At,
    reporter: &mut Reporter<'_>,
) -> Json<'s> {
    if schema::root_is_object(&schema) && !has_choice(&schema) {
        return schema;
    }
    if schema.kind() != Kind::Object || schema.compact() == "{}" {
        return NO_ARGUMENTS;
    }
    if schema::root_is_object(&schema) || is_untyped(&schema) {
        return retyped(&schema, at, reporter);
    }
    let reason = "arguments are an object, so that others are wrapped in one";
    reporter.approximated((at.place, at.field), reason);
    Json::of_object(|root| {
        root.word("type", "object");
        root.object_field("properties", |properties| properties.field(VALUE, &schema));
        root.array_field("required", |required| required.value(VALUE));
    })
}

const CHOICES: [&str; 3] = ["anyOf", "oneOf", "allOf"];

fn has_choice(schema: &Json<'_>) -> bool {
    // Few schemas have one, and looking for how the keywords end is cheaper than reading.
    let text = schema.as_str();
    (text.contains("Of\"") || text.contains('\\')) && has_key(schema, |key| CHOICES.contains(&key))
}

/// Whether the schema has properties and merely does not say that it is an object.
fn is_untyped(schema: &Json<'_>) -> bool {
    let is_type_key = |key: &str| matches!(key, "type" | "$ref" | "enum" | "const");
    !has_choice(schema) && !has_key(schema, is_type_key)
}

fn has_key(schema: &Json<'_>, is: impl Fn(&str) -> bool) -> bool {
    let mut found = false;
    // The schema was checked when it was read, so reading it again cannot fail.
    let _ = schema.reader().object(|key, reader| {
        found |= is(&key);
        reader.skip()
    });
    found
}

/// The schema as that of an object, without choices at its root.
fn retyped(schema: &Json<'_>, at: At, reporter: &mut Reporter<'_>) -> Json<'static> {
    let mut lost = Vec::new();
    let retyped = Json::of_object(|root| {
        root.word("type", "object");
        // The schema was checked when it was read, so reading it again cannot fail.
        let _ = schema.reader().object(|key, reader| {
            let json = reader.raw()?;
            if CHOICES.contains(&&*key) {
                lost.push(key.into_owned());
            } else if key != "type" {
                root.field(&key, &json);
            }
            Ok(())
        });
    });
    for key in lost {
        let reason = "arguments have no choice of shapes at their root";
        reporter.within(at.place, (at.field, &format!("/{key}")), LossKind::Dropped, reason);
    }
    retyped
}
