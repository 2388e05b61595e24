//! The chunked transfer coding, taken off as the bytes come. Read by its grammar and no other way: whoever reads it more
//! loosely finds another end.

use crate::error::{Error, ErrorKind, Result};

/// How long the line before a chunk may be, and all extensions of a body together.
const LINE_BYTES_MAX: usize = 16 * 1024;
const EXTENSION_BYTES_MAX: usize = 64 * 1024;

/// How many trailers may stand behind the last chunk, and how long they may be together.
const TRAILERS_MAX: usize = 128;
const TRAILER_BYTES_MAX: usize = 64 * 1024;

/// Where in the coding the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// In the hexadecimal length of a chunk, behind so many digits.
    Size {
        digits: u8,
    },
    Extension(Extension),
    /// Between the two bytes that end the line before a chunk.
    SizeEnd,
    Data,
    /// Behind the data of a chunk, before the two bytes that end it.
    DataEnd,
    DataEndLine,
    /// At the beginning of a line behind the last chunk.
    Trailer,
    TrailerName,
    TrailerValue,
    TrailerEnd,
    /// Between the two bytes that end the whole.
    LastEnd,
    Over,
}

/// Where in the extensions of a chunk: `*( BWS ";" BWS name [ BWS "=" BWS ( token / quoted-string ) ] )`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extension {
    /// In white space before `;`.
    BeforeNext,
    /// Behind `;`, before a name.
    BeforeName,
    Name,
    /// In white space behind a name.
    AfterName,
    /// Behind `=`, before a value.
    BeforeValue,
    Token,
    Quoted,
    /// Behind a backslash in quotes.
    Escaped,
    QuoteEnd,
}

/// A body in chunks, read as far as it has come.
#[derive(Debug)]
pub struct Chunked {
    stage: Stage,
    /// What is left of the chunk, or the length so far.
    left: u64,
    line_bytes: usize,
    extension_bytes: usize,
    trailers: usize,
    trailer_bytes: usize,
}

impl Default for Chunked {
    fn default() -> Self {
        Self {
            stage: START,
            left: 0,
            line_bytes: 0,
            extension_bytes: 0,
            trailers: 0,
            trailer_bytes: 0,
        }
    }
}

const START: Stage = Stage::Size { digits: 0 };

impl Chunked {
    /// Reads the next bytes and hands on the data in them; returns how many stand behind the end.
    pub fn push(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(&[u8])) -> Result<usize> {
        while let Some(&byte) = bytes.first() {
            if self.is_over() {
                break;
            }
            if self.stage == Stage::Data {
                let length = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                let (data, rest) = bytes.split_at(length);
                take(data);
                self.left -= length as u64;
                if self.left == 0 {
                    self.stage = Stage::DataEnd;
                }
                bytes = rest;
            } else {
                self.stage = self.step(byte)?;
                bytes = &bytes[1..];
            }
        }
        Ok(bytes.len())
    }

    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    fn step(&mut self, byte: u8) -> Result<Stage> {
        match (self.stage, byte) {
            (Stage::Size { digits }, _) => self.size(digits, byte),
            (Stage::Extension(extension), _) => self.extension(extension, byte),
            (Stage::SizeEnd, b'\n') => Ok(self.sized()),
            (Stage::DataEnd, b'\r') => Ok(Stage::DataEndLine),
            (Stage::DataEndLine, b'\n') => Ok(START),
            (Stage::DataEnd | Stage::DataEndLine, _) => {
                Err(malformed("a chunk does not end where it says"))
            }
            (Stage::Trailer | Stage::TrailerName | Stage::TrailerValue | Stage::TrailerEnd, _) => {
                self.trailer(byte)
            }
            (Stage::LastEnd, b'\n') => Ok(Stage::Over),
            (Stage::SizeEnd | Stage::LastEnd, _) => {
                Err(malformed("a line does not end as lines do"))
            }
            (stage @ (Stage::Data | Stage::Over), _) => Ok(stage),
        }
    }

    /// A byte of the line before a chunk, up to its extensions.
    fn size(&mut self, digits: u8, byte: u8) -> Result<Stage> {
        match byte {
            b'\r' if digits > 0 => Ok(Stage::SizeEnd),
            b';' if digits > 0 => Ok(Stage::Extension(Extension::BeforeName)),
            b' ' | b'\t' if digits > 0 => Ok(Stage::Extension(Extension::BeforeNext)),
            _ => {
                let value = char::from(byte).to_digit(16).filter(|_| digits < 15);
                let value = value.ok_or_else(|| malformed("a chunk's length is no number"))?;
                self.left = self.left * 16 + u64::from(value);
                Ok(Stage::Size { digits: digits + 1 })
            }
        }
    }

