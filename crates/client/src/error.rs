//! The one error of this crate: a kind for code, a message for people. No key and no prompt of ours is ever in it.

use std::fmt;

use sabir_backend::{ErrorKind as HttpKind, Secret};
use sabir_wire::{Fault, FaultKind};

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no answer.
#[derive(Clone)]
pub struct Error(Box<Detail>);

#[derive(Clone)]
struct Detail {
    kind: ErrorKind,
    text: String,
    /// The provider's own code.
    code: Option<String>,
    status: Option<u16>,
    retry_after_s: Option<u64>,
}

/// What a caller would act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// What was given cannot be used: a URL, a key, a message, an id.
    Invalid,
    /// Nobody answers at this address.
    Connect,
    /// The answer did not come, or did not go on, in time.
    Timeout,
    /// The key is missing or wrong.
    Authentication,
    /// No such model, conversation or path.
    NotFound,
    /// Too many requests, or a quota is spent; [`Error::retry_after_s`] may say when to try again.
    RateLimit,
    /// The conversation does not fit the model.
    ContextTooLong,
    /// The provider refuses the request as it is.
    Refused,
    /// The provider failed.
    Provider,
    /// The answer broke off before its end.
    Truncated,
    /// What came is no answer of this protocol.
    Malformed,
    /// More came than is read.
    TooLarge,
    /// A session cannot be read or saved.
    Session,
}

impl Error {
    #[cold]
    pub(crate) fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self(Box::new(Detail { kind, text, code: None, status: None, retry_after_s: None }))
    }

    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, text)
    }

    /// What a provider answered in place of an answer, without the key that it may repeat.
    pub(crate) fn of_fault(fault: &Fault<'_>, status: Option<u16>, key: Option<&Secret>) -> Self {
        let text = without(key, &fault.message.to_str());
        let mut error = Self::new(kind_of(fault.kind), text);
        error.0.code = fault.code.as_ref().map(|code| without(key, &code.to_str()));
        error.0.status = status;
        error.0.retry_after_s = fault.retry_after_s;
        error
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The provider's own code, such as `model_not_found`.
    pub fn code(&self) -> Option<&str> {
        self.0.code.as_deref()
    }

    /// The HTTP status, where the answer was an error.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// How long to wait before trying again.
    pub fn retry_after_s(&self) -> Option<u64> {
        self.0.retry_after_s
    }

    pub(crate) fn with_retry_after_s(mut self, seconds: Option<u64>) -> Self {
        self.0.retry_after_s = seconds.or(self.0.retry_after_s);
        self
    }
}

fn without(key: Option<&Secret>, text: &str) -> String {
    match key.map(Secret::expose).filter(|key| !key.is_empty()) {
        Some(key) => text.replace(key, "…"),
        None => text.to_owned(),
    }
}

fn kind_of(fault: FaultKind) -> ErrorKind {
    match fault {
        FaultKind::Authentication => ErrorKind::Authentication,
        FaultKind::NotFound => ErrorKind::NotFound,
        FaultKind::RateLimit | FaultKind::Billing => ErrorKind::RateLimit,
        FaultKind::ContextTooLong => ErrorKind::ContextTooLong,
        FaultKind::TooLarge
        | FaultKind::BadRequest
        | FaultKind::Permission
        | FaultKind::Conflict
        | FaultKind::Unprocessable => ErrorKind::Refused,
        FaultKind::Timeout => ErrorKind::Timeout,
        FaultKind::Truncated => ErrorKind::Truncated,
        FaultKind::Internal | FaultKind::Overloaded | FaultKind::Cancelled => ErrorKind::Provider,
    }
}

impl From<sabir_backend::Error> for Error {
    fn from(error: sabir_backend::Error) -> Self {
        let kind = match error.kind() {
            HttpKind::Connect | HttpKind::Unsent => ErrorKind::Connect,
            HttpKind::ConnectTimeout | HttpKind::FirstByteTimeout | HttpKind::IdleTimeout => {
                ErrorKind::Timeout
            }
            HttpKind::Disconnected | HttpKind::Truncated => ErrorKind::Truncated,
            _ => ErrorKind::Malformed,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<sabir_store::Error> for Error {
    fn from(error: sabir_store::Error) -> Self {
        let kind = match error.kind() {
            sabir_store::Kind::Invalid => ErrorKind::Invalid,
            _ => ErrorKind::Session,
        };
        Self::new(kind, error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind())
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_a_provider_repeats_is_not_shown() {
        let fault = Fault::new(FaultKind::Authentication, "Incorrect API key provided: sk-private");
        let error = Error::of_fault(&fault, Some(401), Some(&Secret::new("sk-private")));
        assert_eq!(error.kind(), ErrorKind::Authentication);
        assert_eq!(error.to_string(), "Incorrect API key provided: …");
        assert!(!format!("{error:?}").contains("private"));
    }
}
