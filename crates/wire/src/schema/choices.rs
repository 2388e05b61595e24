//! Choices and lists in the words that a language takes: `const`, `oneOf` and tuples.

use std::collections::HashSet;

use super::fit::Fitter;
use super::pointer::Pointer;
use super::tree::{Body, Keyword, Keywords, Schema, Value, encoded, list};
use super::{allow, refs, tree};
use crate::LossKind;
use crate::json::Json;

impl<'s> Fitter<'s> {
    /// A constant is a choice of one.
    pub(super) fn const_to_enum(&mut self, keywords: &mut Keywords<'s>) {
        let Some(constant) = keywords.find_mut("const") else { return };
        if let Value::Plain(json) = &constant.value {
            constant.value = list(std::slice::from_ref(json));
        }
        self.lose(&constant.at, LossKind::Renamed, "a constant is written as a choice of one");
        let loss = (LossKind::Implied, "the constant beside it is more specific");
        self.take_out(keywords, "enum", loss);
        keywords.rename("const", "enum");
    }

    pub(super) fn one_of_to_any_of(&mut self, keywords: &mut Keywords<'s>) {
        let Some(branches) = keywords.schemas("oneOf") else { return };
        if keywords.has("anyOf") {
            return;
        }
        let loss = match self.are_exclusive(branches) {
            true => (LossKind::Renamed, "branches that exclude each other are as good in `anyOf`"),
            false => (LossKind::Approximated, "`oneOf` became `anyOf`: several branches may match"),
        };
        self.rename(keywords, ("oneOf", "anyOf"), loss);
    }

    /// Whether no value can match two branches, as far as that is plain to see.
    fn are_exclusive(&self, branches: &[Schema<'s>]) -> bool {
        let branches = branches.iter().map(|branch| self.seen_through(branch));
        let Some(branches) = branches.collect::<Option<Vec<_>>>() else { return false };
        let Some(first) = branches.first() else { return false };
        let mut named = first.map("properties").unwrap_or_default().iter().take(TAGS_MAX);
        are_disjoint(branches.iter().map(|branch| types(branch)))
            || are_disjoint(branches.iter().map(|branch| values(branch)))
            || named.any(|it| are_disjoint(branches.iter().map(|branch| tag(branch, &it.name))))
    }

    /// The keywords of a schema, or of what it refers to.
    fn seen_through<'t>(&'t self, schema: &'t Schema<'s>) -> Option<&'t Keywords<'s>> {
        let keywords = schema.keywords()?;
        match keywords.string("$ref") {
            None => Some(keywords),
            Some(reference) => self.references.keywords(&refs::local_pointer(&reference)?),
        }
    }

    /// Lists whose places differ: as `prefixItems` where they are taken, else any in any place.
    pub(super) fn tuple(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        if keywords.schemas("items").is_some() {
            self.tuple_of_draft_07(keywords);
        }
        if allow::allows(self.language, "prefixItems") {
            return;
        }
        let Some((place, mut places)) = keywords.take_schemas("prefixItems") else { return };
        self.lose(&place, LossKind::Approximated, "the items of a tuple may stand in any place");
        if let Some(Keyword { at, value: Value::Schema(rest), .. }) = keywords.take("items") {
            self.lose(&at, LossKind::Approximated, "the items of a tuple may stand in any place");
            places.extend((!matches!(rest.body, Body::Boolean(_))).then_some(*rest));
        }
        if let Some(items) = any_of(places, &place) {
            keywords.put("items", at, Value::Schema(Box::new(items)));
        }
    }

    fn tuple_of_draft_07(&mut self, keywords: &mut Keywords<'s>) {
        self.take_out(keywords, "prefixItems", (LossKind::Repaired, "a tuple is described once"));
        let moved = (LossKind::Renamed, "the items of a tuple are in `prefixItems`");
        self.rename(keywords, ("items", "prefixItems"), moved);
        let moved = (LossKind::Renamed, "the items after those of a tuple are in `items`");
        self.rename(keywords, ("additionalItems", "items"), moved);
    }
}

/// How many properties are looked at for one that tells branches apart; it stands among the first.
const TAGS_MAX: usize = 32;

fn any_of<'s>(mut schemas: Vec<Schema<'s>>, at: &Pointer<'s>) -> Option<Schema<'s>> {
    if schemas.len() < 2 {
        return schemas.pop();
    }
    let mut keywords = Keywords::default();
    keywords.put("anyOf", at, Value::Schemas(schemas));
    Some(Schema::of(at.clone(), keywords))
}

/// Whether every branch names its marks and no two branches share one.
fn are_disjoint(branches: impl Iterator<Item = Option<Vec<String>>>) -> bool {
    let mut seen = HashSet::new();
    for marks in branches {
        let Some(marks) = marks else { return false };
        if marks.iter().any(|mark| seen.contains(mark)) {
            return false;
        }
        seen.extend(marks);
    }
    true
}

fn types(keywords: &Keywords<'_>) -> Option<Vec<String>> {
    let mut types = keywords.types()?;
    if types.iter().any(|name| name == "number") {
        types.push("integer".to_owned());
    }
    Some(types)
}

/// The values to which a schema is limited.
fn values(keywords: &Keywords<'_>) -> Option<Vec<String>> {
    let values = match keywords.plain("const") {
        Some(constant) => vec![constant.clone()],
        None => keywords.list("enum")?,
    };
    values.iter().map(spelling).collect()
}

/// A spelling by which equal strings are equal; none for values that have several spellings.
fn spelling(json: &Json<'_>) -> Option<String> {
    let text = json.reader().string().ok()?;
    Some(encoded(&text.to_str().into_owned()).as_str().to_owned())
}

/// The values to which a required property is limited.
fn tag(keywords: &Keywords<'_>, name: &str) -> Option<Vec<String>> {
    let required = keywords.list("required")?;
    let is_required = required.iter().any(|json| tree::as_string(json).as_deref() == Some(name));
    let property = keywords.map("properties")?.iter().find(|named| named.name == name)?;
    let is_object = keywords.types().is_some_and(|types| types == ["object"]);
    (is_required && is_object).then(|| property.schema.keywords().and_then(values))?
}
