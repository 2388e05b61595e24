//! What OpenAI wants spelled out in the schema of every tool: an object with properties at the root, items in every list.
//!
//! A null in the place of properties or of required names, which some servers of tools write for none, becomes none of them.
//! Nothing that is added here rules out a value, so that a schema means the same before and after.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;

use super::allow::Shape;
use super::{SchemaLoss, Translated, allow, edited};
use crate::LossKind;
use crate::error::Result;
use crate::json::{Json, Kind, Reader, push_key};

/// Whether the model is held to a schema, which is then checked more closely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    Loose,
    Strict,
}

/// The schema of a tool, completed with what OpenAI refuses to do without.
pub fn complete_tool<'a>(schema: &Json<'a>, strictness: Strictness) -> Translated<'a> {
    if is_complete_at_a_glance(schema.as_str(), strictness) {
        return Translated::unchanged(schema);
    }
    if schema.kind() != Kind::Object || !matches!(schema.reader().enters_object(), Ok(true)) {
        let reason = "an empty schema describes no arguments";
        let loss = SchemaLoss { pointer: String::new(), kind: LossKind::Synthesised, reason };
        return Translated { json: no_arguments(strictness), losses: vec![loss] };
    }
    let mut skim = Skim::of(schema, strictness);
    let read = skim.schema(&mut schema.reader());
    if read.is_err() || skim.edits.is_empty() {
        return Translated::unchanged(schema);
    }
    // Inner schemas end before the outer ones, so that the edits stand in their order.
    Translated { json: edited(schema.as_str(), &skim.edits), losses: skim.losses }
}

/// How most schemas begin: with what is asked of the root. Spaces stand behind colons and commas, if anywhere.
const BEGINNING: [&str; 4] = [r#"{"type":"#, r#""object","#, r#""properties":"#, "{"];

/// What most lists have behind their type.
const ITEMS: [&str; 2] = [",", r#""items":"#];

/// Whether the schema lacks nothing, as far as can be seen without reading it whole.
fn is_complete_at_a_glance(schema: &str, strictness: Strictness) -> bool {
    strictness == Strictness::Loose && begins_with(schema, &BEGINNING) && !may_lack_below(schema)
}

/// Whether a text begins with these tokens, whatever space stands before them.
fn begins_with(text: &str, tokens: &[&str]) -> bool {
    let mut tokens = tokens.iter();
    tokens.try_fold(text, |rest, token| rest.trim_ascii_start().strip_prefix(*token)).is_some()
}

const LIST: &str = r#""array""#;

/// Whether schemas below the root can lack anything that is asked of loose ones: they would have a list whose items do not
/// follow at once, a null, or an escape that hides either. Looking for the words is cheaper than reading.
fn may_lack_below(schema: &str) -> bool {
    static LISTS: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(LIST));
    static NULL: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("null"));
    let bytes = schema.as_bytes();
    if NULL.find(bytes).is_some() || memchr(b'\\', bytes).is_some() {
        return true;
    }
    let mut rest = schema;
    while let Some(at) = LISTS.find(rest.as_bytes()) {
        rest = &rest[at + LIST.len()..];
        // A string that a member follows is a member's value, and both are of one schema.
        if !begins_with(rest, &ITEMS) {
            return true;
        }
    }
    false
}

fn no_arguments(strictness: Strictness) -> Json<'static> {
    Json::literal(match strictness {
        Strictness::Loose => r#"{"type":"object","properties":{}}"#,
        Strictness::Strict => r#"{"type":"object","properties":{},"additionalProperties":false}"#,
    })
}

/// One reading of a schema in search of what it lacks.
struct Skim<'s> {
    strictness: Strictness,
    /// Whether schemas below the root can lack anything.
    is_deep: bool,
    /// The keys and numbers on the way to where the reading is.
    path: Vec<Cow<'s, str>>,
    /// What stands instead of a piece of the text. Members are added before the brace that closes their schema.
    edits: Vec<(Range<usize>, &'static str)>,
    losses: Vec<SchemaLoss>,
}

/// What one schema says of itself.
#[derive(Default)]
struct Seen {
    is_object: bool,
    is_list: bool,
    has_properties: bool,
    has_items: bool,
    /// Whether something is stated about further properties.
    states_further: bool,
    /// Whether something else than properties tells what values there may be.
    states_type: bool,
}

