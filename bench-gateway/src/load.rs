//! Clients that keep their connections and ask again as soon as they are answered.

use std::borrow::Cow;
use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio::task::{JoinSet, LocalSet};

use crate::answers::NUMBER;

/// How long one answer may take; a run with one that takes longer fails.
const ANSWER_MAX: Duration = Duration::from_secs(30);
const BUFFER_BYTES: usize = 16 * 1024;

/// Connections of clients, with the thread's own runtime.
pub struct Clients {
    runtime: Runtime,
    tasks: LocalSet,
    connections: Vec<Client>,
}

/// How long one answer took.
#[derive(Clone, Copy, Debug)]
pub struct Timing {
    /// Until the first byte of its body.
    pub first: Duration,
    pub whole: Duration,
}

impl Clients {
    pub fn connect(address: SocketAddr, count: usize) -> Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let connections = runtime.block_on(async {
            let mut connections = Vec::with_capacity(count);
            for _ in 0..count {
                connections.push(Client::connect(address).await?);
            }
            anyhow::Ok(connections)
        })?;
        Ok(Self { runtime, tasks: LocalSet::new(), connections })
    }

    /// Asks so many times over all connections, each as soon as it is free. A request that has [`NUMBER`] in it has another
    /// one each time.
    pub fn ask(&mut self, request: &[u8], times: usize) -> Result<Vec<Timing>> {
        let left = Rc::new(Cell::new(times));
        let request = Rc::new(Numbered::new(request));
        let connections = std::mem::take(&mut self.connections);
        let asking = async {
            let mut asking = JoinSet::new();
            for mut client in connections {
                let (left, request) = (Rc::clone(&left), Rc::clone(&request));
                asking.spawn_local(async move {
                    let timings = client.ask_while(&left, &request).await?;
                    anyhow::Ok((client, timings))
                });
            }
            let mut timings = Vec::with_capacity(times);
            while let Some(asked) = asking.join_next().await {
                let (client, own) = asked??;
                self.connections.push(client);
                timings.extend(own);
            }
            anyhow::Ok(timings)
        };
        self.tasks.block_on(&self.runtime, asking)
    }

    /// Opens so many more connections, and on each an answer that has begun and goes on.
    pub fn open(&mut self, address: SocketAddr, request: &[u8], count: usize) -> Result<()> {
        self.runtime.block_on(async {
            for _ in 0..count {
                let mut client = Client::connect(address).await?;
                client.send(request).await?;
                client.begin().await?;
                self.connections.push(client);
            }
            Ok(())
        })
    }

    /// One answer with its head, as text.
    pub fn show(&mut self, request: &[u8]) -> Result<String> {
        let client = self.connections.first_mut().context("no connection")?;
        self.runtime.block_on(async {
            client.kept = Some(Vec::new());
            client.answer(request).await?;
            Ok(String::from_utf8_lossy(&client.kept.take().unwrap_or_default()).into_owned())
        })
    }
}

/// A request, and where its number stands.
struct Numbered {
    bytes: Vec<u8>,
    number_at: Option<usize>,
}

/// How many numbers were given.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

impl Numbered {
    fn new(request: &[u8]) -> Self {
        let number_at = memmem::rfind(request, NUMBER.as_bytes());
        Self { bytes: request.to_vec(), number_at }
    }

    fn next(&self) -> Cow<'_, [u8]> {
        let Some(at) = self.number_at else { return Cow::Borrowed(&self.bytes) };
        let number = format!("{:010}", NUMBERS.fetch_add(1, Ordering::Relaxed));
        let mut bytes = self.bytes.clone();
        bytes[at..at + number.len()].copy_from_slice(number.as_bytes());
        Cow::Owned(bytes)
    }
}

struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The head of an answer as far as it has come.
    head: Vec<u8>,
    /// The bytes of an answer, for whoever wants to see one.
    kept: Option<Vec<u8>>,
}

/// Where an answer ends.
enum End {
    Length(usize),
    /// The last bytes that came, in which the end of the chunks would stand.
    Chunks(Vec<u8>),
}

impl End {
    fn push(&mut self, bytes: &[u8]) {
        match self {
            Self::Length(left) => *left = left.saturating_sub(bytes.len()),
            Self::Chunks(last) => {
                let from = bytes.len().saturating_sub(LAST_CHUNK.len());
                last.extend_from_slice(&bytes[from..]);
                last.drain(..last.len().saturating_sub(LAST_CHUNK.len()));
            }
        }
    }

    /// No event of a stream ends like the last chunk does, so this needs no reading of chunks.
    fn is_reached(&self) -> bool {
        match self {
            Self::Length(left) => *left == 0,
            Self::Chunks(last) => last == LAST_CHUNK,
        }
    }
}

const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

impl Client {
    async fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER_BYTES], head: Vec::new(), kept: None })
    }

    async fn ask_while(&mut self, left: &Cell<usize>, request: &Numbered) -> Result<Vec<Timing>> {
        let mut timings = Vec::new();
        while left.get() > 0 {
            left.set(left.get() - 1);
            let request = request.next();
            let answer = tokio::time::timeout(ANSWER_MAX, self.answer(&request));
            timings.push(answer.await.context("no answer in time")??);
        }
        Ok(timings)
    }

    async fn answer(&mut self, request: &[u8]) -> Result<Timing> {
        let began = Instant::now();
        self.send(request).await?;
        let mut end = self.begin().await?;
        let first = began.elapsed();
        while !end.is_reached() {
            let came = self.read().await?;
            end.push(&self.buffer[..came]);
        }
        Ok(Timing { first, whole: began.elapsed() })
    }

    async fn send(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(request).await?)
    }

    /// Reads as far as the first byte of the body.
    async fn begin(&mut self) -> Result<End> {
        self.head.clear();
        loop {
            let came = self.read().await?;
            self.head.extend_from_slice(&self.buffer[..came]);
            let Some(at) = memmem::find(&self.head, b"\r\n\r\n") else { continue };
            let (head, body) = self.head.split_at(at + 4);
            if body.is_empty() {
                continue;
            }
            let mut end = end_of(head, body)?;
            end.push(body);
            return Ok(end);
        }
    }

    async fn read(&mut self) -> Result<usize> {
        let came = self.stream.read(&mut self.buffer).await?;
        ensure!(came > 0, "the connection closed inside an answer");
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(&self.buffer[..came]);
        }
        Ok(came)
    }
}

fn end_of(head: &[u8], body: &[u8]) -> Result<End> {
    if !head.starts_with(b"HTTP/1.1 200") {
        bail!("{}{}", String::from_utf8_lossy(head), String::from_utf8_lossy(body));
    }
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    match length {
        Some(length) => Ok(End::Length(length.trim().parse()?)),
        None => Ok(End::Chunks(Vec::new())),
    }
}
