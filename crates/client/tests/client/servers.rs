//! Servers to ask: the simulators, one that answers by a script, and a gateway. Each stops with its test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use sabir_backend::http::Proxies;
use sabir_backend::sim;
use sabir_gateway::server::{Server, Stop};
use sabir_gateway::{Gateway, config};

/// No step of a test takes longer.
const PATIENCE: Duration = Duration::from_secs(20);

/// The simulators of the four APIs.
pub(crate) struct Simulators {
    pub(crate) address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Simulators {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            tokio::runtime::LocalRuntime::new().unwrap().block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    _ = sim::Server::default().serve(listener) => {}
                    _ = stopped => {}
                }
            });
        });
        Self { address, stop: Some(stop) }
    }

    /// The base URL of a protocol's API.
    pub(crate) fn url(&self, protocol: sabir_client::Protocol) -> String {
        let root = match protocol.as_str().split('-').next() {
            Some("openai") => "openai/v1",
            Some("anthropic") => "anthropic",
            _ => "gemini",
        };
        format!("http://{}/{root}", self.address)
    }
}

impl Drop for Simulators {
    fn drop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }
}

/// A server that answers each request with the next of its answers, and keeps what it was sent.
pub(crate) struct Scripted {
    pub(crate) url: String,
    requests: mpsc::Receiver<Request>,
    thread: Option<JoinHandle<()>>,
}

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl Scripted {
    /// A server with these answers: heads and bodies as they are.
    pub(crate) fn start(answers: Vec<Vec<u8>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(PATIENCE)).unwrap();
                let request = read(&mut BufReader::new(&stream));
                let _ = sender.send(request);
                let _ = stream.write_all(&answer);
            }
        });
        Self { url, requests, thread: Some(thread) }
    }

    /// A server with one answer of JSON.
    pub(crate) fn json(body: &str) -> Self {
        Self::start(vec![json(200, body)])
    }

    /// The next request that came.
    pub(crate) fn request(&self) -> Request {
        self.requests.recv_timeout(PATIENCE).unwrap()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = self.thread.take().map(JoinHandle::join);
        }
    }
}

/// A whole answer.
pub(crate) fn json(status: u16, body: &str) -> Vec<u8> {
    answer(&format!("HTTP/1.1 {status} X\r\ncontent-type: application/json"), body.as_bytes())
}

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("{head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

fn read(reader: &mut BufReader<&std::net::TcpStream>) -> Request {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let mut headers = Vec::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).unwrap();
        let Some((name, value)) = header.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    Request { line: line.trim_end().to_owned(), headers, body }
}

/// A gateway with the built-in simulators, which keeps everything in memory.
pub(crate) struct Running {
    pub(crate) url: String,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    pub(crate) fn start(toml: &str) -> Self {
        let toml = format!(
            "listen = \"127.0.0.1:0\"\nenv_providers = false\n{toml}\n[store]\nurl = \"memory:\"\n"
        );
        let config = config::parse(&toml, Path::new("sabir.toml"), &|_| None)
            .unwrap_or_else(|problems| panic!("{problems}"));
        let server =
            Server::bind(Gateway::open(config, None).unwrap(), Proxies::default()).unwrap();
        let url = format!("http://{}", server.address());
        let stop = server.stop_handle();
        let thread = Some(std::thread::spawn(move || server.run_until_stopped().unwrap()));
        Self { url, stop, thread }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
