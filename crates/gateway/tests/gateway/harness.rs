//! A gateway on a free port, providers that follow a script, and a client that sees every byte.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use sabir_backend::Secret;
use sabir_backend::http::Proxies;
use sabir_gateway::config::types::{Config, Store};
use sabir_gateway::server::{Server, ServerError, Stop};
use sabir_gateway::{Gateway, Source, config};

use crate::waiting::wait_for;

/// No step of a test takes longer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A gateway that stops when the test ends.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    /// Starts a gateway with that configuration, on a port of the system's choice.
    pub(crate) fn start(toml: &str) -> Self {
        let toml = format!("listen = \"127.0.0.1:0\"\nenv_providers = false\n{toml}");
        let config = config::parse(&toml, Path::new("sabir.toml"), &|_| None)
            .unwrap_or_else(|problems| panic!("{problems}"));
        Self::serve(Gateway::open(in_memory(config), None).unwrap(), Server::run)
    }

    /// Starts a gateway that reads its configuration from a file when a request asks for it.
    pub(crate) fn start_from(file: &ConfigFile) -> Self {
        let other = file.path.with_file_name("never-written.toml");
        Self::serve(gateway_of(file, other), Server::run_until_stopped)
    }

    /// Starts a gateway that also reads the file when it changes or the process gets a signal.
    pub(crate) fn start_watching(file: &ConfigFile) -> Self {
        Self::serve(gateway_of(file, file.path.clone()), Server::run)
    }

    fn serve(gateway: Arc<Gateway>, run: fn(Server) -> Result<(), ServerError>) -> Self {
        let server = Server::bind(gateway, Proxies::default()).unwrap();
        let address = server.address();
        let stop = server.stop_handle();
        let thread = Some(std::thread::spawn(move || run(server).unwrap()));
        Self { address, stop, thread }
    }

    pub(crate) fn stop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }

    pub(crate) fn stop_soon(&self) {
        self.stop.stop();
    }

    /// Opens a connection and sends a request on it.
    pub(crate) fn send(&self, head: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let host =
            if head.to_lowercase().contains("\r\nhost:") { "" } else { "host: localhost\r\n" };
        let (line, headers) = head.split_once("\r\n").unwrap_or((head, ""));
        let request = format!(
            "{line} HTTP/1.1\r\n{host}content-type: application/json\r\ncontent-length: {}\r\n{headers}\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        BufReader::new(stream)
    }

    pub(crate) fn request(&self, head: &str, body: &str) -> Reply {
        Reply::read(&mut self.send(head, body))
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Reply {
        self.request(&format!("POST {path}"), body)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request(&format!("GET {path}"), "")
    }

    /// Waits until a line of the metrics holds.
    pub(crate) fn wait_for_metric(&self, line: &str) {
        wait_for(|| {
            let metrics = self.get("/metrics").body;
            let holds = metrics.lines().any(|it| it == line);
            holds.then_some(()).ok_or_else(|| format!("never `{line}`:\n{metrics}"))
        });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// A config file in a folder of its own, which goes with it.
pub(crate) struct ConfigFile {
    path: PathBuf,
}

impl ConfigFile {
    pub(crate) fn new(toml: &str) -> Self {
        static FILES: AtomicUsize = AtomicUsize::new(0);
        let number = FILES.fetch_add(1, Relaxed);
        let folder = format!("sabir-reload-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let file = Self { path: folder.join("sabir.toml") };
        file.write(toml);
        file
    }

    /// Puts another file in its place, as editors do.
    pub(crate) fn write(&self, toml: &str) {
        let toml = format!("listen = \"127.0.0.1:0\"\nenv_providers = false\n{toml}");
        let new = self.path.with_extension("new");
        std::fs::write(&new, toml).unwrap();
        std::fs::rename(new, &self.path).unwrap();
    }

    /// Another file beside it.
    pub(crate) fn write_beside(&self, name: &str, text: &str) {
        std::fs::write(self.path.with_file_name(name), text).unwrap();
    }
}

fn gateway_of(file: &ConfigFile, watched: PathBuf) -> Arc<Gateway> {
    let path = file.path.clone();
    let load = move || config::load(Some(&path), &|_| None).map(|it| in_memory(it.config));
    let config = load().unwrap_or_else(|problems| panic!("{problems}"));
    let source = Source { file: watched, load: Box::new(load) };
    Gateway::open(config, Some(source)).unwrap()
}

/// The same configuration, with the store in memory unless the test names one.
fn in_memory(mut config: Config) -> Config {
    if config.store.url == Store::default().url {
        config.store.url = Secret::new("memory:");
    }
    config
}

impl Drop for ConfigFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.path.parent().unwrap());
    }
}

/// An answer as a client read it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn read(reader: &mut BufReader<TcpStream>) -> Self {
        let (status, headers) = read_head(reader);
        let find = |name: &str| headers.iter().find(|(key, _)| key == name).map(|(_, value)| value);
        let body = if find("transfer-encoding").is_some() {
            read_chunked(reader)
        } else {
            let length = find("content-length").map_or(0, |length| length.parse().unwrap());
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            body
        };
        Self { status, headers, body: String::from_utf8(body).unwrap() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

pub(crate) fn read_head(reader: &mut BufReader<TcpStream>) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no status: {line:?}"));
    (status.parse().unwrap(), read_headers(reader))
}

fn read_headers(reader: &mut BufReader<TcpStream>) -> Vec<(String, String)> {
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(": ") else { return headers };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
}

fn read_chunked(reader: &mut BufReader<TcpStream>) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(chunk) = read_chunk(reader) {
        body.extend(chunk);
    }
    body
}

