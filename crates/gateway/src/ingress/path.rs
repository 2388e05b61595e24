//! What a path and a method ask for: the paths of Sabir itself, and those of all protocols by their surfaces.

use http::{HeaderMap, Method, Uri};
use sabir_backend::percent;
use sabir_wire::Protocol;

use crate::call::Action;
use crate::ingress::wants_socket;
use crate::surface;
use crate::surface::{FromPath, Kept, PathMatch};

/// What a path and method ask for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An answer or a count. Some protocols state in the path what others state in the body.
    Call {
        client: Protocol,
        action: Action,
        from_path: Option<FromPath>,
    },
    Models {
        shape: Protocol,
        listing: Listing,
    },
    /// The provider's own path with its key, by name.
    Passthrough {
        provider: String,
        path: String,
    },
    Embeddings,
    /// A WebSocket, over which the client asks.
    Socket(Protocol),
    /// What is kept for the client.
    Kept {
        client: Protocol,
        kept: Kept,
    },
    /// What is kept of conversations, whatever the protocol.
    Conversations(Conversations),
    /// What calls cost, from what is kept of them.
    Usage,
    /// The configuration is to be read again.
    Reload,
    Own(Own),
    /// A path or method that is not served, and the protocol to refuse it in.
    Unknown(Protocol),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    All,
    One(String),
}

/// What is asked of conversations.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Conversations {
    List,
    Begin,
    /// The turns of one.
    Read(String),
    Messages(String),
    Fork(String),
    Delete(String),
}

/// Sabir's own endpoints.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Own {
    Root,
    Health,
    Ready,
    Metrics,
    Exchanges,
    Exchange(String),
    Translate,
}

impl Endpoint {
    /// The protocol in which a refusal is written.
    pub(crate) fn error_protocol(&self) -> Protocol {
        match self {
            Self::Call { client: protocol, .. }
            | Self::Models { shape: protocol, .. }
            | Self::Kept { client: protocol, .. }
            | Self::Socket(protocol)
            | Self::Unknown(protocol) => *protocol,
            Self::Passthrough { .. }
            | Self::Embeddings
            | Self::Conversations(_)
            | Self::Usage
            | Self::Reload
            | Self::Own(_) => surface::DEFAULT,
        }
    }

    /// Whether no key is needed: to ask whether the gateway is alive.
    pub(crate) fn is_open_to_all(&self) -> bool {
        matches!(self, Self::Own(Own::Root | Own::Health | Own::Ready))
    }
}

/// Finds what a request asks for.
pub(crate) fn find(method: &Method, uri: &Uri, headers: &HeaderMap) -> Endpoint {
    let path = uri.path();
    let unknown = || Endpoint::Unknown(surface::of_unknown(path, headers, uri.query()));
    let found = match *method {
        Method::POST => post(path, uri.query()),
        Method::GET | Method::HEAD => get(path, headers, uri.query()),
        _ => None,
    };
    let kept = || {
        let (client, kept) = surface::find_kept(method, path)?;
        Some(Endpoint::Kept { client, kept })
    };
    let conversations = || conversations(method, path).map(Endpoint::Conversations);
    found.or_else(kept).or_else(conversations).or_else(|| passthrough(uri)).unwrap_or_else(unknown)
}

fn post(path: &str, query: Option<&str>) -> Option<Endpoint> {
    if let Some(PathMatch { client, action, from_path }) = surface::find(path, query) {
        return Some(Endpoint::Call { client, action, from_path });
    }
    match path {
        "/sabir/v1/translate" => Some(Endpoint::Own(Own::Translate)),
        "/sabir/v1/reload" => Some(Endpoint::Reload),
        _ => surface::is_embeddings(path).then_some(Endpoint::Embeddings),
    }
}

fn get(path: &str, headers: &HeaderMap, query: Option<&str>) -> Option<Endpoint> {
    let own = match path {
        "/" => Some(Own::Root),
        "/healthz" => Some(Own::Health),
        "/readyz" => Some(Own::Ready),
        "/metrics" => Some(Own::Metrics),
        "/sabir/v1/exchanges" => Some(Own::Exchanges),
        _ => {
            let id = path.strip_prefix("/sabir/v1/exchanges/");
            id.map(|id| Own::Exchange(id.to_owned()))
        }
    };
    if path == "/sabir/v1/usage" {
        return Some(Endpoint::Usage);
    }
    if let Some(own) = own {
        return Some(Endpoint::Own(own));
    }
    if wants_socket(headers)
        && let Some(client) = surface::find_socket(path)
    {
        return Some(Endpoint::Socket(client));
    }
    let shape = surface::of_models(path, headers, query);
    if surface::is_model_list(path) {
        return Some(Endpoint::Models { shape, listing: Listing::All });
    }
    let id = surface::below_models(path).filter(|id| !id.is_empty())?;
    Some(Endpoint::Models { shape, listing: Listing::One(percent::decode(id)) })
}

