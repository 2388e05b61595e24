//! The rules of Gemini's own schemas: one type each, `nullable`, choices of strings, lone `anyOf`.

use super::fit::Fitter;
use super::pointer::Pointer;
use super::tree::{Body, Keyword, Keywords, Schema, Value, list, plain_string};
use super::{SchemaLanguage, allow, strict, tree};
use crate::LossKind;
use crate::json::{Json, Kind};

impl<'s> Fitter<'s> {
    /// Says `nullable` instead of naming null; says whether a branch came up that needs a look.
    pub(super) fn lift_null(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) -> bool {
        if !mentions_null(keywords) {
            return false;
        }
        let nullable = strict::keywords_accept_null(keywords);
        let unwrapped = self.drop_null_branches(keywords, at);
        self.drop_null_type(keywords, at);
        self.drop_null_value(keywords, at);
        if nullable && !names_null(keywords) {
            keywords.put("nullable", at, Value::Plain(Json::literal("true")));
        }
        unwrapped
    }

    /// A branch may turn out to be null only once it fits, such as one that was a reference.
    fn lift_fitted_null(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        if !keywords.schemas("anyOf").is_some_and(|branches| branches.iter().any(is_null)) {
            return;
        }
        self.drop_null_branches(keywords, at);
        if !names_null(keywords) {
            keywords.put("nullable", at, Value::Plain(Json::literal("true")));
        }
    }

    fn drop_null_branches(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) -> bool {
        let Some((place, branches)) = keywords.schemas_mut("anyOf") else { return false };
        let count = branches.len();
        branches.retain(|branch| !is_null(branch));
        if branches.len() == count {
            return false;
        }
        let last = if branches.len() < 2 { branches.pop() } else { None };
        let is_empty = branches.is_empty();
        self.lose(place, LossKind::Renamed, "null is written as `nullable`");
        if is_empty {
            keywords.take("anyOf");
        }
        match last {
            Some(branch) => self.merge_target(keywords, branch),
            None if is_empty && !keywords.has("type") => {
                keywords.put("type", at, plain_string("null"));
            }
            None => {}
        }
        is_empty
    }

    fn drop_null_type(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let Some(mut types) = keywords.types().filter(|types| types.len() > 1) else { return };
        let count = types.len();
        types.retain(|name| name != "null");
        if types.is_empty() {
            types.push("null".to_owned());
        }
        if types.len() < count {
            self.lose(&at.child("type"), LossKind::Renamed, "null is written as `nullable`");
            keywords.put_types(at, &types);
        }
    }

    fn drop_null_value(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let Some(mut values) = keywords.list("enum") else { return };
        let count = values.len();
        values.retain(|value| !value.is_null());
        if values.len() == count {
            return;
        }
        self.lose(&at.child("enum"), LossKind::Renamed, "null is written as `nullable`");
        keywords.put("enum", at, list(&values));
        if values.is_empty() {
            keywords.take("enum");
            keywords.put("type", at, plain_string("null"));
        }
    }

    /// Several types become branches, each with the keywords that speak of it.
    pub(super) fn split_types(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let Some(types) = keywords.types().filter(|types| types.len() > 1) else { return };
        let weight = keywords.weight() * types.len();
        if keywords.has("anyOf") || !self.afford(weight) {
            return;
        }
        let place = at.child("type");
        self.lose(&place, LossKind::Renamed, "each of several types has a branch of its own");
        self.drop_empty_choice(keywords, &types);
        let branches = types.iter().filter_map(|name| branch_of_type(keywords, &place, name));
        let branches = branches.collect::<Vec<_>>();
        keywords.0.retain(|keyword| stays_beside_any_of(&keyword.name));
        keywords.put("anyOf", at, Value::Schemas(branches));
    }

    /// A choice of which no value has one of the types would leave no branch.
    fn drop_empty_choice(&mut self, keywords: &mut Keywords<'s>, types: &[String]) {
        let values = keywords.list("enum").unwrap_or_default();
        let has_type = |value: &Json<'s>| types.iter().any(|name| is_of_type(value, name));
        if values.iter().any(has_type) {
            return;
        }
        let loss = (LossKind::Dropped, "no value of the choice has the type");
        self.take_out(keywords, "enum", loss);
    }

