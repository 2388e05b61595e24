//! Several schemas made into one: `allOf`, references with siblings, and choices.

use std::collections::{HashMap, HashSet};

use super::fit::Fitter;
use super::pointer::Pointer;
use super::tree::{Body, Keyword, Keywords, Schema, Value, plain_string};
use super::{REFERENCE_DEPTH_MAX, SchemaLanguage, allow, refs, tree};
use crate::LossKind;
use crate::index::Index;
use crate::json::{Json, Kind};

/// Where the keywords of a schema, or the names of a map, stand into which several others are merged, and the same for
/// what is below each of them. Both only grow by that.
#[derive(Default)]
struct Merged {
    names: Index<String>,
    below: HashMap<usize, Merged>,
    /// The names in a list of required ones.
    required: Option<HashSet<Option<String>>>,
}

impl Merged {
    /// Adds to a list of required names those that it has not.
    fn require<'s>(&mut self, list: &mut Json<'s>, more: &Json<'s>) {
        let known = self.required.get_or_insert_with(|| {
            *list = tree::encoded(&tree::elements(list));
            tree::elements(list).iter().map(tree::as_string).collect()
        });
        let more = tree::elements(more).into_iter();
        let news = more.filter(|json| known.insert(tree::as_string(json)));
        let mut text = std::mem::replace(list, Json::literal("[]")).into_string();
        for json in news {
            // The list is one of ours, which ends with its bracket.
            text.pop();
            text.push_str(if text.len() > 1 { "," } else { "" });
            text.push_str(json.as_str());
            text.push(']');
        }
        *list = Json::trusted(text.into());
    }
}

const TOO_MUCH_MERGED: &str = "too much is merged into one schema";

impl<'s> Fitter<'s> {
    /// Merges the parts of `allOf` into the schema, if the language needs that; says whether it did.
    pub(super) fn merge_all_of(&mut self, keywords: &mut Keywords<'s>) -> bool {
        if allow::allows(self.language, "allOf") && !self.would_contradict(keywords) {
            return false;
        }
        let Some((place, parts)) = keywords.take_schemas("allOf") else { return false };
        self.lose(&place, LossKind::Renamed, "the parts of `allOf` are merged");
        let alone = parts.len() == 1 && !keywords.has("$ref");
        let mut merged = Merged::default();
        for mut part in parts {
            if let (false, Some(part)) = (alone, part.keywords_mut()) {
                while self.inline(part) {}
            }
            self.merge_into(keywords, part, &mut merged);
        }
        true
    }

    /// Whether closing the objects of an `allOf` one by one would leave nothing that fits all.
    fn would_contradict(&self, keywords: &Keywords<'s>) -> bool {
        let parts = keywords.schemas("allOf").unwrap_or_default();
        let objects = parts.iter().filter(|part| self.speaks_of_objects(part)).count();
        objects + usize::from(keywords.is_object_like()) > 1
    }

    fn speaks_of_objects(&self, schema: &Schema<'s>) -> bool {
        let speaks = |keywords: &Keywords<'s>| keywords.is_object_like() || keywords.has("allOf");
        let Some(keywords) = schema.keywords() else { return false };
        let target = target(keywords);
        let target = target.and_then(|pointer| self.references.keywords(&pointer));
        speaks(keywords) || target.is_some_and(speaks)
    }

    /// Deals with a `$ref`: it stays, or its target is copied here; says whether it was copied.
    pub(super) fn follow(&mut self, keywords: &mut Keywords<'s>, level: usize) -> bool {
        if !allow::allows(self.language, "$ref") || !self.can_stay(keywords, level) {
            return self.inline(keywords);
        }
        let Some(pointer) = target(keywords) else { return false };
        let Some(name) = self.references.kept_name(&pointer) else { return false };
        let Some(keyword) = keywords.find_mut("$ref") else { return false };
        if refs::local_pointer(&name) != Some(pointer) {
            keyword.value = plain_string(&name);
            self.lose(&keyword.at, LossKind::Renamed, "definitions are kept under `$defs`");
        }
        self.strip_siblings(keywords);
        false
    }

    /// Whether a reference can stay: its target has a name, and nothing beside it would be lost.
    fn can_stay(&self, keywords: &Keywords<'s>, level: usize) -> bool {
        let Some(keyword) = keywords.find("$ref") else { return false };
        let Some(pointer) = target(keywords) else { return false };
        let named = self.references.kept_name(&pointer).is_some();
        if !named || self.references.is_recursive(&keyword.at) {
            return false;
        }
        let is_root = level == 0 && self.language != SchemaLanguage::GeminiJsonSchema;
        let alone = !is_root && !keywords.0.iter().any(|sibling| self.matters(sibling));
        alone || (!is_root && self.open.contains(&pointer))
    }

    fn matters(&self, sibling: &Keyword<'s>) -> bool {
        let carried = allow::allows(self.language, &sibling.name);
        !sibling.name.starts_with('$') && (carried || !allow::is_annotation(&sibling.name))
    }