    fn extension(&mut self, extension: Extension, byte: u8) -> Result<Stage> {
        self.line_bytes += 1;
        self.extension_bytes += 1;
        if self.line_bytes > LINE_BYTES_MAX || self.extension_bytes > EXTENSION_BYTES_MAX {
            return Err(malformed("its chunk extensions are too long"));
        }
        match (extension.ends_line(), byte) {
            (true, b'\r') => Ok(Stage::SizeEnd),
            _ => match extension.step(byte) {
                Some(next) => Ok(Stage::Extension(next)),
                None => Err(malformed("a chunk extension cannot be read")),
            },
        }
    }

    fn sized(&mut self) -> Stage {
        self.line_bytes = 0;
        if self.left == 0 { Stage::Trailer } else { Stage::Data }
    }

    /// A byte behind the last chunk: `*( name ":" value CRLF ) CRLF`.
    fn trailer(&mut self, byte: u8) -> Result<Stage> {
        self.trailer_bytes += 1;
        if self.trailers > TRAILERS_MAX || self.trailer_bytes > TRAILER_BYTES_MAX {
            return Err(malformed("its trailers are too long"));
        }
        match (self.stage, byte) {
            (Stage::Trailer, b'\r') => Ok(Stage::LastEnd),
            (Stage::Trailer, _) if is_token(byte) => {
                self.trailers += 1;
                Ok(Stage::TrailerName)
            }
            (Stage::TrailerName, _) if is_token(byte) => Ok(Stage::TrailerName),
            (Stage::TrailerName, b':') => Ok(Stage::TrailerValue),
            (Stage::TrailerValue, b'\r') => Ok(Stage::TrailerEnd),
            (Stage::TrailerValue, _) if is_text(byte) => Ok(Stage::TrailerValue),
            (Stage::TrailerEnd, b'\n') => Ok(Stage::Trailer),
            _ => Err(malformed("a trailer cannot be read")),
        }
    }
}

impl Extension {
    /// Whether the line may end here.
    fn ends_line(self) -> bool {
        matches!(self, Self::Name | Self::Token | Self::QuoteEnd)
    }

    /// What follows a byte; none if it may not stand here.
    fn step(self, byte: u8) -> Option<Self> {
        match (self, byte) {
            (Self::Quoted, b'"') => Some(Self::QuoteEnd),
            (Self::Quoted, b'\\') => Some(Self::Escaped),
            (Self::Quoted | Self::Escaped, _) => is_text(byte).then_some(Self::Quoted),
            (Self::BeforeNext, b' ' | b'\t') => Some(Self::BeforeNext),
            (Self::BeforeName, b' ' | b'\t') => Some(Self::BeforeName),
            (Self::Name | Self::AfterName, b' ' | b'\t') => Some(Self::AfterName),
            (Self::BeforeValue, b' ' | b'\t') => Some(Self::BeforeValue),
            (Self::Token | Self::QuoteEnd, b' ' | b'\t') => Some(Self::BeforeNext),
            (Self::Name | Self::AfterName, b'=') => Some(Self::BeforeValue),
            (Self::BeforeValue, b'"') => Some(Self::Quoted),
            (Self::BeforeNext | Self::Name | Self::AfterName, b';')
            | (Self::Token | Self::QuoteEnd, b';') => Some(Self::BeforeName),
            (Self::BeforeName | Self::Name, _) => is_token(byte).then_some(Self::Name),
            (Self::BeforeValue | Self::Token, _) => is_token(byte).then_some(Self::Token),
            (Self::BeforeNext | Self::AfterName | Self::QuoteEnd, _) => None,
        }
    }
}

/// Whether a byte may stand in a token.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Whether a byte may stand in a header's value: no control character but the tab.
fn is_text(byte: u8) -> bool {
    byte == b'\t' || byte >= b' ' && byte != 0x7f
}