/// The next piece of a chunked body; none at its end.
pub(crate) fn read_chunk(reader: &mut BufReader<TcpStream>) -> Option<Vec<u8>> {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let length = usize::from_str_radix(line.trim_end(), 16).unwrap();
    let mut chunk = vec![0; length + 2];
    reader.read_exact(&mut chunk).unwrap();
    chunk.truncate(length);
    (length > 0).then_some(chunk)
}

/// A provider that answers each request with the next of its scripts; the last one stays.
pub(crate) struct Provider {
    pub(crate) address: SocketAddr,
    received: Arc<Mutex<Vec<Received>>>,
}

/// A request as the provider saw it.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// What a provider does with a request.
#[derive(Clone)]
pub(crate) enum Script {
    /// Sends these bytes and closes.
    Reply(String),
    /// Sends these bytes, then waits until the gateway leaves, and reports that.
    Hold(String, mpsc::Sender<()>),
    /// Sends each piece when the test says so.
    Pieces(Arc<Mutex<mpsc::Receiver<String>>>),
    /// Sends what it makes of the request, and closes.
    Answer(Arc<dyn Fn(&Received) -> String + Send + Sync>),
}

impl Provider {
    pub(crate) fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let received = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&received);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().enumerate() {
                let script = scripts.get(number).or(scripts.last()).cloned();
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || play(stream.unwrap(), script, &seen));
            }
        });
        Self { address, received }
    }

    /// A provider that always answers with this whole body.
    pub(crate) fn whole(body: &str) -> Self {
        Self::start(vec![Script::Reply(json(200, "", body))])
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// This provider in a configuration.
    pub(crate) fn toml(&self, name: &str, protocol: &str) -> String {
        format!(
            "\n[[provider]]\nname = \"{name}\"\nprotocol = \"{protocol}\"\nbase_url = \"http://{}/v1\"\n\
             api_key = {{ value = \"sk-upstream\" }}\n",
            self.address
        )
    }
}

fn play(stream: TcpStream, script: Option<Script>, seen: &Mutex<Vec<Received>>) {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let headers = read_headers(&mut reader);
    let length = headers.iter().find(|(key, _)| key == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    let body = String::from_utf8(body).unwrap();
    let received = Received { line: line.trim_end().to_owned(), headers, body };
    seen.lock().unwrap().push(received.clone());
    let mut stream = reader.into_inner();
    match script {
        None => {}
        Some(Script::Reply(bytes)) => {
            let _ = stream.write_all(bytes.as_bytes());
        }
        Some(Script::Answer(answer)) => {
            let _ = stream.write_all(answer(&received).as_bytes());
        }
        Some(Script::Hold(bytes, left)) => {
            let _ = stream.write_all(bytes.as_bytes());
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            if matches!(stream.read(&mut [0]), Ok(0)) {
                let _ = left.send(());
            }
        }
        Some(Script::Pieces(pieces)) => {
            while let Ok(piece) = pieces.lock().unwrap().recv() {
                if stream.write_all(piece.as_bytes()).is_err() {
                    return;
                }
            }
        }
    }
}

/// A whole answer with its head; `headers` end with a line end each.
pub(crate) fn json(status: u16, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\
         connection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The head of a stream and its first frames; it ends with the connection.
pub(crate) fn sse(frames: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{frames}"
    )
}

/// A Chat answer that says `text`.
pub(crate) fn chat_answer(text: &str) -> String {
    format!(
        r#"{{"id":"c1","object":"chat.completion","created":1,"model":"m","choices":[{{"index":0,"message":{{"role":"assistant","content":"{text}"}},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}}}"#
    )
}

/// A chunk of a Chat stream that says `text`.
pub(crate) fn chat_chunk(text: &str) -> String {
    format!(
        "data: {{\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\"{text}\"}},\"finish_reason\":null}}]}}\n\n"
    )
}

/// The end of a Chat stream.
pub(crate) const CHAT_END: &str = "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2,\"total_tokens\":5}}\n\ndata: [DONE]\n\n";

/// A Messages request for the model.
pub(crate) fn messages(model: &str, stream: bool) -> String {
    format!(
        r#"{{"model":"{model}","max_tokens":50,"stream":{stream},"messages":[{{"role":"user","content":"hello"}}]}}"#
    )
}

/// A Chat request for the model.
pub(crate) fn chat(model: &str, stream: bool) -> String {
    format!(
        r#"{{"model":"{model}","stream":{stream},"messages":[{{"role":"user","content":"hello"}}]}}"#
    )
}
