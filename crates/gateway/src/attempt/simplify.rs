//! What Codex hands on of the schemas of tools. It reads them into a form of its own, and what that has no place for does not reach the model.

use sabir_wire::json::{Json, Kind};

/// Whether it leaves something of a schema out, or changes it.
pub(super) fn simplifies(schema: &Json<'_>) -> bool {
    !passes(schema)
}

/// Whether a schema comes through as it is.
fn passes(schema: &Json<'_>) -> bool {
    // A schema that is true or false becomes one of strings.
    let mut passes = schema.kind() == Kind::Object;
    let (mut is_typed, mut is_of_strings) = (false, true);
    let read = schema.reader().object(|key, reader| {
        let value = reader.raw()?;
        passes &= match &*key {
            "type" => {
                is_typed = true;
                true
            }
            "enum" => {
                is_of_strings = all(&value, |it| it.kind() == Kind::String);
                true
            }
            "description" | "required" | "$ref" => true,
            "items" => self::passes(&value),
            "additionalProperties" => value.kind() == Kind::Boolean || self::passes(&value),
            "properties" | "$defs" | "anyOf" | "oneOf" | "allOf" => all(&value, self::passes),
            _ => false,
        };
        Ok(())
    });
    // Values of which nobody says what they are it takes for strings.
    read.is_ok() && passes && (is_typed || is_of_strings)
}

/// Whether all members or elements are such.
fn all(value: &Json<'_>, fits: impl Fn(&Json<'_>) -> bool) -> bool {
    let mut all = true;
    let read = match value.kind() {
        Kind::Object => value.reader().object(|_, reader| {
            all &= fits(&reader.raw()?);
            Ok(())
        }),
        _ => value.reader().array(|_, reader| {
            all &= fits(&reader.raw()?);
            Ok(())
        }),
    };
    read.is_ok() && all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Codex 0.166.0 was seen to hand them on.
    #[test]
    fn only_what_comes_through_is_not_told_of() {
        let simplifies = |schema: &str| simplifies(&Json::parse(schema).unwrap());
        for schema in [
            "{}",
            r#"{"type":"object"}"#,
            r#"{"type":"object","description":"d","properties":{"pattern":{"type":["string","null"]},"format":{"enum":["a"]}},"required":["format"],"additionalProperties":false}"#,
            r##"{"$defs":{"q":{"type":"string"}},"properties":{"a":{"$ref":"#/$defs/q"},"b":{"anyOf":[{"type":"string"},{"type":"integer","enum":[1]}]}}}"##,
            r#"{"properties":{"a":{"type":"array","items":{"type":"string"}},"b":{"type":"object","additionalProperties":{"type":"string"}}}}"#,
        ] {
            assert!(!simplifies(schema), "{schema}");
        }
        for keyword in [
            r#""maximum":5"#,
            r#""exclusiveMinimum":0"#,
            r#""multipleOf":2"#,
            r#""maxLength":3"#,
            r#""pattern":"x""#,
            r#""default":"x""#,
            r#""title":"x""#,
            r#""uniqueItems":true"#,
            r#""const":3"#,
            r#""not":{"type":"string"}"#,
            r#""patternProperties":{"x":{}}"#,
            r#""enum":["a",1]"#,
        ] {
            let schema = format!(r#"{{"type":"object","properties":{{"a":{{{keyword}}}}}}}"#);
            assert!(simplifies(&schema), "{schema}");
        }
        assert!(simplifies(r#"{"properties":{"a":true}}"#));
    }
}
