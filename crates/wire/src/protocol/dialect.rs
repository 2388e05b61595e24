//! Which schema language a request speaks: all but Gemini have one, and Gemini says by the name of the field.

use crate::conversation::Tool;
use crate::protocol::Exchange;
use crate::protocol::Protocol;
use crate::protocol::gemini;
use crate::schema::Dialect;

/// The language of a tool's parameters in a request of `source`'s protocol.
pub(in crate::protocol) fn of_parameters(source: Protocol, tool: &Tool<'_>) -> Dialect {
    match source {
        Protocol::Gemini => gemini::dialect_of_parameters(tool),
        Protocol::OpenaiChat | Protocol::OpenaiResponses | Protocol::AnthropicMessages => {
            Dialect::JsonSchema
        }
    }
}

/// The language in which a request of `source`'s protocol describes a tool's results.
pub(in crate::protocol) fn of_results(source: Protocol, tool: &Tool<'_>) -> Dialect {
    match source {
        Protocol::Gemini => gemini::dialect_of_results(tool),
        Protocol::OpenaiChat | Protocol::OpenaiResponses | Protocol::AnthropicMessages => {
            Dialect::JsonSchema
        }
    }
}

/// The language of the output schema of a request.
pub(in crate::protocol) fn of_output(exchange: &Exchange<'_>) -> Dialect {
    match exchange.protocol() {
        Protocol::Gemini => gemini::dialect_of_output(exchange.semantics()),
        Protocol::OpenaiChat | Protocol::OpenaiResponses | Protocol::AnthropicMessages => {
            Dialect::JsonSchema
        }
    }
}