    fn strip_siblings(&mut self, keywords: &mut Keywords<'s>) {
        let stays = |it: &Keyword<'_>| it.name.starts_with('$') || it.name == "definitions";
        for keyword in keywords.take_all(|it| !stays(it)) {
            let kind = allow::loss_of(&keyword.name);
            self.lose(&keyword.at, kind, "nothing may stand beside a reference");
        }
    }

    /// Copies the target of a `$ref` here, or cuts it; says whether there is more to look at.
    fn inline(&mut self, keywords: &mut Keywords<'s>) -> bool {
        let pointer = target(keywords);
        let Some(keyword) = keywords.take("$ref") else { return false };
        let Some(pointer) = pointer else {
            self.lose(&keyword.at, LossKind::Dropped, "refers to nothing within the schema");
            return true;
        };
        let circular = self.open.contains(&pointer) && self.references.is_circular(&pointer);
        if circular || self.references.is_recursive(&keyword.at) {
            self.cut(keywords, &keyword, &pointer, "a schema within itself is cut here");
            return true;
        }
        if self.open.len() >= REFERENCE_DEPTH_MAX || self.copies_left == 0 {
            self.cut(keywords, &keyword, &pointer, "too much refers to one another to be copied");
            return true;
        }
        self.copy(keywords, &keyword, pointer);
        true
    }

    fn copy(&mut self, keywords: &mut Keywords<'s>, reference: &Keyword<'s>, pointer: String) {
        let Some(schema) = self.references.resolve(&pointer) else {
            self.lose(&reference.at, LossKind::Dropped, "refers to nothing within the schema");
            return;
        };
        if !self.afford(schema.weight()) {
            let reason = "too much refers to one another to be copied";
            return self.cut(keywords, reference, &pointer, reason);
        }
        self.lose(&reference.at, LossKind::Renamed, "what is referred to is copied here");
        self.open.push(pointer);
        self.merge_target(keywords, schema);
    }

    /// Leaves of what is referred to only that it is an object, if it is one.
    fn cut(
        &mut self,
        keywords: &mut Keywords<'s>,
        reference: &Keyword<'s>,
        pointer: &str,
        reason: &'static str,
    ) {
        self.lose(&reference.at, LossKind::Approximated, reason);
        let target = self.references.keywords(pointer);
        if target.is_some_and(Keywords::is_object_like) && !keywords.has("type") {
            let (name, at) = ("type".into(), reference.at.clone());
            keywords.0.push(Keyword { name, at, value: plain_string("object") });
        }
    }

    /// Makes `keywords` say what they say and what `schema` says.
    pub(super) fn merge_target(&mut self, keywords: &mut Keywords<'s>, schema: Schema<'s>) {
        self.merge_into(keywords, schema, &mut Merged::default());
    }

    /// The same for one of several that are merged, one after the other.
    fn merge_into(&mut self, keywords: &mut Keywords<'s>, schema: Schema<'s>, merged: &mut Merged) {
        match schema.body {
            Body::Boolean(true) => {}
            Body::Boolean(false) => {
                self.lose(&schema.at, LossKind::Dropped, "no schema here can refuse every value");
            }
            Body::Garbage(_) => self.lose(&schema.at, LossKind::Repaired, "not a schema"),
            Body::Keywords(target) => self.merge_more(keywords, target, merged),
        }
    }

    /// Pays for a copy; once the budget is spent, nothing is copied any more.
    pub(super) fn afford(&mut self, weight: usize) -> bool {
        let left = self.copies_left.checked_sub(weight);
        self.copies_left = left.unwrap_or(0);
        left.is_some()
    }

    fn merge_more(&mut self, keywords: &mut Keywords<'s>, more: Keywords<'s>, merged: &mut Merged) {
        for keyword in more.0 {
            if matches!(&*keyword.name, "$defs" | "definitions") {
                continue;
            }
            let Some(at) = merged.names.last(&keywords.0, &*keyword.name, |it| &*it.name) else {
                keywords.0.push(keyword);
                continue;
            };
            let present = &mut keywords.0[at];
            // A list of required names grows with each part: it is added to, not compared.
            if is_required_list(&keyword) || !present.value.same_as(&keyword.value) {
                self.merge_keyword(present, keyword, merged.below.entry(at).or_default());
            }
        }
    }

