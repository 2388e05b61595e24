//! What an encoder must know of the receiving end, as plain data: the model's family, the
//! server's dialect, and what the operator has decided.

mod dialect;
mod dialects;
mod effort;
mod families;
mod family;
mod pattern;

#[cfg(test)]
mod tests;

pub use dialect::{Dialect, ReasoningField, ReasoningReplay, ReasoningRequest};
pub use effort::{Effort, Fit};
pub use family::{
    Accepts, Disable, Family, ForcedToolChoice, GeminiSchema, Inputs, Sampling, SystemRole,
    Thinking, TokenLimit, Vendor,
};

/// The output limit for Anthropic, which demands one, when neither operator nor family has it.
const OUTPUT_TOKENS_FALLBACK: u64 = 4_096;

/// The receiving end of a translation. The default one is taken to accept everything.
///
/// ```
/// use sabir_wire::target::{Dialect, LateSystem, SystemRole, Target, TokenLimit};
///
/// let target = Target::for_model("openai/gpt-5-mini");
/// assert_eq!(target.system_role(), SystemRole::Developer);
/// assert_eq!(target.token_limit(), TokenLimit::MaxCompletionTokens);
///
/// let target = target.with_dialect(Dialect::OPENROUTER).with_late_system(LateSystem::Inline);
/// assert_eq!(target.token_limit(), TokenLimit::MaxTokens);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Target {
    pub family: Family,
    pub dialect: Dialect,
    /// What the operator sets where a client gives no limit.
    pub max_output_tokens: Option<u64>,
    pub late_system: LateSystem,
    pub cache: CacheMarkers,
    pub anthropic_version: AnthropicVersion,
    pub gemini_model: ModelPlace,
}

impl Target {
    /// The target for a model of that name, on a server that is not known further.
    pub fn for_model(name: &str) -> Self {
        Self::default().with_family(Family::of(name))
    }

    pub const fn with_family(self, family: Family) -> Self {
        Self { family, ..self }
    }

    pub const fn with_dialect(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    pub const fn with_late_system(self, late_system: LateSystem) -> Self {
        Self { late_system, ..self }
    }

    pub const fn with_gemini_model(self, gemini_model: ModelPlace) -> Self {
        Self { gemini_model, ..self }
    }

    /// Whether the far end of Chat is Google's, and so reads the signatures of its models. Where nobody knows the server,
    /// the model tells.
    pub fn reads_google_signatures(&self) -> bool {
        match self.dialect == Dialect::UNKNOWN {
            true => self.family.vendor == Vendor::Google,
            false => self.dialect == Dialect::GEMINI,
        }
    }

    /// Whether the far end of Chat is known to be another than Google's.
    pub fn is_known_beside_google(&self) -> bool {
        let is_known = self.family.vendor != Vendor::Other || self.dialect != Dialect::UNKNOWN;
        is_known && !self.reads_google_signatures()
    }

    /// The operator's role on Chat and Responses: the family's, unless the server lacks it.
    pub const fn system_role(&self) -> SystemRole {
        if self.dialect.developer_role { self.family.system_role } else { SystemRole::System }
    }

    /// The output limit's field on Chat: the server's, else the family's.
    pub const fn token_limit(&self) -> TokenLimit {
        match self.dialect.token_limit {
            Some(token_limit) => token_limit,
            None => self.family.token_limit,
        }
    }

    /// The limit to write where the protocol demands one and the client gave none.
    pub const fn required_output_tokens(&self) -> u64 {
        match (self.max_output_tokens, self.family.output_tokens_max) {
            (Some(tokens), _) | (None, Some(tokens)) => tokens,
            (None, None) => OUTPUT_TOKENS_FALLBACK,
        }
    }
}

impl Default for Target {
    fn default() -> Self {
        Self {
            family: Family::UNKNOWN,
            dialect: Dialect::UNKNOWN,
            max_output_tokens: None,
            late_system: LateSystem::default(),
            cache: CacheMarkers::default(),
            anthropic_version: AnthropicVersion::default(),
            gemini_model: ModelPlace::default(),
        }
    }
}

/// Where a system message goes that does not stand at the beginning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LateSystem {
    /// The protocol's own way: in place where it has a role for it, and as marked text where the
    /// model is not known to take that role. Gemini has none: marked text in a request with
    /// tools, where lifting would change the first bytes of the prompt on every turn, else
    /// lifted to the top.
    #[default]
    Native,
    /// In place, as text with a visible mark.
    Inline,
    /// Joined to the leading system text.
    Lift,
}

/// What becomes of a request without cache markers, for a provider that caches only what it is told to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CacheMarkers {
    /// It is sent without.
    #[default]
    Stated,
    /// A conversation that goes on is marked, where its own protocol has it cached unasked.
    Auto,
}

/// Where a Gemini request names its model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ModelPlace {
    /// In the URL, which the caller builds.
    #[default]
    Url,
    /// In the body as `models/…`, so that a body stands for itself.
    Body,
}

/// The edition of Anthropic's protocol that the request is written for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnthropicVersion {
    #[default]
    V2023_06_01,
    /// Refuses sampling parameters of any value.
    V2026_10_21,
}

impl AnthropicVersion {
    const ALL: [Self; 2] = [Self::V2023_06_01, Self::V2026_10_21];

    /// The edition in force under an `anthropic-version` header, which is a date.
    pub fn in_force(header: &str) -> Self {
        let begun = |version: &Self| version.as_str() <= header;
        Self::ALL.into_iter().rfind(begun).unwrap_or_default()
    }

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2023_06_01 => "2023-06-01",
            Self::V2026_10_21 => "2026-10-21",
        }
    }

    pub const fn takes_sampling(self) -> bool {
        matches!(self, Self::V2023_06_01)
    }
}
