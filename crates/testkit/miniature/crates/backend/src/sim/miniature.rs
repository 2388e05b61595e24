//! A simulator of Miniature.

use http::{HeaderMap, Method};
use http::header::AUTHORIZATION;
use serde_json::{Value, json};

use super::{Incoming, chunk};
use super::api::{Api, Unchecked, Frames, Route, Url};
use super::plan::{End, Plan};
use super::problem::Problem;
use super::question::{Choice, Delivery, Format, Question, HistoryItem, Thinking};
use super::tokens::Count;

#[derive(Debug)]
pub(super) struct Miniature;

impl Api for Miniature {
    fn route(&self, method: &Method, url: &Url<'_>) -> Result<Route, Problem> {
        match (method.as_str(), url.path) {
            ("POST", "/m1/answer") => Ok(Route::Generate { model: None, delivery: None }),
            ("GET", "/m1/models") => Ok(Route::Models),
            _ => Err(Problem::new(404, "no such path")),
        }
    }

    fn admit(&self, incoming: &Incoming<'_>, _: &Url<'_>) -> Result<(), Problem> {
        match incoming.headers.contains_key(AUTHORIZATION) {
            true => Ok(()),
            false => Err(Problem::new(401, "no key")),
        }
    }

    fn read(&self, asked: Unchecked<'_>) -> Result<Question, Problem> {
        check(&asked.body)?;
        Ok(question(asked))
    }

    fn count(&self, _: Unchecked<'_>) -> Result<Value, Problem> {
        Err(Problem::new(404, "Miniature has no counter of tokens"))
    }

    fn models(&self) -> Value {
        json!({"models": [self.model("miniature-1")]})
    }

    fn model(&self, id: &str) -> Value {
        json!({"id": id})
    }

    fn whole(&self, question: &Question, plans: &[Plan]) -> Value {
        let mut answer = json!({"id": question.id("a"), "model": question.model, "text": plans[0].text});
        answer["end"] = end(&plans[0]);
        answer["usage"] = usage(question, &plans[0]);
        answer
    }

    fn stream(&self, question: &Question, plans: &[Plan]) -> Frames {
        let mut all = vec![frame(&json!({"id": question.id("a"), "model": question.model}))];
        all.extend(chunk::deltas(&plans[0].text).iter().map(|text| frame(&json!({"text": text}))));
        let ending = all.len();
        all.push(frame(&json!({"end": end(&plans[0]), "usage": usage(question, &plans[0])})));
        Frames { all, first_delta: 1, ending }
    }

    fn refusal(&self, problem: &Problem, _: &str) -> Value {
        let kind = match problem.status {
            401 => "authentication",
            404 => "not-found",
            429 => "rate-limit",
            500.. => "internal",
            _ => "bad-request",
        };
        json!({"error": {"kind": kind, "message": problem.message}})
    }

    fn error_frame(&self, problem: &Problem, _: Delivery, _: usize) -> String {
        frame(&self.refusal(problem, ""))
    }

    fn headers(&self, _: &str) -> HeaderMap {
        HeaderMap::new()
    }

    fn request_id(&self, seed: u64) -> String {
        format!("{seed:016x}")
    }

    fn unreadable(&self, _: &serde_json::Error) -> Problem {
        Problem::invalid("the body is not JSON")
    }
}

/// A request has turns, each with who speaks and what is said, and nothing that is not documented.
fn check(body: &Value) -> Result<(), Problem> {
    only(body, &["model", "turns", "limit", "stream"])?;
    let turns = body["turns"].as_array().ok_or_else(|| Problem::invalid("`turns` is missing"))?;
    for turn in turns {
        only(turn, &["who", "text"])?;
        let is_known = matches!(turn["who"].as_str(), Some("system" | "user" | "model"));
        if !is_known || !turn["text"].is_string() {
            return Err(Problem::invalid("a turn needs `who` and `text`"));
        }
    }
    Ok(())
}

fn only(object: &Value, known: &[&str]) -> Result<(), Problem> {
    let mut keys = object.as_object().into_iter().flat_map(|object| object.keys());
    match keys.find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(Problem::invalid(format!("`{key}` is not known"))),
        None => Ok(()),
    }
}

fn question(asked: Unchecked<'_>) -> Question {
    let mut input = Count::default();
    input.add(&asked.body["turns"], "");
    let is_streamed = asked.body["stream"] == true;
    Question {
        api: "miniature",
        model: asked.model,
        seed: asked.seed,
        history: asked.body["turns"].as_array().into_iter().flatten().map(history).collect(),
        tools: Vec::new(),
        choice: Choice::Never,
        may_call_several: false,
        thinking: Thinking::Off,
        format: Format::Text,
        output_tokens_max: asked.body["limit"].as_u64(),
        stops: Vec::new(),
        candidates: 1,
        input,
        body: asked.body,
        delivery: if is_streamed { Delivery::Events } else { Delivery::Whole },
    }
}

fn history(turn: &Value) -> HistoryItem {
    match turn["who"].as_str() {
        Some("model") => HistoryItem::Model { calls: 0 },
        _ => HistoryItem::User(turn["text"].as_str().unwrap_or_default().to_owned()),
    }
}

fn end(plan: &Plan) -> Value {
    json!(if plan.end == End::Length { "cut" } else { "done" })
}

fn usage(question: &Question, plan: &Plan) -> Value {
    json!({"in": question.input.total, "out": plan.visible_tokens()})
}

fn frame(data: &Value) -> String {
    format!("data: {data}\n\n")
}
