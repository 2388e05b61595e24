//! OpenAI Responses: requests, answers and streams. Errors are those of Chat.

mod item;
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
    error: super::openai_chat::error,
};
