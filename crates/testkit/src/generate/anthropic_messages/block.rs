//! Content blocks of Anthropic messages.

use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::generate::history::tool_name_value;
use crate::generate::object::{Object, list, object, string_or, typed};
use crate::generate::text::{
    any_json, any_object, base64_value, count, flag, id_value, long_text, one_of, text, url, word,
};

pub(super) fn text_block() -> BoxedStrategy<Value> {
    marked(typed("text").with("text", long_text()))
}

/// What a user may show: text, images, documents, search results, and blocks of the future.
pub(super) fn shown_block() -> BoxedStrategy<Value> {
    prop_oneof![
        5 => text_block(),
        2 => image(),
        2 => document(),
        1 => search_result(),
        1 => typed("container_upload").with("file_id", id_value("file_")).open(),
        1 => typed("hologram").with("hologram", any_json()).open(),
    ]
    .boxed()
}

fn image() -> BoxedStrategy<Value> {
    let inline = typed("base64")
        .with("media_type", one_of(&["image/jpeg", "image/png", "image/gif", "image/webp"]))
        .with("data", base64_value())
        .open();
    marked(typed("image").with("source", prop_oneof![2 => inline, 1 => linked()]))
}

/// A source by its URL or by the id of an uploaded file.
fn linked() -> BoxedStrategy<Value> {
    prop_oneof![
        typed("url").with("url", url()).open(),
        typed("file").with("file_id", id_value("file_")).open(),
    ]
    .boxed()
}

fn document() -> BoxedStrategy<Value> {
    let source = |media_type: &str, kind: &str, data: BoxedStrategy<Value>| {
        typed(kind).is("media_type", media_type).with("data", data).open()
    };
    let content = typed("content").with("content", string_or(text(), list(text_block(), 1..3)));
    let source = prop_oneof![
        source("application/pdf", "base64", base64_value()),
        source("text/plain", "text", text()),
        content.open(),
        linked(),
    ];
    let document = typed("document")
        .with("source", source)
        .nullable("title", text())
        .rarely("context", text())
        .rarely("citations", object().with("enabled", flag()).open());
    marked(document)
}

fn search_result() -> BoxedStrategy<Value> {
    let result = typed("search_result")
        .with("source", url())
        .with("title", text())
        .with("content", list(text_block(), 1..3))
        .rarely("citations", object().with("enabled", flag()).open());
    marked(result)
}

pub(super) fn cache_control() -> BoxedStrategy<Value> {
    typed("ephemeral").maybe("ttl", one_of(&["5m", "1h"])).closed()
}

fn marked(block: Object) -> BoxedStrategy<Value> {
    block.rarely("cache_control", cache_control()).open()
}

/// What the assistant said: text with citations, thinking, and what server tools did.
pub(super) fn assistant_block() -> BoxedStrategy<Value> {
    prop_oneof![
        6 => cited_text(),
        2 => thinking(),
        1 => typed("redacted_thinking").with("data", base64_value()).open(),
        1 => server_block(),
    ]
    .boxed()
}

fn cited_text() -> BoxedStrategy<Value> {
    typed("text").with("text", text()).nullable("citations", list(citation(), 1..3)).open()
}

pub(super) fn thinking() -> BoxedStrategy<Value> {
    typed("thinking").with("thinking", text()).with("signature", base64_value()).open()
}

fn citation() -> BoxedStrategy<Value> {
    let of = |kind: &str| typed(kind).with("cited_text", text());
    let in_document =
        |kind: &str| of(kind).with("document_index", count()).nullable("document_title", text());
    prop_oneof![
        in_document("char_location")
            .with("start_char_index", count())
            .with("end_char_index", count())
            .open(),
        in_document("page_location")
            .with("start_page_number", count())
            .with("end_page_number", count())
            .open(),
        of("web_search_result_location")
            .with("url", url())
            .nullable("title", text())
            .with("encrypted_index", base64_value())
            .open(),
    ]
    .boxed()
}

/// What the vendor's own tools were asked and answered.
fn server_block() -> BoxedStrategy<Value> {
    let found = typed("web_search_result")
        .with("url", url())
        .with("title", text())
        .with("encrypted_content", base64_value())
        .open();
    prop_oneof![
        typed("server_tool_use")
            .with("id", id_value("srvtoolu_"))
            .is("name", "web_search")
            .with("input", any_object())
            .open(),
        typed("web_search_tool_result")
            .with("tool_use_id", id_value("srvtoolu_"))
            .with("content", list(found, 0..2))
            .open(),
        typed("premonition").with("omen", any_object()).open(),
    ]
    .boxed()
}

pub(super) fn call(id: &str) -> BoxedStrategy<Value> {
    let call = typed("tool_use")
        .is("id", id)
        .with("name", tool_name_value(Protocol::AnthropicMessages))
        .with("input", any_object())
        .rarely("caller", Just(json!({"type": "direct"})));
    marked(call)
}

pub(super) fn result(id: &str) -> BoxedStrategy<Value> {
    let part = prop_oneof![4 => text_block(), 1 => image(), 1 => document(), 1 => search_result()];
    let reference = typed("tool_reference").with("tool_name", word(&["lookup"])).open();
    let content = prop_oneof![
        3 => text(),
        3 => list(part, 0..3),
        1 => list(reference, 1..2),
    ];
    let result = typed("tool_result")
        .is("tool_use_id", id)
        .maybe("content", content)
        .maybe("is_error", flag());
    marked(result)
}
