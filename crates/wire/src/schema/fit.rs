//! The walk that makes a schema fit a language: what is refused is rewritten, then left out.

use std::collections::HashSet;
use std::mem;

use super::allow::Shape;
use super::pointer::Pointer;
use super::refs::References;
use super::tree::{Body, Keyword, Keywords, Named, Schema, Value, encoded, plain_string};
use super::{LEVELS_MAX, SchemaLanguage, SchemaLoss, allow};
use crate::LossKind;

/// One translation under way.
pub(super) struct Fitter<'s> {
    pub(super) language: SchemaLanguage,
    pub(super) references: References<'s>,
    pub(super) losses: Losses,
    /// The pointers of the schemas that are being copied into themselves or into each other.
    pub(super) open: Vec<String>,
    /// How much may still be copied, so that references to references cannot grow without end.
    pub(super) copies_left: usize,
    /// How much may still be merged, so that many parts cannot take the square of their number.
    pub(super) merges_left: usize,
}

/// The record, each entry once however often a definition was copied.
#[derive(Default)]
pub(super) struct Losses {
    pub(super) entries: Vec<SchemaLoss>,
    seen: HashSet<(String, &'static str)>,
    /// How many steps were recorded, those recorded twice included.
    pub(super) steps: usize,
}

impl Losses {
    pub(super) fn lose(&mut self, at: &Pointer<'_>, kind: LossKind, reason: &'static str) {
        self.steps += 1;
        let pointer = at.to_string();
        if self.seen.insert((pointer.clone(), reason)) {
            self.entries.push(SchemaLoss { pointer, kind, reason });
        }
    }
}

impl<'s> Fitter<'s> {
    pub(super) fn lose(&mut self, at: &Pointer<'_>, kind: LossKind, reason: &'static str) {
        self.losses.lose(at, kind, reason);
    }

