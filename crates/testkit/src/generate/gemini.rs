//! Gemini generateContent: requests, answers, streams and errors.

mod part;
mod request;
mod response;
mod stream;

pub(super) use request::request;
pub(super) use response::error;
pub(super) use response::response;
pub(super) use stream::join_texts;
pub(super) use stream::stream;
