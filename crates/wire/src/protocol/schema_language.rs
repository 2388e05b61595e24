//! Which schema language a request uses: each protocol states it for its own. And what both of OpenAI's need beyond it.

use crate::conversation::Tool;
use crate::json::Json;
use crate::place::Place;
use crate::protocol::reporter::Reporter;
use crate::protocol::{DecodedRequest, Field, Protocol};
use crate::schema::{SchemaLanguage, SchemaLoss, Strictness, complete_tool};

/// The language of a tool's parameters in a request of `source`'s protocol; a tool that was kept has that of its own.
pub fn of_parameters(source: Protocol, tool: &Tool<'_>) -> SchemaLanguage {
    (protocol_of(source, tool).codec().schemas.parameters)(tool)
}

/// The language in which a request of `source`'s protocol describes a tool's results.
pub(super) fn of_results(source: Protocol, tool: &Tool<'_>) -> SchemaLanguage {
    (protocol_of(source, tool).codec().schemas.results)(tool)
}

fn protocol_of(source: Protocol, tool: &Tool<'_>) -> Protocol {
    tool.semantics().place().protocol().unwrap_or(source)
}

/// The language of the output schema of a request.
pub(super) fn of_output(decoded: &DecodedRequest<'_>) -> SchemaLanguage {
    (decoded.protocol().codec().schemas.output)(decoded.semantics())
}

/// The parameters of a tool, completed with what OpenAI refuses to do without.
pub(super) fn completed_parameters<'s>(
    reporter: &mut Reporter<'_>,
    parameters: Json<'s>,
    strict: Option<bool>,
    place: Place,
) -> Json<'s> {
    if reporter.is_same() {
        return parameters;
    }
    let is_strict = strict == Some(true);
    let strictness = if is_strict { Strictness::Strict } else { Strictness::Loose };
    let completed = complete_tool(&parameters, strictness);
    for SchemaLoss { pointer, kind, reason } in completed.losses {
        reporter.within(place, (Field::ToolParameters, &pointer), kind, reason);
    }
    completed.json
}