    /// Beside `anyOf` nothing else is taken, so that every branch gets what stands there.
    pub(super) fn share_siblings(&mut self, keywords: &mut Keywords<'s>) {
        if keywords.schemas("anyOf").is_none() {
            return;
        }
        let goes = |it: &Keyword<'_>| !stays_beside_any_of(&it.name);
        for keyword in keywords.take_all(|it| goes(it) && allow::is_annotation(&it.name)) {
            self.lose(&keyword.at, LossKind::Implied, "may not stand beside `anyOf`");
        }
        let limits = keywords.take_all(goes);
        if !limits.is_empty() {
            self.share(keywords, Keywords(limits));
        }
    }

    fn share(&mut self, keywords: &mut Keywords<'s>, limits: Keywords<'s>) {
        let Some((at, branches)) = keywords.schemas_mut("anyOf") else { return };
        if !self.afford(limits.weight() * branches.len()) {
            for keyword in &limits.0 {
                self.lose(&keyword.at, LossKind::Dropped, "may not stand beside `anyOf`");
            }
            return;
        }
        self.lose(at, LossKind::Renamed, "what stood beside `anyOf` is repeated in its branches");
        for branch in branches {
            match &mut branch.body {
                Body::Keywords(branch) => {
                    self.merge_target(branch, Schema::of(at.clone(), limits.clone()));
                }
                Body::Boolean(true) => branch.body = Body::Keywords(limits.clone()),
                Body::Boolean(false) | Body::Garbage(_) => {}
            }
        }
    }

    /// Values that a language takes: formats, and the values of choices.
    pub(super) fn values(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        self.format(keywords);
        match self.language {
            SchemaLanguage::GeminiSchema => self.choice_of_strings(keywords, at),
            SchemaLanguage::GeminiJsonSchema => self.choice_of_scalars(keywords, at),
            SchemaLanguage::JsonSchema
            | SchemaLanguage::OpenaiStrict
            | SchemaLanguage::AnthropicStrict => {}
        }
    }

    fn format(&mut self, keywords: &mut Keywords<'s>) {
        let format = keywords.string("format");
        if format.is_none_or(|format| !allow::allows_format(self.language, &format)) {
            let loss = (LossKind::Dropped, "a format that this language does not take");
            self.take_out(keywords, "format", loss);
        }
    }

    fn choice_of_strings(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let place = at.child("enum");
        let taken = |kind| matches!(kind, Kind::String | Kind::Number | Kind::Boolean);
        let Some(values) = self.choice(keywords, taken) else { return };
        if values.iter().any(|value| value.kind() != Kind::String) {
            let reason = "numbers and booleans of a choice are written as strings";
            self.lose(&place, LossKind::Approximated, reason);
            keywords.put("format", at, plain_string("enum"));
            self.drop_limits_of_others(keywords);
        }
        let texts = values.iter().map(|value| match tree::as_string(value) {
            Some(text) => text,
            None => value.as_str().to_owned(),
        });
        keywords.put("enum", at, tree::strings(&texts.collect::<Vec<_>>()));
        self.name_string(keywords, at);
    }

    /// What limits numbers means nothing for strings, and the choice says more anyway.
    fn drop_limits_of_others(&mut self, keywords: &mut Keywords<'s>) {
        for keyword in keywords.take_all(|it| !allow::concerns(&it.name, "string")) {
            self.lose(&keyword.at, LossKind::Implied, "the enum beside it is more specific");
        }
    }

    /// A choice is one of strings.
    fn name_string(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        if keywords.types().is_some_and(|types| types == ["string"]) {
            return;
        }
        let kind = match keywords.has("type") {
            true => LossKind::Approximated,
            false => LossKind::Synthesised,
        };
        self.lose(&at.child("type"), kind, "the type of a choice has to be that of strings");
        keywords.put("type", at, plain_string("string"));
    }

    fn choice_of_scalars(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        let before = keywords.list("enum");
        let taken = |kind| matches!(kind, Kind::String | Kind::Number);
        if let Some(values) = self.choice(keywords, taken)
            && before.is_some_and(|before| before.len() > values.len())
        {
            keywords.put("enum", at, list(&values));
        }
    }

