//! Anthropic Messages: requests, answers, streams and errors.

mod block;
mod request;
mod response;
mod stream;

use super::Generator;

pub(super) const GENERATOR: Generator = Generator {
    request: request::request,
    response: response::response,
    stream: stream::stream,
    join: |_| {},
    error: response::error,
};
