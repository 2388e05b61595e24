//! One model of one server, asked in the unified form.

use sabir_backend::http::HttpResponse;
use sabir_wire::Protocol;
use sabir_wire::conversation::Counts;
use sabir_wire::unified::{UnifiedMessage, UnifiedReply, UnifiedTool};

use crate::answer::{Answer, Head, Reasoning};
use crate::error::{Error, ErrorKind, Result};
use crate::request::{Prepared, Question};
use crate::stream::Stream;
use crate::surface;
use crate::surface::{Delivery, PathParameters};
use crate::transport::{ANSWER_BYTES_MAX, Ask, Timeouts, Transport};

/// A client of one model. Clones are cheap and share their connections; all of them stay on one thread.
///
/// Dropping what a method returns, before or after it is there, closes its connection: the server learns that nobody waits.
#[derive(Clone, Debug)]
pub struct Client {
    protocol: Protocol,
    transport: Transport,
    base_path: String,
    model: String,
    output_tokens_max: Option<u64>,
}

impl Client {
    /// A client of a provider's API: with the base URL that its own SDKs take, with a version or without.
    pub fn new(protocol: Protocol, base_url: &str) -> Result<Self> {
        let (transport, path) = Transport::to(base_url)?;
        let base_path = surface::of(protocol).base_path(&path);
        Ok(Self::over(transport, protocol, base_path))
    }

    /// A client over a way that is there.
    pub(crate) fn over(mut transport: Transport, protocol: Protocol, base_path: String) -> Self {
        if let Some((name, value)) = &surface::of(protocol).edition {
            transport.headers.insert(name, value.clone());
        }
        Self { protocol, transport, base_path, model: String::new(), output_tokens_max: None }
    }

    /// Proves who asks, in the header that the protocol has for it.
    pub fn with_key(mut self, key: &str) -> Result<Self> {
        let surface = surface::of(self.protocol);
        self.transport.set_key(key, (surface.key_header.clone(), surface.key_scheme))?;
        Ok(self)
    }

    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Joins, names or begins a conversation of a gateway, which then keeps the history: `new`, an id, or `ID@TURN`. The
    /// messages of a call are then new ones.
    pub fn with_conversation(self, conversation: &str) -> Result<Self> {
        self.with_header("sabir-conversation", conversation)
    }

    /// A header of every request.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self> {
        self.transport.set_header(name, value)?;
        Ok(self)
    }

    /// How long an answer may be. Where the protocol demands a limit, the default is 4096.
    pub fn with_max_output_tokens(mut self, tokens: u64) -> Self {
        self.output_tokens_max = Some(tokens);
        self
    }

    pub fn with_timeouts(mut self, timeouts: Timeouts) -> Self {
        self.transport.timeouts = timeouts;
        self
    }

    pub fn protocol(&self) -> Protocol {
        self.protocol
    }

    pub fn model(&self) -> &str {
        &self.model
    }

    /// Asks for a whole answer.
    pub async fn chat(&self, messages: &[UnifiedMessage], tools: &[UnifiedTool]) -> Result<Answer> {
        let prepared = self.prepare(messages, tools, Delivery::Whole)?;
        let mut response = self.ask(&prepared, Delivery::Whole).await?;
        let body = self.transport.read(&mut response.body, ANSWER_BYTES_MAX).await?;
        self.answer(&body, Head::new(response.headers), prepared)
    }

    /// Asks for an answer in pieces, as the model makes them.
    ///
    /// ```
    /// # use sabir_client::{Client, Message, Protocol, StreamEvent};
    /// # async fn show(client: Client) -> sabir_client::Result<()> {
    /// let mut stream = client.stream(&[Message::user("Hello")], &[]).await?;
    /// while let Some(event) = stream.next().await? {
    ///     if let StreamEvent::Text(text) = event {
    ///         print!("{text}");
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// # tokio::runtime::LocalRuntime::new()?.block_on(async {
    /// # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let url = format!("http://{}/anthropic", listener.local_addr()?);
    /// # tokio::task::spawn_local(sabir_backend::sim::Server::default().serve(listener));
    /// # let client = Client::new(Protocol::AnthropicMessages, &url)?.with_key("k")?.with_model("sim");
    /// # show(client).await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn stream(
        &self,
        messages: &[UnifiedMessage],
        tools: &[UnifiedTool],
    ) -> Result<Stream> {
        let prepared = self.prepare(messages, tools, Delivery::Streamed)?;
        let response = self.ask(&prepared, Delivery::Streamed).await?;
        Ok(Stream::new(self.protocol, self.transport.clone(), response, prepared))
    }

    fn prepare(
        &self,
        messages: &[UnifiedMessage],
        tools: &[UnifiedTool],
        delivery: Delivery,
    ) -> Result<Prepared> {
        if self.model.is_empty() {
            return Err(Error::invalid("no model is named: give one with `with_model`"));
        }
        let (model, output_tokens_max) = (&*self.model, self.output_tokens_max);
        Question { model, messages, tools, output_tokens_max, delivery }.prepare(self.protocol)
    }

    async fn ask(&self, prepared: &Prepared, delivery: Delivery) -> Result<HttpResponse> {
        let asked = PathParameters { model: &self.model, delivery };
        let below = (surface::of(self.protocol).path)(&asked);
        let ask = Ask {
            method: http::Method::POST,
            path: format!("{}{below}", self.base_path),
            body: &prepared.body,
            accept: match delivery {
                Delivery::Whole => "application/json",
                Delivery::Streamed => "text/event-stream",
            },
            protocol: self.protocol,
        };
        self.transport.send(&ask).await
    }

    fn answer(&self, body: &[u8], head: Head, prepared: Prepared) -> Result<Answer> {
        let Prepared { losses, mut names, .. } = prepared;
        let response = self.protocol.decode_response(body).map_err(|error| {
            let text = format!("the answer is none of {}: {error}", self.protocol.as_str());
            Error::new(ErrorKind::Malformed, text)
        })?;
        if let Some(fault) = &response.fault {
            return Err(Error::of_fault(fault, None, self.transport.key.as_ref()));
        }
        if response.candidates.is_empty() {
            return Err(Error::new(ErrorKind::Malformed, "the answer holds no reply"));
        }
        let mut reply = UnifiedReply::of(&response);
        reply.tool_calls = reply.tool_calls.into_iter().map(|it| names.restore(it)).collect();
        let usage = response.usage.as_ref().map_or(Counts::default(), |usage| usage.counts);
        Ok(Answer { reply, reasoning: Reasoning::of(&response), usage, head, losses })
    }
}