fn malformed(detail: &str) -> Error {
    Error::new(ErrorKind::Malformed, format!("the answer is not HTTP: {detail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of a body and how many bytes stand behind it; none if it is refused or has no end.
    fn decode<'p>(pieces: impl IntoIterator<Item = &'p [u8]>) -> Option<(Vec<u8>, usize)> {
        let (mut chunked, mut data, mut behind) = (Chunked::default(), Vec::new(), 0);
        for piece in pieces {
            behind += chunked.push(piece, &mut |bytes| data.extend_from_slice(bytes)).ok()?;
        }
        chunked.is_over().then_some((data, behind))
    }

    #[track_caller]
    fn check(body: &str, expected: Option<&str>) {
        let whole = decode([body.as_bytes()]);
        assert_eq!(whole, decode(body.as_bytes().chunks(1)), "{body:?}");
        let found = whole.map(|(data, _)| String::from_utf8(data).unwrap());
        assert_eq!(found.as_deref(), expected, "{body:?}");
    }

    #[test]
    fn what_the_grammar_has_is_read() {
        for body in [
            "2\r\nhi\r\n0\r\n\r\n",
            "02\r\nhi\r\n000\r\n\r\n",
            "1\r\nh\r\n1;a\r\ni\r\n0;b=c\r\n\r\n",
            "2;a=b;c\r\nhi\r\n0\r\n\r\n",
            "2 ; a = b\t; c=\"d;\\\"\t\"\r\nhi\r\n0\r\n\r\n",
            "2\r\nhi\r\n0\r\nx: y\r\nEtag:\t\"z\"\r\nempty:\r\n\r\n",
            "2\r\nhi\r\n0\r\n\r\nbehind",
        ] {
            check(body, Some("hi"));
        }
        check("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n", Some("01234567890123456789"));
    }

    #[test]
    fn what_the_grammar_has_not_is_refused() {
        for line in [
            "2\n",
            "2\r",
            "\r\n",
            " 2\r\n",
            "2 \r\n",
            "2\t\r\n",
            "+2\r\n",
            "0x2\r\n",
            "2h\r\n",
            "2 2\r\n",
            "2;\r\n",
            "2;;a\r\n",
            "2;a \r\n",
            "2;a=\r\n",
            "2;a=b c\r\n",
            "2;a=b \r\n",
            "2;a=\"b\r\n",
            "2;a=\"b\"c\r\n",
            "2;a=\"\u{1}\"\r\n",
            "2;a\n",
            "2;a\rb\r\n",
            "2,\r\n",
            "2;a=\"\\\r\n",
            "2\r\r\n",
            "0000000000000002\r\n",
            "2; =b\r\n",
        ] {
            check(&format!("{line}hi\r\n0\r\n\r\n"), None);
        }
        for end in [
            "hi\n0\r\n\r\n",
            "hi\r0\r\n\r\n",
            "hi\r\r\n0\r\n\r\n",
            "hi!\r\n0\r\n\r\n",
            "hi\r\n0\n\n",
            "hi\r\n0\r\n\n",
            "hi\r\n0\r\n\r",
            "hi\r\n0\r\nx\r\n\r\n",
            "hi\r\n0\r\n x: y\r\n\r\n",
            "hi\r\n0\r\nx : y\r\n\r\n",
            "hi\r\n0\r\n: y\r\n\r\n",
            "hi\r\n0\r\nx: y\n\r\n",
            "hi\r\n0\r\nx: y\rz\r\n\r\n",
            "hi\r\n0\r\nx: \0\r\n\r\n",
            "hi\r\n0\r\nx: y\r\n folded\r\n\r\n",
        ] {
            check(&format!("2\r\n{end}"), None);
        }
    }

    #[test]
    fn nothing_around_the_data_is_endless() {
        let refuses = |start: &str, again: &str| {
            let mut chunked = Chunked::default();
            chunked.push(start.as_bytes(), &mut |_| {}).unwrap();
            let mut pushes = 0..100_000;
            pushes.any(|_| chunked.push(again.as_bytes(), &mut |_| {}).is_err())
        };
        assert!(refuses("0\r\n", "a: b\r\n"), "trailers");
        assert!(refuses("0\r\n", "a"), "a trailer's name");
        assert!(refuses("0\r\na: ", "b"), "a trailer's value");
        assert!(refuses("1", ";a=b"), "the extensions of a chunk");
        assert!(refuses("", "1;a=b\r\nx\r\n"), "the extensions of all chunks");
        assert!(refuses("", "0"), "a length");
        assert!(!refuses("", "1\r\nx\r\n"), "chunks may go on for as long as they bring something");
    }
}
