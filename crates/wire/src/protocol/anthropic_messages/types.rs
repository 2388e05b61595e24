//! What only this protocol says, and how it may be spelled.

use crate::protocol::semantics::Declared;
use crate::protocol::semantics::namespace;

namespace! {
    /// What only Anthropic Messages can say of a request.
    pub struct AnthropicSemantics {
        /// As the vendor documents it.
        container: "container" => Dropped, "no other protocol has containers by id";
    }
}

/// Fields of messages, parts, tools and answers that only this protocol has, and what becomes of them elsewhere.
pub(in crate::protocol) const DECLARED: &[Declared] = &[];
