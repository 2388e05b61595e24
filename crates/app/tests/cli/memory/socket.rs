//! A WebSocket, frame by frame: how much of a message has been sent is up to the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use super::gateway::Gateway;

/// A socket of a client.
pub(crate) struct Socket(BufReader<TcpStream>);

const HANDSHAKE: &str = "GET /v1/responses HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

impl Socket {
    pub(crate) fn open(gateway: &Gateway) -> Self {
        let mut stream = gateway.connect();
        stream.write_all(HANDSHAKE.as_bytes()).unwrap();
        let mut reader = BufReader::new(stream);
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 101"), "{line}");
        while line != "\r\n" {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        Self(reader)
    }

    /// Says that a text of so many bytes will come, whose mask changes nothing.
    pub(crate) fn begin(self, length: usize) -> TcpStream {
        let mut stream = self.0.into_inner();
        stream.write_all(&head(length)).unwrap();
        stream
    }

    pub(crate) fn send(&mut self, text: &[u8]) {
        let stream = self.0.get_mut();
        stream.write_all(&head(text.len())).unwrap();
        stream.write_all(text).unwrap();
    }

    /// The first frame that has a word in it.
    pub(crate) fn read_until(&mut self, word: &str) -> String {
        loop {
            let frame = self.read();
            if frame.contains(word) {
                return frame;
            }
        }
    }

    fn read(&mut self) -> String {
        let mut head = [0; 2];
        self.0.read_exact(&mut head).unwrap();
        let length = match head[1] {
            126 => self.number(2),
            127 => self.number(8),
            length => u64::from(length),
        };
        let mut text = String::new();
        self.0.by_ref().take(length).read_to_string(&mut text).unwrap();
        text
    }

    fn number(&mut self, bytes: usize) -> u64 {
        let mut number = vec![0; bytes];
        self.0.read_exact(&mut number).unwrap();
        number.iter().fold(0, |all, byte| all << 8 | u64::from(*byte))
    }
}

fn head(length: usize) -> Vec<u8> {
    let mut head = vec![0x81, 0x80 | 127];
    head.extend((length as u64).to_be_bytes());
    head.extend([0; 4]);
    head
}
