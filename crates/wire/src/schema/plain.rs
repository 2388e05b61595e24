//! The short way: most schemas of tools are plain, and reading a plain one once shows that it can stay.
//!
//! Only what certainly needs no change, or only other letters in its types, is taken here; the long way judges the rest.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::SmallVec;

use super::allow::Shape;
use super::read::Reading;
use super::{LEVELS_MAX, SchemaLanguage, allow, edited};
use crate::error::Result;
use crate::json::{Json, Kind, Reader};

/// What the long way would make of a plain schema, which loses nothing; none if it may not be plain.
pub(super) fn translate<'a>(
    schema: &Json<'a>,
    reading: Reading,
    to: SchemaLanguage,
) -> Option<Json<'a>> {
    match (reading, to) {
        (Reading::Gemini, SchemaLanguage::JsonSchema) => lowered(schema),
        (Reading::GeminiJson, SchemaLanguage::JsonSchema) => lowered(schema)
            .filter(|lowered| is_bare(lowered) && lowered.as_str() == schema.as_str()),
        (
            Reading::Json | Reading::GeminiJson,
            SchemaLanguage::AnthropicStrict
            | SchemaLanguage::GeminiJsonSchema
            | SchemaLanguage::OpenaiStrict,
        )
        | (Reading::GeminiKept, SchemaLanguage::GeminiSchema) => {
            fits(schema, to).then(|| schema.clone())
        }
        _ => None,
    }
}

/// Whether a schema certainly fits a language as it stands.
fn fits(schema: &Json<'_>, language: SchemaLanguage) -> bool {
    let mut skim = Skim { language, is_plain: true };
    skim.schema(&mut schema.reader(), 0).is_ok() && skim.is_plain
}

/// One reading of a schema that may fit.
struct Skim {
    language: SchemaLanguage,
    is_plain: bool,
}

/// Most objects have few properties.
type Names<'s> = SmallVec<[Cow<'s, str>; 6]>;

/// What one schema has stated so far.
#[derive(Default)]
struct Seen<'s> {
    kind: Option<&'static str>,
    properties: Option<Names<'s>>,
    required: Option<Names<'s>>,
    states_type: bool,
    has_items: bool,
    has_choice: bool,
    /// Whether further properties are ruled out; none if nothing is stated about them.
    is_closed: Option<bool>,
}

