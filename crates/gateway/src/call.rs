//! What a client asks, once it is known to be one of the things that a gateway can do for it.

use std::ops::Range;

use http::HeaderMap;
use sabir_wire::Protocol;
use sabir_wire::json::Survey;

/// A request that names a model.
#[derive(Clone, Debug)]
pub(crate) struct Call<'b> {
    pub(crate) client: Protocol,
    /// The model as the client names it.
    pub(crate) model: String,
    pub(crate) delivery: Delivery,
    pub(crate) headers: &'b HeaderMap,
    /// The query of the URL, for a provider of the same protocol.
    pub(crate) query: Option<&'b str>,
    /// The body as it was sent, compression taken off.
    pub(crate) body: &'b str,
    /// The same without a byte order mark, with what the first reading found out.
    pub(crate) survey: Survey<'b>,
    /// Where the model's name stands in the body, quotes included.
    pub(crate) model_at: Option<Range<usize>>,
    /// The parameter that asks for something which only a provider of the client's protocol keeps.
    pub(crate) session: Option<&'static str>,
}

/// What is wanted of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Generate,
    CountTokens,
}

/// How the client wants its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    /// As server-sent events.
    Stream,
    /// As one JSON list that grows: Gemini's stream without `alt=sse`.
    Array,
}

impl Delivery {
    /// What a body asks for that says so by `stream`.
    pub(crate) fn of_stream(is_stream: bool) -> Self {
        if is_stream { Self::Stream } else { Self::Whole }
    }

    pub(crate) fn is_stream(self) -> bool {
        match self {
            Self::Whole => false,
            Self::Stream | Self::Array => true,
        }
    }
}

impl Call<'_> {
    /// Whether anything that would be dropped refuses the request.
    pub(crate) fn is_strict(&self) -> bool {
        self.header("sabir-strict").is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Whether thinking is shown to a client whose protocol has no place of its own for it.
    pub(crate) fn shows_reasoning(&self) -> bool {
        !self.header("sabir-reasoning").is_some_and(|value| value.eq_ignore_ascii_case("off"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}
