//! Gemini generateContent: requests, answers, streams and errors.

mod part;
mod request;
mod response;
mod stream;

use super::Generator;

pub(super) const GENERATOR: Generator = Generator {
    request: request::request,
    response: response::response,
    stream: stream::stream,
    join: stream::join_texts,
    error: response::error,
};
