//! The description of an output format, for vendors whose formats have none: there it is the schema's own.

use crate::json::{Json, Kind, Text};
use crate::protocol::Field;
use crate::protocol::reporter::Reporter;

/// The schema with a description of the format as its own, before one that it has already. A schema that can hold none
/// stays as it is, and the description is reported as lost.
pub(super) fn described<'s>(
    schema: Json<'s>,
    description: Option<&Text<'_>>,
    reporter: &mut Reporter<'_>,
) -> Json<'s> {
    let Some(description) = description.filter(|_| !reporter.is_same()) else { return schema };
    if schema.kind() != Kind::Object {
        report_description(Some(description), reporter);
        return schema;
    }
    let reason = "it is the description of the schema itself";
    for field in [Field::OutputSchemaDescription, Field::OutputSchema] {
        reporter.renamed(field, reason);
    }
    with_description(&schema, description)
}

/// Reports a description for which there is no schema.
pub(super) fn report_description(description: Option<&Text<'_>>, reporter: &mut Reporter<'_>) {
    if description.is_some() {
        let (field, reason) = (Field::OutputSchemaDescription, "there is no schema to describe");
        reporter.dropped(field, reason);
    }
}

fn with_description(schema: &Json<'_>, description: &Text<'_>) -> Json<'static> {
    Json::of_object(|root| {
        let mut description = description.clone().into_owned();
        let mut members = Vec::new();
        // The schema was checked when it was read, so reading it again cannot fail.
        let _ = schema.reader().object(|key, reader| {
            if key == "description" && reader.kind()? == Kind::String {
                description.push(&Text::plain("\n\n"));
                description.push(&reader.string()?);
            } else {
                members.push((key.into_owned(), reader.raw()?.into_owned()));
            }
            Ok(())
        });
        root.field("description", &description);
        members.iter().for_each(|(key, json)| root.field(key, json));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &'static str, expected: &str) {
        let described = with_description(&Json::literal(schema), &Text::literal("Of a tide."));
        assert_eq!(described.as_str(), expected);
    }

    #[test]
    fn a_description_stands_in_the_schema_before_its_own() {
        check(r#"{"type":"object"}"#, r#"{"description":"Of a tide.","type":"object"}"#);
        let both = r#"{"description":"Of a tide.\n\nA tide.","type":"object"}"#;
        check(r#"{"type":"object","description":"A tide."}"#, both);
        check("{}", r#"{"description":"Of a tide."}"#);
    }
}
