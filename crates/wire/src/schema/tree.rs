//! A schema taken apart by position, so that a property named like a keyword is never taken for one.

use std::borrow::Cow;
use std::collections::HashMap;

use super::allow;
use super::allow::Shape;
use super::pointer::Pointer;
use crate::index::Index;
use crate::json::{Encode, Json, Kind, Writer};

/// A schema and where it stood in the input.
#[derive(Clone)]
pub(super) struct Schema<'s> {
    pub(super) at: Pointer<'s>,
    pub(super) body: Body<'s>,
}

#[derive(Clone)]
pub(super) enum Body<'s> {
    Keywords(Keywords<'s>),
    Boolean(bool),
    /// Not a schema at all.
    Garbage(Json<'s>),
}

/// The members of a schema in their order, each name once.
#[derive(Clone, Default)]
pub(super) struct Keywords<'s>(pub(super) Vec<Keyword<'s>>);

#[derive(Clone)]
pub(super) struct Keyword<'s> {
    pub(super) name: Cow<'s, str>,
    pub(super) at: Pointer<'s>,
    pub(super) value: Value<'s>,
}

#[derive(Clone)]
pub(super) enum Value<'s> {
    Plain(Json<'s>),
    Schema(Box<Schema<'s>>),
    Schemas(Vec<Schema<'s>>),
    Map(Vec<Named<'s>>),
}

#[derive(Clone)]
pub(super) struct Named<'s> {
    pub(super) name: Cow<'s, str>,
    pub(super) schema: Schema<'s>,
}

impl<'s> Schema<'s> {
    pub(super) fn parse(json: &Json<'s>, at: Pointer<'s>) -> Self {
        let body = match json.kind() {
            Kind::Object => Body::Keywords(Keywords::parse(json, &at)),
            Kind::Boolean => Body::Boolean(json.as_str() == "true"),
            Kind::Null | Kind::Number | Kind::String | Kind::Array => Body::Garbage(json.clone()),
        };
        Self { at, body }
    }

    pub(super) fn of(at: Pointer<'s>, keywords: Keywords<'s>) -> Self {
        Self { at, body: Body::Keywords(keywords) }
    }

    /// A schema of ours that allows one type.
    pub(super) fn typed(at: Pointer<'s>, name: &str) -> Self {
        let mut keywords = Keywords::default();
        keywords.put("type", &at, plain_string(name));
        Self::of(at, keywords)
    }

    pub(super) fn keywords(&self) -> Option<&Keywords<'s>> {
        let Body::Keywords(keywords) = &self.body else { return None };
        Some(keywords)
    }

    pub(super) fn keywords_mut(&mut self) -> Option<&mut Keywords<'s>> {
        let Body::Keywords(keywords) = &mut self.body else { return None };
        Some(keywords)
    }

    /// Calls back for the schemas directly below.
    pub(super) fn each_child(&mut self, mut visit: impl FnMut(&mut Schema<'s>)) {
        let Some(keywords) = self.keywords_mut() else { return };
        for keyword in &mut keywords.0 {
            match &mut keyword.value {
                Value::Plain(_) => {}
                Value::Schema(schema) => visit(schema),
                Value::Schemas(schemas) => schemas.iter_mut().for_each(&mut visit),
                Value::Map(map) => map.iter_mut().for_each(|named| visit(&mut named.schema)),
            }
        }
    }

    fn same_as(&self, other: &Self) -> bool {
        match (&self.body, &other.body) {
            (Body::Keywords(one), Body::Keywords(two)) => {
                let same = |one: &Keyword<'_>, two: &Keyword<'_>| one.value.same_as(&two.value);
                same_members(&one.0, &two.0, |it| &it.name, same)
            }
            (Body::Boolean(one), Body::Boolean(two)) => one == two,
            (Body::Garbage(one), Body::Garbage(two)) => one.same_value(two),
            _ => false,
        }
    }

    /// Roughly how much a copy costs: its schemas and keywords, long values counting more.
    pub(super) fn weight(&self) -> usize {
        self.keywords().map_or(1, |keywords| 1 + keywords.weight())
    }
}

impl<'s> Keywords<'s> {
    fn parse(json: &Json<'s>, at: &Pointer<'s>) -> Self {
        let mut keywords = Self::default();
        for (name, json) in members(json) {
            let at = at.child(name.clone());
            let value = Value::parse(allow::shape(&name), &json, &at);
            keywords.0.push(Keyword { name, at, value });
        }
        keywords
    }

    pub(super) fn find(&self, name: &str) -> Option<&Keyword<'s>> {
        self.0.iter().find(|keyword| keyword.name == name)
    }

    pub(super) fn find_mut(&mut self, name: &str) -> Option<&mut Keyword<'s>> {
        self.0.iter_mut().find(|keyword| keyword.name == name)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    pub(super) fn take(&mut self, name: &str) -> Option<Keyword<'s>> {
        let index = self.0.iter().position(|keyword| keyword.name == name)?;
        Some(self.0.remove(index))
    }

    /// Takes out all of which `goes` says so.
    pub(super) fn take_all(&mut self, goes: impl Fn(&Keyword<'s>) -> bool) -> Vec<Keyword<'s>> {
        self.0.extract_if(.., |keyword| goes(keyword)).collect()
    }

    /// Replaces the value in its place, or appends it to the schema at `at`.
    pub(super) fn put(&mut self, name: &'static str, at: &Pointer<'s>, value: Value<'s>) {
        match self.find_mut(name) {
            Some(keyword) => keyword.value = value,
            None => self.0.push(Keyword { name: name.into(), at: at.child(name), value }),
        }
    }

    /// Gives a keyword another name in its place.
    pub(super) fn rename(&mut self, old: &str, new: &'static str) {
        if let Some(keyword) = self.find_mut(old) {
            keyword.name = new.into();
        }
    }

    pub(super) fn plain(&self, name: &str) -> Option<&Json<'s>> {
        let Value::Plain(json) = &self.find(name)?.value else { return None };
        Some(json)
    }

    /// The elements of a keyword that is a plain list.
    pub(super) fn list(&self, name: &str) -> Option<Vec<Json<'s>>> {
        self.plain(name).filter(|json| json.kind() == Kind::Array).map(elements)
    }

    pub(super) fn string(&self, name: &str) -> Option<String> {
        as_string(self.plain(name)?)
    }

    pub(super) fn schemas(&self, name: &str) -> Option<&[Schema<'s>]> {
        let Value::Schemas(schemas) = &self.find(name)?.value else { return None };
        Some(schemas)
    }

    /// The same to be changed, and where they stood.
    pub(super) fn schemas_mut(
        &mut self,
        name: &str,
    ) -> Option<(&Pointer<'s>, &mut Vec<Schema<'s>>)> {
        let Keyword { at, value, .. } = self.find_mut(name)?;
        let Value::Schemas(schemas) = value else { return None };
        Some((at, schemas))
    }

    /// The same, taken out.
    pub(super) fn take_schemas(&mut self, name: &str) -> Option<(Pointer<'s>, Vec<Schema<'s>>)> {
        let (at, schemas) = self.schemas_mut(name)?;
        let taken = (at.clone(), std::mem::take(schemas));
        self.take(name);
        Some(taken)
    }

    pub(super) fn map(&self, name: &str) -> Option<&[Named<'s>]> {
        let Value::Map(map) = &self.find(name)?.value else { return None };
        Some(map)
    }

    /// The types that are allowed, or none if all are.
    pub(super) fn types(&self) -> Option<Vec<String>> {
        let json = self.plain("type")?;
        matches!(json.kind(), Kind::String | Kind::Array).then(|| type_names(json))
    }

    pub(super) fn put_types(&mut self, at: &Pointer<'s>, types: &[String]) {
        let value = match types {
            [one] => plain_string(one),
            several => strings(several),
        };
        self.put("type", at, value);
    }

    /// Whether the schema describes objects.
    pub(super) fn is_object_like(&self) -> bool {
        self.map("properties").is_some()
            || self.types().is_some_and(|types| types.iter().any(|name| name == "object"))
    }

    pub(super) fn weight(&self) -> usize {
        self.0.iter().map(|keyword| keyword.value.weight()).sum()
    }
}

