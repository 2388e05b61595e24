//! What only this protocol says, and how it may be spelled.

use crate::protocol::semantics::Declared;
use crate::protocol::semantics::namespace;

namespace! {
    /// What only Responses can say of a request.
    pub struct ResponsesSemantics {
        /// As the vendor documents it.
        truncation: "truncation" => Dropped, "no other protocol truncates on request";
    }
}

/// Fields of messages, parts, tools and answers that only this protocol has, and what becomes of them elsewhere.
pub(in crate::protocol) const DECLARED: &[Declared] = &[];
