//! A simulator of Google's Gemini API, `generateContent` and its stream.

mod answer;
mod count;
mod fault;
mod names;
mod read;
mod rules;
mod schema;
mod shape;
mod stream;
mod validate;

use http::{HeaderMap, Method};
use serde_json::Value;

use super::Incoming;
use super::api::{Api, Frames, Route, Unchecked, Url};
use super::plan::Plan;
use super::problem::Problem;
use super::question::{Delivery, Question};

/// `generateContent`.
#[derive(Debug)]
pub(super) struct Gemini;

impl Api for Gemini {
    fn route(&self, method: &Method, url: &Url<'_>) -> Result<Route, Problem> {
        let unknown = || Problem::new(404, "");
        let versions = ["/v1beta/models", "/v1/models", "/v1alpha/models"];
        let rest = versions.iter().find_map(|it| url.path.strip_prefix(it)).ok_or_else(unknown)?;
        match (method.as_str(), rest.strip_prefix('/')) {
            ("GET", None) if rest.is_empty() => Ok(Route::Models),
            ("GET", Some(id)) => Ok(Route::Model(decoded(id))),
            ("POST", Some(call)) => {
                let (model, verb) = call.rsplit_once(':').ok_or_else(unknown)?;
                action(decoded(model), verb, url).ok_or_else(unknown)
            }
            _ => Err(unknown()),
        }
    }

    fn admit(&self, incoming: &Incoming<'_>, url: &Url<'_>) -> Result<(), Problem> {
        fault::admit(incoming.headers, url)
    }

    fn read(&self, mut asked: Unchecked<'_>) -> Result<Question, Problem> {
        names::camel(&mut asked.body, &shape::BODY);
        validate::check(&asked.body, &asked.model, &shape::BODY)?;
        Ok(read::question(asked))
    }

    fn count(&self, mut asked: Unchecked<'_>) -> Result<Value, Problem> {
        names::camel(&mut asked.body, &shape::COUNT);
        count::answer(&asked.body, &asked.model)
    }

    fn models(&self) -> Value {
        answer::models()
    }

    fn model(&self, id: &str) -> Value {
        answer::model(id)
    }

    fn whole(&self, question: &Question, plans: &[Plan]) -> Value {
        answer::whole(question, plans)
    }

    fn stream(&self, question: &Question, plans: &[Plan]) -> Frames {
        stream::frames(question, plans)
    }

    fn status(&self, problem: &Problem) -> u16 {
        fault::code(problem)
    }

    fn refusal(&self, problem: &Problem, _: &str) -> Value {
        fault::body(problem)
    }

    fn error_frame(&self, problem: &Problem, delivery: Delivery, frames_before: usize) -> String {
        fault::frame(problem, delivery, frames_before)
    }

    fn headers(&self, _: &str) -> HeaderMap {
        fault::headers()
    }

    fn request_id(&self, seed: u64) -> String {
        format!("{seed:016x}")
    }

    fn unreadable(&self, error: &serde_json::Error) -> Problem {
        Problem::invalid(format!("Invalid JSON payload received. {error}"))
    }
}

fn action(model: String, verb: &str, url: &Url<'_>) -> Option<Route> {
    let model = Some(model);
    match verb {
        "generateContent" => Some(Route::Generate { model, delivery: Some(Delivery::Whole) }),
        "streamGenerateContent" => {
            let is_sse = url.parameter("alt") == Some("sse");
            let delivery = if is_sse { Delivery::Events } else { Delivery::Array };
            Some(Route::Generate { model, delivery: Some(delivery) })
        }
        "countTokens" => Some(Route::Count { model }),
        _ => None,
    }
}

/// A model's name without its percent-encoding.
fn decoded(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let [byte, behind @ ..] = rest {
        let pair = behind.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let number = pair.and_then(|it| u8::from_str_radix(it, 16).ok()).filter(|_| *byte == b'%');
        out.push(number.unwrap_or(*byte));
        rest = if number.is_some() { &behind[2..] } else { behind };
    }
    String::from_utf8_lossy(&out).into_owned()
}
