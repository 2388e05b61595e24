//! A simulator of OpenAI's Responses. Answers can be continued by their ids, which is all that is kept of them.

mod answer;
mod chain;
mod count;
mod fault;
mod read;
mod rules;
mod shape;
mod stream;
mod validate;

pub(super) use chain::Chains;

use http::{HeaderMap, Method};
use serde_json::Value;

use super::api::{Api, Frames, Route, Unchecked, Url};
use super::plan::Plan;
use super::problem::Problem;
use super::question::{Delivery, Question};
use super::{Incoming, openai};

/// Responses.
#[derive(Debug)]
pub(super) struct OpenaiResponses;

impl Api for OpenaiResponses {
    fn keeps_answers(&self) -> bool {
        true
    }

    fn route(&self, method: &Method, url: &Url<'_>) -> Result<Route, Problem> {
        match (method.as_str(), url.path) {
            ("POST", "/v1/responses") => Ok(Route::Generate { model: None, delivery: None }),
            ("POST", "/v1/responses/input_tokens") => Ok(Route::Count { model: None }),
            ("POST", "/v1/embeddings") => Ok(Route::Embeddings),
            ("GET", "/v1/models") => Ok(Route::Models),
            ("GET", path) if path.starts_with("/v1/models/") => {
                Ok(Route::Model(path["/v1/models/".len()..].to_owned()))
            }
            ("GET" | "DELETE", path) if path.starts_with("/v1/responses/") => {
                let id = &path["/v1/responses/".len()..];
                Err(Problem::new(404, format!("Response with id '{id}' not found.")))
            }
            (_, path) => Err(openai::no_such_url(method, path)),
        }
    }

    fn admit(&self, incoming: &Incoming<'_>, _: &Url<'_>) -> Result<(), Problem> {
        openai::admit(incoming.headers)
    }

    fn read(&self, mut asked: Unchecked<'_>) -> Result<Question, Problem> {
        read::spell_out(&mut asked.body);
        validate::check(&asked.body, &shape::BODY)?;
        Ok(read::question(asked))
    }

    fn count(&self, mut asked: Unchecked<'_>) -> Result<Value, Problem> {
        read::spell_out(&mut asked.body);
        validate::check(&asked.body, &shape::COUNT)?;
        Ok(count::answer(&asked.body))
    }

    fn models(&self) -> Value {
        openai::models()
    }

    fn model(&self, id: &str) -> Value {
        openai::model(id)
    }

    fn whole(&self, question: &Question, plans: &[Plan]) -> Value {
        answer::whole(question, plans)
    }

    fn stream(&self, question: &Question, plans: &[Plan]) -> Frames {
        stream::frames(question, plans)
    }

    fn refusal(&self, problem: &Problem, _: &str) -> Value {
        openai::error(problem)
    }

    fn error_frame(&self, problem: &Problem, _: Delivery, frames_before: usize) -> String {
        fault::frame(problem, frames_before)
    }

    fn headers(&self, request_id: &str) -> HeaderMap {
        openai::headers(request_id)
    }

    fn request_id(&self, seed: u64) -> String {
        format!("req_{seed:016x}")
    }

    fn unreadable(&self, _: &serde_json::Error) -> Problem {
        openai::unreadable()
    }
}
