//! A running gateway: clients in any protocol, and the conversations that it keeps.

mod conversation;
mod read;

use http::Method;
use http::header::AUTHORIZATION;
use sabir_backend::percent;
use sabir_wire::Protocol;
use sabir_wire::json::{Json, Writer};
use sabir_wire::unified::Transcript;

pub use conversation::{Conversation, Conversations, NewConversation, Page, Turn};

use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::surface;
use crate::surface::UNIFIED;
use crate::transport::{ANSWER_BYTES_MAX, Ask, Timeouts, Transport};

/// A gateway at an address. Clones share their connections, and stay on one thread.
#[derive(Clone, Debug)]
pub struct Gateway {
    transport: Transport,
    root: String,
}

const CONVERSATIONS: &str = "/sabir/v1/conversations";

impl Gateway {
    /// The gateway at a URL such as `http://127.0.0.1:4747`.
    pub fn new(url: &str) -> Result<Self> {
        let (transport, root) = Transport::to(url)?;
        Ok(Self { transport, root })
    }

    /// Proves who asks, where the gateway wants keys.
    pub fn with_key(mut self, key: &str) -> Result<Self> {
        self.transport.set_key(key, (AUTHORIZATION, Some("Bearer")))?;
        Ok(self)
    }

    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.transport.timeouts = timeouts;
        self
    }

    /// A client of this gateway that asks for a model in the unified form itself.
    pub fn client(&self, model: impl Into<String>) -> Client {
        self.client_in(UNIFIED, model)
    }

    /// The same in any protocol.
    pub fn client_in(&self, protocol: Protocol, model: impl Into<String>) -> Client {
        let base_path = format!("{}{}", self.root, surface::of(protocol).version);
        Client::over(self.transport.clone(), protocol, base_path).with_model(model)
    }

    /// The names of the models that can be asked for.
    pub async fn models(&self) -> Result<Vec<String>> {
        let version = surface::of(UNIFIED).version;
        read::models(&self.ask(Method::GET, &format!("{version}/models"), "").await?)
    }

    /// Whether somebody serves a model, or why nobody does: names may also fit patterns, which no list has.
    pub async fn check_model(&self, name: &str) -> Result<()> {
        let version = surface::of(UNIFIED).version;
        let path = format!("{version}/models/{}", percent::encode(name));
        self.ask(Method::GET, &path, "").await.map(|_| ())
    }

    /// A page of the conversations that are kept, the newest first.
    pub async fn conversations(&self, page: &Page) -> Result<Conversations> {
        let path = format!("{CONVERSATIONS}{}", page.query());
        read::conversations(&self.ask(Method::GET, &path, "").await?)
    }

    /// Begins a conversation.
    pub async fn begin(&self, new: &NewConversation) -> Result<Conversation> {
        read::conversation(&self.ask(Method::POST, CONVERSATIONS, &new.to_json()).await?)
    }

    /// Keeps a transcript under its id: a conversation begins with it, or gets what is new in it.
    pub async fn keep(&self, conversation: &NewConversation) -> Result<Conversation> {
        read::conversation(
            &self.ask(Method::POST, CONVERSATIONS, &conversation.to_joined_json()).await?,
        )
    }

    /// Adds to a conversation that is kept already.
    pub async fn append(&self, id: &str, transcript: &Transcript) -> Result<Conversation> {
        let more =
            NewConversation { id: Some(id.to_owned()), transcript: Some(transcript.clone()) };
        let answer = self.ask(Method::POST, CONVERSATIONS, &more.to_appended_json()).await?;
        read::conversation(&answer)
    }

    /// The turns of a conversation, the oldest first.
    pub async fn turns(&self, id: &str) -> Result<Vec<Turn>> {
        read::turns(&self.ask(Method::GET, &one(id, ""), "").await?)
    }

    /// What was said in a conversation, in the form in which sessions are kept.
    pub async fn transcript(&self, id: &str) -> Result<Transcript> {
        let body = self.ask(Method::GET, &one(id, "/messages"), "").await?;
        Transcript::parse(&body).map_err(|error| malformed(&error))
    }

    /// What was said in a conversation, as a request of a protocol would hold it, with what was lost on the way.
    pub async fn messages_as(&self, id: &str, protocol: Protocol) -> Result<Json<'static>> {
        let path = one(id, &format!("/messages?as={}", protocol.as_str()));
        let body = self.ask(Method::GET, &path, "").await?;
        Json::parse(body).map_err(|error| malformed(&error))
    }

    /// A second conversation that begins like this one, up to a turn or whole.
    pub async fn fork(&self, id: &str, after: Option<&str>) -> Result<Conversation> {
        let mut body = Writer::default();
        body.object(|body| body.optional("after", after));
        let body = body.into_string();
        read::conversation(&self.ask(Method::POST, &one(id, "/fork"), &body).await?)
    }

    pub async fn delete(&self, id: &str) -> Result<()> {
        self.ask(Method::DELETE, &one(id, ""), "").await?;
        Ok(())
    }

    /// The text of an answer of the gateway's own.
    async fn ask(&self, method: Method, path: &str, body: &str) -> Result<String> {
        let path = format!("{}{path}", self.root);
        let ask = Ask { method, path, body, accept: "application/json", protocol: UNIFIED };
        let mut response = self.transport.send(&ask).await?;
        let bytes = self.transport.read(&mut response.body, ANSWER_BYTES_MAX).await?;
        String::from_utf8(bytes)
            .map_err(|_| Error::new(ErrorKind::Malformed, "the gateway's answer is no text"))
    }
}

/// The path of something of one conversation.
fn one(id: &str, below: &str) -> String {
    format!("{CONVERSATIONS}/{}{below}", percent::encode(id))
}

fn malformed(error: &sabir_wire::Error) -> Error {
    Error::new(ErrorKind::Malformed, format!("the gateway's answer cannot be read: {error}"))
}
