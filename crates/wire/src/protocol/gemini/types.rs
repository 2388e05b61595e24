//! What only this protocol says, and how it may be spelled.

use crate::protocol::semantics::Declared;
use crate::protocol::semantics::namespace;

namespace! {
    /// What only Gemini can say of a request.
    pub struct GeminiSemantics {
        /// As the vendor documents it.
        safety_settings: "safetySettings" => Dropped, "no other protocol sets thresholds by category";
    }
}

/// Fields of messages, parts, tools and answers that only this protocol has, and what becomes of them elsewhere.
pub(in crate::protocol) const DECLARED: &[Declared] = &[];