    /// Takes a keyword out, if it is there.
    pub(super) fn take_out(
        &mut self,
        keywords: &mut Keywords<'s>,
        name: &str,
        (kind, reason): (LossKind, &'static str),
    ) {
        if let Some(keyword) = keywords.take(name) {
            self.lose(&keyword.at, kind, reason);
        }
    }

    /// Gives a keyword another name in its place, if it is there.
    pub(super) fn rename(
        &mut self,
        keywords: &mut Keywords<'s>,
        (old, new): (&str, &'static str),
        (kind, reason): (LossKind, &'static str),
    ) {
        if let Some(keyword) = keywords.find_mut(old) {
            keyword.name = new.into();
            self.lose(&keyword.at, kind, reason);
        }
    }

    /// Makes `schema` fit. `level` counts the JSON objects and arrays around it in the output.
    pub(super) fn schema(&mut self, schema: Schema<'s>, level: usize) -> Schema<'s> {
        let at = schema.at.clone();
        match schema.body {
            Body::Boolean(truth) => self.boolean(at, truth),
            Body::Garbage(_) => {
                self.lose(&at, LossKind::Repaired, "not a schema: read as one that allows all");
                Schema::of(at, Keywords::default())
            }
            Body::Keywords(keywords) if level > LEVELS_MAX => self.too_deep(at, keywords),
            Body::Keywords(keywords) => {
                let open = self.open.len();
                let keywords = self.keywords(keywords, &at, level);
                self.open.truncate(open);
                Schema::of(at, keywords)
            }
        }
    }

    fn keywords(
        &mut self,
        mut keywords: Keywords<'s>,
        at: &Pointer<'s>,
        level: usize,
    ) -> Keywords<'s> {
        self.flatten(&mut keywords, level);
        self.respell(&mut keywords, at);
        if self.language == SchemaLanguage::GeminiSchema {
            while self.lift_null(&mut keywords, at) {
                self.flatten(&mut keywords, level);
                self.respell(&mut keywords, at);
            }
        }
        if self.language == SchemaLanguage::AnthropicStrict {
            self.note_limits(&mut keywords, at);
        }
        self.filter(&mut keywords, level);
        if self.language == SchemaLanguage::GeminiSchema {
            self.split_types(&mut keywords, at);
            self.share_siblings(&mut keywords);
        }
        self.values(&mut keywords, at);
        self.imply_type(&mut keywords, at);
        self.close(&mut keywords, at);
        self.descend(&mut keywords, level);
        self.complete(&mut keywords, at);
        keywords
    }

    /// Puts everything on one level: parts of `allOf`, and references that cannot stay.
    fn flatten(&mut self, keywords: &mut Keywords<'s>, level: usize) {
        while self.merge_all_of(keywords) | self.follow(keywords, level) {}
    }

    /// Rewrites what the language refuses only in this form.
    fn respell(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        if !allow::allows(self.language, "const") {
            self.const_to_enum(keywords);
        }
        if !allow::allows(self.language, "oneOf") {
            self.one_of_to_any_of(keywords);
        }
        self.tuple(keywords, at);
    }

    fn boolean(&mut self, at: Pointer<'s>, truth: bool) -> Schema<'s> {
        if truth {
            self.lose(&at, LossKind::Renamed, "`true` is written as the empty schema");
        } else {
            self.lose(&at, LossKind::Dropped, "no schema here can refuse every value");
        }
        Schema::of(at, Keywords::default())
    }

    fn too_deep(&mut self, at: Pointer<'s>, keywords: Keywords<'s>) -> Schema<'s> {
        let mut stub = Keywords::default();
        if keywords.is_object_like() {
            stub.put("type", &at, plain_string("object"));
        }
        self.close(&mut stub, &at);
        self.complete(&mut stub, &at);
        let (stub, whole) = (Schema::of(at.clone(), stub), Schema::of(at.clone(), keywords));
        if !encoded(&stub).same_value(&encoded(&whole)) {
            self.lose(&at, LossKind::Dropped, "nested too deep");
        }
        stub
    }

    /// Leaves out every keyword that is not on the list.
    fn filter(&mut self, keywords: &mut Keywords<'s>, level: usize) {
        if level == 0 && allow::allows(self.language, "$defs") {
            self.rename_definitions(keywords);
        }
        let language = self.language;
        let all = mem::take(&mut keywords.0);
        for keyword in all {
            let defines = matches!(&*keyword.name, "$defs" | "definitions");
            if is_misshapen(&keyword) {
                self.lose(&keyword.at, LossKind::Repaired, "not what this keyword takes");
            } else if defines && (level > 0 || !allow::allows(language, &keyword.name)) {
                self.lose(&keyword.at, LossKind::Renamed, "copied to where it is referred to");
            } else if allow::allows(language, &keyword.name) {
                keywords.0.push(keyword);
            } else {
                self.leave_out(&keyword);
            }
        }
    }

    /// Records that a keyword which the language refuses is gone.
    pub(super) fn leave_out(&mut self, keyword: &Keyword<'s>) {
        let (kind, reason) = match (&*keyword.name, &keyword.value) {
            ("additionalProperties", Value::Schema(schema)) => match schema.body {
                Body::Boolean(_) => (LossKind::Implied, "only known properties are ever written"),
                _ => (LossKind::Dropped, "objects with free keys cannot be described"),
            },
            ("additionalItems", _) => (LossKind::Implied, "means nothing without a list of items"),
            (name, _) if allow::is_annotation(name) => {
                (LossKind::Implied, "an annotation that this language does not take")
            }
            _ => (LossKind::Dropped, "a keyword that this language does not take"),
        };
        self.lose(&keyword.at, kind, reason);
    }

    /// Moves the definitions of draft-07 to where later drafts have them.
    fn rename_definitions(&mut self, keywords: &mut Keywords<'s>) {
        let Some(Value::Map(_)) = keywords.find("definitions").map(|keyword| &keyword.value) else {
            return;
        };
        let Some(mut old) = keywords.take("definitions") else { return };
        self.lose(&old.at, LossKind::Renamed, "definitions are kept under `$defs`");
        match (keywords.find_mut("$defs").map(|keyword| &mut keyword.value), &mut old.value) {
            (Some(Value::Map(new)), Value::Map(old)) => {
                let names = new.iter().map(|named| named.name.clone()).collect::<HashSet<_>>();
                new.extend(mem::take(old).into_iter().filter(|named| !names.contains(&named.name)));
            }
            _ => keywords.0.push(Keyword { name: "$defs".into(), ..old }),
        }
    }

    fn descend(&mut self, keywords: &mut Keywords<'s>, level: usize) {
        for keyword in &mut keywords.0 {
            let defines = keyword.name == "$defs";
            match &mut keyword.value {
                Value::Plain(_) => {}
                Value::Schema(schema) if keeps_boolean(&keyword.name, schema) => {}
                Value::Schema(schema) => self.replace(schema, level + 1),
                Value::Schemas(schemas) => {
                    schemas.iter_mut().for_each(|schema| self.replace(schema, level + 2));
                }
                Value::Map(map) if defines => self.definitions(map, level + 2),
                Value::Map(map) => {
                    map.iter_mut().for_each(|named| self.replace(&mut named.schema, level + 2));
                }
            }
        }
    }

    fn replace(&mut self, schema: &mut Schema<'s>, level: usize) {
        let at = schema.at.clone();
        let old = mem::replace(schema, Schema { at, body: Body::Boolean(true) });
        *schema = self.schema(old, level);
    }

    /// Definitions stand alone: what is open around them does not count, they themselves do.
    fn definitions(&mut self, map: &mut [Named<'s>], level: usize) {
        let around = mem::take(&mut self.open);
        for named in map {
            self.open = vec![String::new(), named.schema.at.to_string()];
            self.replace(&mut named.schema, level);
        }
        self.open = around;
    }
}

fn is_misshapen(keyword: &Keyword<'_>) -> bool {
    match &keyword.value {
        Value::Plain(_) => allow::shape(&keyword.name) != Shape::Plain,
        Value::Schemas(schemas) => schemas.is_empty(),
        Value::Schema(_) | Value::Map(_) => false,
    }
}

fn keeps_boolean(keyword: &str, schema: &Schema<'_>) -> bool {
    keyword == "additionalProperties" && matches!(schema.body, Body::Boolean(_))
}
