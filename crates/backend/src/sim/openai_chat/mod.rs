//! A simulator of OpenAI's Chat Completions.

mod answer;
mod count;
mod fault;
mod read;
mod shape;
mod stream;
mod validate;

use http::{HeaderMap, Method};
use serde_json::Value;

use super::api::{Api, Frames, Route, Unchecked, Url};
use super::plan::Plan;
use super::problem::Problem;
use super::question::{Delivery, Question};
use super::{Incoming, openai};

/// Chat Completions.
#[derive(Debug)]
pub(super) struct OpenaiChat;

impl Api for OpenaiChat {
    fn route(&self, method: &Method, url: &Url<'_>) -> Result<Route, Problem> {
        match (method.as_str(), url.path) {
            ("POST", "/v1/chat/completions") => Ok(Route::Generate { model: None, delivery: None }),
            ("POST", "/v1/embeddings") => Ok(Route::Embeddings),
            ("GET", "/v1/models") => Ok(Route::Models),
            ("GET", path) if path.starts_with("/v1/models/") => {
                Ok(Route::Model(path["/v1/models/".len()..].to_owned()))
            }
            (_, path) => Err(openai::no_such_url(method, path)),
        }
    }

    fn admit(&self, incoming: &Incoming<'_>, _: &Url<'_>) -> Result<(), Problem> {
        openai::admit(incoming.headers)
    }

    fn read(&self, asked: Unchecked<'_>) -> Result<Question, Problem> {
        validate::check(&asked.body)?;
        Ok(read::question(asked))
    }

    fn count(&self, _: Unchecked<'_>) -> Result<Value, Problem> {
        Err(Problem::new(404, "Chat Completions has no counter of tokens"))
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

    fn error_frame(&self, problem: &Problem, _: Delivery, _: usize) -> String {
        fault::frame(problem)
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