impl<'s> Skim<'s> {
    fn of(schema: &Json<'_>, strictness: Strictness) -> Self {
        let is_deep = strictness == Strictness::Strict || may_lack_below(schema.as_str());
        Self { strictness, is_deep, path: Vec::new(), edits: Vec::new(), losses: Vec::new() }
    }

    fn schema(&mut self, reader: &mut Reader<'s>) -> Result<()> {
        if reader.kind()? != Kind::Object {
            return reader.skip();
        }
        let mut seen = Seen::default();
        reader.object(|key, reader| self.keyword(key, reader, &mut seen))?;
        self.complete(&seen, reader.position() - "}".len());
        Ok(())
    }

    fn keyword(
        &mut self,
        key: Cow<'s, str>,
        reader: &mut Reader<'s>,
        seen: &mut Seen,
    ) -> Result<()> {
        self.path.push(key.clone());
        let key = &*key;
        seen.has_properties |= key == "properties";
        seen.has_items |= key == "items";
        seen.states_further |= key == "additionalProperties";
        seen.states_type |= matches!(key, "type" | "$ref" | "anyOf" | "oneOf" | "allOf" | "enum");
        match (key, allow::shape(key), reader.kind()?) {
            ("type", _, Kind::String) => seen.note(&reader.string()?.to_str()),
            ("type", _, Kind::Array) => reader.array(|_, reader| {
                match reader.kind()? {
                    Kind::String => seen.note(&reader.string()?.to_str()),
                    _ => reader.skip()?,
                }
                Ok(())
            })?,
            ("properties", _, Kind::Null) => self.fill(reader, "{}")?,
            ("required", _, Kind::Null) => self.fill(reader, "[]")?,
            _ if !self.is_deep => reader.skip()?,
            (_, Shape::Schema | Shape::SchemaOrSchemas, Kind::Object) => self.schema(reader)?,
            (_, Shape::Schemas | Shape::SchemaOrSchemas, Kind::Array) => {
                reader.array(|index, reader| self.below(index.to_string().into(), reader))?;
            }
            (_, Shape::Map, Kind::Object) => {
                reader.object(|name, reader| self.below(name, reader))?;
            }
            _ => reader.skip()?,
        }
        self.path.pop();
        Ok(())
    }

    /// Puts an empty value in the place of null, at the keyword that is being read.
    fn fill(&mut self, reader: &mut Reader<'_>, empty: &'static str) -> Result<()> {
        reader.skip()?;
        let end = reader.position();
        self.edits.push((end - "null".len()..end, empty));
        let (kind, reason) = (LossKind::Repaired, "null is not what this keyword takes");
        self.losses.push(SchemaLoss { pointer: self.pointer(), kind, reason });
        Ok(())
    }

    fn below(&mut self, step: Cow<'s, str>, reader: &mut Reader<'s>) -> Result<()> {
        self.path.push(step);
        self.schema(reader)?;
        self.path.pop();
        Ok(())
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        self.path.iter().for_each(|step| push_key(&mut pointer, step));
        pointer
    }

