//! The last requests that a simulator received, for tests that want to know what arrived.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use sabir_wire::Protocol;
use serde_json::{Value, json};

use super::Incoming;

const REQUESTS_MAX: usize = 1_000;

/// How many bytes the bodies of all that is kept may have.
const BYTES_MAX: usize = 64 << 20;

/// A request that arrived. Credentials are named and not shown.
#[derive(Clone)]
pub struct Received {
    pub protocol: Protocol,
    pub method: String,
    pub path: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The status of the answer.
    pub status: u16,
    /// Whether the request kept the API's rules, whatever fault its model's name asked for.
    pub is_valid: bool,
}

/// Prompts stay out of logs.
impl std::fmt::Debug for Received {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Received")
            .field("protocol", &self.protocol)
            .field("method", &self.method)
            .field("status", &self.status)
            .field("is_valid", &self.is_valid)
            .finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
pub(super) struct Recorder {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    requests: VecDeque<Received>,
    /// The length of all bodies together.
    bytes: usize,
}

impl Recorder {
    pub(super) fn record(&self, received: Received) {
        let mut kept = self.lock();
        kept.bytes += received.body.len();
        kept.requests.push_back(received);
        while kept.requests.len() > REQUESTS_MAX || kept.bytes > BYTES_MAX {
            let oldest = kept.requests.pop_front();
            kept.bytes -= oldest.map_or(0, |oldest| oldest.body.len());
        }
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.lock().requests.iter().cloned().collect()
    }

    pub(super) fn clear(&self) {
        *self.lock() = Kept::default();
    }

    /// What was received and holds a text in its path or body, as `GET /_sim/requests` shows it.
    pub(super) fn to_json(&self, text: &str) -> Value {
        let kept = self.lock();
        kept.requests.iter().filter(|it| it.holds(text)).map(Received::to_json).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Received {
    pub(super) fn of(protocol: Protocol, incoming: &Incoming<'_>) -> Self {
        let headers = incoming.headers.iter().map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes());
            let is_secret = is_credential(name.as_str());
            (name.to_string(), if is_secret { "…".to_owned() } else { value.into_owned() })
        });
        Self {
            protocol,
            method: incoming.method.to_string(),
            path: without_key(incoming.path),
            headers: headers.collect(),
            body: incoming.body.to_vec(),
            status: 0,
            is_valid: false,
        }
    }

    fn holds(&self, text: &str) -> bool {
        self.path.contains(text) || memchr::memmem::find(&self.body, text.as_bytes()).is_some()
    }

    fn to_json(&self) -> Value {
        let body = serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&self.body).into_owned()));
        let headers: serde_json::Map<String, Value> =
            self.headers.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({
            "protocol": self.protocol.as_str(), "method": self.method, "path": self.path,
            "headers": headers, "body": body, "status": self.status, "valid": self.is_valid,
        })
    }
}

fn is_credential(name: &str) -> bool {
    matches!(
        name,
        "authorization" | "x-api-key" | "x-goog-api-key" | "cookie" | "proxy-authorization"
    )
}

fn without_key(path: &str) -> String {
    let Some((path, query)) = path.split_once('?') else { return path.to_owned() };
    let kept = query.split('&').map(|pair| if pair.starts_with("key=") { "key=…" } else { pair });
    format!("{path}?{}", kept.collect::<Vec<_>>().join("&"))
}
