//! The incremental parser: any split of the bytes gives the same frames.

use memchr::memchr2;

use crate::error::{Error, ErrorKind, Result};
use crate::limit::FRAME_BYTES_MAX;
use crate::sse::Frame;

/// Parses an event stream from chunks of bytes.
///
/// Accepts line ends of any kind, a byte order mark, comments, fields without a space after the colon and data over
/// several lines. Bytes are read as UTF-8 line by line, never chunk by chunk.
#[derive(Debug)]
pub struct Parser {
    frame_bytes_max: usize,
    /// A line that has begun and not ended.
    line: Vec<u8>,
    event: String,
    has_event: bool,
    data: String,
    has_data: bool,
    begun: bool,
    /// The last byte was a carriage return that ended a line; a line feed now belongs to it.
    after_return: bool,
}

impl Default for Parser {
    fn default() -> Self {
        Self::with_limit(FRAME_BYTES_MAX)
    }
}

impl Parser {
    /// A parser that refuses frames of more bytes.
    pub fn with_limit(frame_bytes_max: usize) -> Self {
        Self {
            frame_bytes_max,
            line: Vec::new(),
            event: String::new(),
            has_event: false,
            data: String::new(),
            has_data: false,
            begun: false,
            after_return: false,
        }
    }

    /// Reads the next bytes and calls `emit` for every frame that they complete.
    pub fn push(
        &mut self,
        mut bytes: &[u8],
        emit: &mut dyn FnMut(Frame<'_>) -> Result<()>,
    ) -> Result<()> {
        while !bytes.is_empty() {
            if std::mem::take(&mut self.after_return) && bytes[0] == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                return self.hold(bytes);
            };
            self.after_return = bytes[end] == b'\r';
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            bytes = rest;
            if self.is_alone(line, rest) {
                self.emit_alone(line, emit)?;
                bytes = &rest[1..];
            } else if self.line.is_empty() {
                self.line(line, emit)?;
            } else {
                self.hold(line)?;
                let line = std::mem::take(&mut self.line);
                self.line(&line, emit)?;
                self.line = line;
                self.line.clear();
            }
        }
        Ok(())
    }

    /// Whether `line` is the whole data of a frame that ends right behind it, as nearly every frame does: then it need not
    /// be copied. With other line ends than a line feed it is read like any line.
    fn is_alone(&self, line: &[u8], rest: &[u8]) -> bool {
        self.begun
            && self.line.is_empty()
            && !self.has_data
            && !self.after_return
            && line.starts_with(b"data:")
            && rest.first() == Some(&b'\n')
    }

    /// Emits a frame whose data is one line of the chunk.
    fn emit_alone(
        &mut self,
        line: &[u8],
        emit: &mut dyn FnMut(Frame<'_>) -> Result<()>,
    ) -> Result<()> {
        let value = &line[b"data:".len()..];
        let value = utf8(value.strip_prefix(b" ").unwrap_or(value))?;
        self.check_length(value.len())?;
        let event = self.has_event.then_some(self.event.as_str());
        let emitted = emit(Frame { event, data: value });
        self.event.clear();
        self.has_event = false;
        emitted
    }

    /// Reads what stands after the last line end: some servers leave out the last blank line.
    pub fn end(mut self, emit: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.line(&line, emit)?;
        }
        self.dispatch(emit)
    }

    /// Whether no frame has begun that has not ended: what came so far can stand alone.
    pub fn is_between_frames(&self) -> bool {
        self.line.is_empty() && !self.has_data && !self.has_event
    }

    fn check_length(&self, bytes: usize) -> Result<()> {
        if bytes <= self.frame_bytes_max { Ok(()) } else { Err(too_long(self.frame_bytes_max)) }
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<()> {
        self.check_length(self.line.len() + bytes.len())?;
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn line(&mut self, line: &[u8], emit: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        let line = self.without_mark(line);
        if line.is_empty() {
            return self.dispatch(emit);
        }
        let line = utf8(line)?;
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => self.add_data(value),
            "event" => {
                self.event.clear();
                self.event.push_str(value);
                self.has_event = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn without_mark<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let first = !std::mem::replace(&mut self.begun, true);
        match line.strip_prefix("\u{feff}".as_bytes()) {
            Some(rest) if first => rest,
            _ => line,
        }
    }

    fn add_data(&mut self, value: &str) -> Result<()> {
        self.check_length(self.data.len() + value.len())?;
        if self.has_data {
            self.data.push('\n');
        }
        self.data.push_str(value);
        self.has_data = true;
        Ok(())
    }

    fn dispatch(&mut self, emit: &mut dyn FnMut(Frame<'_>) -> Result<()>) -> Result<()> {
        let emitted = if self.has_data {
            let event = self.has_event.then_some(self.event.as_str());
            emit(Frame { event, data: &self.data })
        } else {
            Ok(())
        };
        self.event.clear();
        self.data.clear();
        self.has_event = false;
        self.has_data = false;
        emitted
    }
}

fn utf8(line: &[u8]) -> Result<&str> {
    simdutf8::basic::from_utf8(line)
        .map_err(|_| Error::new(ErrorKind::Syntax, "expected UTF-8 in the event stream"))
}

fn too_long(bytes_max: usize) -> Error {
    Error::new(ErrorKind::Limit, format!("expected frames of at most {bytes_max} bytes"))
}
