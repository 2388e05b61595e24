//! Which schema language a request uses: each protocol says so for its own. And what both of OpenAI's need beyond it.

use crate::conversation::{Tool, ToolKind};
use crate::json::Json;
use crate::place::Place;
use crate::protocol::reporter::Reporter;
use crate::protocol::{DecodedRequest, Field, Protocol};
use crate::schema::{SchemaLanguage, SchemaLoss, Strictness, complete_tool, translate};

/// The language of a tool's parameters in a request of `source`'s protocol; a tool that was kept has that of its own.
pub(super) fn of_parameters(source: Protocol, tool: &Tool<'_>) -> SchemaLanguage {
    (protocol_of(source, tool).codec().schemas.parameters)(tool)
}

/// The parameters of a function as its client describes them, which only whoever asks for them translates.
#[derive(Clone, Debug)]
pub struct ParameterSchema {
    json: Json<'static>,
    language: SchemaLanguage,
}

impl ParameterSchema {
    /// Of a tool that a request of `source`'s protocol offers; none if it is no function, or says nothing of them.
    pub fn of(source: Protocol, tool: &Tool<'_>) -> Option<Self> {
        let ToolKind::Function(function) = &tool.kind else { return None };
        let json = function.parameters.as_ref()?.clone().into_owned();
        Some(Self { json, language: of_parameters(source, tool) })
    }

    /// The same as plain JSON Schema.
    pub fn to_json_schema(&self) -> Json<'_> {
        translate(&self.json.reborrow(), self.language, SchemaLanguage::JsonSchema).json
    }
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
