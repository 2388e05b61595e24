//! A translation from end to end: read, fit, write, and look whether anything has changed.

use std::borrow::Cow;

use super::fit::{Fitter, Losses};
use super::pointer::Pointer;
use super::read::Reading;
use super::refs::References;
use super::tree::{Schema, encoded};
use super::{
    COPIES_MAX, MERGES_MAX, REWRITTEN_BYTES_MAX, ROUNDS_MAX, SchemaLanguage, SchemaLoss,
    Translated, plain, read,
};
use crate::LossKind;
use crate::json::{Json, Kind};

/// Writes `schema`, which is in language `from`, in language `to`.
///
/// A schema that is fine as it stands comes back as it was, borrowed where it was borrowed. Pointers
/// of losses start at the root of `schema`, also for what has been copied elsewhere since.
pub fn translate<'a>(
    schema: &Json<'a>,
    from: SchemaLanguage,
    to: SchemaLanguage,
) -> Translated<'a> {
    let reading = Reading::of(from, to);
    if to == SchemaLanguage::JsonSchema && reading == Reading::Json {
        return Translated::unchanged(schema);
    }
    match plain::translate(schema, reading, to) {
        Some(json) => Translated { json, losses: Vec::new() },
        None if schema.as_str().len() > REWRITTEN_BYTES_MAX => too_long(schema),
        None => in_full(schema, reading, to),
    }
}

/// The long way, which every schema can go.
pub(super) fn in_full<'a>(
    schema: &Json<'a>,
    reading: Reading,
    to: SchemaLanguage,
) -> Translated<'a> {
    let json = schema.reborrow();
    let mut losses = Losses::default();
    let mut tree = Schema::parse(&json, Pointer::default());
    read::read(&mut tree, reading, &mut losses);
    if to != SchemaLanguage::JsonSchema {
        (tree, losses) = fit(&json, tree, to, losses);
    }
    finish(schema, &tree, reading, losses.entries)
}

/// Whether a provider that speaks `language` takes `schema` as it stands.
pub fn is_supported(schema: &Json<'_>, language: SchemaLanguage) -> bool {
    let translated = translate(schema, language, language);
    translated.losses.is_empty() && translated.json.as_str() == schema.as_str()
}

/// Whether the root describes an object and nothing else, as providers ask of tools.
pub fn root_is_object(schema: &Json<'_>) -> bool {
    if schema.kind() != Kind::Object {
        return false;
    }
    let tag = schema.reader().peek_tag("type");
    matches!(tag, Ok(Some(name)) if name.to_str().eq_ignore_ascii_case("object"))
}

/// Merging may require a property, and so make a way of a schema into itself unavoidable that was
/// not before: where that matters, a schema is fitted until it stays as it is.
fn fit<'s>(
    json: &Json<'s>,
    mut tree: Schema<'s>,
    to: SchemaLanguage,
    mut losses: Losses,
) -> (Schema<'s>, Losses) {
    for _ in 0..ROUNDS_MAX {
        let before = losses.steps;
        let mut fitter = Fitter {
            language: to,
            references: References::new(json, &tree, to),
            losses,
            open: vec![String::new()],
            copies_left: COPIES_MAX,
            merges_left: MERGES_MAX,
        };
        tree = fitter.schema(tree, 0);
        losses = fitter.losses;
        if to != SchemaLanguage::GeminiJsonSchema || losses.steps == before {
            break;
        }
    }
    (tree, losses)
}

fn too_long<'a>(schema: &Json<'a>) -> Translated<'a> {
    let reason = "too long to be rewritten for the target, and sent as it is";
    let loss = SchemaLoss { pointer: String::new(), kind: LossKind::Approximated, reason };
    Translated { json: schema.clone(), losses: vec![loss] }
}

/// Every change but that of the case of types is on record, so that an empty record means no change.
fn finish<'a>(
    schema: &Json<'a>,
    tree: &Schema<'_>,
    reading: Reading,
    losses: Vec<SchemaLoss>,
) -> Translated<'a> {
    if losses.is_empty() && reading == Reading::GeminiKept {
        return Translated::unchanged(schema);
    }
    let json = encoded(tree);
    if losses.is_empty() && json.same_value(schema) {
        return Translated::unchanged(schema);
    }
    // Copies may stand deeper than their originals did, with values that nest deep themselves.
    match Json::parse(Cow::<'static, str>::Owned(json.as_str().to_owned())) {
        Ok(json) => Translated { json, losses },
        Err(_) => too_deep(losses),
    }
}

fn too_deep<'a>(mut losses: Vec<SchemaLoss>) -> Translated<'a> {
    let reason = "nested too deep to be rewritten";
    losses.push(SchemaLoss { pointer: String::new(), kind: LossKind::Dropped, reason });
    Translated { json: Json::literal("{}"), losses }
}
