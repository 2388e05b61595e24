//! What the gateway knows of each protocol, as one record per protocol. Everything else is in `wire`: no other module here
//! names a protocol, and `tidy` checks that.

mod agents;
mod anthropic_messages;
mod auth;
mod capabilities;
mod compaction;
mod gemini;
mod history;
mod model_list;
mod openai;
mod openai_chat;
mod openai_responses;
mod paths;
mod session;
pub(crate) mod socket;
mod state;

pub(crate) use agents::protocol_of as protocol_of_agent;
pub(crate) use auth::{Auth, is_key_header, key_places, without_key};
pub use capabilities::Capabilities;
pub(crate) use compaction::{
    COMPACTION, Compaction, CompactionAnswer, CompactionAsked, CompactionTrouble, ContextEdits,
    Misasked, Summarised, Then, When,
};
pub(crate) use history::{Change, History};
pub(crate) use model_list::{Listed, ModelList, ids as listed_ids};
pub(crate) use paths::{
    FromPath, Path, PathMatch, Paths, advice, below_models, find, find_kept, find_socket,
    is_embeddings, is_model_list, of_models, of_unknown,
};
pub(crate) use session::{Asks, Session, SessionParameter};
pub(crate) use state::{Background, Kept, Standing, State, Trouble};

use std::borrow::Cow;

use http::{HeaderMap, HeaderName, HeaderValue};
use sabir_wire::Protocol;
use sabir_wire::target::Dialect;

use crate::surface::socket::Socket;

/// The protocol of what belongs to none: Sabir's own endpoints, and refusals of requests that show no protocol.
pub(crate) const DEFAULT: Protocol = Protocol::OpenaiChat;

/// One protocol as the gateway sees it.
pub(crate) struct Surface {
    pub(crate) protocol: Protocol,
    /// Protocols of one vendor share their base URL and the shape of embeddings.
    pub(crate) vendor: &'static str,
    /// The segments that paths of the protocol begin with; the first is its own.
    pub(crate) versions: &'static [&'static str],
    /// Whether a base URL without a version gets one. OpenAI's clients leave the version to the user.
    pub(crate) adds_version: bool,
    pub(crate) paths: Paths,
    /// The query that asks for a stream of server-sent events, where the path does not.
    pub(crate) stream_query: Option<&'static str>,
    /// The path of embeddings that have OpenAI's shape.
    pub(crate) embeddings: Option<&'static str>,
    /// Whether a path that is not served can only be one of this protocol's.
    pub(crate) owns_path: fn(&str) -> bool,
    /// Whether a request can only come from a client of this protocol, wherever it goes.
    pub(crate) is_sent_by_client: fn(&Head<'_>) -> bool,
    /// What stands before the name of a model in bodies.
    pub(crate) collection: Option<&'static str>,
    pub(crate) session: Session,
    pub(crate) state: State,
    pub(crate) compaction: Compaction,
    /// How the protocol speaks over a WebSocket, at the path of its answers.
    pub(crate) socket: Option<Socket>,
    /// Whether an answer repeats the settings of its request.
    pub(crate) repeats_request: bool,
    /// Whether a stream begins although the prompt does not fit, and says so itself. Its clients recover from nothing else,
    /// those of the others only from the status of a refusal.
    pub(crate) reports_overflow_in_stream: bool,
    /// The members of a request by which its provider may shorten it until it fits.
    pub(crate) shorteners: &'static [&'static str],
    /// What follows the last frame of a stream that the encoder writes.
    pub(crate) closing_frame: &'static str,
    pub(crate) auth: Auth,
    pub(crate) headers: Headers,
    pub(crate) counting: Counting,
    pub(crate) model_list: ModelList,
    pub(crate) history: History,
    pub(crate) simulator: Simulated,
}

/// The head of a request, as far as it may show whose client sent it.
#[derive(Clone, Copy)]
pub(crate) struct Head<'r> {
    pub(crate) path: &'r str,
    pub(crate) query: Option<&'r str>,
    pub(crate) headers: &'r HeaderMap,
}