fn conversations(method: &Method, path: &str) -> Option<Conversations> {
    let rest = path.strip_prefix("/sabir/v1/conversations")?;
    if rest.is_empty() {
        return match *method {
            Method::GET => Some(Conversations::List),
            Method::POST => Some(Conversations::Begin),
            _ => None,
        };
    }
    let mut steps = rest.strip_prefix('/')?.splitn(2, '/');
    let id = steps.next().map(percent::decode).filter(|id| !id.is_empty())?;
    match (method.as_str(), steps.next()) {
        ("GET", None) => Some(Conversations::Read(id)),
        ("DELETE", None) => Some(Conversations::Delete(id)),
        ("GET", Some("messages")) => Some(Conversations::Messages(id)),
        ("POST", Some("fork")) => Some(Conversations::Fork(id)),
        _ => None,
    }
}

const PASSTHROUGH: &str = "/passthrough/";

/// Whether a path is one of a provider's own.
pub(crate) fn is_passthrough(path: &str) -> bool {
    path.starts_with(PASSTHROUGH)
}

fn passthrough(uri: &Uri) -> Option<Endpoint> {
    let rest = uri.path().strip_prefix(PASSTHROUGH)?;
    let (provider, path) = rest.split_once('/')?;
    let query = uri.query().map(surface::without_key).filter(|query| !query.is_empty());
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let path = format!("/{path}{query}");
    Some(Endpoint::Passthrough { provider: provider.to_owned(), path })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Delivery;

    #[track_caller]
    fn check(method: Method, uri: &str, expected: Endpoint) {
        assert_eq!(find(&method, &uri.parse().unwrap(), &HeaderMap::new()), expected, "{uri}");
    }

    fn gemini_call(model: &str, action: Action, delivery: Delivery) -> Endpoint {
        let from_path = Some(FromPath { model: model.to_owned(), delivery });
        Endpoint::Call { client: Protocol::Gemini, action, from_path }
    }

    #[test]
    fn geminis_paths_say_model_verb_and_form() {
        let base = "/v1beta/models";
        check(
            Method::POST,
            &format!("{base}/gemini-2.5-pro:generateContent"),
            gemini_call("gemini-2.5-pro", Action::Generate, Delivery::Whole),
        );
        check(
            Method::POST,
            "/v1/models/a%2Fb:free:streamGenerateContent?key=k&alt=sse",
            gemini_call("a/b:free", Action::Generate, Delivery::Stream),
        );
        check(
            Method::POST,
            &format!("{base}/sim-chat/x:streamGenerateContent"),
            gemini_call("sim-chat/x", Action::Generate, Delivery::Array),
        );
        check(
            Method::POST,
            &format!("{base}/m:countTokens"),
            gemini_call("m", Action::CountTokens, Delivery::Whole),
        );
        check(Method::POST, &format!("{base}/m:embedContent"), Endpoint::Unknown(Protocol::Gemini));
    }

    #[test]
    fn what_is_not_served_is_refused_in_the_manner_of_its_protocol() {
        check(Method::GET, "/v1/messages", Endpoint::Unknown(Protocol::AnthropicMessages));
        check(Method::PUT, "/v1/responses/r_1", Endpoint::Unknown(Protocol::OpenaiResponses));
        check(Method::GET, "/v1/files", Endpoint::Unknown(Protocol::OpenaiChat));
        check(Method::POST, "/v1beta/files", Endpoint::Unknown(Protocol::Gemini));
    }

    #[test]
    fn conversations_are_asked_for_by_their_ids() {
        let base = "/sabir/v1/conversations";
        let check_one = |method, below: &str, expected| {
            check(method, &format!("{base}{below}"), Endpoint::Conversations(expected));
        };
        check_one(Method::GET, "?limit=2", Conversations::List);
        check_one(Method::POST, "", Conversations::Begin);
        check_one(Method::GET, "/a%2Db", Conversations::Read("a-b".to_owned()));
        check_one(Method::DELETE, "/a", Conversations::Delete("a".to_owned()));
        check_one(Method::GET, "/a/messages?as=x", Conversations::Messages("a".to_owned()));
        check_one(Method::POST, "/a/fork", Conversations::Fork("a".to_owned()));
        let unknown = Endpoint::Unknown(Protocol::OpenaiChat);
        check(Method::POST, &format!("{base}/a"), unknown);
    }

    #[test]
    fn usage_is_read_and_never_written() {
        check(Method::GET, "/sabir/v1/usage?by=day", Endpoint::Usage);
        check(Method::POST, "/sabir/v1/usage", Endpoint::Unknown(Protocol::OpenaiChat));
    }

    #[test]
    fn a_providers_own_path_keeps_its_query() {
        let path = "/v1/files?limit=2".to_owned();
        let expected = Endpoint::Passthrough { provider: "openai".to_owned(), path };
        check(Method::DELETE, "/passthrough/openai/v1/files?key=mine&limit=2", expected);
    }

    #[test]
    fn models_are_listed_in_the_shape_that_the_client_knows() {
        let all = |shape| Endpoint::Models { shape, listing: Listing::All };
        check(Method::GET, "/v1/models", all(Protocol::OpenaiChat));
        check(Method::GET, "/v1/models?key=k", all(Protocol::Gemini));
        check(Method::GET, "/v1beta/models", all(Protocol::Gemini));
        let listing = Listing::One("openai/gpt-5".to_owned());
        let expected = Endpoint::Models { shape: Protocol::OpenaiChat, listing };
        check(Method::GET, "/v1/models/openai%2Fgpt-5", expected);
    }
}
