//! What languages want added: closed objects, complete lists of required properties, types, items.

use std::collections::HashSet;

use super::fit::Fitter;
use super::pointer::Pointer;
use super::tree::{Body, Keyword, Keywords, Named, Schema, Value, list, plain_string};
use super::{SchemaLanguage, allow, tree};
use crate::LossKind;
use crate::json::Json;

impl<'s> Fitter<'s> {
    /// Writes limits that cannot be enforced in the description.
    pub(super) fn note_limits(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let limits = keywords.take_all(|it| allow::is_notable(&it.name) && !is_fine(it));
        let mut notes = Vec::new();
        for limit in &limits {
            match &limit.value {
                Value::Plain(json) if json.as_str() == "false" => {
                    self.lose(&limit.at, LossKind::Implied, "limits nothing");
                }
                Value::Plain(json) => notes.push(note(&limit.name, json)),
                Value::Schema(_) | Value::Schemas(_) | Value::Map(_) => continue,
            }
            self.lose(&limit.at, LossKind::Approximated, "the limit is moved into the description");
        }
        if notes.is_empty() {
            return;
        }
        let notes = format!("({})", notes.join(", "));
        let description = match keywords.string("description") {
            Some(text) if !text.is_empty() => format!("{text} {notes}"),
            _ => notes,
        };
        keywords.put("description", at, plain_string(&description));
    }

    /// Names the type that the other keywords speak of, where a type has to be named.
    pub(super) fn imply_type(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let typing = ["$ref", "allOf", "anyOf", "const", "enum", "type"];
        if self.language == SchemaLanguage::GeminiJsonSchema
            || typing.iter().any(|name| keywords.has(name))
        {
            return;
        }
        let implied = [("properties", "object"), ("items", "array")];
        if let Some((_, name)) = implied.iter().find(|(keyword, _)| keywords.has(keyword)) {
            keywords.put("type", at, plain_string(name));
            self.lose(&at.child("type"), LossKind::Synthesised, "the type has to be named");
        }
    }

    /// Strict languages take only objects without further properties.
    pub(super) fn close(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let is_strict =
            matches!(self.language, SchemaLanguage::OpenaiStrict | SchemaLanguage::AnthropicStrict);
        let is_open = keywords.is_object_like() || keywords.has("additionalProperties");
        if !is_strict || !is_open || is_closed(keywords) {
            return;
        }
        let place = at.child("additionalProperties");
        let stated = keywords.has("additionalProperties");
        let at_keyword = if stated { &place } else { at };
        self.lose(at_keyword, LossKind::Approximated, "no properties but the known ones are taken");
        let closed = Schema { at: place, body: Body::Boolean(false) };
        keywords.put("additionalProperties", at, Value::Schema(Box::new(closed)));
    }

    /// The last touches, when the schemas below fit already.
    pub(super) fn complete(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        if self.language != SchemaLanguage::GeminiJsonSchema {
            self.mend_required(keywords);
        }
        if self.language == SchemaLanguage::OpenaiStrict {
            self.add_properties(keywords, at);
            self.require_all(keywords, at);
        }
        if matches!(self.language, SchemaLanguage::OpenaiStrict | SchemaLanguage::GeminiSchema) {
            self.add_items(keywords, at);
        }
        if self.language == SchemaLanguage::GeminiSchema {
            self.finish_gemini(keywords, at);
        }
    }

    /// Only properties that exist can be required.
    fn mend_required(&mut self, keywords: &mut Keywords<'s>) {
        let Some(keyword) = keywords.find("required") else { return };
        let place = keyword.at.clone();
        let Some(names) = keywords.list("required") else {
            let loss = (LossKind::Repaired, "not what this keyword takes");
            return self.take_out(keywords, "required", loss);
        };
        let properties = keywords.map("properties").unwrap_or_default();
        let properties = properties.iter().map(|named| &*named.name).collect::<HashSet<_>>();
        let exists =
            |name: &Json<'s>| tree::as_string(name).is_some_and(|name| properties.contains(&*name));
        let kept = names.iter().filter(|name| exists(name)).cloned().collect::<Vec<_>>();
        if kept.len() < names.len() {
            self.lose(&place, LossKind::Dropped, "a property that is not described is required");
            keywords.put("required", &place, list(&kept));
        }
    }