/// The headers that a protocol's vendor has beside its key.
pub(crate) struct Headers {
    /// The version that providers are asked in, unless the client or the operator says which.
    pub(crate) version: Option<(HeaderName, HeaderValue)>,
    /// Whether a client's header is for the vendor. Keys never are.
    pub(crate) is_for_vendor: fn(&str) -> bool,
    /// What the vendor's own headers of answers begin with.
    pub(crate) answer_prefix: &'static str,
    /// Where the vendor's SDKs look for the id of a request, beside `x-request-id`.
    pub(crate) request_id: Option<HeaderName>,
    /// The client's headers that hold no secret: a web page may send them, and answers may repeat them.
    pub(crate) public: &'static [&'static str],
}

/// How a protocol counts tokens. Whether it can is said by its paths.
pub(crate) struct Counting {
    /// The fields of a request that a counter takes; it refuses what only an answer needs.
    pub(crate) fields: &'static [&'static str],
    /// The names of the field that a request may stand in; the first is written.
    pub(crate) wrappers: &'static [&'static str],
    /// The field of the answer that holds the count.
    pub(crate) total: &'static str,
    /// The field that says what the answer is, with its value.
    pub(crate) tag: Option<(&'static str, &'static str)>,
}

/// The built-in simulator of a protocol.
pub(crate) struct Simulated {
    /// The provider's name.
    pub(crate) name: &'static str,
    /// The server whose limits it has.
    pub(crate) dialect: Option<Dialect>,
    /// Whose simulator answers clients of this protocol, so that a translation is seen.
    pub(crate) partner: Protocol,
}

/// In the order of [`Protocol::ALL`].
static SURFACES: [&Surface; Protocol::ALL.len()] = [
    &openai_chat::SURFACE,
    &openai_responses::SURFACE,
    &anthropic_messages::SURFACE,
    &gemini::SURFACE,
];

/// What the gateway knows of a protocol.
pub(crate) fn of(protocol: Protocol) -> &'static Surface {
    match protocol {
        Protocol::OpenaiChat => &openai_chat::SURFACE,
        Protocol::OpenaiResponses => &openai_responses::SURFACE,
        Protocol::AnthropicMessages => &anthropic_messages::SURFACE,
        Protocol::Gemini => &gemini::SURFACE,
    }
}

/// What the gateway knows of every protocol.
pub(crate) fn all() -> impl Iterator<Item = &'static Surface> + Clone {
    SURFACES.into_iter()
}

impl Surface {
    /// The segment that paths of the protocol begin with.
    pub(crate) fn version(&self) -> &'static str {
        self.versions[0]
    }

    /// The name of a model as bodies have it.
    pub(crate) fn model_in_body<'m>(&self, model: &'m str) -> Cow<'m, str> {
        match self.collection {
            Some(collection) => format!("{collection}{}", without_collection(model)).into(),
            None => model.into(),
        }
    }

    /// The protocols whose simulators may answer clients of this one: the partner, then those of other vendors, which differ
    /// more.
    pub(crate) fn simulators(&self) -> impl Iterator<Item = Protocol> {
        let (own, partner, vendor) = (self.protocol, self.simulator.partner, self.vendor);
        let others = all().filter(move |it| it.protocol != own && it.protocol != partner);
        let elsewhere = others.clone().filter(move |it| it.vendor != vendor);
        let same_vendor = others.filter(move |it| it.vendor == vendor);
        std::iter::once(partner).chain(elsewhere.chain(same_vendor).map(|it| it.protocol))
    }
}

/// The name of a model without what some protocols' bodies have before it.
pub(crate) fn without_collection(model: &str) -> &str {
    let mut collections = all().filter_map(|surface| surface.collection);
    collections.find_map(|collection| model.strip_prefix(collection)).unwrap_or(model)
}

/// Whether a provider's header is for a client of the same protocol: rate limits, request ids and the like.
pub(crate) fn is_for_client(name: &HeaderName) -> bool {
    const SHARED: [&str; 5] =
        ["x-request-id", "request-id", "retry-after", "retry-after-ms", "content-type"];
    let name = name.as_str();
    SHARED.contains(&name)
        || name.starts_with("x-ratelimit-")
        || all().any(|surface| name.starts_with(surface.headers.answer_prefix))
}

/// The headers that a web page may send.
pub(crate) fn headers_from_pages() -> String {
    let mut names = vec!["*", "authorization", "content-type"];
    names.extend(key_places().map(|auth| auth.header.as_str()));
    names.extend(all().flat_map(|surface| surface.headers.public));
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names.join(", ")
}

#[cfg(test)]
mod tests;
