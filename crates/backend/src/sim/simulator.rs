//! A simulator of one API, with its recorder.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use http::{HeaderMap, Method, StatusCode};
use sabir_wire::Protocol;

use super::answer::{Outcome, Setting};
use super::anthropic_messages::AnthropicMessages;
use super::api::{Api, Url};
use super::gemini::Gemini;
use super::openai_chat::OpenaiChat;
use super::openai_responses::{Chains, OpenaiResponses};
use super::recorder::Recorder;
use super::{Incoming, Received, Reply, transport};

/// Answers as the API of one protocol would.
///
/// The answer depends on the request alone and on what it says that it continues, except for models named `fault-flaky`,
/// which fail every other time.
#[derive(Debug)]
pub struct Simulator {
    protocol: Protocol,
    /// What arrived, for those who may know.
    recorder: Option<Arc<Recorder>>,
    flaky_calls: AtomicUsize,
    /// What requests may go on from, where the API keeps its answers.
    chains: Option<Chains>,
}

const RECORDED: &str = "/_sim/requests";

impl Simulator {
    /// A simulator that records no requests.
    pub fn new(protocol: Protocol) -> Self {
        let chains = api_of(protocol).keeps_answers().then(Chains::default);
        Self { protocol, recorder: None, flaky_calls: AtomicUsize::new(0), chains }
    }

    /// A simulator that keeps the last requests, for tests.
    pub fn recording(protocol: Protocol) -> Self {
        Self::recording_to(protocol, Arc::default())
    }

    /// A simulator that shares its recorder with others.
    pub(super) fn recording_to(protocol: Protocol, recorder: Arc<Recorder>) -> Self {
        Self { recorder: Some(recorder), ..Self::new(protocol) }
    }

    /// The API's answer to a request. Where requests are kept, `GET` and `DELETE` of `/_sim/requests` list and forget
    /// them.
    pub fn answer(&self, request: Incoming<'_>) -> Reply {
        let url = Url::of(request.path);
        if let Some(recorder) = &self.recorder
            && url.path == RECORDED
        {
            return recorded(recorder, request.method, url.parameter("holds").unwrap_or_default());
        }
        let setting = Setting { api: self.api(), flaky_calls: &self.flaky_calls };
        let outcome = self.continue_with(&setting, &request);
        if let Some(recorder) = &self.recorder {
            recorder.record(Received {
                status: outcome.reply.status.as_u16(),
                is_valid: outcome.is_valid,
                ..Received::of(self.protocol, &request)
            });
        }
        outcome.reply
    }

    fn continue_with(&self, setting: &Setting<'_>, request: &Incoming<'_>) -> Outcome {
        let Some(chains) = self.chains.as_ref().filter(|_| request.method == Method::POST) else {
            return setting.answer(request);
        };
        let continued = chains.continued(request.body);
        let body = continued.as_deref().unwrap_or(request.body);
        let outcome = setting.answer(&Incoming { body, ..*request });
        chains.keep(body, &outcome.reply);
        outcome
    }

    /// The last requests that arrived, oldest first.
    pub fn received(&self) -> Vec<Received> {
        self.recorder.as_ref().map_or_else(Vec::new, |recorder| recorder.received())
    }

    fn api(&self) -> &'static dyn Api {
        api_of(self.protocol)
    }
}

fn api_of(protocol: Protocol) -> &'static dyn Api {
    match protocol {
        Protocol::OpenaiChat => &OpenaiChat,
        Protocol::OpenaiResponses => &OpenaiResponses,
        Protocol::AnthropicMessages => &AnthropicMessages,
        Protocol::Gemini => &Gemini,
    }
}

fn recorded(recorder: &Recorder, method: &Method, text: &str) -> Reply {
    if method == Method::DELETE {
        recorder.clear();
    }
    transport::json(StatusCode::OK, HeaderMap::new(), &recorder.to_json(text))
}
