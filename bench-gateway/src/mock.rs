//! A provider that answers at once with bytes made beforehand: as little work as an upstream can be.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use memchr::memmem;
use sabir_wire::Protocol;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::answers;

/// The time between two events of a paced stream.
pub const PACE: Duration = Duration::from_millis(10);
/// How long an answer of [`Mode::Wait`] takes.
pub const WAIT: Duration = Duration::from_millis(50);
/// How long an answer of [`Mode::Hold`] is held back.
pub const HOLD: Duration = Duration::from_secs(2);
/// The time between two events of a slow stream; the first comes at once.
const SLOW_PACE: Duration = Duration::from_secs(60);

const STREAM_HEAD: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-request-id: req_0123456789abcdef\r\ntransfer-encoding: chunked\r\n\r\n";
const STREAM_END: &[u8] = b"0\r\n\r\n";

/// How the mock answers, as the second segment of the path says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Whole,
    /// A whole answer that takes as long as one of a fast model.
    Wait,
    /// A whole answer that is held back, so that requests pile up.
    Hold,
    /// Events one after the other, each in a write of its own.
    Stream,
    /// An event each 10 ms.
    Paced,
    /// Events so far apart that a stream stays open.
    Slow,
}

impl Mode {
    pub const ALL: [Self; 6] =
        [Self::Whole, Self::Wait, Self::Hold, Self::Stream, Self::Paced, Self::Slow];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Wait => "wait",
            Self::Hold => "hold",
            Self::Stream => "stream",
            Self::Paced => "paced",
            Self::Slow => "slow",
        }
    }

    pub fn is_stream(self) -> bool {
        matches!(self, Self::Stream | Self::Paced | Self::Slow)
    }

    fn pause(self) -> Duration {
        match self {
            Self::Wait => WAIT,
            Self::Hold => HOLD,
            Self::Paced => PACE,
            Self::Slow => SLOW_PACE,
            Self::Whole | Self::Stream => Duration::ZERO,
        }
    }
}

/// What the mock says in each protocol, in the order of [`Protocol::ALL`].
struct Answers {
    whole: Vec<Vec<u8>>,
    streams: Vec<Vec<Vec<u8>>>,
}

/// Starts the mock on a thread of its own; it ends with this process.
pub fn start() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").context("the mock cannot listen")?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let answers = Arc::new(Answers {
        whole: Protocol::ALL.into_iter().map(answers::whole).collect(),
        streams: Protocol::ALL.into_iter().map(answers::stream).collect(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    thread::spawn(move || runtime.block_on(accept(listener, answers)));
    Ok(address)
}

async fn accept(listener: TcpListener, answers: Arc<Answers>) {
    let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                let answers = Arc::clone(&answers);
                tokio::spawn(async move { serve(stream, &answers).await });
            }
            Err(_) => sleep(Duration::from_millis(10)).await,
        }
    }
}

async fn serve(mut stream: TcpStream, answers: &Answers) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut received = Vec::with_capacity(8 * 1024);
    loop {
        let (protocol, mode) = read_request(&mut stream, &mut received).await?;
        if mode.is_stream() {
            stream.write_all(STREAM_HEAD).await.ok()?;
            for (index, chunk) in answers.streams[protocol].iter().enumerate() {
                if mode != Mode::Slow || index > 0 {
                    pause(mode).await;
                }
                stream.write_all(chunk).await.ok()?;
            }
            stream.write_all(STREAM_END).await.ok()?;
        } else {
            pause(mode).await;
            stream.write_all(&answers.whole[protocol]).await.ok()?;
        }
    }
}

async fn pause(mode: Mode) {
    let pause = mode.pause();
    if !pause.is_zero() {
        sleep(pause).await;
    }
}

/// Reads a request and forgets its body.
async fn read_request(stream: &mut TcpStream, received: &mut Vec<u8>) -> Option<(usize, Mode)> {
    received.clear();
    let head_bytes = loop {
        if let Some(at) = memmem::find(received, b"\r\n\r\n") {
            break at + 4;
        }
        if stream.read_buf(received).await.ok()? == 0 {
            return None;
        }
    };
    let asked = asked(received)?;
    let mut left = length(&received[..head_bytes]).saturating_sub(received.len() - head_bytes);
    while left > 0 {
        received.clear();
        received.reserve(64 * 1024);
        let came = stream.read_buf(received).await.ok()?;
        if came == 0 {
            return None;
        }
        left = left.saturating_sub(came);
    }
    Some(asked)
}

/// The protocol and the mode that a path begins with.
fn asked(head: &[u8]) -> Option<(usize, Mode)> {
    let line = head.split(|byte| *byte == b'\r').next()?;
    let mut segments = std::str::from_utf8(line).ok()?.split('/').skip(1);
    let protocol = segments.next()?;
    let protocol = Protocol::ALL.iter().position(|it| it.as_str() == protocol)?;
    let mode = segments.next()?.split(' ').next()?;
    let mode = Mode::ALL.into_iter().find(|it| it.as_str() == mode)?;
    Some((protocol, mode))
}

fn length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let value = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    value.and_then(|value| value.trim().parse().ok()).unwrap_or_default()
}
