//! What ends a request without an answer: the message for the client, and whose fault it is.

use std::borrow::Cow;

use http::HeaderMap;
use sabir_wire::json::Text;
use sabir_wire::{Fault, FaultKind};

/// A request that failed. Only `egress::rescue` makes a reply of it.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) fault: Fault<'static>,
    pub(crate) whose: Whose,
    /// A status that says more than the fault's own.
    pub(crate) status: Option<u16>,
    /// What the provider answered, byte for byte.
    pub(crate) upstream: Option<Refusal>,
    /// How far the request had come when its connection failed before the first byte of an answer.
    pub(crate) broken: Option<Broken>,
}

/// How far a request had come when its connection failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// Not all of it was written: nobody can have acted on it.
    Unsent,
    /// All of it was written: the provider may have acted on it.
    Unanswered,
}

/// An error as a provider sent it.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) protocol: sabir_wire::Protocol,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: bytes::Bytes,
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    Client,
    Upstream,
    Gateway,
    Policy,
}

pub(crate) type Result<T, E = Box<Failure>> = std::result::Result<T, E>;

impl Failure {
    pub(crate) fn new(
        whose: Whose,
        kind: FaultKind,
        message: impl Into<Cow<'static, str>>,
    ) -> Box<Self> {
        Self::stating(whose, Fault::new(kind, Text::plain(message)))
    }

    /// A failure whose fault is there.
    pub(crate) fn stating(whose: Whose, fault: Fault<'static>) -> Box<Self> {
        Box::new(Self { fault, whose, status: None, upstream: None, broken: None })
    }

    /// The client sent something that cannot be served.
    pub(crate) fn client(kind: FaultKind, message: impl Into<Cow<'static, str>>) -> Box<Self> {
        Self::new(Whose::Client, kind, message)
    }

    /// The gateway ends before the answer does.
    pub(crate) fn shutdown() -> Box<Self> {
        Self::new(Whose::Gateway, FaultKind::Overloaded, "this gateway shuts down; try again soon")
    }

    pub(crate) fn with_status(mut self: Box<Self>, status: u16) -> Box<Self> {
        self.status = Some(status);
        self
    }

    pub(crate) fn with_param(mut self: Box<Self>, param: &'static str) -> Box<Self> {
        self.fault.param = Some(Text::literal(param));
        self
    }

    pub(crate) fn with_code(mut self: Box<Self>, code: &'static str) -> Box<Self> {
        self.fault.code = Some(Text::literal(code));
        self
    }
}

impl From<sabir_wire::Error> for Box<Failure> {
    /// A body that cannot be read is the client's fault; the place is its pointer.
    fn from(error: sabir_wire::Error) -> Self {
        let kind = match error.kind() {
            sabir_wire::ErrorKind::Limit => FaultKind::TooLarge,
            _ => FaultKind::BadRequest,
        };
        let mut failure = Failure::client(kind, error.to_string());
        let param = error.pointer().trim_start_matches('/').replace('/', ".");
        if !param.is_empty() {
            failure.fault.param = Some(Text::plain(param));
        }
        failure
    }
}

impl Whose {
    pub(crate) const ALL: [Self; 4] = [Self::Client, Self::Upstream, Self::Gateway, Self::Policy];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Upstream => "upstream",
            Self::Gateway => "gateway",
            Self::Policy => "policy",
        }
    }

    /// Whose fault it is that a provider refused: a bad request is the client's, the rest is not.
    pub(crate) fn of_upstream(kind: FaultKind) -> Self {
        match kind {
            FaultKind::BadRequest
            | FaultKind::ContextTooLong
            | FaultKind::TooLarge
            | FaultKind::Conflict
            | FaultKind::Unprocessable => Self::Client,
            FaultKind::Authentication
            | FaultKind::Billing
            | FaultKind::Permission
            | FaultKind::NotFound
            | FaultKind::RateLimit
            | FaultKind::Internal
            | FaultKind::Overloaded
            | FaultKind::Timeout
            | FaultKind::Cancelled
            | FaultKind::Truncated => Self::Upstream,
        }
    }
}