impl<'s> Value<'s> {
    fn parse(shape: Shape, json: &Json<'s>, at: &Pointer<'s>) -> Self {
        match (shape, json.kind()) {
            (Shape::Schema | Shape::SchemaOrSchemas, Kind::Object | Kind::Boolean) => {
                Value::Schema(Box::new(Schema::parse(json, at.clone())))
            }
            (Shape::Schemas | Shape::SchemaOrSchemas, Kind::Array) => {
                let elements = elements(json).into_iter().enumerate();
                let parse = |(index, json)| Schema::parse(&json, at.element(index));
                Value::Schemas(elements.map(parse).collect())
            }
            (Shape::Map, Kind::Object) => Value::Map(named(json, at)),
            _ => Value::Plain(json.clone()),
        }
    }

    /// Whether two values say the same, in whatever order. It is known as soon as they differ, so that comparing costs
    /// no more than reading the smaller one.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Plain(one), Value::Plain(two)) => one.same_value(two),
            (Value::Schema(one), Value::Schema(two)) => one.same_as(two),
            (Value::Schemas(one), Value::Schemas(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.same_as(two))
            }
            (Value::Map(one), Value::Map(two)) => {
                let same = |one: &Named<'_>, two: &Named<'_>| one.schema.same_as(&two.schema);
                same_members(one, two, |it| &it.name, same)
            }
            _ => false,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Value::Plain(json) => 1 + json.as_str().len() / 64,
            Value::Schema(schema) => schema.weight(),
            Value::Schemas(schemas) => schemas.iter().map(Schema::weight).sum(),
            Value::Map(map) => map.iter().map(|named| named.schema.weight()).sum(),
        }
    }
}

