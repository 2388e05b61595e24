//! The chunked transfer coding, taken off as the bytes come.

use crate::error::Error;
use crate::error::ErrorKind;
use crate::error::Result;

/// Chunk extensions and trailers are read over; this bounds how long they may be.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// Where in the coding the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// In the hexadecimal length, or in an extension behind it.
    Size {
        in_extension: bool,
        digits: u8,
    },
    Data,
    /// Behind the data of a chunk, before its line end.
    DataEnd,
    /// In the lines behind the last chunk; whether anything has come on this one.
    Trailer {
        is_empty: bool,
    },
    Over,
}

#[derive(Debug)]
pub(super) struct Chunked {
    stage: Stage,
    /// What is left of the chunk, or the length so far.
    left: u64,
    line_bytes: usize,
}

impl Default for Chunked {
    fn default() -> Self {
        Self { stage: START, left: 0, line_bytes: 0 }
    }
}

const START: Stage = Stage::Size { in_extension: false, digits: 0 };

impl Chunked {
    /// Reads the next bytes and hands on the data in them; returns how many stand behind the end.
    pub(super) fn push(&mut self, mut bytes: &[u8], take: &mut dyn FnMut(&[u8])) -> Result<usize> {
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
                self.step(byte)?;
                bytes = &bytes[1..];
            }
        }
        Ok(bytes.len())
    }

    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    fn step(&mut self, byte: u8) -> Result<()> {
        self.line_bytes += 1;
        if self.line_bytes > LINE_BYTES_MAX {
            return Err(malformed("a chunk's line is too long"));
        }
        self.stage = match (self.stage, byte) {
            (Stage::Size { digits, .. }, b'\n') => self.sized(digits)?,
            (Stage::Size { in_extension: false, digits }, b';' | b' ' | b'\t' | b'\r') => {
                Stage::Size { in_extension: true, digits }
            }
            (Stage::Size { in_extension: false, digits }, _) => self.digit(byte, digits)?,
            (Stage::DataEnd, b'\n') => self.next_line(START),
            (Stage::DataEnd, b'\r') => Stage::DataEnd,
            (Stage::DataEnd, _) => return Err(malformed("a chunk is longer than it says")),
            (Stage::Trailer { is_empty: true }, b'\n') => Stage::Over,
            (Stage::Trailer { is_empty: false }, b'\n') => {
                self.next_line(Stage::Trailer { is_empty: true })
            }
            (Stage::Trailer { is_empty }, b'\r') => Stage::Trailer { is_empty },
            (Stage::Trailer { .. }, _) => Stage::Trailer { is_empty: false },
            (stage @ (Stage::Size { in_extension: true, .. } | Stage::Data | Stage::Over), _) => {
                stage
            }
        };
        Ok(())
    }

    fn digit(&mut self, byte: u8, digits: u8) -> Result<Stage> {
        let value = char::from(byte).to_digit(16);
        let Some(value) = value.filter(|_| digits < 15) else {
            return Err(malformed("a chunk's length is no number"));
        };
        self.left = self.left * 16 + u64::from(value);
        Ok(Stage::Size { in_extension: false, digits: digits + 1 })
    }

    fn sized(&mut self, digits: u8) -> Result<Stage> {
        match (digits, self.left) {
            (0, _) => Err(malformed("a chunk has no length")),
            (_, 0) => Ok(self.next_line(Stage::Trailer { is_empty: true })),
            _ => Ok(self.next_line(Stage::Data)),
        }
    }

    fn next_line(&mut self, stage: Stage) -> Stage {
        self.line_bytes = 0;
        stage
    }
}

fn malformed(detail: &str) -> Error {
    Error::new(ErrorKind::Malformed, format!("the answer is not HTTP: {detail}"))
}
