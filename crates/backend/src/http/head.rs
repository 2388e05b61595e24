//! The head of an answer: its status, its headers, and how its body is framed.

use http::HeaderMap;
use http::HeaderName;
use http::HeaderValue;
use http::StatusCode;
use http::header::CONNECTION;
use http::header::CONTENT_LENGTH;
use http::header::TRANSFER_ENCODING;

use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;
use crate::http::chunked::Chunked;

/// How many headers an answer may have, and how long they may be together.
const HEADERS_MAX: usize = 128;
const HEAD_BYTES_MAX: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Whether the connection can serve another request afterwards.
    pub(super) keeps_alive: bool,
}

/// How the end of a body is told.
#[derive(Debug)]
pub(super) enum Framing {
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

impl Head {
    /// Reads a head from the start of `bytes`, with its length; none while it is incomplete.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Response::new(&mut headers);
        match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) => Ok(Some((Self::of(&parsed)?, length))),
            Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => Ok(None),
            Ok(httparse::Status::Partial) => Err(malformed("its headers are too long")),
            Err(error) => Err(malformed(&error.to_string())),
        }
    }

    fn of(parsed: &httparse::Response<'_, '_>) -> Result<Self> {
        let status = parsed.code.and_then(|code| StatusCode::from_u16(code).ok());
        let status = status.ok_or_else(|| malformed("it has no status"))?;
        let mut headers = HeaderMap::with_capacity(parsed.headers.len());
        for header in parsed.headers.iter() {
            let name = HeaderName::from_bytes(header.name.as_bytes());
            let value = HeaderValue::from_bytes(header.value);
            if let (Ok(name), Ok(value)) = (name, value) {
                headers.append(name, value);
            }
        }
        let says = |word: &str| {
            let value = headers.get(CONNECTION).and_then(|value| value.to_str().ok());
            value.is_some_and(|value| {
                value.split(',').any(|option| option.trim().eq_ignore_ascii_case(word))
            })
        };
        let keeps_alive = match parsed.version {
            Some(1) => !says("close"),
            _ => says("keep-alive"),
        };
        Ok(Self { status, headers, keeps_alive })
    }

    /// An answer that only says that another one follows.
    pub(super) fn is_interim(&self) -> bool {
        self.status.is_informational() && self.status != StatusCode::SWITCHING_PROTOCOLS
    }

    /// How the body is framed. What two readers could take for two different lengths is refused: it would let one
    /// answer pass for the beginning of the next.
    pub(super) fn framing(&self) -> Result<Framing> {
        if self.status == StatusCode::SWITCHING_PROTOCOLS {
            return Err(malformed("it switches to a protocol that nobody asked for"));
        }
        let length = self.length()?;
        let codings: Vec<_> = self.headers.get_all(TRANSFER_ENCODING).iter().collect();
        if length.is_some() && !codings.is_empty() {
            return Err(malformed("it has both a content-length and a transfer coding"));
        }
        if self.status == StatusCode::NO_CONTENT || self.status == StatusCode::NOT_MODIFIED {
            return Ok(Framing::Length(0));
        }
        match (codings.as_slice(), length) {
            ([], Some(length)) => Ok(Framing::Length(length)),
            ([], None) => Ok(Framing::UntilClose),
            ([coding], _) if coding.as_bytes().eq_ignore_ascii_case(b"chunked") => {
                Ok(Framing::Chunked(Chunked::default()))
            }
            _ => Err(malformed("its transfer coding is not chunked")),
        }
    }

    /// The one length that all `content-length` headers agree on.
    fn length(&self) -> Result<Option<u64>> {
        let mut agreed = None;
        for header in self.headers.get_all(CONTENT_LENGTH) {
            let text = header.to_str().map_err(|_| malformed(NO_LENGTH))?;
            for length in text.split(',').map(str::trim) {
                let length = digits(length).ok_or_else(|| malformed(NO_LENGTH))?;
                if agreed.is_some_and(|agreed| agreed != length) {
                    return Err(malformed("it has several content-lengths"));
                }
                agreed = Some(length);
            }
        }
        Ok(agreed)
    }
}

const NO_LENGTH: &str = "its content-length is no number";

/// A number of digits alone: the standard library would also take a sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn malformed(detail: &str) -> Error {
    Error::new(ErrorKind::Malformed, format!("the answer is not HTTP: {detail}"))
}