    /// An optional property becomes one that may be null.
    fn require_all(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let mut required = keywords.list("required").unwrap_or_default();
        let names = required.iter().filter_map(tree::as_string).collect::<HashSet<_>>();
        let Some(Keyword { value: Value::Map(properties), .. }) = keywords.find_mut("properties")
        else {
            return;
        };
        let is_optional = |named: &&mut Named<'s>| !names.contains(&*named.name);
        let before = required.len();
        for named in properties.iter_mut().filter(is_optional) {
            required.push(tree::encoded(&named.name));
            self.lose(
                &named.schema.at,
                LossKind::Approximated,
                "an optional property is required and may be null",
            );
            make_nullable(&mut named.schema);
        }
        if required.len() > before {
            let reason = "every property has to be required";
            self.lose(&at.child("required"), LossKind::Synthesised, reason);
            keywords.put("required", at, list(&required));
        }
    }

    /// An object without properties says so.
    fn add_properties(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        if keywords.is_object_like() && !keywords.has("properties") && !keywords.has("$ref") {
            let reason = "an object lists its properties";
            self.lose(&at.child("properties"), LossKind::Synthesised, reason);
            keywords.put("properties", at, Value::Map(Vec::new()));
        }
    }

    fn add_items(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let is_array =
            keywords.types().is_some_and(|types| types.iter().any(|name| name == "array"));
        if !is_array || keywords.has("items") {
            return;
        }
        let name = match self.language {
            SchemaLanguage::GeminiSchema => "STRING",
            _ => "string",
        };
        let place = at.child("items");
        self.lose(&place, LossKind::Synthesised, "the items of a list have to be described");
        let items = Schema::typed(place, name);
        keywords.put("items", at, Value::Schema(Box::new(items)));
    }
}

/// A list may be asked to have an item.
fn is_fine(keyword: &Keyword<'_>) -> bool {
    let at_most_one = |json: &Json<'_>| matches!(json.as_str(), "0" | "1");
    keyword.name == "minItems" && matches!(&keyword.value, Value::Plain(json) if at_most_one(json))
}

fn note(name: &str, value: &Json<'_>) -> String {
    match tree::as_string(value) {
        Some(text) => format!("{name} {text}"),
        None => format!("{name} {}", value.compact()),
    }
}

fn is_closed(keywords: &Keywords<'_>) -> bool {
    let value = keywords.find("additionalProperties").map(|keyword| &keyword.value);
    matches!(value, Some(Value::Schema(schema)) if matches!(schema.body, Body::Boolean(false)))
}

/// Whether a schema matches null, as far as its own keywords tell.
pub(super) fn accepts_null(schema: &Schema<'_>) -> bool {
    match &schema.body {
        Body::Boolean(truth) => *truth,
        Body::Garbage(_) => true,
        Body::Keywords(keywords) => keywords_accept_null(keywords),
    }
}

pub(super) fn keywords_accept_null(keywords: &Keywords<'_>) -> bool {
    !keywords.has("$ref")
        && keywords.types().is_none_or(|types| types.iter().any(|name| name == "null"))
        && keywords.list("enum").is_none_or(|values| values.iter().any(Json::is_null))
        && keywords.plain("const").is_none_or(Json::is_null)
        && keywords.schemas("anyOf").is_none_or(|branches| branches.iter().any(accepts_null))
}

fn make_nullable(schema: &mut Schema<'_>) {
    let at = schema.at.clone();
    if accepts_null(schema) {
        return;
    }
    let Some(keywords) = schema.keywords_mut() else { return };
    if keywords.has("$ref") {
        let reference = Schema::of(at.clone(), std::mem::take(keywords));
        let null = Schema::typed(at.clone(), "null");
        keywords.put("anyOf", &at, Value::Schemas(vec![reference, null]));
        return;
    }
    allow_null(keywords, &at);
}

/// Adds null to everything that lists what may be.
pub(super) fn allow_null<'s>(keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
    if let Some(mut types) =
        keywords.types().filter(|types| !types.iter().any(|name| name == "null"))
    {
        types.push("null".to_owned());
        keywords.put_types(at, &types);
    }
    // A constant beside a list rules null out whatever the list says, and stays.
    let lists = keywords.list("enum").is_some();
    if let Some(constant) =
        keywords.plain("const").filter(|json| !json.is_null() && !lists).cloned()
    {
        keywords.put("const", at, list(&[constant]));
        keywords.rename("const", "enum");
    }
    if let Some(mut values) =
        keywords.list("enum").filter(|values| !values.iter().any(Json::is_null))
    {
        values.push(Json::literal("null"));
        keywords.put("enum", at, list(&values));
    }
    if let Some((at, branches)) = keywords.schemas_mut("anyOf")
        && !branches.iter().any(accepts_null)
    {
        branches.push(Schema::typed(at.clone(), "null"));
    }
}
