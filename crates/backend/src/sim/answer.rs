//! One request's way through a simulator: route, key, body, fault, rules, plan, answer.

use std::sync::atomic::{AtomicUsize, Ordering};

use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value;

use super::api::{Api, Route, Unchecked, Url};
use super::plan::Plan;
use super::problem::Problem;
use super::question::Delivery;
use super::trigger::Trigger;
use super::{Incoming, Reply, embeddings, script, seal, transport, trigger, values};

/// An answer, and whether its request kept the rules.
pub(super) struct Outcome {
    pub(super) reply: Reply,
    pub(super) is_valid: bool,
}

/// What a simulator needs beside the request.
pub(super) struct Setting<'a> {
    pub(super) api: &'static dyn Api,
    pub(super) flaky_calls: &'a AtomicUsize,
}

impl Setting<'_> {
    pub(super) fn answer(&self, incoming: &Incoming<'_>) -> Outcome {
        let seed = seal::hash(&[incoming.path.as_bytes(), incoming.body]);
        let request_id = self.api.request_id(seed);
        match self.respond(incoming, seed, &request_id) {
            Ok(outcome) => outcome,
            Err(problem) => Outcome { reply: self.refuse(&problem, &request_id), is_valid: false },
        }
    }

    fn respond(
        &self,
        incoming: &Incoming<'_>,
        seed: u64,
        request_id: &str,
    ) -> Result<Outcome, Problem> {
        let url = Url::of(incoming.path);
        let route = self.api.route(incoming.method, &url)?;
        self.api.admit(incoming, &url)?;
        let (model, delivery) = match route {
            Route::Models => return Ok(self.json(self.api.models(), request_id)),
            Route::Model(id) => return self.model(&id, request_id),
            Route::Embeddings => {
                let unreadable = |error: &_| self.api.unreadable(error);
                let answer = embeddings::answer(incoming.body, unreadable)?;
                return Ok(self.json(answer, request_id));
            }
            Route::Count { ref model } => (model.clone(), None),
            Route::Generate { ref model, delivery } => (model.clone(), delivery),
        };
        let body = self.body(incoming)?;
        let named = body.get("model").and_then(Value::as_str).unwrap_or_default();
        let model = model.unwrap_or_else(|| named.to_owned());
        let asked = Unchecked { headers: incoming.headers, model, delivery, body, seed };
        let fault = trigger::of(&asked.model);
        if matches!(route, Route::Count { .. }) {
            self.prevent(fault, &asked.model)?;
            return Ok(self.json(self.api.count(asked)?, request_id));
        }
        self.generate(asked, fault, request_id)
    }

    fn generate(
        &self,
        asked: Unchecked<'_>,
        fault: Option<Trigger>,
        request_id: &str,
    ) -> Result<Outcome, Problem> {
        let prevented = self.prevent(fault, &asked.model);
        let question = self.api.read(asked);
        let is_valid = question.is_ok();
        if let Err(problem) = prevented {
            return Ok(Outcome { reply: self.refuse(&problem, request_id), is_valid });
        }
        let question = question?;
        let plans = Plan::all(&question);
        let shipment = transport::Shipment {
            api: self.api,
            headers: self.api.headers(request_id),
            request_id,
            fault,
            is_ragged: script::asks_unicode(&question.instructions()),
        };
        let reply = match question.delivery {
            Delivery::Whole => shipment.whole(&self.api.whole(&question, &plans)),
            delivery => shipment.stream(self.api.stream(&question, &plans), delivery),
        };
        Ok(Outcome { reply, is_valid })
    }

    /// Refuses where the model's name asks for an error before any answer.
    fn prevent(&self, fault: Option<Trigger>, model: &str) -> Result<(), Problem> {
        match fault {
            Some(Trigger::Status { status, retry_after_s }) => {
                Err(Problem { retry_after_s, ..simulated(status, model) })
            }
            Some(Trigger::Flaky) => match self.flaky_calls.fetch_add(1, Ordering::Relaxed) % 2 {
                0 => Err(simulated(503, model)),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn body(&self, incoming: &Incoming<'_>) -> Result<Value, Problem> {
        values::check(incoming.body)?;
        serde_json::from_slice(incoming.body).map_err(|error| self.api.unreadable(&error))
    }

    fn model(&self, id: &str, request_id: &str) -> Result<Outcome, Problem> {
        match trigger::of(id) {
            Some(Trigger::Status { status, .. }) => Err(simulated(status, id)),
            _ => Ok(self.json(self.api.model(id), request_id)),
        }
    }

    fn json(&self, value: Value, request_id: &str) -> Outcome {
        let headers = self.api.headers(request_id);
        Outcome { reply: transport::json(StatusCode::OK, headers, &value), is_valid: true }
    }

    fn refuse(&self, problem: &Problem, request_id: &str) -> Reply {
        let status = self.api.status(problem);
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        let mut headers: HeaderMap = self.api.headers(request_id);
        if let Some(wait) = problem.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(wait));
        }
        transport::json(status, headers, &self.api.refusal(problem, request_id))
    }
}

/// An error that a model's name asks for, in a provider's words.
pub(super) fn simulated(status: u16, model: &str) -> Problem {
    let message = match status {
        400 => "Simulated fault: the request is invalid.",
        401 => "Simulated fault: the API key is invalid.",
        403 => "Simulated fault: this key may not use the model.",
        404 => {
            return Problem::new(
                404,
                format!("The model `{model}` does not exist or you do not have access to it."),
            )
            .coded("model_not_found");
        }
        413 => "Simulated fault: the request is too large.",
        429 => "Simulated fault: rate limit reached. Please try again later.",
        503 | 529 => "Overloaded",
        504 => "Simulated fault: the request timed out.",
        _ => "Simulated fault: internal server error",
    };
    let problem = Problem::new(status, message);
    if status == 401 { problem.coded("invalid_api_key") } else { problem }
}
