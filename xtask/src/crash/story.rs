//! A conversation of one client: what it was acknowledged, how it goes on, and what a provider must be sent then.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::answer::Client;
use super::random::Random;
use super::server::PROVIDERS;

/// A node that dies leaves no lock behind for longer.
pub(super) const LOCK_MAX: Duration = Duration::from_secs(30);

/// Simulators that take their time are killed in the middle.
const MODELS: [&str; 4] = ["m", "m", "fault-slow-stream-4", "fault-slow-first-byte-15"];

/// By what a conversation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    /// `previous_response_id`.
    Chain,
    /// `thread` of Messages.
    Thread,
    /// The header `sabir-conversation`.
    Header,
}

/// A turn that was acknowledged.
#[derive(Debug)]
pub(super) struct Turn {
    /// A text that is in no other turn: the user's message has it, and the simulator's answer quotes it.
    pub(super) marker: String,
    pub(super) id: String,
    pub(super) body: Value,
}

#[derive(Debug)]
pub(super) struct Story {
    pub(super) link: Link,
    pub(super) name: String,
    pub(super) turns: Vec<Turn>,
    /// Turns before this one were found again after a crash.
    pub(super) verified: usize,
    /// When a call of it broke off, if its lock may still be there.
    pub(super) broken_at: Option<Instant>,
    last_provider: &'static str,
}

/// A call that goes on with a story.
pub(super) struct Step {
    pub(super) client: Client,
    pub(super) path: String,
    pub(super) conversation: Option<String>,
    pub(super) body: Value,
    pub(super) marker: String,
    provider: &'static str,
}

impl Story {
    pub(super) fn new(link: Link, name: String) -> Self {
        Self { link, name, turns: Vec::new(), verified: 0, broken_at: None, last_provider: "" }
    }

    /// Whether a dead node may still hold it.
    pub(super) fn may_be_locked(&self) -> bool {
        self.broken_at.is_some_and(|at| at.elapsed() < LOCK_MAX)
    }

    pub(super) fn step(&self, random: &mut Random, marker: String) -> Step {
        let client = match self.link {
            Link::Chain => Client::Responses,
            Link::Thread => Client::Messages,
            Link::Header => {
                random.pick(&[Client::Chat, Client::Responses, Client::Messages, Client::Gemini])
            }
        };
        let provider = self.provider(random);
        let model = format!("{provider}/{}", random.pick(&MODELS));
        let is_streamed = random.below(0..2) == 1;
        let (path, mut body) = request(client, &model, &marker);
        let path = match client {
            Client::Gemini if is_streamed => {
                path.replace(":generateContent", ":streamGenerateContent?alt=sse")
            }
            _ => path,
        };
        if is_streamed && client != Client::Gemini {
            body["stream"] = json!(true);
        }
        self.link_to_last(&mut body);
        let conversation = (self.link == Link::Header).then(|| self.name.clone());
        Step { client, path, conversation, body, marker, provider }
    }

    /// A provider that keeps a chain itself is sent its id, and the simulators keep nothing: it does not serve twice in a row.
    fn provider(&self, random: &mut Random) -> &'static str {
        let (provider, _, _) = random.pick(&PROVIDERS);
        let keeps_chains = provider == "responses" && self.link == Link::Chain;
        if keeps_chains && self.last_provider == provider { "chat" } else { provider }
    }

    fn link_to_last(&self, body: &mut Value) {
        let last = self.turns.last().map(|turn| turn.id.as_str());
        match (self.link, last) {
            (Link::Chain, Some(id)) => body["previous_response_id"] = json!(id),
            (Link::Thread, Some(id)) => {
                body["thread"] = json!({"type": "continue", "previous_message_id": id});
            }
            (Link::Thread, None) => body["thread"] = json!({"type": "create"}),
            (Link::Chain, None) | (Link::Header, _) => {}
        }
    }

    pub(super) fn acknowledge(&mut self, step: Step, id: String, body: Value) {
        self.turns.push(Turn { marker: step.marker, id, body });
        self.last_provider = step.provider;
        self.broken_at = None;
    }

    /// What is wrong with a request that a provider was sent to go on after the first `known` turns: each of them must be in
    /// it, the question and the answer, in their order.
    pub(super) fn missing(&self, known: usize, sent: &str) -> Option<String> {
        let mut from = 0;
        for turn in &self.turns[..known] {
            let count = sent.matches(&turn.marker).count();
            let at = sent.find(&turn.marker);
            match at {
                Some(at) if count == 2 && at >= from => from = at,
                _ => {
                    return Some(format!(
                        "{} is there {count} times, or out of order",
                        turn.marker
                    ));
                }
            }
        }
        None
    }
}

fn request(client: Client, model: &str, text: &str) -> (String, Value) {
    let messages = json!([{"role": "user", "content": text}]);
    match client {
        Client::Chat => {
            ("/v1/chat/completions".to_owned(), json!({"model": model, "messages": messages}))
        }
        Client::Responses => ("/v1/responses".to_owned(), json!({"model": model, "input": text})),
        Client::Messages => {
            let body = json!({"model": model, "max_tokens": 1000, "messages": messages});
            ("/v1/messages".to_owned(), body)
        }
        Client::Gemini => {
            let body = json!({"contents": [{"role": "user", "parts": [{"text": text}]}]});
            (format!("/v1beta/models/{model}:generateContent"), body)
        }
    }
}
