//! A simulator of one API, with its recorder.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use http::HeaderMap;
use http::Method;
use http::StatusCode;
use sabir_wire::Protocol;

use super::Incoming;
use super::Received;
use super::Reply;
use super::answer::Setting;
use super::anthropic_messages::AnthropicMessages;
use super::api::Api;
use super::api::Url;
use super::gemini::Gemini;
use super::openai_chat::OpenaiChat;
use super::openai_responses::OpenaiResponses;
use super::recorder::Recorder;
use super::transport;

/// Answers as the API of one protocol would.
///
/// The answer depends on the request alone, except for models named `fault-flaky`, which fail every other time.
#[derive(Debug)]
pub struct Simulator {
    protocol: Protocol,
    recorder: Arc<Recorder>,
    flaky_calls: AtomicUsize,
}

const RECORDED: &str = "/_sim/requests";

impl Simulator {
    pub fn new(protocol: Protocol) -> Self {
        Self::recording(protocol, Arc::default())
    }

    /// A simulator that shares its recorder with others.
    pub(super) fn recording(protocol: Protocol, recorder: Arc<Recorder>) -> Self {
        Self { protocol, recorder, flaky_calls: AtomicUsize::new(0) }
    }

    /// The API's answer to a request. `GET` and `DELETE` of `/_sim/requests` tell and forget what arrived.
    pub fn answer(&self, request: Incoming<'_>) -> Reply {
        if Url::of(request.path).path == RECORDED {
            return self.recorded(request.method);
        }
        let setting = Setting { api: self.api(), flaky_calls: &self.flaky_calls };
        let outcome = setting.answer(&request);
        self.recorder.record(Received {
            status: outcome.reply.status.as_u16(),
            is_valid: outcome.is_valid,
            ..Received::of(self.protocol, &request)
        });
        outcome.reply
    }

    /// The last requests that arrived, oldest first.
    pub fn received(&self) -> Vec<Received> {
        self.recorder.received()
    }

    fn recorded(&self, method: &Method) -> Reply {
        if method == Method::DELETE {
            self.recorder.clear();
        }
        transport::json(StatusCode::OK, HeaderMap::new(), &self.recorder.to_json())
    }

    fn api(&self) -> &'static dyn Api {
        match self.protocol {
            Protocol::OpenaiChat => &OpenaiChat,
            Protocol::OpenaiResponses => &OpenaiResponses,
            Protocol::AnthropicMessages => &AnthropicMessages,
            Protocol::Gemini => &Gemini,
        }
    }
}