    /// Adds what the schema that ends at `end` lacks.
    fn complete(&mut self, seen: &Seen, end: usize) {
        let is_root = self.path.is_empty();
        if is_root && !seen.states_type {
            let typed = ("/type", r#","type":"object""#);
            self.add(end, typed, "arguments must be an object in the target");
            if self.strictness == Strictness::Strict && !seen.states_further {
                let closed = ("/additionalProperties", r#","additionalProperties":false"#);
                self.add(end, closed, "no properties but the known ones are taken");
            }
        }
        let is_object = seen.is_object || is_root && !seen.states_type;
        let is_checked = is_root || self.strictness == Strictness::Strict;
        if is_object && is_checked && !seen.has_properties {
            self.add(end, ("/properties", r#","properties":{}"#), "an object lists its properties");
        }
        if seen.is_list && !seen.has_items {
            let items = match self.strictness {
                Strictness::Loose => r#","items":{}"#,
                Strictness::Strict => r#","items":{"type":"string"}"#,
            };
            self.add(end, ("/items", items), "the items of a list have to be described");
        }
    }

    fn add(&mut self, end: usize, (step, member): (&str, &'static str), reason: &'static str) {
        let pointer = self.pointer() + step;
        self.edits.push((end..end, member));
        self.losses.push(SchemaLoss { pointer, kind: LossKind::Synthesised, reason });
    }
}

impl Seen {
    fn note(&mut self, kind: &str) {
        self.is_object |= kind == "object";
        self.is_list |= kind == "array";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &str, strictness: Strictness, expected: &str, pointers: &[&str]) {
        let json = Json::parse(schema).unwrap();
        let Translated { json, losses } = complete_tool(&json, strictness);
        assert!(Json::parse(json.as_str().to_owned()).is_ok(), "{}", json.as_str());
        assert_eq!(json.as_str(), expected, "{schema}");
        let found: Vec<&str> = losses.iter().map(|loss| loss.pointer.as_str()).collect();
        assert_eq!(found, pointers, "{schema}");
    }

    fn check_same(schema: &str, strictness: Strictness) {
        check(schema, strictness, schema, &[]);
    }

    #[test]
    fn the_root_is_an_object_with_properties() {
        let none = r#"{"type":"object","properties":{}}"#;
        check(r#"{"type":"object"}"#, Strictness::Loose, none, &["/properties"]);
        check("{ }", Strictness::Loose, none, &[""]);
        check("null", Strictness::Loose, none, &[""]);
        let closed = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
        check("true", Strictness::Strict, closed, &[""]);
        check(
            r#"{"title":"T"}"#,
            Strictness::Strict,
            r#"{"title":"T","type":"object","additionalProperties":false,"properties":{}}"#,
            &["/type", "/additionalProperties", "/properties"],
        );
        check(
            r#"{"properties":{"a":{}}}"#,
            Strictness::Loose,
            r#"{"properties":{"a":{}},"type":"object"}"#,
            &["/type"],
        );
        check(
            r#"{"title":"T"}"#,
            Strictness::Loose,
            r#"{"title":"T","type":"object","properties":{}}"#,
            &["/type", "/properties"],
        );
        check_same(none, Strictness::Strict);
        check_same(r#"{"anyOf":[{"type":"object"}]}"#, Strictness::Loose);
    }

    #[test]
    fn every_list_has_items_and_every_strict_object_properties() {
        let schema = r#"{"type":"object","properties":{"a":{"type":["array","null"]},"type":{"type":"object"}}}"#;
        check(
            schema,
            Strictness::Loose,
            &schema.replace(r#""null"]"#, r#""null"],"items":{}"#),
            &["/properties/a/items"],
        );
        check(
            schema,
            Strictness::Strict,
            &schema
                .replace(r#""null"]"#, r#""null"],"items":{"type":"string"}"#)
                .replace(r#":"object"}}}"#, r#":"object","properties":{}}}}"#),
            &["/properties/a/items", "/properties/type/properties"],
        );
    }

    /// Lists whose items follow their type lack nothing, wherever the others stand.
    #[test]
    fn a_list_without_items_is_found_among_those_that_have_them() {
        let list = |rest: &str| {
            let listed = r#"{"type":"array", "items": {"type":"array","items":{}}}"#;
            format!(
                r#"{{"type":"object","properties":{{"a":{listed},"b":{{"type":"array"{rest}}}}}}}"#
            )
        };
        check(&list(""), Strictness::Loose, &list(r#","items":{}"#), &["/properties/b/items"]);
        let titled = list(r#","title":"T","items":{}"#);
        check_same(&titled, Strictness::Loose);
        check_same(&list(r#","items":{}"#), Strictness::Loose);
        check(
            r#"{"type":"object","properties":{"a":{"type":["array"],"enum":["array","items"]}}}"#,
            Strictness::Loose,
            r#"{"type":"object","properties":{"a":{"type":["array"],"enum":["array","items"],"items":{}}}}"#,
            &["/properties/a/items"],
        );
    }

    #[test]
    fn null_is_not_taken_for_properties() {
        check(
            r#"{"type":"object","properties": null ,"required":null}"#,
            Strictness::Loose,
            r#"{"type":"object","properties": {} ,"required":[]}"#,
            &["/properties", "/required"],
        );
        check(
            r#"{"type":"object","properties":{"a":{"type":"object","properties":null}}}"#,
            Strictness::Loose,
            r#"{"type":"object","properties":{"a":{"type":"object","properties":{}}}}"#,
            &["/properties/a/properties"],
        );
    }

    /// A value that looks like a schema is none where no schema stands.
    #[test]
    fn values_are_left_alone() {
        check_same(
            r#"{"type":"object","properties":{"a":{"enum":[{"type":"array"}],"default":{"type":"array"}}}}"#,
            Strictness::Strict,
        );
    }
}
