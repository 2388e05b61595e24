//! Which schema language a request uses: each protocol says so for its own.

use crate::conversation::Tool;
use crate::protocol::Exchange;
use crate::protocol::Protocol;
use crate::schema::Dialect;

/// The language of a tool's parameters in a request of `source`'s protocol.
pub(in crate::protocol) fn of_parameters(source: Protocol, tool: &Tool<'_>) -> Dialect {
    (source.codec().schemas.parameters)(tool)
}

/// The language in which a request of `source`'s protocol describes a tool's results.
pub(in crate::protocol) fn of_results(source: Protocol, tool: &Tool<'_>) -> Dialect {
    (source.codec().schemas.results)(tool)
}

/// The language of the output schema of a request.
pub(in crate::protocol) fn of_output(exchange: &Exchange<'_>) -> Dialect {
    (exchange.protocol().codec().schemas.output)(exchange.semantics())
}
