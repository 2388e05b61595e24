//! Frames of text on their way to a client, one behind the other as they are written. A server masks nothing, so that a frame is
//! its length and its text; the library that reads frames would keep room for all that was ever written at once.

/// The first byte of a text in one frame.
const TEXT: u8 = 0x81;

#[derive(Debug, Default)]
pub(super) struct Frames(Vec<u8>);

impl Frames {
    /// One frame.
    pub(super) fn of(text: &str) -> Self {
        let mut frames = Self::default();
        frames.push(text);
        frames
    }

    pub(super) fn push(&mut self, text: &str) {
        let bytes = &mut self.0;
        bytes.push(TEXT);
        match text.len() {
            length @ 0..126 => bytes.push(length as u8),
            length @ 126..=0xffff => {
                bytes.push(126);
                bytes.extend((length as u16).to_be_bytes());
            }
            length => {
                bytes.push(127);
                bytes.extend((length as u64).to_be_bytes());
            }
        }
        bytes.extend(text.as_bytes());
    }

    /// These and others behind them.
    pub(super) fn append(&mut self, mut others: Self) {
        match self.is_empty() {
            true => *self = others,
            false => self.0.append(&mut others.0),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
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
            frames.append(Frames::of(text));
        }
        let sent = std::io::Cursor::new(frames.as_bytes().to_vec());
        let mut client = WebSocket::from_raw_socket(sent, Role::Client, None);
        for text in &texts {
            assert_eq!(client.read().unwrap().to_text().unwrap(), text);
        }
    }
}
