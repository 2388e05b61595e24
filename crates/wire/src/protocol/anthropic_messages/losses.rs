//! Where each canonical field stands in this protocol, and what becomes of it on the way here.

use crate::protocol::Fate;
use crate::protocol::Field;
use crate::protocol::semantics::Shape;

/// Where a canonical field stands, below its node.
pub(in crate::protocol) fn pointer(_field: Field, _shape: Shape) -> &'static str {
    unimplemented!()
}

/// What becomes of a canonical field on its way into this protocol.
pub(in crate::protocol) fn fate(_field: Field) -> Fate {
    unimplemented!()
}
