//! Anthropic Messages: requests, answers, streams and errors.

mod block;
mod request;
mod response;
mod stream;

use proptest::prelude::Strategy;

use super::Generator;

pub(super) const GENERATOR: Generator = Generator {
    request: request::request,
    response: response::response,
    stream: stream::stream,
    odd_name: || "[a-z]{60,70}".boxed(),
    join: |_| {},
    error: response::error,
};
