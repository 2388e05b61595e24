//! OpenAI Chat Completions: requests, answers, streams and errors.

mod content;
mod request;
mod response;
mod stream;

pub(super) use response::error;

use super::Generator;

pub(super) const GENERATOR: Generator = Generator {
    request: request::request,
    response: response::response,
    stream: stream::stream,
    join: |_| {},
    error: response::error,
};
