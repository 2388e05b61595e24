//! Schemas on their way here: the root of a tool's is an object, and strict ones know a part of the language.

use crate::json::Json;
use crate::place::Place;
use crate::protocol::Field;
use crate::protocol::losing::Losing;

/// The schema of a tool without arguments.
pub(super) const NO_ARGUMENTS: Json<'static> =
    Json::literal(r#"{"type":"object","properties":{}}"#);

/// What a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Tool,
    StrictTool,
    Output,
}

/// The schema as the target takes it; `at` is the node and the field that it stands in.
pub(super) fn translate<'s>(
    schema: &'s Json<'_>,
    _asked: Use,
    _at: (Place, Field),
    _losing: &mut Losing<'_>,
) -> Json<'s> {
    schema.reborrow()
}
