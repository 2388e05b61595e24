//! Gemini generateContent: requests, answers, streams and errors.

mod part;
mod request;
mod response;
mod stream;

use proptest::prelude::{Just, Strategy};
use proptest::prop_oneof;

use super::Generator;

pub(super) const GENERATOR: Generator = Generator {
    request: request::request,
    response: response::response,
    stream: stream::stream,
    odd_name: || prop_oneof![Just("fs.read:all".to_owned()), "[a-z.]{60,64}"].boxed(),
    join: stream::join_texts,
    error: response::error,
};