    fn merge_keyword(
        &mut self,
        present: &mut Keyword<'s>,
        keyword: Keyword<'s>,
        merged: &mut Merged,
    ) {
        let Keyword { name, at, value } = keyword;
        match (&mut present.value, value) {
            (Value::Map(map), Value::Map(more)) => {
                for named in more {
                    match merged.names.last(map, &*named.name, |it| &*it.name) {
                        Some(at) => {
                            let merged = merged.below.entry(at).or_default();
                            self.merge_schema(&mut map[at].schema, named.schema, merged);
                        }
                        None => map.push(named),
                    }
                }
            }
            (Value::Schema(schema), Value::Schema(more)) => {
                self.merge_schema(schema, *more, merged);
            }
            (Value::Schemas(parts), Value::Schemas(more)) if name == "allOf" => parts.extend(more),
            (Value::Plain(plain), Value::Plain(more)) if name == "required" => {
                merged.require(plain, &more);
            }
            (Value::Plain(plain), Value::Plain(_)) if !self.can_merge(plain.as_str().len()) => {
                self.lose(&at, LossKind::Dropped, TOO_MUCH_MERGED);
            }
            (Value::Plain(plain), Value::Plain(more)) => match both(&name, plain, &more) {
                Some(joined) => *plain = joined,
                None => self.conflict(&name, &at),
            },
            _ => self.conflict(&name, &at),
        }
    }

    /// Pays for reading so many bytes of what has been merged so far.
    fn can_merge(&mut self, bytes: usize) -> bool {
        let left = self.merges_left.checked_sub(1 + bytes / 64);
        self.merges_left = left.unwrap_or(0);
        left.is_some()
    }

    fn merge_schema(&mut self, schema: &mut Schema<'s>, more: Schema<'s>, merged: &mut Merged) {
        match (&mut schema.body, more.body) {
            (_, Body::Boolean(true)) | (Body::Boolean(false), _) => {}
            (Body::Boolean(true) | Body::Garbage(_), body) | (_, body @ Body::Boolean(false)) => {
                schema.body = body;
                *merged = Merged::default();
            }
            (_, Body::Garbage(_)) => self.lose(&more.at, LossKind::Repaired, "not a schema"),
            (Body::Keywords(keywords), Body::Keywords(mut more)) => {
                while keywords.has("$ref") && more.has("$ref") && self.inline(&mut more) {}
                self.merge_more(keywords, more, merged);
            }
        }
    }

    fn conflict(&mut self, name: &str, at: &Pointer<'s>) {
        self.lose(
            at,
            allow::loss_of(name),
            "it conflicts with a schema that this one is merged with",
        );
    }
}

fn is_required_list(keyword: &Keyword<'_>) -> bool {
    let is_list = matches!(&keyword.value, Value::Plain(json) if json.kind() == Kind::Array);
    is_list && keyword.name == "required"
}

fn target(keywords: &Keywords<'_>) -> Option<String> {
    keywords.string("$ref").as_deref().and_then(refs::local_pointer)
}

/// The plain value that says what two of them say, if there is one.
fn both<'s>(name: &str, one: &Json<'s>, two: &Json<'s>) -> Option<Json<'s>> {
    match name {
        "type" => common_types(one, two),
        "enum" => common_values(one, two),
        _ if name.starts_with("min") || name == "exclusiveMinimum" => of_numbers(one, two, f64::ge),
        _ if name.starts_with("max") || name == "exclusiveMaximum" => of_numbers(one, two, f64::le),
        _ => None,
    }
}

/// So many values are compared with each other.
const FEW_VALUES: usize = 32;

fn common_values<'s>(one: &Json<'_>, two: &Json<'_>) -> Option<Json<'s>> {
    let others = tree::elements(two);
    let mut common = tree::elements(one);
    if others.len() <= FEW_VALUES {
        common.retain(|json| others.contains(json));
    } else {
        // Strings are compared by what they say; for other values one spelling has to do.
        let spelled = |json: &Json<'_>| tree::as_string(json).ok_or(json.as_str().to_owned());
        let others: HashSet<_> = others.iter().map(spelled).collect();
        common.retain(|json| others.contains(&spelled(json)));
    }
    (!common.is_empty()).then(|| tree::encoded(&common))
}

fn common_types<'s>(one: &Json<'_>, two: &Json<'_>) -> Option<Json<'s>> {
    let (one, two) = (tree::type_names(one), tree::type_names(two));
    let within = |name: &String, types: &[String]| {
        types.contains(name) || (name == "integer" && types.iter().any(|name| name == "number"))
    };
    let mut common = one.iter().filter(|name| within(name, &two)).cloned().collect::<Vec<_>>();
    let narrower = two.iter().filter(|name| within(name, &one) && !common.contains(name));
    common.extend(narrower.cloned().collect::<Vec<_>>());
    match &common[..] {
        [] => None,
        [name] => Some(tree::encoded(name)),
        names => Some(tree::encoded(names)),
    }
}

/// The first of two numbers if it `wins`, else the second.
fn of_numbers<'s>(
    one: &Json<'s>,
    two: &Json<'s>,
    wins: fn(&f64, &f64) -> bool,
) -> Option<Json<'s>> {
    let value = |json: &Json<'_>| json.reader().number().ok()?.as_f64();
    Some(if wins(&value(one)?, &value(two)?) { one } else { two }.clone())
}
