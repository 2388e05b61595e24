//! One request over one connection, and as much of its answer as arrived before whoever serves it died.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

/// Longer than any answer of the simulators takes.
const PATIENCE: Duration = Duration::from_secs(20);

pub(super) struct Request<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    pub(super) conversation: Option<&'a str>,
    pub(super) body: Option<&'a Value>,
}

/// What arrived of an answer.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: String,
    /// Whether the body arrived to its end.
    pub(super) is_whole: bool,
}

impl Reply {
    pub(super) fn json(&self) -> Result<Value> {
        serde_json::from_str(&self.body).with_context(|| format!("no JSON: {}", self.body))
    }
}

pub(super) fn get(address: SocketAddr, path: &str) -> Reply {
    send(address, &Request { method: "GET", path, conversation: None, body: None })
}

/// Sends a request. An answer that breaks off is what arrived of it; status 0 if nothing did.
pub(super) fn send(address: SocketAddr, request: &Request<'_>) -> Reply {
    let mut reply = Reply::default();
    // Whatever breaks, what arrived before stays.
    let _ = exchange(address, request, &mut reply);
    reply
}

fn exchange(address: SocketAddr, request: &Request<'_>, reply: &mut Reply) -> std::io::Result<()> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    stream.write_all(head_and_body(address, request).as_bytes())?;
    let mut reader = BufReader::new(stream);
    let head = read_head(&mut reader)?;
    reply.status = head.status;
    let mut bytes = Vec::new();
    let ended = match head.length {
        Some(length) => read_some(&mut reader, length, &mut bytes),
        None => read_chunks(&mut reader, &mut bytes),
    };
    // Gemini ends the lines of its events otherwise.
    reply.body = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    reply.is_whole = ended.is_ok();
    ended
}

fn head_and_body(address: SocketAddr, request: &Request<'_>) -> String {
    let body = request.body.map(Value::to_string).unwrap_or_default();
    let conversation = request.conversation.map(|id| format!("sabir-conversation: {id}\r\n"));
    format!(
        "{} {} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-type: application/json\r\n{}content-length: {}\r\n\r\n{body}",
        request.method,
        request.path,
        conversation.unwrap_or_default(),
        body.len()
    )
}

struct Head {
    status: u16,
    /// None if the body comes in chunks.
    length: Option<usize>,
}

fn read_head(reader: &mut impl BufRead) -> std::io::Result<Head> {
    let first = read_line(reader)?;
    let status = first.split(' ').nth(1).and_then(|it| it.parse().ok()).ok_or_else(broken)?;
    let mut head = Head { status, length: None };
    loop {
        let line = read_line(reader)?.to_ascii_lowercase();
        if line.is_empty() {
            return Ok(head);
        }
        if let Some(length) = line.strip_prefix("content-length:") {
            head.length = Some(length.trim().parse().map_err(|_| broken())?);
        }
    }
}

fn read_line(reader: &mut impl BufRead) -> std::io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    line.strip_suffix("\r\n").map(str::to_owned).ok_or_else(broken)
}

/// Reads so many bytes, and keeps those that came before a break.
fn read_some(reader: &mut impl Read, count: usize, out: &mut Vec<u8>) -> std::io::Result<()> {
    let before = out.len();
    reader.take(count as u64).read_to_end(out)?;
    if out.len() - before == count { Ok(()) } else { Err(broken()) }
}

fn read_chunks(reader: &mut impl BufRead, out: &mut Vec<u8>) -> std::io::Result<()> {
    loop {
        let line = read_line(reader)?;
        let length = usize::from_str_radix(line.trim(), 16).map_err(|_| broken())?;
        read_some(reader, length, out)?;
        read_line(reader)?;
        if length == 0 {
            return Ok(());
        }
    }
}

fn broken() -> std::io::Error {
    std::io::ErrorKind::UnexpectedEof.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_arrives_before_a_break_is_kept() {
        let mut out = Vec::new();
        assert!(read_chunks(&mut &b"3\r\nabc\r\n5\r\nde"[..], &mut out).is_err());
        assert_eq!(out, b"abcde");
        out.clear();
        assert!(read_chunks(&mut &b"3\r\nabc\r\n0\r\n\r\n"[..], &mut out).is_ok());
        assert_eq!(out, b"abc");
        assert!(read_some(&mut &b"ab"[..], 3, &mut out).is_err());
    }
}
