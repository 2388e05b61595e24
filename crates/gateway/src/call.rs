//! What a client asks, once it is known to be one of the things that a gateway can do for it.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use http::HeaderMap;
use sabir_compose::govern::Rules;
use sabir_wire::json::Survey;
use sabir_wire::protocol::DecodedRequest;
use sabir_wire::{Protocol, Report};

use crate::recalled::Recalled;

/// A request that names a model.
#[derive(Clone, Debug)]
pub(crate) struct Call<'b> {
    pub(crate) client: Protocol,
    pub(crate) action: Action,
    /// The model as the client names it.
    pub(crate) model: String,
    pub(crate) delivery: Delivery,
    pub(crate) headers: &'b HeaderMap,
    /// The query of the URL, for a provider of the same protocol.
    pub(crate) query: Option<&'b str>,
    /// The body as it was sent, compression taken off.
    pub(crate) body: &'b str,
    /// The same without a byte order mark, with what the first reading found out.
    pub(crate) survey: Survey<'b>,
    /// Where the model's name stands in the body, quotes included.
    pub(crate) model_at: Option<Range<usize>>,
    /// The parameter that asks for something which only a provider of the client's protocol keeps.
    pub(crate) session: Option<&'static str>,
    /// What it asks to be remembered or recalled.
    pub(crate) asked: StateAsked,
    /// What the gateway keeps of the conversation that it continues.
    pub(crate) recalled: Option<Arc<Recalled>>,
    /// The rules on tools, where there are any.
    pub(crate) rules: Option<Arc<Rules>>,
    /// The same with all that it lends, if the body is so large that other threads read it.
    pub(crate) large: Option<&'b Arc<LargeCall>>,
}

/// What a call asks to be remembered or recalled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StateAsked {
    /// Whether the answer is to be kept under its id.
    pub(crate) is_kept: bool,
    /// Whether nobody waits for the answer: it is asked for again by its id.
    pub(crate) in_background: bool,
    pub(crate) link: Link,
}

/// What a call goes on from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Link {
    /// Nothing that anybody keeps.
    #[default]
    Nothing,
    /// An answer, which others may go on from as well.
    Answer(String),
    /// An answer that is gone on from once.
    Thread(String),
    Conversation(String),
    /// Two of them.
    Several,
}

/// A call whose body is read on another thread, which may take longer than the client has patience.
#[derive(Debug)]
pub(crate) struct LargeCall {
    pub(crate) client: Protocol,
    pub(crate) action: Action,
    pub(crate) model: String,
    pub(crate) delivery: Delivery,
    pub(crate) headers: HeaderMap,
    pub(crate) query: Option<String>,
    pub(crate) body: String,
    /// How many nodes the first reading counted.
    pub(crate) nodes: usize,
    pub(crate) model_at: Option<Range<usize>>,
    pub(crate) session: Option<&'static str>,
    pub(crate) asked: StateAsked,
    pub(crate) recalled: OnceLock<Arc<Recalled>>,
    pub(crate) rules: Option<Arc<Rules>>,
}

impl LargeCall {
    pub(crate) fn lend(self: &Arc<Self>) -> Call<'_> {
        Call {
            client: self.client,
            action: self.action,
            model: self.model.clone(),
            delivery: self.delivery,
            headers: &self.headers,
            query: self.query.as_deref(),
            body: &self.body,
            survey: Survey::counted(unmarked(&self.body), self.nodes),
            model_at: self.model_at.clone(),
            session: self.session,
            asked: self.asked.clone(),
            recalled: self.recalled.get().cloned(),
            rules: self.rules.clone(),
            large: Some(self),
        }
    }

    /// The same for whoever reads it at once if it has fewer bytes.
    pub(crate) fn lend_below(self: &Arc<Self>, large_bytes: usize) -> Call<'_> {
        let mut lent = self.lend();
        if self.body.len() + lent.recalled_bytes() < large_bytes {
            lent.large = None;
        }
        lent
    }
}

/// Who gets an answer, and in which form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipient {
    pub(crate) client: Protocol,
    pub(crate) delivery: Delivery,
}

/// What is wanted of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Generate,
    /// A summary of the conversation.
    Compact,
    CountTokens,
}