impl Skim {
    fn schema<'s>(&mut self, reader: &mut Reader<'s>, level: usize) -> Result<()> {
        if !self.is_plain || level > LEVELS_MAX || reader.kind()? != Kind::Object {
            return self.give_up(reader);
        }
        let mut seen = Seen::default();
        reader.object(|key, reader| self.keyword(&key, reader, level, &mut seen))?;
        self.is_plain &= match self.language {
            SchemaLanguage::GeminiJsonSchema => true,
            SchemaLanguage::GeminiSchema => seen.is_complete(),
            language => seen.is_strict(language),
        };
        Ok(())
    }

    fn give_up(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        self.is_plain = false;
        reader.skip()
    }

    fn keyword<'s>(
        &mut self,
        key: &str,
        reader: &mut Reader<'s>,
        level: usize,
        seen: &mut Seen<'s>,
    ) -> Result<()> {
        let is_gemini = self.language == SchemaLanguage::GeminiSchema;
        let takes_bounds = is_gemini || self.language == SchemaLanguage::GeminiJsonSchema;
        match (key, reader.kind()?) {
            ("type", Kind::String) if seen.kind.is_none() => self.kind(reader, seen),
            ("description" | "title", _) => reader.skip(),
            ("properties", Kind::Object) if seen.properties.is_none() => {
                self.properties(reader, level, seen)
            }
            ("required", Kind::Array) if seen.required.is_none() => self.required(reader, seen),
            ("items", Kind::Object) => {
                seen.has_items = true;
                self.schema(reader, level + 1)
            }
            ("enum", Kind::Array) => {
                seen.states_type = true;
                seen.has_choice = true;
                self.choice(reader)
            }
            ("anyOf" | "additionalProperties", _) if is_gemini => self.give_up(reader),
            ("anyOf", Kind::Array) => {
                seen.states_type = true;
                self.branches(reader, level)
            }
            ("additionalProperties", Kind::Boolean) => {
                seen.is_closed = Some(!reader.boolean()? && seen.is_closed.unwrap_or(true));
                Ok(())
            }
            ("minimum" | "maximum" | "minItems" | "maxItems", Kind::Number) if takes_bounds => {
                reader.skip()
            }
            _ => self.give_up(reader),
        }
    }

    fn kind<'s>(&mut self, reader: &mut Reader<'s>, seen: &mut Seen<'s>) -> Result<()> {
        let name = reader.string()?;
        seen.states_type = true;
        seen.kind = match self.language {
            SchemaLanguage::GeminiSchema => {
                let name = name.to_str();
                allow::TYPES.into_iter().find(|kind| name.eq_ignore_ascii_case(kind))
            }
            _ => allow::TYPES.into_iter().find(|kind| name == *kind),
        };
        self.is_plain &= seen.kind.is_some();
        Ok(())
    }

    fn properties<'s>(
        &mut self,
        reader: &mut Reader<'s>,
        level: usize,
        seen: &mut Seen<'s>,
    ) -> Result<()> {
        let mut names = Names::new();
        reader.object(|name, reader| {
            if self.language != SchemaLanguage::GeminiJsonSchema {
                names.push(name);
            }
            self.schema(reader, level + 2)
        })?;
        seen.properties = Some(names);
        Ok(())
    }

    fn required<'s>(&mut self, reader: &mut Reader<'s>, seen: &mut Seen<'s>) -> Result<()> {
        if self.language == SchemaLanguage::GeminiJsonSchema {
            return reader.skip();
        }
        let mut names = Names::new();
        reader.array(|_, reader| match reader.kind()? {
            Kind::String => {
                names.push(reader.string()?.into_str());
                Ok(())
            }
            _ => self.give_up(reader),
        })?;
        seen.required = Some(names);
        Ok(())
    }

    fn choice(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let mut is_empty = true;
        reader.array(|_, reader| {
            is_empty = false;
            match reader.kind()? {
                Kind::String => {
                    self.is_plain &= !reader.string()?.is_empty();
                    Ok(())
                }
                Kind::Number if self.language != SchemaLanguage::GeminiSchema => reader.skip(),
                _ => self.give_up(reader),
            }
        })?;
        self.is_plain &= !is_empty;
        Ok(())
    }

    fn branches(&mut self, reader: &mut Reader<'_>, level: usize) -> Result<()> {
        let mut is_empty = true;
        reader.array(|_, reader| {
            is_empty = false;
            self.schema(reader, level + 2)
        })?;
        self.is_plain &= !is_empty;
        Ok(())
    }
}

impl Seen<'_> {
    /// Whether a schema of Gemini names its type and all that belongs to it, and nothing that is not there.
    fn is_complete(&self) -> bool {
        let needs_type = self.properties.is_some() || self.has_items || self.has_choice;
        (self.kind.is_some() || !needs_type)
            && (self.kind == Some("string") || !self.has_choice)
            && (self.kind != Some("array") || self.has_items)
            && self.kind != Some("null")
            && self.properties.as_ref().is_none_or(|names| !names.is_empty())
            && self.requires_what_is_there()
    }

    fn requires_what_is_there(&self) -> bool {
        let properties = self.properties.as_deref().unwrap_or_default();
        is_all_in(self.required.as_deref().unwrap_or_default(), properties)
    }

    /// Whether nothing has to be added for a strict language.
    fn is_strict(&self, language: SchemaLanguage) -> bool {
        let speaks_of_object = self.properties.is_some() || self.kind == Some("object");
        let is_closed = self.is_closed.unwrap_or(!speaks_of_object);
        let needs_type = self.properties.is_some() || self.has_items;
        let properties = self.properties.as_deref().unwrap_or_default();
        let required = self.required.as_deref().unwrap_or_default();
        let fits_openai = language != SchemaLanguage::OpenaiStrict
            || is_all_in(properties, required)
                && (self.kind != Some("array") || self.has_items)
                && (self.kind != Some("object") || self.properties.is_some());
        is_closed
            && (self.states_type || !needs_type)
            && self.requires_what_is_there()
            && fits_openai
    }
}

