//! Frames of text on their way to a client, one behind the other as they are written. A server masks nothing, so that a frame is
//! its length and its text; the library that reads frames would keep room for all that was ever written at once.

use std::fmt;

/// The first byte of a text in one frame.
const TEXT: u8 = 0x81;

/// The longest head of a frame that nobody masks.
const HEAD_BYTES_MAX: usize = 10;

#[derive(Default)]
pub(super) struct Frames {
    bytes: Vec<u8>,
    /// How many of them were sent.
    sent: usize,
}

impl Frames {
    /// One frame.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut frames = Self::with_capacity(text.len() + HEAD_BYTES_MAX);
        frames.push(text);
        frames
    }

    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), sent: 0 }
    }

    /// Adds a frame of this text, which is UTF-8.
    pub(super) fn push(&mut self, text: &[u8]) {
        let bytes = &mut self.bytes;
        match text.len() {
            length @ 0..126 => bytes.extend_from_slice(&[TEXT, length as u8]),
            length @ 126..=0xffff => {
                let [high, low] = (length as u16).to_be_bytes();
                bytes.extend_from_slice(&[TEXT, 126, high, low]);
            }
            length => {
                bytes.extend_from_slice(&[TEXT, 127]);
                bytes.extend_from_slice(&(length as u64).to_be_bytes());
            }
        }
        bytes.extend_from_slice(text);
    }

    /// These and others behind them.
    pub(super) fn append(&mut self, others: Self) {
        match self.is_empty() {
            true => *self = others,
            false => self.bytes.extend_from_slice(others.as_bytes()),
        }
    }

    /// So many of the bytes were sent.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.sent += bytes;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.as_bytes().is_empty()
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }
}

/// Content is nobody's business but the client's.
impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Frames({} bytes)", self.as_bytes().len())
    }
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::tungstenite::protocol::{Role, WebSocket};

    use super::*;

    /// What a client reads that is not of this house.
    #[test]
    fn frames_of_every_length_are_read_as_they_were_written() {
        let texts: Vec<String> =
            [0, 1, 125, 126, 127, 65_535, 65_536, 70_001].map(|length| "ü".repeat(length)).into();
        let mut frames = Frames::default();
        for text in &texts {
            frames.append(Frames::of(text.as_bytes()));
        }
        let sent = std::io::Cursor::new(frames.as_bytes().to_vec());
        let mut client = WebSocket::from_raw_socket(sent, Role::Client, None);
        for text in &texts {
            assert_eq!(client.read().unwrap().to_text().unwrap(), text);
        }
    }
}
