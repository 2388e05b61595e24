//! What only this protocol says, and how it may be spelled.

use crate::protocol::semantics::Declared;
use crate::protocol::semantics::namespace;

namespace! {
    /// What only Chat Completions can say of a request.
    pub struct ChatSemantics {
        /// As the vendor documents it.
        logit_bias: "logit_bias" => Dropped, "no other protocol biases single tokens";
    }
}

/// Fields of messages, parts, tools and answers that only this protocol has, and what becomes of them elsewhere.
pub(in crate::protocol) const DECLARED: &[Declared] = &[];
