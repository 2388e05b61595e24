//! Why a request is refused, before an API puts it into its own shape.

/// A refusal: the HTTP status, the words, and what some APIs say beside.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Problem {
    pub(super) status: u16,
    pub(super) message: String,
    /// The parameter at fault (OpenAI).
    pub(super) param: Option<String>,
    /// A word for machines: OpenAI's `code`, Gemini's `reason`.
    pub(super) code: Option<&'static str>,
    pub(super) retry_after_s: Option<u64>,
}

impl Problem {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), param: None, code: None, retry_after_s: None }
    }

    /// A request that breaks the rules.
    pub(super) fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    pub(super) fn at(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    pub(super) fn coded(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }
}
