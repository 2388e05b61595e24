//! What Responses refuses, one broken rule at a time.

use sabir_wire::Protocol;
use serde_json::{Value, json};

use super::{accepts, refuses, with};
use crate::support::{Mode, ask};

fn input(items: Value) -> Value {
    json!({"model": "sim", "input": items})
}

fn tool(parameters: Value) -> Value {
    json!({"type": "function", "name": "f", "parameters": parameters, "strict": false})
}

#[test]
fn files_that_stand_elsewhere_have_no_name() {
    let file = |part: Value| input(json!([{"role": "user", "content": [part]}]));
    let url = "https://example.com/a.pdf";
    accepts(Protocol::OpenaiResponses, &file(json!({"type": "input_file", "file_url": url})));
    refuses(
        Protocol::OpenaiResponses,
        &file(json!({"type": "input_file", "file_url": url, "filename": "a.pdf"})),
        "Mutually exclusive parameters",
    );
}

#[test]
fn the_body_has_its_shape() {
    let plain = || input(json!("hi"));
    for (changes, words) in [
        (json!({"messages": []}), "Unknown parameter: 'messages'."),
        (json!({"stop": "x"}), "Unknown parameter: 'stop'."),
        (json!({"max_output_tokens": 15}), "Expected a value >= 16, but got 15"),
        (json!({"previous_response_id": "resp_1"}), "Previous response with id 'resp_1' not found"),
        (json!({"previous_response_id": "a", "conversation": "b"}), "Mutually exclusive"),
        (json!({"background": true, "store": false}), "Background mode"),
        (
            json!({"tools": [{"type": "function", "function": {"name": "f"}}]}),
            "Unknown parameter: 'tools[0].function'.",
        ),
        (json!({"tool_choice": "required"}), "must be specified with 'tools'"),
        (json!({"tools": [tool(json!({"type": "object"}))]}), "object schema missing properties"),
        (
            json!({"tools": [{"type": "web_search", "max_uses": 3}]}),
            "Unknown parameter: 'tools[0].max_uses'",
        ),
        (
            json!({"tools": [tool(json!({"type": "object", "properties": {}}))], "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "g"}]}}),
            "'g' not found in 'tools'",
        ),
        (
            json!({"model": "gpt-5", "include": ["message.output_text.logprobs"]}),
            "logprobs are not supported",
        ),
        (json!({"text": {"format": {"type": "json_object"}}}), "must contain the word 'json'"),
        (json!({"model": "o3", "top_p": 0.5}), "Unsupported parameter: 'top_p'"),
    ] {
        refuses(Protocol::OpenaiResponses, &with(plain(), changes), words);
    }
    accepts(
        Protocol::OpenaiResponses,
        &with(plain(), json!({"max_output_tokens": 16, "tool_choice": "auto", "store": false})),
    );
}

#[test]
fn parts_fit_their_role() {
    let message = |role: &str, kind: &str| {
        input(json!([{"role": role, "content": [{"type": kind, "text": "x"}]}]))
    };
    accepts(Protocol::OpenaiResponses, &message("user", "input_text"));
    accepts(Protocol::OpenaiResponses, &message("assistant", "output_text"));
    refuses(
        Protocol::OpenaiResponses,
        &message("assistant", "input_text"),
        "Invalid value: 'input_text'",
    );
    refuses(
        Protocol::OpenaiResponses,
        &message("user", "output_text"),
        "Invalid value: 'output_text'",
    );
}

#[test]
fn calls_and_outputs_belong_together() {
    let call =
        |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "r"});
    accepts(
        Protocol::OpenaiResponses,
        &input(json!([call("a"), call("b"), output("b"), output("a")])),
    );
    refuses(
        Protocol::OpenaiResponses,
        &input(json!([call("a")])),
        "No tool output found for function call a",
    );
    refuses(
        Protocol::OpenaiResponses,
        &input(json!([output("a")])),
        "No tool call found for function call output with call_id a",
    );
    let long = "x".repeat(65);
    refuses(
        Protocol::OpenaiResponses,
        &input(json!([call(&long), output(&long)])),
        "maximum length 64",
    );
}

#[test]
fn reasoning_comes_back_as_it_went_out() {
    let body = with(
        input(json!("use f")),
        json!({"reasoning": {"effort": "low"}, "tools": [{"type": "function", "name": "f", "parameters": {"type": "object", "properties": {}}, "strict": false}]}),
    );
    let answered = ask(Protocol::OpenaiResponses, &body, Mode::Whole).json();
    let (reasoning, call) = (answered["output"][0].clone(), answered["output"][1].clone());
    let output = json!({"type": "function_call_output", "call_id": call["call_id"], "output": "r"});
    let again = |items: Value| with(body.clone(), json!({"input": items}));
    accepts(Protocol::OpenaiResponses, &again(json!([reasoning, call, output])));
    refuses(
        Protocol::OpenaiResponses,
        &again(json!([call, output])),
        "without its required 'reasoning' item",
    );
    refuses(
        Protocol::OpenaiResponses,
        &again(json!([reasoning, {"role": "user", "content": "x"}])),
        "without its required following item",
    );
    let foreign = with(reasoning, json!({"encrypted_content": "Zm9yZWlnbg=="}));
    refuses(
        Protocol::OpenaiResponses,
        &again(json!([foreign, call, output])),
        "could not be verified",
    );
}
