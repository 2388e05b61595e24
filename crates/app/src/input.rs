//! Reading what the user gives, and saying what is wrong with it.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::{fmt, io};

use anyhow::Result;
use sabir_wire::ErrorKind;

use crate::arguments::{Kind, Subject};
use crate::output::{advised, printable};

/// The largest body that is read. Streams have no such limit: they are never held whole.
pub(crate) const INPUT_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Where the input comes from.
pub(crate) enum Input {
    Stdin,
    File(PathBuf),
}

/// The input cannot be read as what it was said to be.
#[derive(Debug)]
pub(crate) struct BadInput {
    pub(crate) message: String,
    /// JSON pointer of what is wrong; empty for the whole input.
    pub(crate) pointer: String,
    /// Which input it was and what it was taken for.
    taken_for: String,
    advice: &'static str,
}

impl Input {
    /// Opens the input. Who types it in is told so, because a silent program looks like a hanging one.
    pub(crate) fn open(&self) -> Result<Box<dyn Read>> {
        match self {
            Self::Stdin => {
                let stdin = io::stdin();
                if stdin.is_terminal() && io::stderr().is_terminal() {
                    eprintln!("reading standard input; end it with Ctrl-D");
                }
                Ok(Box::new(stdin.lock()))
            }
            Self::File(path) => {
                let file = File::open(path).map_err(|error| self.unreadable(error))?;
                Ok(Box::new(file))
            }
        }
    }

    /// Reads the whole input as text.
    pub(crate) fn text(&self) -> Result<String> {
        let mut text = String::new();
        let mut limited = self.open()?.take(INPUT_BYTES_MAX + 1);
        limited.read_to_string(&mut text).map_err(|error| self.unreadable(error))?;
        if text.len() as u64 > INPUT_BYTES_MAX {
            anyhow::bail!("{self} is larger than {INPUT_BYTES_MAX} bytes");
        }
        Ok(text)
    }

    pub(crate) fn unreadable(&self, error: io::Error) -> anyhow::Error {
        let advice = match error.kind() {
            io::ErrorKind::InvalidData => NOT_UTF8,
            _ => OTHER_FILE,
        };
        advised(anyhow::Error::from(error).context(format!("cannot read {self}")), advice)
    }

    /// Reads the whole input; `bad` makes an error of a message and an advice. `empty` is the one for an empty input.
    fn read(
        &self,
        empty: &'static str,
        bad: impl Fn(String, &'static str) -> BadInput,
    ) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut limited = self.open()?.take(INPUT_BYTES_MAX + 1);
        limited.read_to_end(&mut bytes).map_err(|error| self.unreadable(error))?;
        if bytes.len() as u64 > INPUT_BYTES_MAX {
            let message = format!("the input is larger than {INPUT_BYTES_MAX} bytes");
            return Err(bad(message, TOO_LARGE).into());
        }
        let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
        if text.trim_ascii().is_empty() {
            return Err(bad(IS_EMPTY.to_owned(), empty).into());
        }
        Ok(bytes)
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Subject {
    /// Reads the whole body.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        self.input().read(EMPTY, |message, advice| self.bad(message, advice))
    }

    /// Says what `error` means for this input, of which `bytes` is the beginning or the whole.
    pub(crate) fn explain(&self, error: &sabir_wire::Error, bytes: &[u8]) -> BadInput {
        let advice = advice(error.kind(), self.kind, bytes);
        self.bad(error.message().to_owned(), advice).at(error.pointer())
    }

    pub(crate) fn empty(&self) -> BadInput {
        self.bad(IS_EMPTY.to_owned(), EMPTY)
    }

    /// A stream in which no event was found.
    pub(crate) fn without_events(&self) -> BadInput {
        self.bad("expected server-sent events, found none".to_owned(), NO_EVENTS)
    }

    fn bad(&self, message: String, advice: &'static str) -> BadInput {
        let Self { from, kind, .. } = self;
        let taken_for = format!("{}, read as {} of {}", self.input(), kind.phrase(), from.as_str());
        BadInput { message, pointer: String::new(), taken_for, advice }
    }
}

/// JSON of Sabir's own on standard input.
pub(crate) struct Document {
    /// What it is, with its article.
    pub(crate) phrase: &'static str,
}

impl Document {
    /// Reads the whole document.
    pub(crate) fn read(&self) -> Result<Vec<u8>> {
        Input::Stdin.read(EMPTY_DOCUMENT, |message, advice| self.bad(message, advice))
    }

    /// Says what `error` means for this document.
    pub(crate) fn explain(&self, error: &sabir_wire::Error, bytes: &[u8]) -> BadInput {
        let advice = match error.kind() {
            ErrorKind::Syntax if std::str::from_utf8(bytes).is_err() => NOT_UTF8,
            ErrorKind::Syntax => NOT_JSON,
            _ => WRONG_DOCUMENT,
        };
        self.bad(error.message().to_owned(), advice).at(error.pointer())
    }

    /// Says that what stands at `pointer` is not as it must be.
    pub(crate) fn wrong(&self, message: &str, pointer: &str) -> BadInput {
        self.bad(message.to_owned(), WRONG_DOCUMENT).at(pointer)
    }

    fn bad(&self, message: String, advice: &'static str) -> BadInput {
        let taken_for = format!("{}, read as {}", Input::Stdin, self.phrase);
        BadInput { message, pointer: String::new(), taken_for, advice }
    }
}

impl BadInput {
    fn at(self, pointer: &str) -> Self {
        Self { pointer: pointer.to_owned(), ..self }
    }
}

const IS_EMPTY: &str = "the input is empty";
const TOO_LARGE: &str = "cut it into smaller inputs";
const EMPTY: &str = "name a FILE, or pipe the input in";
const NO_EVENTS: &str =
    "a stream has lines that begin with `data:`; for a whole answer, use --kind response";
const IS_STREAM: &str = "this looks like server-sent events; use --kind stream";
const OTHER_FILE: &str = "name a file that can be read, or `-` for standard input";
const NOT_UTF8: &str = "write the input as UTF-8";
const NOT_JSON: &str = "mend the JSON there; the input must be one JSON value and nothing else";
const BAD_FRAME: &str =
    "mend the frame there; a place in a stream begins with the frame's number, from 0";
const WRONG: &str =
    "mend the input there, or name its protocol with --from and what it is with --kind";

const EMPTY_DOCUMENT: &str = "pipe the input in";
const WRONG_DOCUMENT: &str = "mend the input there";

/// What to do next.
fn advice(kind: ErrorKind, taken_for: Kind, bytes: &[u8]) -> &'static str {
    let start = bytes.trim_ascii_start();
    let is_stream = [b"data:".as_slice(), b"event:"].iter().any(|field| start.starts_with(field));
    match kind {
        ErrorKind::Syntax if is_stream && taken_for != Kind::Stream => IS_STREAM,
        ErrorKind::Syntax if std::str::from_utf8(bytes).is_err() => NOT_UTF8,
        ErrorKind::Syntax if taken_for == Kind::Stream => BAD_FRAME,
        ErrorKind::Syntax => NOT_JSON,
        _ => WRONG,
    }
}

impl fmt::Display for BadInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, pointer, taken_for, advice } = self;
        f.write_str(&printable(message))?;
        if !pointer.is_empty() {
            write!(f, "\n  at: {}", printable(pointer))?;
        }
        write!(f, "\n  in: {}\n  try: {advice}", printable(taken_for))
    }
}

impl std::error::Error for BadInput {}
