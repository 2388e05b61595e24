//! The schemas of the client's tools, as a server of tools lists them. Of a list with one that is none of an object a CLI takes no tool at all,
//! and says nothing.

use sabir_wire::FaultKind;
use sabir_wire::json::{Json, Kind, Writer};

use super::faults::{Failed, fault};
use super::json::member;

/// The schema of a tool that takes nothing.
const EMPTY: &str = r#"{"type":"object"}"#;

/// Refuses a tool whose schema is none of an object.
pub(super) fn check(tool: &str, schema: Option<&str>) -> Result<(), Failed> {
    match Json::parse(schema.unwrap_or(EMPTY)) {
        Ok(schema) if is_of_object(&schema) => Ok(()),
        _ => {
            let message = format!("the schema of the tool `{tool}` is none of an object");
            Err(fault(FaultKind::BadRequest, message))
        }
    }
}

fn is_of_object(schema: &Json<'_>) -> bool {
    let stated = |name: &str| member(schema, name).filter(|it| !it.is_null());
    schema.kind() == Kind::Object
        && stated("type").is_none_or(|it| names_object(&it))
        && stated("properties").is_none_or(|it| it.kind() == Kind::Object)
        && stated("required").is_none_or(|it| is_list_of_strings(&it))
}

/// Whether a type is that of objects, or allows for it.
fn names_object(kind: &Json<'_>) -> bool {
    kind.as_str() == r#""object""#
        || elements(kind).is_some_and(|all| all.iter().any(|it| it.as_str() == r#""object""#))
}

fn is_list_of_strings(list: &Json<'_>) -> bool {
    elements(list).is_some_and(|all| all.iter().all(|it| it.kind() == Kind::String))
}

fn elements<'j>(list: &'j Json<'_>) -> Option<Vec<Json<'j>>> {
    let mut elements = Vec::new();
    let read = list.reader().array(|_, reader| {
        elements.push(reader.raw()?);
        Ok(())
    });
    read.ok().map(|()| elements)
}

/// Writes a schema that was checked: its type stated, and without what is null.
pub(super) fn write(schema: Option<&str>, writer: &mut Writer) {
    let Ok(schema) = Json::parse(schema.unwrap_or(EMPTY)) else {
        writer.null();
        return;
    };
    writer.begin_object();
    writer.field("type", "object");
    // It was read as JSON before.
    let _ = schema.reader().object(|key, reader| {
        let value = reader.raw()?;
        if &*key != "type" && !value.is_null() {
            writer.field(&key, &value);
        }
        Ok(())
    });
    writer.end_object();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_that_of_an_object_and_says_so() {
        let written = |schema: Option<&str>| {
            let mut writer = Writer::default();
            write(schema, &mut writer);
            writer.into_string()
        };
        for (schema, expected) in [
            ("{}", r#"{"type":"object"}"#),
            (r#"{"type":["object","null"]}"#, r#"{"type":"object"}"#),
            (r#"{"properties":null,"required":null}"#, r#"{"type":"object"}"#),
            (
                r#"{"required":["a"],"properties":{"b":{},"a":{"minimum":1.0}},"type":"object"}"#,
                r#"{"type":"object","required":["a"],"properties":{"b":{},"a":{"minimum":1.0}}}"#,
            ),
        ] {
            assert!(check("x", Some(schema)).is_ok(), "{schema}");
            assert_eq!(written(Some(schema)), expected);
        }
        assert!(check("x", None).is_ok() && written(None) == EMPTY);
        for schema in [
            "[]",
            "5",
            r#"{"type":"string"}"#,
            r#"{"type":5}"#,
            r#"{"properties":[]}"#,
            r#"{"required":"a"}"#,
            r#"{"required":[1]}"#,
        ] {
            let refused = check("x", Some(schema)).unwrap_err();
            assert!(refused.message.to_str().contains("`x`"), "{schema}");
        }
    }
}
