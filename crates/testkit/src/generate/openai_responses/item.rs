//! Items of Responses lists: messages, calls and their outputs, reasoning, and what hosted tools did.

use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use sabir_wire::Protocol;
use serde_json::{Value, json};

use crate::generate::history::tool_name_value;
use crate::generate::object::{Object, list, object, string_or, typed};
use crate::generate::text::{
    any_json, any_object, arguments, base64_value, count, data_url, id_value, long_text, one_of,
    signed, text, url, word,
};

const STATUSES: &[&str] = &["completed", "incomplete", "in_progress"];

/// A message in the easy form: content may be a string, and the type may be missing.
pub(super) fn easy_message(role: &'static [&'static str]) -> BoxedStrategy<Value> {
    object()
        .maybe("type", Just(json!("message")))
        .with("role", one_of(role))
        .with("content", string_or(long_text(), list(input_part(), 0..4)))
        .rarely("id", id_value("msg_"))
        .rarely("status", word(STATUSES))
        .open()
}

/// A message of the assistant in the easy form.
pub(super) fn easy_answer() -> BoxedStrategy<Value> {
    object()
        .maybe("type", Just(json!("message")))
        .is("role", "assistant")
        .with("content", string_or(text(), list(output_part(), 1..3)))
        .rarely("phase", word(&["commentary", "final_answer"]))
        .open()
}

/// A message as answers hold it.
pub(super) fn output_message() -> BoxedStrategy<Value> {
    typed("message")
        .with("id", id_value("msg_"))
        .with("status", word(STATUSES))
        .is("role", "assistant")
        .rarely("phase", word(&["commentary", "final_answer"]))
        .with("content", list(output_part(), 0..3))
        .open()
}

/// A part of an input message. The vendor has a type for sound, but no message may hold it.
pub(super) fn input_part() -> BoxedStrategy<Value> {
    prop_oneof![
        4 => marked(typed("input_text").with("text", long_text())),
        2 => image(),
        2 => file(),
        1 => typed("input_scent").with("scent", any_json()).open(),
    ]
    .boxed()
}

fn image() -> BoxedStrategy<Value> {
    let source = prop_oneof![url(), data_url(&["image/png", "image/gif", "image/webp"])];
    let image = typed("input_image").maybe("detail", word(&["low", "high", "auto", "original"]));
    let uploaded = typed("input_image").is("detail", "auto").with("file_id", id_value("file-"));
    prop_oneof![3 => marked(image.with("image_url", source)), 1 => marked(uploaded)].boxed()
}

fn file() -> BoxedStrategy<Value> {
    let inline = typed("input_file")
        .with("filename", one_of(&["tides.pdf", "ö.txt"]))
        .with("file_data", data_url(&["application/pdf", "text/plain"]));
    prop_oneof![
        marked(inline),
        marked(typed("input_file").with("file_id", id_value("file-"))),
        marked(typed("input_file").with("file_url", url())),
    ]
    .boxed()
}

fn marked(part: Object) -> BoxedStrategy<Value> {
    let breakpoint = object().is("mode", "explicit").maybe("ttl", one_of(&["30m", "12h"])).closed();
    part.rarely("prompt_cache_breakpoint", breakpoint).open()
}

pub(super) fn output_part() -> BoxedStrategy<Value> {
    let logprob = object().with("token", text()).with("logprob", signed()).open();
    prop_oneof![
        6 => typed("output_text")
            .with("text", text())
            .with("annotations", list(annotation(), 0..2))
            .maybe("logprobs", list(logprob, 0..2))
            .open(),
        1 => typed("refusal").with("refusal", text()).open(),
    ]
    .boxed()
}

fn annotation() -> BoxedStrategy<Value> {
    let span = |annotation: Object| {
        annotation.with("start_index", count()).with("end_index", count()).open()
    };
    let file = |kind| typed(kind).with("file_id", id_value("file-"));
    prop_oneof![
        3 => span(typed("url_citation").with("url", url()).with("title", text())),
        1 => file("file_citation").with("filename", text()).with("index", count()).open(),
        1 => span(file("container_file_citation").with("container_id", id_value("cntr_"))),
        1 => file("file_path").with("index", count()).open(),
    ]
    .boxed()
}

pub(super) fn reasoning() -> BoxedStrategy<Value> {
    let summary = typed("summary_text").with("text", text()).open();
    let content = typed("reasoning_text").with("text", text()).open();
    typed("reasoning")
        .with("id", id_value("rs_"))
        .with("summary", list(summary, 0..3))
        .rarely("content", list(content, 1..2))
        .nullable("encrypted_content", base64_value())
        .rarely("status", word(STATUSES))
        .open()
}

/// A function call or a custom call.
pub(super) fn call(call_id: &str) -> BoxedStrategy<Value> {
    prop_oneof![
        5 => called(typed("function_call").is("call_id", call_id), "fc_")
            .with("arguments", arguments())
            .rarely("namespace", text())
            .open(),
        1 => called(typed("custom_tool_call").is("call_id", call_id), "ctc_")
            .with("input", text())
            .open(),
    ]
    .boxed()
}

fn called(call: Object, prefix: &'static str) -> Object {
    call.with("id", id_value(prefix))
        .with("name", tool_name_value(Protocol::OpenaiResponses))
        .maybe("status", word(STATUSES))
        .rarely("caller", Just(json!({"type": "direct"})))
}

/// The output of a call; whether its call was a function or a custom one is put right by [`pair_up`].
pub(super) fn output(call_id: &str) -> BoxedStrategy<Value> {
    typed("function_call_output")
        .is("call_id", call_id)
        .with("output", string_or(long_text(), list(input_part(), 0..3)))
        .rarely("id", id_value("fco_"))
        .rarely("status", word(STATUSES))
        .open()
}

/// Gives the output of a custom call its own type.
pub(super) fn pair_up((call, mut output): (Value, Value)) -> (Value, Value) {
    if call["type"] == "custom_tool_call" {
        output["type"] = json!("custom_tool_call_output");
    }
    (call, output)
}

/// What hosted tools did, and items of the future.
pub(super) fn hosted() -> BoxedStrategy<Value> {
    let search = typed("search").with("query", text()).open();
    let hosted =
        |kind: &str| typed(kind).with("id", id_value("ht_")).with("status", word(STATUSES));
    prop_oneof![
        hosted("web_search_call").with("action", search).open(),
        hosted("file_search_call").with("queries", list(text(), 0..2)).open(),
        hosted("code_interpreter_call").nullable("code", text()).with("outputs", any_json()).open(),
        hosted("image_generation_call").nullable("result", base64_value()).open(),
        hosted("mcp_call").with("server_label", text()).with("arguments", arguments()).open(),
        hosted("compaction").with("encrypted_content", base64_value()).open(),
        hosted("divination_call").with("omen", any_object()).open(),
    ]
    .boxed()
}
