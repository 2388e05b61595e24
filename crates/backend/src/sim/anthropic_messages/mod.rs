//! A simulator of Anthropic's Messages.

mod answer;
mod count;
mod fault;
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

/// Messages.
#[derive(Debug)]
pub(super) struct AnthropicMessages;

impl Api for AnthropicMessages {
    fn route(&self, method: &Method, url: &Url<'_>) -> Result<Route, Problem> {
        match (method.as_str(), url.path) {
            ("POST", "/v1/messages") => Ok(Route::Generate { model: None, delivery: None }),
            ("POST", "/v1/messages/count_tokens") => Ok(Route::Count { model: None }),
            ("GET", "/v1/models") => Ok(Route::Models),
            ("GET", path) if path.starts_with("/v1/models/") => {
                Ok(Route::Model(path["/v1/models/".len()..].to_owned()))
            }
            _ => Err(Problem::new(404, "Not found")),
        }
    }

    fn admit(&self, incoming: &Incoming<'_>, _: &Url<'_>) -> Result<(), Problem> {
        fault::admit(incoming.headers)
    }

    fn read(&self, asked: Unchecked<'_>) -> Result<Question, Problem> {
        validate::check(&asked, &shape::BODY)?;
        Ok(read::question(asked))
    }

    fn count(&self, asked: Unchecked<'_>) -> Result<Value, Problem> {
        validate::check(&asked, &shape::COUNT)?;
        Ok(count::answer(&asked.body))
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

    fn refusal(&self, problem: &Problem, request_id: &str) -> Value {
        fault::body(problem, request_id)
    }

    fn error_frame(&self, problem: &Problem, _: Delivery, _: usize) -> String {
        fault::frame(problem)
    }

    fn headers(&self, request_id: &str) -> HeaderMap {
        fault::headers(request_id)
    }

    fn request_id(&self, seed: u64) -> String {
        format!("req_01{seed:016x}")
    }

    fn unreadable(&self, error: &serde_json::Error) -> Problem {
        Problem::invalid(format!("The request body is not valid JSON: {error}"))
    }
}
