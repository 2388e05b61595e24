//! Content parts, calls and results of Chat messages.

use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::generate::history::tool_name_value;
use crate::generate::object::{Object, list, object, string_or, typed};
use crate::generate::text::{
    any_object, arguments, base64_value, data_url, id_value, long_text, one_of, text, url, word,
};

pub(super) fn text_part() -> BoxedStrategy<Value> {
    marked(typed("text").with("text", long_text()))
}

pub(super) fn texts() -> BoxedStrategy<Value> {
    string_or(text(), list(text_part(), 1..3))
}

pub(super) fn user_content() -> BoxedStrategy<Value> {
    let part = prop_oneof![
        4 => text_part(),
        2 => image_part(),
        1 => audio_part(),
        1 => file_part(),
        1 => unknown_part(),
    ];
    string_or(long_text(), list(part, 0..4))
}

/// Text and at most one refusal.
pub(super) fn assistant_parts() -> BoxedStrategy<Value> {
    let refusal = typed("refusal").with("refusal", text()).open();
    let of_text = typed("text").with("text", text()).open();
    prop_oneof![
        4 => list(of_text.clone(), 1..3),
        1 => (of_text, refusal).prop_map(|(text, refusal)| json!([text, refusal])),
    ]
    .boxed()
}

fn image_part() -> BoxedStrategy<Value> {
    let source = prop_oneof![url(), data_url(&["image/png", "image/jpeg", "image/webp"])];
    let image = object()
        .with("url", source)
        .maybe("detail", word(&["auto", "low", "high", "original"]))
        .open();
    marked(typed("image_url").with("image_url", image))
}

fn audio_part() -> BoxedStrategy<Value> {
    let audio = object().with("data", base64_value()).with("format", word(&["wav", "mp3"])).open();
    marked(typed("input_audio").with("input_audio", audio))
}

fn file_part() -> BoxedStrategy<Value> {
    let uploaded = object().with("file_id", id_value("file-")).open();
    let inline = object()
        .with("filename", one_of(&["tides.pdf", "ö.txt"]))
        .with("file_data", data_url(&["application/pdf", "text/plain"]))
        .open();
    marked(typed("file").with("file", prop_oneof![uploaded, inline]))
}

fn unknown_part() -> BoxedStrategy<Value> {
    typed("hologram").with("hologram", any_object()).open()
}

fn marked(part: Object) -> BoxedStrategy<Value> {
    let breakpoint = object().is("mode", "explicit").maybe("ttl", one_of(&["30m", "12h"])).closed();
    part.rarely("prompt_cache_breakpoint", breakpoint).open()
}

/// A function call or a custom call.
pub(super) fn call(id: &str) -> BoxedStrategy<Value> {
    let function = object()
        .with("name", tool_name_value(Protocol::OpenaiChat))
        .with("arguments", arguments())
        .open();
    let custom =
        object().with("name", tool_name_value(Protocol::OpenaiChat)).with("input", text()).open();
    prop_oneof![
        5 => object().is("id", id).is("type", "function").with("function", function).open(),
        1 => object().is("id", id).is("type", "custom").with("custom", custom).open(),
    ]
    .boxed()
}

pub(super) fn result(id: &str) -> BoxedStrategy<Value> {
    object()
        .is("role", "tool")
        .is("tool_call_id", id)
        .with("content", string_or(long_text(), list(text_part(), 1..3)))
        .rarely("name", tool_name_value(Protocol::OpenaiChat))
        .open()
}

/// Reasoning in the forms that compatible servers have for it.
pub(super) fn with_reasoning(message: Object) -> Object {
    let detail = prop_oneof![
        typed("reasoning.text").with("text", text()).nullable("signature", base64_value()).open(),
        typed("reasoning.summary").with("summary", text()).open(),
        typed("reasoning.encrypted").with("data", base64_value()).open(),
    ];
    message
        .rarely("reasoning_content", text())
        .rarely("reasoning", text())
        .rarely("reasoning_details", list(detail, 0..3))
}

/// A call of the deprecated kind.
pub(super) fn legacy_call() -> BoxedStrategy<Value> {
    object().with("name", Just(json!("lookup"))).with("arguments", arguments()).closed()
}
