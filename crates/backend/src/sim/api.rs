//! What each of the four APIs supplies; `answer.rs` does the rest for all of them.

use http::{HeaderMap, Method};
use serde_json::Value;

use super::Incoming;
use super::plan::Plan;
use super::problem::Problem;
use super::question::{Delivery, Question};

/// An API: its paths, its rules, and its shapes for answers and errors.
pub(super) trait Api: Sync {
    /// What a path asks for.
    fn route(&self, method: &Method, url: &Url<'_>) -> Result<Route, Problem>;

    /// Whether the request carries a key, and whatever else every call needs.
    fn admit(&self, incoming: &Incoming<'_>, url: &Url<'_>) -> Result<(), Problem>;

    /// Checks a request by the API's rules and reads what it asks.
    fn read(&self, asked: Unchecked<'_>) -> Result<Question, Problem>;

    /// Checks a request that wants its tokens counted and answers it.
    fn count(&self, asked: Unchecked<'_>) -> Result<Value, Problem>;

    fn models(&self) -> Value;

    fn model(&self, id: &str) -> Value;

    fn whole(&self, question: &Question, plans: &[Plan]) -> Value;

    fn stream(&self, question: &Question, plans: &[Plan]) -> Frames;

    /// Whether requests may go on from answers by their ids.
    fn keeps_answers(&self) -> bool {
        false
    }

    /// An error's status.
    fn status(&self, problem: &Problem) -> u16 {
        problem.status
    }

    /// An error's body.
    fn refusal(&self, problem: &Problem, request_id: &str) -> Value;

    /// An error inside a stream, as it stands behind `frames_before` frames.
    fn error_frame(&self, problem: &Problem, delivery: Delivery, frames_before: usize) -> String;

    /// The headers that come with every answer.
    fn headers(&self, request_id: &str) -> HeaderMap;

    fn request_id(&self, seed: u64) -> String;

    fn unreadable(&self, error: &serde_json::Error) -> Problem;
}

/// A path and its query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Url<'a> {
    pub(super) path: &'a str,
    pub(super) query: &'a str,
}

impl<'a> Url<'a> {
    pub(super) fn of(whole: &'a str) -> Self {
        let (path, query) = whole.split_once('?').unwrap_or((whole, ""));
        Self { path, query }
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&'a str> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// What is asked for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Route {
    /// An answer; Gemini names the model and the way of delivery in its URL.
    Generate {
        model: Option<String>,
        delivery: Option<Delivery>,
    },
    Count {
        model: Option<String>,
    },
    Models,
    Model(String),
    Embeddings,
}

/// A request that is to be checked.
#[derive(Debug)]
pub(super) struct Unchecked<'a> {
    pub(super) headers: &'a HeaderMap,
    pub(super) model: String,
    pub(super) delivery: Option<Delivery>,
    pub(super) body: Value,
    pub(super) seed: u64,
}

/// The frames of a stream, and which of them carry what is said.
#[derive(Debug, Default)]
pub(super) struct Frames {
    pub(super) all: Vec<String>,
    /// The first frame with something of the answer in it.
    pub(super) first_delta: usize,
    /// The first frame that belongs to the end.
    pub(super) ending: usize,
}
