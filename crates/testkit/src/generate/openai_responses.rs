//! OpenAI Responses: requests, answers and streams. Errors are those of Chat.

mod item;
mod request;
mod response;
mod stream;

use super::Generator;

pub(super) const GENERATOR: Generator = Generator {
    request: request::request,
    response: response::response,
    stream: stream::stream,
    join: |_| {},
    error: super::openai_chat::error,
};
