//! Strategies for bodies and streams of each protocol: everything its documentation allows, in the oddest spellings.
//!
//! Unknown fields have names that begin with [`EXTRA_PREFIX`], so that a test can take them out again.

mod anthropic_messages;
mod gemini;
mod history;
mod object;
mod openai_chat;
mod openai_responses;
mod schema;
mod split;
mod text;

use proptest::prelude::{BoxedStrategy, Strategy, any};
use sabir_wire::Protocol;
use serde_json::Value;

pub use history::History;
pub use object::{EXTRA_PREFIX, without_extras};
pub use schema::schema;
pub use split::Cuts;
pub use text::Spelling;

/// Requests whose calls and results pair up as providers demand.
pub fn request(protocol: Protocol) -> BoxedStrategy<Value> {
    request_with(protocol, History::Paired)
}

/// Requests with histories of the given sort.
pub fn request_with(protocol: Protocol, history: History) -> BoxedStrategy<Value> {
    (Generator::of(protocol).request)(history)
}

/// Whole answers.
pub fn response(protocol: Protocol) -> BoxedStrategy<Value> {
    (Generator::of(protocol).response)()
}

/// Streams, framed as the provider frames them.
pub fn stream(protocol: Protocol) -> BoxedStrategy<Vec<u8>> {
    answer(protocol).prop_map(|(_, stream)| stream).boxed()
}

/// A whole answer and a stream that says the same.
pub fn answer(protocol: Protocol) -> BoxedStrategy<(Value, Vec<u8>)> {
    (response(protocol), any::<Cuts>())
        .prop_map(move |(response, cuts)| {
            let stream = stream_of(protocol, &response, cuts);
            (response, stream)
        })
        .boxed()
}

/// The stream that a whole answer came in, cut into pieces at will.
pub fn stream_of(protocol: Protocol, response: &Value, cuts: Cuts) -> Vec<u8> {
    (Generator::of(protocol).stream)(response, cuts)
}

/// Joins what a stream of the protocol cannot separate: texts that follow each other are one in Gemini's.
pub fn join_as_streams_do(protocol: Protocol, response: &mut Value) {
    (Generator::of(protocol).join)(response);
}

/// Error bodies with their HTTP status.
pub fn error(protocol: Protocol) -> BoxedStrategy<(u16, Value)> {
    (Generator::of(protocol).error)()
}

/// What generates the inputs of one protocol.
struct Generator {
    request: fn(History) -> BoxedStrategy<Value>,
    response: fn() -> BoxedStrategy<Value>,
    stream: fn(&Value, Cuts) -> Vec<u8>,
    /// Names of tools that the protocol allows and others do not.
    odd_name: fn() -> BoxedStrategy<String>,
    /// Joins the parts of an answer that the protocol's streams cannot separate.
    join: fn(&mut Value),
    error: fn() -> BoxedStrategy<(u16, Value)>,
}

impl Generator {
    fn of(protocol: Protocol) -> &'static Self {
        match protocol {
            Protocol::OpenaiChat => &openai_chat::GENERATOR,
            Protocol::OpenaiResponses => &openai_responses::GENERATOR,
            Protocol::AnthropicMessages => &anthropic_messages::GENERATOR,
            Protocol::Gemini => &gemini::GENERATOR,
        }
    }
}

/// The bytes of a body in any spelling that means the same JSON.
pub fn spelled(body: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Vec<u8>> {
    (body, any::<Spelling>()).prop_map(|(body, spelling)| spelling.bytes(&body)).boxed()
}