    /// The values of a choice that can be kept; takes the choice away if there are none.
    fn choice(
        &mut self,
        keywords: &mut Keywords<'s>,
        taken: fn(Kind) -> bool,
    ) -> Option<Vec<Json<'s>>> {
        // A choice of one may have been spelled otherwise.
        let place = &keywords.find("enum")?.at.clone();
        let values = keywords.list("enum").unwrap_or_default();
        let is_kept = |value: &Json<'_>| taken(value.kind()) && value.as_str() != "\"\"";
        let (kept, gone): (Vec<_>, Vec<_>) = values.into_iter().partition(is_kept);
        if !gone.is_empty() {
            self.lose(place, LossKind::Dropped, "values that this language does not take");
        }
        if !kept.is_empty() {
            return Some(kept);
        }
        let loss = (LossKind::Dropped, "a choice without values that this language takes");
        self.take_out(keywords, "enum", loss);
        None
    }

    /// Objects name properties or say nothing of them, and types are in upper case.
    pub(super) fn finish_gemini(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>) {
        self.lift_fitted_null(keywords, at);
        if keywords.map("properties").is_some_and(<[_]>::is_empty) {
            self.lose(&at.child("properties"), LossKind::Implied, "an empty list is not taken");
            keywords.take("properties");
        }
        if let Some(types) = keywords.types() {
            self.spell_types(keywords, at, &types);
        }
    }

    fn spell_types(&mut self, keywords: &mut Keywords<'s>, at: &Pointer<'s>, types: &[String]) {
        let [name, rest @ ..] = types else {
            keywords.take("type");
            return;
        };
        if !rest.is_empty() {
            self.lose(&at.child("type"), LossKind::Dropped, "only one of several types is kept");
        } else if keywords.plain("type").is_some_and(|json| json.kind() == Kind::Array) {
            self.lose(&at.child("type"), LossKind::Renamed, "a single type is not in a list");
        }
        keywords.put("type", at, plain_string(&name.to_ascii_uppercase()));
    }
}

fn mentions_null(keywords: &Keywords<'_>) -> bool {
    let types = keywords.types().filter(|types| types.len() > 1).unwrap_or_default();
    types.iter().any(|name| name == "null")
        || keywords.list("enum").is_some_and(|values| values.iter().any(Json::is_null))
        || keywords.schemas("anyOf").is_some_and(|branches| branches.iter().any(is_null))
}

/// Whether a schema matches null and nothing else, as far as its own keywords tell.
fn is_null(schema: &Schema<'_>) -> bool {
    let Some(keywords) = schema.keywords() else { return false };
    let values = keywords.list("enum");
    names_null(keywords)
        || keywords.plain("const").is_some_and(Json::is_null)
        || values.is_some_and(|values| !values.is_empty() && values.iter().all(Json::is_null))
}

/// Whether null is the only type, in either case.
fn names_null(keywords: &Keywords<'_>) -> bool {
    let types = keywords.types().unwrap_or_default();
    matches!(&types[..], [name] if name.eq_ignore_ascii_case("null"))
}

fn stays_beside_any_of(keyword: &str) -> bool {
    matches!(keyword, "anyOf" | "description" | "nullable")
}

/// What a schema says of values of one type; none if no value of a choice has it.
fn branch_of_type<'s>(keywords: &Keywords<'s>, at: &Pointer<'s>, name: &str) -> Option<Schema<'s>> {
    let mut branch = Keywords::default();
    branch.put("type", at, plain_string(name));
    let repeated = keywords.0.iter().filter(|keyword| {
        keyword.name != "type"
            && !stays_beside_any_of(&keyword.name)
            && !allow::is_annotation(&keyword.name)
            && allow::concerns(&keyword.name, name)
    });
    branch.0.extend(repeated.cloned());
    if let Some(values) = keywords.list("enum") {
        let fitting = values.into_iter().filter(|value| is_of_type(value, name));
        let fitting = fitting.collect::<Vec<_>>();
        if fitting.is_empty() {
            return None;
        }
        branch.put("enum", at, list(&fitting));
    }
    Some(Schema::of(at.clone(), branch))
}

fn is_of_type(value: &Json<'_>, name: &str) -> bool {
    match value.kind() {
        Kind::Null => name == "null",
        Kind::Boolean => name == "boolean",
        Kind::Number => name == "number" || (name == "integer" && !value.as_str().contains('.')),
        Kind::String => name == "string",
        Kind::Array => name == "array",
        Kind::Object => name == "object",
    }
}
