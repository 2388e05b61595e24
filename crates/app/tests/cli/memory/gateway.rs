//! A gateway in a process of its own, and what it takes of memory.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use sabir_wire::Protocol;

use super::bodies::Body;
use super::provider::Upstream;
use super::{bodies, provider};
use crate::folder::Folder;
use crate::waiting::PATIENCE;

/// A gateway with one provider, ended with the test.
pub(crate) struct Gateway {
    process: Child,
    address: String,
    _folder: Folder,
}

impl Gateway {
    pub(crate) fn start(protocol: Protocol, upstream: Upstream) -> Self {
        Self::configured(&configuration(protocol, upstream))
    }

    /// A gateway with a provider and limits of its own.
    pub(crate) fn limited(protocol: Protocol, upstream: Upstream, limits: &str) -> Self {
        Self::configured(&format!("{}[limits]\n{limits}\n", configuration(protocol, upstream)))
    }

    fn configured(configuration: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let folder = Folder::new(&format!("memory-{}", NUMBER.fetch_add(1, Relaxed)));
        let folder = folder.with("sabir.toml", configuration);
        let binary =
            std::env::var("SABIR_BINARY").unwrap_or(env!("CARGO_BIN_EXE_sabir").to_owned());
        let mut command = Command::new(binary);
        command.args(["serve", "--config", "sabir.toml"]).current_dir(folder.path());
        command.env_clear().env("SABIR_DATA_DIR", folder.path());
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut banner = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut banner).unwrap();
        let address = banner.trim().rsplit('/').next().unwrap().to_owned();
        Self { process, address, _folder: folder }
    }

    /// What it takes once it has done everything once.
    pub(crate) fn rest(&self, client: Protocol) -> usize {
        for _ in 0..4 {
            let reply = self.post(client, "", bodies::small(client).as_bytes());
            assert!(reply.starts_with("HTTP/1.0 200"), "{reply}");
        }
        self.resident_bytes()
    }

    /// Asks and says the status.
    pub(crate) fn ask(&self, body: &Body) -> u16 {
        let headers = if body.is_packed { "content-encoding: gzip\r\n" } else { "" };
        let reply = self.post(body.protocol, headers, &body.bytes);
        reply[9..12].parse().unwrap()
    }

    fn post(&self, client: Protocol, headers: &str, body: &[u8]) -> String {
        self.post_to(bodies::path(client), headers, body)
    }

    /// Sends a body to a path, and says what came back.
    pub(crate) fn post_to(&self, path: &str, headers: &str, body: &[u8]) -> String {
        let mut stream = self.begin(path, headers, body.len());
        stream.write_all(body).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        reply
    }

    /// Says that a body of so many bytes will come.
    pub(crate) fn begin(&self, path: &str, headers: &str, length: usize) -> TcpStream {
        let mut stream = self.connect();
        let head = format!("POST {path} HTTP/1.0\r\nhost: 127.0.0.1\r\n{headers}");
        write!(stream, "{head}content-length: {length}\r\n\r\n").unwrap();
        stream
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(6 * PATIENCE)).unwrap();
        stream
    }

    /// The most memory that it has had so far.
    pub(crate) fn peak_bytes(&self) -> usize {
        self.status("VmHWM:")
    }

    pub(crate) fn resident_bytes(&self) -> usize {
        self.status("VmRSS:")
    }

    /// One of its counters.
    pub(crate) fn metric(&self, name: &str) -> usize {
        let mut stream = self.connect();
        write!(stream, "GET /metrics HTTP/1.0\r\nhost: 127.0.0.1\r\n\r\n").unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let value = reply.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        value.unwrap().parse().unwrap()
    }

    fn status(&self, name: &str) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn configuration(protocol: Protocol, upstream: Upstream) -> String {
    let head = "listen = \"127.0.0.1:0\"\nenv_providers = false\n";
    let name = protocol.as_str();
    match upstream {
        Upstream::Server => {
            let version = match protocol {
                Protocol::OpenaiChat | Protocol::OpenaiResponses => "/v1",
                Protocol::AnthropicMessages | Protocol::Gemini => "",
            };
            let url = format!("http://{}{version}", provider::start(protocol));
            format!(
                "{head}[[provider]]\nname = \"up\"\nprotocol = \"{name}\"\nbase_url = \"{url}\"\napi_key = {{ value = \"k\" }}\n"
            )
        }
        Upstream::Simulator => {
            let simulator = match protocol {
                Protocol::OpenaiChat => "sim-chat",
                Protocol::OpenaiResponses => "sim-responses",
                Protocol::AnthropicMessages => "sim-anthropic",
                Protocol::Gemini => "sim-gemini",
            };
            format!(
                "{head}[[model]]\nname = \"up/m\"\ntargets = [{{ provider = \"{simulator}\", model = \"m\" }}]\n"
            )
        }
    }
}
