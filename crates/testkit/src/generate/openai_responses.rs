//! OpenAI Responses: requests, answers and streams. Errors are those of Chat.

mod item;
mod request;
mod response;
mod stream;

pub(super) use request::request;
pub(super) use response::response;
pub(super) use stream::stream;
