//! The last requests that a simulator received, for tests that want to know what arrived.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;

use sabir_wire::Protocol;
use serde_json::Value;
use serde_json::json;

use super::Incoming;

const REQUESTS_MAX: usize = 100;

/// A request that arrived. Credentials are named and not told.
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
    requests: Mutex<VecDeque<Received>>,
}

impl Recorder {
    pub(super) fn record(&self, received: Received) {
        let mut requests = self.lock();
        if requests.len() == REQUESTS_MAX {
            requests.pop_front();
        }
        requests.push_back(received);
    }

    pub(super) fn received(&self) -> Vec<Received> {
        self.lock().iter().cloned().collect()
    }

    pub(super) fn clear(&self) {
        self.lock().clear();
    }

    /// What was received, as `GET /_sim/requests` tells it.
    pub(super) fn to_json(&self) -> Value {
        self.lock().iter().map(Received::to_json).collect()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Received>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
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
