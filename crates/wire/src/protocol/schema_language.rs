//! Which schema language a request uses: each protocol states it for its own. And what both of OpenAI's need beyond it.

use crate::conversation::Tool;
use crate::json::Json;
use crate::place::Place;
use crate::protocol::reporter::Reporter;
use crate::protocol::{DecodedRequest, Field, Protocol};
use crate::schema::{SchemaLanguage, SchemaLoss, Strictness, complete_tool, translate};

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

/// A schema with its language, and how strictly it is to be kept.
pub(super) type Schema<'s> = (&'s Json<'s>, SchemaLanguage, Option<bool>);

/// The schema as OpenAI takes it, any JSON Schema or the strict subset of it. What that changed is reported inside `field`,
/// where `pointer` says.
pub(super) fn fitted<'s>(
    reporter: &mut Reporter<'_>,
    (schema, from, strict): Schema<'s>,
    (place, field): (Place, Field),
    pointer: fn(&str) -> &str,
) -> Json<'s> {
    if reporter.shares_vendor() {
        // The same vendor's servers take the same schemas.
        return schema.reborrow();
    }
    let is_strict = strict == Some(true);
    let to = if is_strict { SchemaLanguage::OpenaiStrict } else { SchemaLanguage::JsonSchema };
    let fitted = translate(schema, from, to);
    if is_strict && !fitted.json.same_value(schema) {
        let reason = "strict schemas require every property and let the optional ones be null";
        reporter.renamed((place, field), reason);
    }
    for loss in fitted.losses {
        reporter.within(place, (field, pointer(&loss.pointer)), loss.kind, loss.reason);
    }
    fitted.json
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