/// How the client wants its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    /// As server-sent events.
    Stream,
    /// As one JSON list that grows: Gemini's stream without `alt=sse`.
    Array,
}

impl Delivery {
    /// What a body asks for that says so by `stream`.
    pub(crate) fn of_stream(is_stream: bool) -> Self {
        if is_stream { Self::Stream } else { Self::Whole }
    }

    pub(crate) fn is_stream(self) -> bool {
        match self {
            Self::Whole => false,
            Self::Stream | Self::Array => true,
        }
    }
}

impl Call<'_> {
    /// How much was recalled for it.
    pub(crate) fn recalled_bytes(&self) -> usize {
        self.recalled.as_ref().map_or(0, |recalled| recalled.bytes())
    }

    /// The same for other threads.
    pub(crate) fn to_large(&self) -> LargeCall {
        LargeCall {
            client: self.client,
            action: self.action,
            model: self.model.clone(),
            delivery: self.delivery,
            headers: self.headers.clone(),
            query: self.query.map(str::to_owned),
            body: self.body.to_owned(),
            nodes: self.survey.nodes(),
            model_at: self.model_at.clone(),
            session: self.session,
            asked: self.asked.clone(),
            recalled: self.recalled.clone().map(OnceLock::from).unwrap_or_default(),
            rules: self.rules.clone(),
        }
    }

    /// A report in which turns that were recalled have their ids.
    pub(crate) fn name_turns(&self, report: Report) -> Report {
        match &self.recalled {
            Some(recalled) => recalled.name_turns(report),
            None => report,
        }
    }

    pub(crate) fn recipient(&self) -> Recipient {
        Recipient { client: self.client, delivery: self.delivery }
    }

    /// Whether anything that would be dropped refuses the request.
    pub(crate) fn is_strict(&self) -> bool {
        self.header("sabir-strict").is_some_and(|value| value.eq_ignore_ascii_case("true"))
    }

    /// Whether there are rules on what it may say of tools. What is counted is what would be sent.
    pub(crate) fn is_governed(&self) -> bool {
        self.rules.is_some()
    }

    /// Whether there are rules on what its answer may say of tools.
    pub(crate) fn governs_answers(&self) -> bool {
        self.rules.as_ref().is_some_and(|rules| rules.governs_answers())
    }

    /// Whether thinking is shown to a client whose protocol has no place of its own for it.
    pub(crate) fn shows_reasoning(&self) -> bool {
        !self.header("sabir-reasoning").is_some_and(|value| value.eq_ignore_ascii_case("off"))
    }

    /// The conversation that the model is to continue: the client's own, behind what was recalled for it.
    pub(crate) fn decoded(&self) -> sabir_wire::Result<DecodedRequest<'_>> {
        match &self.recalled {
            Some(recalled) => {
                count_decoding();
                recalled.decoded()
            }
            None => self.decoded_own(),
        }
    }

    /// What the client sent alone.
    pub(crate) fn decoded_own(&self) -> sabir_wire::Result<DecodedRequest<'_>> {
        count_decoding();
        self.client.decode_request_surveyed(&self.survey)
    }

    /// What was recalled for the call and the provider of the same protocol does not know.
    pub(crate) fn recalled_for(&self, provider: &str) -> Option<&Recalled> {
        self.recalled.as_deref().filter(|recalled| !recalled.is_kept_by(provider))
    }

    /// The session of an agent that the call belongs to, as its headers name it.
    pub(crate) fn session_name(&self) -> Option<&str> {
        SESSIONS.iter().find_map(|name| self.header(name))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

#[cfg(test)]
thread_local! {
    /// How often this thread has decoded a call.
    pub(crate) static DECODINGS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Decoding is the larger part of a translation, so that tests hold its number.
fn count_decoding() {
    #[cfg(test)]
    DECODINGS.set(DECODINGS.get() + 1);
}

/// The headers by which agents name their sessions.
const SESSIONS: [&str; 2] = ["x-claude-code-session-id", "session-id"];

/// A body without the mark that some editors put before it.
pub(crate) fn unmarked(body: &str) -> &str {
    body.strip_prefix('\u{feff}').unwrap_or(body)
}