/// Whether two lists have the same members under the same names, each of which stands once. Most of those that do have
/// them in the same order.
fn same_members<'m, T>(
    one: &'m [T],
    two: &'m [T],
    name: impl Fn(&T) -> &str,
    same: impl Fn(&T, &T) -> bool,
) -> bool {
    if one.len() != two.len() {
        return false;
    }
    if one.iter().zip(two).all(|(one, two)| name(one) == name(two)) {
        return one.iter().zip(two).all(|(one, two)| same(one, two));
    }
    let by_name: HashMap<&str, &T> = two.iter().map(|it| (name(it), it)).collect();
    one.iter().all(|it| by_name.get(name(it)).is_some_and(|other| same(it, other)))
}

impl Encode for Schema<'_> {
    fn encode(&self, writer: &mut Writer) {
        match &self.body {
            Body::Boolean(truth) => writer.value(truth),
            Body::Garbage(json) => writer.value(json),
            Body::Keywords(Keywords(keywords)) => writer.object(|writer| {
                keywords.iter().for_each(|keyword| writer.field(&keyword.name, &keyword.value));
            }),
        }
    }
}

impl Encode for Value<'_> {
    fn encode(&self, writer: &mut Writer) {
        match self {
            Value::Plain(json) => writer.value(json),
            Value::Schema(schema) => writer.value(schema.as_ref()),
            Value::Schemas(schemas) => writer.value(schemas),
            Value::Map(map) => writer.object(|writer| {
                map.iter().for_each(|named| writer.field(&named.name, &named.schema));
            }),
        }
    }
}

pub(super) fn encoded(value: &(impl Encode + ?Sized)) -> Json<'static> {
    Json::written(|writer| writer.value(value))
}

pub(super) fn plain_string<'s>(text: &str) -> Value<'s> {
    Value::Plain(encoded(text))
}

/// A plain list of strings.
pub(super) fn strings<'s>(texts: &[String]) -> Value<'s> {
    Value::Plain(encoded(texts))
}

pub(super) fn list<'s>(elements: &[Json<'_>]) -> Value<'s> {
    Value::Plain(encoded(elements))
}

/// What a JSON string says; none if it is something else.
pub(super) fn as_string(json: &Json<'_>) -> Option<String> {
    json.reader().string().ok().map(|text| text.to_str().into_owned())
}

/// The types that a keyword names: one, or a list of them.
pub(super) fn type_names(json: &Json<'_>) -> Vec<String> {
    match as_string(json) {
        Some(name) => vec![name],
        None => elements(json).iter().filter_map(as_string).collect(),
    }
}

/// The elements of an array; nothing for other values.
pub(super) fn elements<'s>(json: &Json<'s>) -> Vec<Json<'s>> {
    let elements = match json.input_reader() {
        Some(mut reader) => reader.list(|_, reader| reader.raw()),
        None => json.reader().list(|_, reader| reader.raw().map(Json::into_owned)),
    };
    // The JSON has been checked, so that only another kind of value can fail here.
    elements.unwrap_or_default()
}

/// The members of an object in their order, of equal names the last; nothing for other values.
pub(super) fn members<'s>(json: &Json<'s>) -> Vec<(Cow<'s, str>, Json<'s>)> {
    let mut members = Vec::new();
    let Some(mut reader) = json.input_reader() else { return members };
    let collected = reader.object(|name, reader| {
        members.push((name, reader.raw()?));
        Ok(())
    });
    if collected.is_err() {
        return Vec::new();
    }
    let mut names = Index::default();
    let mut last = |name: &str| names.last(&members, name, |(name, _)| name);
    let places: Vec<_> = members.iter().map(|(name, _)| last(name)).collect();
    let mut places = (0..).zip(places);
    members.retain(|_| places.next().is_some_and(|(place, last)| last == Some(place)));
    members
}

fn named<'s>(json: &Json<'s>, at: &Pointer<'s>) -> Vec<Named<'s>> {
    let members = members(json).into_iter();
    let parse = |(name, json): (Cow<'s, str>, Json<'s>)| {
        let schema = Schema::parse(&json, at.child(name.clone()));
        Named { name, schema }
    };
    members.map(parse).collect()
}