fn is_all_in(some: &[Cow<'_, str>], all: &[Cow<'_, str>]) -> bool {
    some.len() <= NAMES_MAX && some.iter().all(|name| all.contains(name))
}

/// How many names are compared one by one; schemas with more go the long way.
const NAMES_MAX: usize = 64;

/// A schema of Gemini as JSON Schema, if only the letters of its types need to change.
fn lowered<'a>(schema: &Json<'a>) -> Option<Json<'a>> {
    let mut lowering = Lowering { edits: Vec::new(), is_plain: true };
    let read = lowering.schema(&mut schema.reader());
    if read.is_err() || !lowering.is_plain {
        return None;
    }
    match lowering.edits.is_empty() {
        true => Some(schema.clone()),
        false => Some(edited(schema.as_str(), &lowering.edits)),
    }
}

/// Whether a schema does not speak of its version.
fn is_bare(schema: &Json<'_>) -> bool {
    !schema.as_str().contains("$schema")
}

/// The places of types that are not in lower case, and what they become.
struct Lowering {
    edits: Vec<(Range<usize>, &'static str)>,
    is_plain: bool,
}

impl Lowering {
    fn schema(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        match reader.kind()? {
            Kind::Object if self.is_plain => {
                reader.object(|key, reader| self.keyword(&key, reader))
            }
            _ => reader.skip(),
        }
    }

