//! What is known of a model, for whoever lists models.

use sabir_wire::target::{Family, Inputs, Thinking};

/// What a model takes and gives, as far as that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// The family that its name tells.
    pub family: &'static str,
    pub context_window: Option<u64>,
    pub max_output_tokens: Option<u64>,
    /// What it takes beside text.
    pub inputs: Inputs,
    /// Whether it reasons.
    pub thinking: Option<bool>,
    /// Whether its answers can be held to a JSON schema.
    pub structured_output: bool,
}

impl Capabilities {
    pub(crate) fn of(family: &Family, context_window: Option<u64>) -> Self {
        Self {
            family: family.name,
            context_window,
            max_output_tokens: family.output_tokens_max,
            inputs: family.inputs,
            thinking: match family.thinking {
                Thinking::Unknown => None,
                Thinking::None => Some(false),
                _ => Some(true),
            },
            structured_output: family.schema_output,
        }
    }
}
