//! Requests of Gemini generateContent.

use proptest::collection::vec;
use proptest::prelude::{BoxedStrategy, Just, Strategy};
use proptest::prop_oneof;
use serde_json::{Value, json};

use super::part::{model_part, pair, shown_part, text_part};
use crate::generate::History;
use crate::generate::history::{tools_named, turns};
use crate::generate::object::{Object, list, object};
use crate::generate::schema::{google_schema, schema};
use crate::generate::text::{
    any_object, base64_value, count, flag, id_value, one_of, seed, share, signed, size, text, word,
};

pub(crate) fn request(history: History) -> BoxedStrategy<Value> {
    let model = word(&["models/gemini-3.1-pro", "models/gemini-2.5-flash"]);
    let instruction =
        object().rarely("role", one_of(&["user", "system"])).with("parts", list(text_part(), 0..3));
    let body = object()
        .maybe("model", model)
        .with("contents", turns(history, turn()).prop_map(Value::Array))
        .maybe("systemInstruction", instruction.open())
        .maybe("generationConfig", generation_config());
    with_vendor_options(with_tools(body)).open()
}

fn turn() -> BoxedStrategy<Vec<Value>> {
    let user = object().maybe("role", Just(json!("user"))).with("parts", list(shown_part(), 1..4));
    let model = object().is("role", "model").with("parts", list(model_part(), 1..4));
    prop_oneof![
        5 => user.open().prop_map(|content| vec![content]),
        4 => model.open().prop_map(|content| vec![content]),
        4 => tool_loop(),
    ]
    .boxed()
}

fn tool_loop() -> BoxedStrategy<Vec<Value>> {
    let role = one_of(&["user", "function"]);
    (vec(model_part(), 0..2), vec(pair(), 1..4), vec(shown_part(), 0..2), role)
        .prop_map(|(before, pairs, after, role)| {
            let (calls, results): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            vec![
                json!({"role": "model", "parts": ([before, calls].concat())}),
                json!({"role": role, "parts": ([results, after].concat())}),
            ]
        })
        .boxed()
}

fn generation_config() -> BoxedStrategy<Value> {
    let thinking = prop_oneof![
        object().maybe("includeThoughts", flag()).with("thinkingBudget", budget()).open(),
        object()
            .maybe("includeThoughts", flag())
            .with("thinkingLevel", word(&["MINIMAL", "LOW", "MEDIUM", "HIGH"]))
            .open(),
    ];
    let config = object()
        .maybe("temperature", share())
        .maybe("topP", share())
        .rarely("topK", size())
        .rarely("candidateCount", size())
        .maybe("maxOutputTokens", size())
        .rarely("stopSequences", list(text(), 0..4))
        .rarely("seed", seed())
        .rarely("presencePenalty", signed())
        .rarely("frequencyPenalty", signed())
        .rarely("responseLogprobs", flag())
        .rarely("logprobs", count())
        .maybe("thinkingConfig", thinking)
        .rarely("speechConfig", any_object())
        .rarely("mediaResolution", Just(json!("MEDIA_RESOLUTION_LOW")));
    with_output(config).open()
}

fn budget() -> BoxedStrategy<Value> {
    prop_oneof![Just(json!(-1)), Just(json!(0)), size()].boxed()
}

fn with_output(config: Object) -> Object {
    config
        .maybe("responseMimeType", word(&["text/plain", "application/json", "text/x.enum"]))
        .rarely("responseSchema", google_schema())
        .rarely("responseJsonSchema", schema())
        .rarely("responseModalities", list(one_of(&["TEXT", "IMAGE", "AUDIO"]), 1..3))
}

fn with_tools(body: Object) -> Object {
    let declarations = tools_named(declaration).prop_map(Value::Array);
    let functions = object().with("functionDeclarations", declarations).open();
    let hosted = prop_oneof![
        object().with("googleSearch", Just(json!({}))).open(),
        object().with("urlContext", Just(json!({}))).open(),
        object().with("codeExecution", Just(json!({}))).open(),
        object().with("fileSearch", any_object()).open(),
        object().with("timeMachine", any_object()).open(),
    ];
    let tools = (functions, prop_oneof![3 => Just(None), 1 => hosted.prop_map(Some)]).prop_map(
        |(functions, hosted)| Value::Array([functions].into_iter().chain(hosted).collect()),
    );
    body.maybe("tools", prop_oneof![9 => tools.boxed(), 1 => Just(json!([])).boxed()])
        .rarely("toolConfig", tool_config())
}

fn declaration(name: &'static str) -> BoxedStrategy<Value> {
    let declaration = move || object().is("name", name).with("description", text());
    prop_oneof![
        declaration().maybe("parameters", google_schema()).open(),
        declaration().with("parametersJsonSchema", schema()).open(),
        declaration().rarely("response", google_schema()).open(),
    ]
    .boxed()
}

fn tool_config() -> BoxedStrategy<Value> {
    let calling = object()
        .with("mode", word(&["AUTO", "ANY", "NONE", "VALIDATED"]))
        .rarely("allowedFunctionNames", list(one_of(&["lookup", "T1"]), 1..3))
        .open();
    object()
        .maybe("functionCallingConfig", calling)
        .rarely("retrievalConfig", any_object())
        .rarely("includeServerSideToolInvocations", flag())
        .open()
}

fn with_vendor_options(body: Object) -> Object {
    let setting = object()
        .with("category", word(&["HARM_CATEGORY_HARASSMENT", "HARM_CATEGORY_HATE_SPEECH"]))
        .with("threshold", word(&["BLOCK_NONE", "OFF"]))
        .open();
    body.rarely("safetySettings", list(setting, 0..3))
        .rarely("cachedContent", id_value("cachedContents/"))
        .rarely("serviceTier", word(&["flex", "standard", "priority"]))
        .rarely("labels", Just(json!({"team": "a"})))
        .rarely("store", flag())
        .rarely("continuationToken", base64_value())
}
