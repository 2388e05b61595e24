//! Faults: errors that travel in a protocol, as the vendor or the gateway states them.

use crate::json::{Json, Text};
use crate::overflow;
use crate::overflow::Overflow;
use crate::owned::into_owned;
use crate::protocol::Protocol;

/// Something went wrong with a request, before or during its answer.
#[derive(Clone, Debug)]
pub struct Fault<'a> {
    pub kind: FaultKind,
    /// The words for the client.
    pub message: Text<'a>,
    /// The vendor's own code, such as `context_length_exceeded`.
    pub code: Option<Text<'a>>,
    /// The parameter that is to blame.
    pub param: Option<Text<'a>>,
    pub request_id: Option<Text<'a>>,
    /// How long to wait before trying again, rounded up.
    pub retry_after_s: Option<u64>,
    /// By how much the prompt does not fit, if that is what went wrong.
    pub overflow: Overflow,
    /// The error as `(protocol, body)` had it; the same protocol gives these bytes back.
    pub original: Option<(Protocol, Json<'a>)>,
}

/// The class of a [`Fault`], which each protocol has its own status and words for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultKind {
    BadRequest,
    /// The prompt does not fit the model's window.
    ContextTooLong,
    Authentication,
    /// Out of credit or quota; waiting does not help.
    Billing,
    Permission,
    NotFound,
    Conflict,
    TooLarge,
    Unprocessable,
    RateLimit,
    Internal,
    Overloaded,
    Timeout,
    Cancelled,
    /// The answer's stream stopped before its end.
    Truncated,
}

impl<'a> Fault<'a> {
    pub fn new(kind: FaultKind, message: impl Into<Text<'a>>) -> Self {
        Self {
            kind,
            message: message.into(),
            code: None,
            param: None,
            request_id: None,
            retry_after_s: None,
            overflow: Overflow::default(),
            original: None,
        }
    }

    /// A stream that stopped before its end.
    pub(crate) fn truncated() -> Self {
        Self::new(FaultKind::Truncated, Text::literal("the stream ended before the answer did"))
    }

    /// A prompt that does not fit its model.
    pub fn overflowing(overflow: Overflow, message: impl Into<Text<'a>>) -> Self {
        Self { overflow, ..Self::new(FaultKind::ContextTooLong, message) }
    }

    /// The fault with its class and counts told more closely, where its words or the whole error say that the prompt does not
    /// fit. Servers have many words for that, and few a class of its own.
    pub(crate) fn refined(mut self) -> Self {
        if !self.kind.may_be_overflow() {
            return self;
        }
        let stated = overflow::find(&self.message.to_str());
        let counted = stated.filter(|stated| stated.counts().is_some());
        let found = counted.or_else(|| self.overflow_within()).or(stated);
        if let Some(overflow) = found {
            self.kind = FaultKind::ContextTooLong;
            self.overflow = overflow;
        }
        self
    }

    /// What the whole error says beyond its message.
    fn overflow_within(&self) -> Option<Overflow> {
        let (_, original) = self.original.as_ref()?;
        overflow::find(&original.compact())
    }

    /// The message for clients of a protocol, which know by its vendor's words that a prompt does not fit: `bare` ones where the
    /// counts are not known, else those that `counted` makes of the tokens and the window.
    pub(crate) fn message_for(
        &self,
        bare: &str,
        counted: impl FnOnce(u64, u64) -> String,
    ) -> Text<'_> {
        match (self.kind, self.overflow.counts()) {
            (FaultKind::ContextTooLong, Some((tokens, window))) => {
                self.message_behind(&counted(tokens, window))
            }
            (FaultKind::ContextTooLong, None) => self.message_behind(bare),
            _ => self.message.reborrow(),
        }
    }

    /// The message behind other words, unless it has them.
    fn message_behind(&self, words: &str) -> Text<'_> {
        let message = self.message.to_str();
        match message.as_ref() {
            "" => Text::plain(words.to_owned()),
            stated if stated.contains(words) => self.message.reborrow(),
            stated => Text::plain(format!("{words} ({stated})")),
        }
    }
}

impl FaultKind {
    /// The class of an error that came without a status, and whose words do not give it.
    pub(crate) const UNSTATED: Self = Self::BadRequest;

    /// Whether a server may mean a prompt that does not fit and tell it by this class.
    fn may_be_overflow(self) -> bool {
        match self {
            Self::BadRequest
            | Self::ContextTooLong
            | Self::TooLarge
            | Self::Unprocessable
            | Self::Internal => true,
            Self::Authentication
            | Self::Billing
            | Self::Permission
            | Self::NotFound
            | Self::Conflict
            | Self::RateLimit
            | Self::Overloaded
            | Self::Timeout
            | Self::Cancelled
            | Self::Truncated => false,
        }
    }

    /// The class of an HTTP status, where the body does not say more.
    pub fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Authentication,
            402 => Self::Billing,
            403 => Self::Permission,
            404 => Self::NotFound,
            408 | 504 => Self::Timeout,
            409 => Self::Conflict,
            413 => Self::TooLarge,
            422 => Self::Unprocessable,
            429 => Self::RateLimit,
            499 => Self::Cancelled,
            503 | 529 => Self::Overloaded,
            400..=498 => Self::BadRequest,
            _ => Self::Internal,
        }
    }

    /// The HTTP status of the class, where a protocol has no other for it.
    pub(crate) fn status(self) -> u16 {
        match self {
            Self::BadRequest | Self::ContextTooLong => 400,
            Self::Authentication => 401,
            Self::Permission => 403,
            Self::NotFound => 404,
            Self::Conflict => 409,
            Self::TooLarge => 413,
            Self::Unprocessable => 422,
            Self::Billing | Self::RateLimit => 429,
            Self::Cancelled => 499,
            Self::Internal => 500,
            Self::Truncated => 502,
            Self::Overloaded => 503,
            Self::Timeout => 504,
        }
    }

    /// The class that a code or a type in an error of OpenAI's shape stands for, whatever the status: a status in digits, or
    /// a word of the servers that speak so.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        let status = word.parse::<u16>().ok().filter(|status| (400..600).contains(status));
        if let Some(status) = status {
            return Some(Self::of_status(status));
        }
        Some(match word {
            "context_length_exceeded"
            | "exceed_context_size_error"
            | "model_max_prompt_tokens_exceeded" => Self::ContextTooLong,
            "insufficient_quota" => Self::Billing,
            "invalid_api_key" | "authentication_error" => Self::Authentication,
            "permission_error" | "unsupported_country_region_territory" => Self::Permission,
            "model_not_found" | "not_found" | "not_found_error" => Self::NotFound,
            "request_too_large" => Self::TooLarge,
            "rate_limit_exceeded" | "rate_limit_error" => Self::RateLimit,
            "server_error" | "internal_error" => Self::Internal,
            "overloaded_error" | "service_unavailable" | "server_overloaded" => Self::Overloaded,
            "service_unavailable_error" | "server_is_overloaded" | "overloaded" | "slow_down" => {
                Self::Overloaded
            }
            "timeout" | "timeout_error" => Self::Timeout,
            _ => return None,
        })
    }
}

into_owned! {
    pub struct Fault { kind, message, code, param, request_id, retry_after_s, overflow, original }
}
