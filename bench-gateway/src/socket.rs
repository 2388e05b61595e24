//! A client of Responses over a WebSocket, as little of one as turns need: it masks with zeros, and knows the end of a turn by
//! its last event.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use memchr::memmem;

use crate::answers::Request;

const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Socket {
    stream: BufReader<TcpStream>,
    /// The last event that came.
    event: Vec<u8>,
}

impl Socket {
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(
            stream,
            "GET /v1/responses HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer key\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )?;
        let mut socket = Self { stream: BufReader::new(stream), event: Vec::new() };
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.stream.read_exact(&mut byte)?;
            head.extend(byte);
        }
        ensure!(head.starts_with(b"HTTP/1.1 101"), "{}", String::from_utf8_lossy(&head));
        Ok(socket)
    }

    /// Asks, and reads the answer to its last event.
    pub(crate) fn turn(&mut self, frame: &[u8]) -> Result<()> {
        self.stream.get_mut().write_all(frame)?;
        loop {
            self.read_event()?;
            // The type stands first in every event.
            let start = &self.event[..self.event.len().min(64)];
            let is = |kind: &[u8]| memmem::find(start, kind).is_some();
            if is(b"\"response.completed\"") {
                return Ok(());
            }
            let is_wrong = is(b"\"error\"") || is(b"\"response.failed\"");
            ensure!(!is_wrong, "{}", String::from_utf8_lossy(&self.event));
        }
    }

    fn read_event(&mut self) -> Result<()> {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head)?;
        ensure!(head[0] == 0x81, "expected a text in one frame, found {:#x}", head[0]);
        let length = match head[1] {
            126 => u64::from(u16::from_be_bytes(self.read_array()?)),
            127 => u64::from_be_bytes(self.read_array()?),
            short => u64::from(short),
        };
        self.event.resize(usize::try_from(length).context("a frame of that length")?, 0);
        Ok(self.stream.read_exact(&mut self.event)?)
    }

    fn read_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

/// The same request as a frame.
pub(crate) fn frame(request: &Request) -> Vec<u8> {
    let body = &request.bytes[request.bytes.len() - request.body_bytes + 1..];
    let text = [&b"{\"type\":\"response.create\","[..], body].concat();
    let mut frame = vec![0x81];
    match u16::try_from(text.len()) {
        Ok(length) if length < 126 => frame.push(0x80 | text.len() as u8),
        Ok(length) => {
            frame.push(0x80 | 126);
            frame.extend(length.to_be_bytes());
        }
        Err(_) => {
            frame.push(0x80 | 127);
            frame.extend((text.len() as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(text);
    frame
}
