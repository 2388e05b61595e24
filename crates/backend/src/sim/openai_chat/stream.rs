//! Streams of Chat Completions: data-only frames, then `[DONE]`.

use serde_json::{Value, json};

use super::{answer, count};
use crate::sim::api::Frames;
use crate::sim::chunk;
use crate::sim::openai::CREATED_S;
use crate::sim::plan::{Call, CallInput, End, Plan};
use crate::sim::question::Question;

pub(super) fn frames(question: &Question, plans: &[Plan]) -> Frames {
    let mut out = Writer { question, frames: Frames::default() };
    for index in 0..plans.len() {
        out.delta(index, json!({"role": "assistant", "content": "", "refusal": null}));
    }
    out.frames.first_delta = out.frames.all.len();
    for (index, plan) in plans.iter().enumerate() {
        out.write_text(index, plan);
    }
    out.frames.ending = out.frames.all.len();
    for (index, plan) in plans.iter().enumerate() {
        let finish = answer::finish_reason(question, plan);
        out.choice(json!({"index": index, "delta": {}, "logprobs": null, "finish_reason": finish}));
    }
    if out.wants_usage() {
        out.chunk(json!([]), count::usage(question, plans));
    }
    out.frames.all.push("data: [DONE]\n\n".to_owned());
    out.frames
}

struct Writer<'a> {
    question: &'a Question,
    frames: Frames,
}

impl Writer<'_> {
    fn wants_usage(&self) -> bool {
        self.question.body["stream_options"]["include_usage"] == true
    }

    fn write_text(&mut self, candidate: usize, plan: &Plan) {
        let member = if plan.end == End::Refusal { "refusal" } else { "content" };
        for piece in chunk::deltas(&plan.text) {
            let logprobs = answer::logprobs(self.question, piece);
            self.choice(json!({
                "index": candidate, "delta": {member: piece}, "logprobs": logprobs, "finish_reason": null,
            }));
        }
        for (index, call) in plan.calls.iter().enumerate() {
            if answer::wants_old_functions(self.question) {
                self.old_function(candidate, call);
            } else {
                self.call(candidate, index, call);
            }
        }
    }

    fn call(&mut self, candidate: usize, index: usize, call: &Call) {
        let (kind, member) = match call.input {
            CallInput::Arguments(_) => ("function", "arguments"),
            CallInput::Freeform(_) => ("custom", "input"),
        };
        let id = answer::call_id(self.question, candidate, index);
        let opened =
            json!({"index": index, "id": id, "type": kind, kind: {"name": call.name, member: ""}});
        self.delta(candidate, json!({"tool_calls": [opened]}));
        for piece in chunk::deltas(&call.input_text()) {
            self.delta(candidate, json!({"tool_calls": [{"index": index, kind: {member: piece}}]}));
        }
    }

    fn old_function(&mut self, candidate: usize, call: &Call) {
        self.delta(candidate, json!({"function_call": {"name": call.name, "arguments": ""}}));
        for piece in chunk::deltas(&call.input_text()) {
            self.delta(candidate, json!({"function_call": {"arguments": piece}}));
        }
    }

    fn delta(&mut self, candidate: usize, delta: Value) {
        self.choice(
            json!({"index": candidate, "delta": delta, "logprobs": null, "finish_reason": null}),
        );
    }

    fn choice(&mut self, choice: Value) {
        self.chunk(json!([choice]), Value::Null);
    }

    fn chunk(&mut self, choices: Value, usage: Value) {
        let mut chunk = json!({
            "id": self.question.id("chatcmpl-"),
            "object": "chat.completion.chunk",
            "created": CREATED_S,
            "model": self.question.model,
            "service_tier": "default",
            "system_fingerprint": answer::FINGERPRINT,
            "choices": choices,
        });
        if self.wants_usage() {
            chunk["usage"] = usage;
        }
        self.frames.all.push(format!("data: {chunk}\n\n"));
    }
}
