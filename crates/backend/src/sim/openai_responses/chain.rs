//! The answers that later requests go on from, each with everything that was said before it.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::sim::{Reply, Step};

/// How many bytes all that is kept may have.
const BYTES_MAX: usize = 64 << 20;

/// The answers of one simulator, the newest last. Those that need too much room are forgotten, the oldest first.
#[derive(Debug, Default)]
pub(in crate::sim) struct Chains {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    chains: VecDeque<Chain>,
    bytes: usize,
}

#[derive(Debug)]
struct Chain {
    id: String,
    /// A list of items as JSON.
    items: String,
}

impl Chains {
    /// The body with what it goes on from before its own input; none if that is nothing, or not kept.
    pub(in crate::sim) fn continued(&self, body: &[u8]) -> Option<Vec<u8>> {
        // A tree takes many times the memory of its text, so most bodies get none.
        memchr::memmem::find(body, b"\"previous_response_id\"")?;
        let mut body: Value = serde_json::from_slice(body).ok()?;
        let id = body["previous_response_id"].as_str()?;
        if !body["conversation"].is_null() {
            return None;
        }
        let mut items = self.items(id)?;
        items.extend(input_items(&body));
        body["input"] = Value::Array(items);
        body.as_object_mut()?.remove("previous_response_id");
        Some(body.to_string().into_bytes())
    }

    /// Keeps an answer, unless the request says otherwise. The body is the one with everything in it.
    pub(in crate::sim) fn keep(&self, body: &[u8], reply: &Reply) {
        if !reply.status.is_success() || is_refused(body) {
            return;
        }
        let Ok(body) = serde_json::from_slice::<Value>(body) else { return };
        let Some(response) = response(reply) else { return };
        let Some(id) = response["id"].as_str() else { return };
        let mut items = input_items(&body);
        items.extend(response["output"].as_array().into_iter().flatten().cloned());
        self.add(Chain { id: id.to_owned(), items: Value::Array(items).to_string() });
    }

    fn add(&self, chain: Chain) {
        let mut kept = self.lock();
        kept.bytes += chain.items.len();
        kept.chains.push_back(chain);
        while kept.bytes > BYTES_MAX {
            let oldest = kept.chains.pop_front();
            kept.bytes -= oldest.map_or(0, |oldest| oldest.items.len());
        }
    }

    fn items(&self, id: &str) -> Option<Vec<Value>> {
        let kept = self.lock();
        let chain = kept.chains.iter().rfind(|chain| chain.id == id)?;
        serde_json::from_str(&chain.items).ok()
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a request does not want its answer kept.
fn is_refused(body: &[u8]) -> bool {
    let members: BTreeMap<Cow<'_, str>, &RawValue> =
        serde_json::from_slice(body).unwrap_or_default();
    members.get("store").is_some_and(|store| store.get() == "false")
}

fn input_items(body: &Value) -> Vec<Value> {
    match &body["input"] {
        Value::String(text) => vec![json!({"type": "message", "role": "user", "content": text})],
        Value::Array(items) => items.clone(),
        _ => Vec::new(),
    }
}

/// The response of a whole answer, or the one that a stream ends with.
fn response(reply: &Reply) -> Option<Value> {
    let mut bytes = Vec::new();
    for step in &reply.steps {
        match step {
            Step::Send(piece) => bytes.extend_from_slice(piece),
            Step::Wait(_) => {}
            Step::Disconnect | Step::Forever { .. } => return None,
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    if let Ok(whole) = serde_json::from_str::<Value>(&text) {
        return Some(whole);
    }
    let last = text.lines().rev().find_map(|line| line.strip_prefix("data: "))?;
    let mut event: Value = serde_json::from_str(last).ok()?;
    let is_end =
        matches!(event["type"].as_str(), Some("response.completed" | "response.incomplete"));
    is_end.then(|| event["response"].take())
}
