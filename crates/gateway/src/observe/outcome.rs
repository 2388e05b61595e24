//! How a request ended, by the labels under which it is counted.

use crate::failure::Whose;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Answered,
    Failed(Whose),
    /// The client left before the end.
    Cancelled,
}

impl Outcome {
    pub(crate) const ALL: [Self; 6] = [
        Self::Answered,
        Self::Failed(Whose::Client),
        Self::Failed(Whose::Upstream),
        Self::Failed(Whose::Gateway),
        Self::Failed(Whose::Policy),
        Self::Cancelled,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Failed(Whose::Client) => "client_error",
            Self::Failed(Whose::Upstream) => "upstream_error",
            Self::Failed(Whose::Gateway) => "gateway_error",
            Self::Failed(Whose::Policy) => "refused",
            Self::Cancelled => "cancelled",
        }
    }

    /// The place in [`Outcome::ALL`].
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Answered => 0,
            Self::Failed(Whose::Client) => 1,
            Self::Failed(Whose::Upstream) => 2,
            Self::Failed(Whose::Gateway) => 3,
            Self::Failed(Whose::Policy) => 4,
            Self::Cancelled => 5,
        }
    }
}
