//! OpenAI Chat Completions: requests, answers, streams and errors.

mod content;
mod request;
mod response;
mod stream;

pub(super) use response::error;

use proptest::prelude::Strategy;

use super::Generator;

pub(super) const GENERATOR: Generator = Generator {
    request: request::request,
    response: response::response,
    stream: stream::stream,
    odd_name: || "[a-z]{60,64}".boxed(),
    join: |_| {},
    error: response::error,
};
