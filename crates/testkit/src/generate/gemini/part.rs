//! Parts of Gemini contents.

use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use proptest::sample::select;
use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::generate::history::tool_name;
use crate::generate::object::{Object, list, object};
use crate::generate::text::{
    any_object, base64_value, flag, id, id_value, long_text, one_of, text, url, word,
};

const MIMES: &[&str] =
    &["image/png", "image/jpeg", "audio/wav", "video/mp4", "application/pdf", "text/plain"];

pub(super) fn text_part() -> BoxedStrategy<Value> {
    object().with("text", long_text()).open()
}

/// What a user may show.
pub(super) fn shown_part() -> BoxedStrategy<Value> {
    prop_oneof![
        5 => text_part(),
        3 => media_part(),
        1 => object().with("hologram", any_object()).open(),
    ]
    .boxed()
}

fn media_part() -> BoxedStrategy<Value> {
    prop_oneof![
        with_modifiers(object().with("inlineData", inline())),
        with_modifiers(object().with("fileData", linked())),
    ]
    .boxed()
}

fn inline() -> BoxedStrategy<Value> {
    object().with("mimeType", one_of(MIMES)).with("data", base64_value()).open()
}

fn linked() -> BoxedStrategy<Value> {
    object().maybe("mimeType", one_of(MIMES)).with("fileUri", url()).open()
}

fn with_modifiers(part: Object) -> BoxedStrategy<Value> {
    let video = object().with("startOffset", Just(json!("1.5s"))).maybe("fps", Just(json!(1.0)));
    let resolution = object().is("level", "MEDIA_RESOLUTION_LOW").open();
    part.rarely("videoMetadata", video.open()).rarely("mediaResolution", resolution).open()
}

/// What the model said: text, thoughts, code that it ran, images.
pub(super) fn model_part() -> BoxedStrategy<Value> {
    let code = object().is("language", "PYTHON").with("code", text()).open();
    let outcome = word(&["OUTCOME_OK", "OUTCOME_FAILED"]);
    let ran = object().with("outcome", outcome).maybe("output", text()).open();
    let trace = object().with("id", id_value("t_")).is("toolType", "URL_CONTEXT").open();
    prop_oneof![
        6 => signed(object().with("text", text())),
        3 => thought(),
        1 => signed(object().with("inlineData", inline())),
        1 => object().with("executableCode", code).open(),
        1 => object().with("codeExecutionResult", ran).open(),
        1 => object().with("toolCall", trace).open(),
    ]
    .boxed()
}

pub(super) fn thought() -> BoxedStrategy<Value> {
    // A stream has no frame for a thought that says nothing.
    let wrapped =
        text().prop_filter("says something", |text| text.as_str().is_some_and(|it| !it.is_empty()));
    signed(object().with("text", wrapped.boxed()).with("thought", Just(json!(true))))
}

fn signed(part: Object) -> BoxedStrategy<Value> {
    part.rarely("thoughtSignature", base64_value()).open()
}

/// Whether calls and results carry ids, which newer models give them.
#[derive(Clone, Copy, Debug)]
enum Ids {
    Given,
    Missing,
}

/// A call and its result, which share a name and, if there is one, an id.
pub(super) fn pair() -> BoxedStrategy<(Value, Value)> {
    (tool_name(Protocol::Gemini), id("fc_"), select(&[Ids::Given, Ids::Missing]))
        .prop_flat_map(|(name, id, ids)| {
            let named = || match ids {
                Ids::Given => object().is("name", &name).is("id", &id),
                Ids::Missing => object().is("name", &name),
            };
            (call_of(named()), result_of(named()))
        })
        .boxed()
}

pub(super) fn call() -> BoxedStrategy<Value> {
    pair().prop_map(|(call, _)| call).boxed()
}

fn call_of(call: Object) -> BoxedStrategy<Value> {
    signed(object().with("functionCall", call.maybe("args", any_object()).open()))
}

fn result_of(result: Object) -> BoxedStrategy<Value> {
    let wrapped = |key: &str| object().with(key, text()).open();
    let response = prop_oneof![
        any_object(),
        wrapped("output"),
        wrapped("result"),
        wrapped("error"),
        Just(json!({})),
    ];
    let media = prop_oneof![
        object().with("inlineData", inline()).open(),
        object().with("fileData", linked()).open(),
    ];
    let result = result
        .with("response", response)
        .rarely("parts", list(media, 1..3))
        .rarely("willContinue", flag())
        .rarely("scheduling", word(&["SILENT", "WHEN_IDLE"]));
    object().with("functionResponse", result.open()).open()
}
