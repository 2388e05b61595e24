//! Requests whose end two readers could see in two places. One of them may have stood before this gateway, and taken what the
//! other calls a body for the next client's request.

use http::Extensions;
use sabir_wire::FaultKind;

use crate::failure::{Failure, Result};

/// What is wrong with the framing of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misframed {
    LengthAndCoding,
    Lengths,
    Length,
    Coding,
    Chunks,
    BareLineEnd,
}

/// Refuses a request that the connection found misframed, as RFC 9112 has it in section 6.
pub(crate) fn check_framing(extensions: &Extensions) -> Result<()> {
    let Some(misframed) = extensions.get::<Misframed>() else { return Ok(()) };
    Err(Failure::client(FaultKind::BadRequest, misframed.message()))
}

impl Misframed {
    pub(crate) fn message(self) -> &'static str {
        match self {
            Self::LengthAndCoding => {
                "the request has both `content-length` and `transfer-encoding`; send one of them"
            }
            Self::Lengths => "the request has more than one `content-length`",
            Self::Length => "the `content-length` of the request is no number",
            Self::Coding => "the one `transfer-encoding` that a request may have is `chunked`",
            Self::Chunks => "the chunks of the request's body cannot be read",
            Self::BareLineEnd => "a line of the request's head ends without a carriage return",
        }
    }
}