    fn keyword(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<()> {
        let kind = reader.kind()?;
        let is_count = kind == Kind::String && (key.starts_with("min") || key.starts_with("max"));
        match (key, allow::shape(key), kind) {
            ("type", _, Kind::String) => self.kind(reader),
            (_, Shape::Schema | Shape::SchemaOrSchemas, Kind::Object) => self.schema(reader),
            (_, Shape::Schemas | Shape::SchemaOrSchemas, Kind::Array) => {
                reader.array(|_, reader| self.schema(reader))
            }
            (_, Shape::Map, Kind::Object) => reader.object(|_, reader| self.schema(reader)),
            _ => {
                self.is_plain &= !is_count && !matches!(key, "type" | "nullable");
                reader.skip()
            }
        }
    }

    fn kind(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        let start = reader.position();
        let name = reader.string()?.into_str();
        match allow::TYPES.into_iter().find(|kind| name.eq_ignore_ascii_case(kind)) {
            Some(kind) if name == kind => {}
            // The quotes stay.
            Some(kind) => self.edits.push((start + 1..reader.position() - 1, kind)),
            None => self.is_plain = false,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the short way against the long one, and whether it is taken at all.
    fn check(schema: &str, reading: Reading, to: SchemaLanguage, expected: Option<&str>) {
        let json = Json::parse(schema).unwrap();
        let short = translate(&json, reading, to);
        assert_eq!(short.as_ref().map(Json::as_str), expected, "{to:?}: {schema}");
        if let Some(short) = short {
            let long = super::super::translate::in_full(&json, reading, to);
            assert_eq!(long.losses, []);
            assert!(long.json.same_value(&short), "{to:?}: {schema}");
        }
    }

    #[test]
    fn plain_schemas_stay_as_they_are() {
        let open = r#"{"type": "object", "properties": {"path": {"type": "string", "description": "Where"},
            "order": {"type": "string", "enum": ["path", "newest"]},
            "lines": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
            "names": {"type": "array", "items": {"type": "string"}}}, "required": ["path"]}"#;
        check(open, Reading::Json, SchemaLanguage::GeminiJsonSchema, Some(open));
        check(open, Reading::Json, SchemaLanguage::AnthropicStrict, None);
        let closed = r#"{"type":"object","properties":{"path":{"type":"string"}},"required":[],"additionalProperties":false}"#;
        check(closed, Reading::Json, SchemaLanguage::AnthropicStrict, Some(closed));
        check(closed, Reading::Json, SchemaLanguage::OpenaiStrict, None);
        let complete = closed.replace("[]", r#"["path"]"#);
        check(&complete, Reading::Json, SchemaLanguage::OpenaiStrict, Some(&complete));
    }

    #[test]
    fn plain_schemas_of_gemini_are_its_own() {
        let kept = |schema: &str, expected| {
            check(schema, Reading::GeminiKept, SchemaLanguage::GeminiSchema, expected);
        };
        for schema in [
            r#"{"type":"OBJECT","properties":{"a":{"type":"string","description":"d"}},"required":["a"]}"#,
            r#"{"type":"Array","items":{"type":"INTEGER","minimum":1,"maximum":2},"minItems":1}"#,
            r#"{"type":"string","enum":["a","b"]}"#,
            r#"{"description":"anything"}"#,
        ] {
            kept(schema, Some(schema));
        }
        for schema in [
            r#"{"type":"OBJECT","properties":{}}"#,
            r#"{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["b"]}"#,
            r#"{"properties":{"a":{"type":"STRING"}}}"#,
            r#"{"type":"ARRAY"}"#,
            r#"{"type":"NULL"}"#,
            r#"{"type":"INTEGER","enum":["1"]}"#,
            r#"{"type":"STRING","enum":[1]}"#,
            r#"{"enum":["a"]}"#,
            r#"{"anyOf":[{"type":"STRING"}]}"#,
            r#"{"type":"OBJECT","additionalProperties":false}"#,
            r#"{"type":"STRING","nullable":true}"#,
        ] {
            kept(schema, None);
        }
    }

    #[test]
    fn what_may_have_to_change_goes_the_long_way() {
        for schema in [
            "true",
            r#"{"type":["string","null"]}"#,
            r#"{"type":"STRING"}"#,
            r#"{"enum":[]}"#,
            r#"{"enum":[""]}"#,
            r#"{"anyOf":[]}"#,
            r#"{"default":1}"#,
            r##"{"$ref":"#/$defs/a"}"##,
            r#"{"nullable":true}"#,
            r#"{"properties":{"a":{"const":1}}}"#,
            r#"{"items":[{"type":"string"}]}"#,
            r#"{"properties":{"a":true}}"#,
        ] {
            check(schema, Reading::Json, SchemaLanguage::GeminiJsonSchema, None);
        }
        let strict = [SchemaLanguage::AnthropicStrict, SchemaLanguage::OpenaiStrict];
        for schema in [
            r#"{"type":"object"}"#,
            r#"{"type":"object","additionalProperties":true}"#,
            r#"{"type":"object","additionalProperties":true,"additionalProperties":false}"#,
            r#"{"items":{"type":"string"}}"#,
            r#"{"type":"object","properties":{},"required":["a"],"additionalProperties":false}"#,
            r#"{"type":"integer","minimum":1}"#,
        ] {
            strict.into_iter().for_each(|to| check(schema, Reading::Json, to, None));
        }
        check(r#"{"type":"array"}"#, Reading::Json, SchemaLanguage::OpenaiStrict, None);
    }

    #[test]
    fn types_of_gemini_get_lower_case_and_nothing_else_changes() {
        let to = SchemaLanguage::JsonSchema;
        let lower = |schema: &str, expected| check(schema, Reading::Gemini, to, expected);
        lower(
            r#"{"type": "OBJECT", "properties": {"type": {"type": "String", "example": "STRING"}}, "anyOf": [{"type":"NULL"}]}"#,
            Some(
                r#"{"type": "object", "properties": {"type": {"type": "string", "example": "STRING"}}, "anyOf": [{"type":"null"}]}"#,
            ),
        );
        let same = r#"{"type":"array","items":{"type":"integer","format":"int32","minimum":1}}"#;
        lower(same, Some(same));
        lower(r#"{"type":"TYPE_UNSPECIFIED"}"#, None);
        lower(r#"{"type":["STRING"]}"#, None);
        lower(r#"{"type":"STRING","nullable":true}"#, None);
        lower(r#"{"type":"STRING","minLength":"3"}"#, None);
    }
}
