//! The head of an answer: its status, its headers, and how its body is framed.

use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::error::{Error, ErrorKind, Result};
use crate::http::chunked::Chunked;

/// How many headers an answer may have, and how long its head may be; for all interim answers together the same.
const HEADERS_MAX: usize = 128;
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// How many interim answers (1xx) may come before the answer itself.
const INTERIM_MAX: usize = 32;

#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    /// Whether the server says that the connection stays open: HTTP/1.1 without `close` in any `connection` header.
    pub(super) is_persistent: bool,
}

/// How the end of a body is found.
#[derive(Debug)]
pub(super) enum Framing {
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

/// The bytes of an answer until its head is complete.
#[derive(Debug, Default)]
pub(super) struct Receiver {
    received: Vec<u8>,
    /// How many interim answers came, and how long their heads were together.
    interim: usize,
    interim_bytes: usize,
}

impl Receiver {
    /// Takes the next bytes; returns the head, once it is complete, and what stands behind it.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<Option<(Head, Bytes)>> {
        let is_first = self.received.is_empty();
        self.received.extend_from_slice(bytes);
        // Every head ends with a line: without a new line end there is nothing to parse again, however slowly bytes come.
        let is_line = is_first || memchr::memchr(b'\n', bytes).is_some();
        if !is_line && self.received.len() < HEAD_BYTES_MAX {
            return Ok(None);
        }
        while let Some((head, length)) = Head::parse(&self.received)? {
            if !head.is_interim() {
                return Ok(Some((head, Bytes::copy_from_slice(&self.received[length..]))));
            }
            self.skip_interim(length)?;
        }
        Ok(None)
    }

    /// Whether no byte has come.
    pub(super) fn is_empty(&self) -> bool {
        self.received.is_empty() && self.interim == 0
    }

    pub(super) fn has_interim(&self) -> bool {
        self.interim > 0
    }

    fn skip_interim(&mut self, length: usize) -> Result<()> {
        self.received.drain(..length);
        self.interim += 1;
        self.interim_bytes += length;
        match self.interim > INTERIM_MAX || self.interim_bytes > HEAD_BYTES_MAX {
            true => Err(malformed("it has too many interim answers")),
            false => Ok(()),
        }
    }
}

impl Head {
    /// Reads a head from the start of `bytes`, with its length; none while it is incomplete.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>> {
        // The parser would pass over empty lines, which are the rest of something else.
        if matches!(bytes.first(), Some(b'\r' | b'\n')) {
            return Err(malformed("it begins with an empty line"));
        }
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Response::new(&mut headers);
        match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if has_bare_line_end(&bytes[..length]) => {
                Err(malformed("a line of its head ends without a carriage return"))
            }
            Ok(httparse::Status::Complete(length)) if length <= HEAD_BYTES_MAX => {
                Ok(Some((Self::of(&parsed)?, length)))
            }
            Ok(httparse::Status::Partial) if bytes.len() < HEAD_BYTES_MAX => Ok(None),
            Ok(_) => Err(malformed("its headers are too long")),
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
            let (Ok(name), Ok(value)) = (name, value) else {
                return Err(malformed("it has a header that cannot be read"));
            };
            headers.append(name, value);
        }
        let closes = connection_options(&headers).any(|it| it.eq_ignore_ascii_case(b"close"));
        Ok(Self { status, is_persistent: parsed.version == Some(1) && !closes, headers })
    }

    /// Whether the head states in exactly one way where the body ends, or has nothing to state.
    pub(super) fn is_plainly_framed(&self) -> bool {
        let lengths = self.headers.get_all(CONTENT_LENGTH);
        let is_list = lengths.iter().any(|length| length.as_bytes().contains(&b','));
        let codings = self.headers.get_all(TRANSFER_ENCODING).iter().count();
        let expected = if self.has_no_body() { 0 } else { 1 };
        lengths.iter().count() + codings == expected && !is_list
    }

    /// How long the server says that it keeps an idle connection.
    pub(super) fn keep_alive(&self) -> Option<Duration> {
        let value = self.headers.get("keep-alive")?.to_str().ok()?;
        let seconds = value.split(',').find_map(|it| it.trim().strip_prefix("timeout="))?;
        digits(seconds).map(Duration::from_secs)
    }

    /// Whether the status alone says that no body follows.
    fn has_no_body(&self) -> bool {
        self.status == StatusCode::NO_CONTENT || self.status == StatusCode::NOT_MODIFIED
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
        if self.has_no_body() {
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

/// What every `connection` header says, option by option.
pub fn connection_options(headers: &HeaderMap) -> impl Iterator<Item = &[u8]> {
    let values = headers.get_all(CONNECTION).iter().map(HeaderValue::as_bytes);
    values.flat_map(|value| value.split(|byte| *byte == b',')).map(<[u8]>::trim_ascii)
}

/// Whether a line feed stands without the carriage return before it: other readers take it for no line end.
fn has_bare_line_end(head: &[u8]) -> bool {
    memchr::memchr_iter(b'\n', head).any(|at| at == 0 || head[at - 1] != b'\r')
}

const NO_LENGTH: &str = "its content-length is no number";

/// A number of digits alone: the standard library would also take a sign.
fn digits(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

fn malformed(detail: &str) -> Error {
    Error::new(ErrorKind::Malformed, format!("the answer is not HTTP: {detail}"))
}
