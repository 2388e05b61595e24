//! Why a provider could not be reached or its answer not be read. A provider that answers with an error has answered.

use std::fmt;

/// What went wrong between this process and a provider.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    /// What happened, without bodies and without keys.
    detail: String,
}

/// Which step failed, so that a caller knows whether another try makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No connection: name not found, refused, no route, TLS or the proxy failed.
    Connect,
    ConnectTimeout,
    /// The connection broke before the whole request was written: nobody can have acted on it.
    Unsent,
    /// The connection broke behind the request, before the first byte of an answer: somebody may have acted on it.
    Disconnected,
    FirstByteTimeout,
    /// The answer broke off.
    Truncated,
    IdleTimeout,
    /// What came is not HTTP, or passes a limit.
    Malformed,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(kind: ErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }

    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.detail)
    }
}

impl std::error::Error for Error {}
