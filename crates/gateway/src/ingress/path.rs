//! The paths of the four protocols and of Sabir itself, as data.

use http::HeaderMap;
use http::Method;
use http::Uri;
use sabir_backend::percent;
use sabir_wire::Protocol;

use crate::attempt::without_key;
use crate::call::Action;
use crate::call::Delivery;

/// What a path and method ask for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An answer or a count. Gemini says in the path what others say in the body.
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
    Own(Own),
    /// A path or method that is not served, and the protocol to say so in.
    Unknown(Protocol),
}

/// What Gemini's path says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FromPath {
    pub(crate) model: String,
    pub(crate) delivery: Delivery,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Listing {
    All,
    One(String),
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
    pub(crate) fn manner(&self) -> Protocol {
        match self {
            Self::Call { client: protocol, .. }
            | Self::Models { shape: protocol, .. }
            | Self::Unknown(protocol) => *protocol,
            Self::Passthrough { .. } | Self::Embeddings | Self::Own(_) => Protocol::OpenaiChat,
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
    let unknown = || Endpoint::Unknown(manner(path, headers, uri.query()));
    let found = match *method {
        Method::POST => post(path, uri.query()),
        Method::GET | Method::HEAD => get(path, headers, uri.query()),
        _ => None,
    };
    found.or_else(|| passthrough(uri)).unwrap_or_else(unknown)
}

fn post(path: &str, query: Option<&str>) -> Option<Endpoint> {
    let call = |client, action| Some(Endpoint::Call { client, action, from_path: None });
    match path {
        "/v1/chat/completions" => call(Protocol::OpenaiChat, Action::Generate),
        "/v1/responses" => call(Protocol::OpenaiResponses, Action::Generate),
        "/v1/responses/input_tokens" => call(Protocol::OpenaiResponses, Action::CountTokens),
        "/v1/messages" => call(Protocol::AnthropicMessages, Action::Generate),
        "/v1/messages/count_tokens" => call(Protocol::AnthropicMessages, Action::CountTokens),
        "/v1/embeddings" => Some(Endpoint::Embeddings),
        "/sabir/v1/translate" => Some(Endpoint::Own(Own::Translate)),
        _ => gemini(path, query),
    }
}

/// `…/models/{model}:{verb}`, where the model may hold a slash, plain or percent-encoded.
fn gemini(path: &str, query: Option<&str>) -> Option<Endpoint> {
    let rest = below_models(path)?;
    let (model, verb) = rest.rsplit_once(':')?;
    let is_sse = query.is_some_and(|query| query.split('&').any(|pair| pair == "alt=sse"));
    let (action, delivery) = match verb {
        "generateContent" => (Action::Generate, Delivery::Whole),
        "streamGenerateContent" if is_sse => (Action::Generate, Delivery::Stream),
        "streamGenerateContent" => (Action::Generate, Delivery::Array),
        "countTokens" => (Action::CountTokens, Delivery::Whole),
        _ => return None,
    };
    let from_path = Some(FromPath { model: percent::decode(model), delivery });
    Some(Endpoint::Call { client: Protocol::Gemini, action, from_path })
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
    if let Some(own) = own {
        return Some(Endpoint::Own(own));
    }
    let shape = models_shape(path, headers, query);
    if matches!(path, "/v1/models" | "/v1beta/models") {
        return Some(Endpoint::Models { shape, listing: Listing::All });
    }
    let id = below_models(path).filter(|id| !id.is_empty())?;
    Some(Endpoint::Models { shape, listing: Listing::One(percent::decode(id)) })
}

fn below_models(path: &str) -> Option<&str> {
    path.strip_prefix("/v1beta/models/").or_else(|| path.strip_prefix("/v1/models/"))
}

const PASSTHROUGH: &str = "/passthrough/";

/// Whether a path is one of a provider's own.
pub(crate) fn is_passthrough(path: &str) -> bool {
    path.starts_with(PASSTHROUGH)
}

fn passthrough(uri: &Uri) -> Option<Endpoint> {
    let rest = uri.path().strip_prefix(PASSTHROUGH)?;
    let (provider, path) = rest.split_once('/')?;
    let query = uri.query().map(without_key).filter(|query| !query.is_empty());
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    let path = format!("/{path}{query}");
    Some(Endpoint::Passthrough { provider: provider.to_owned(), path })
}

/// Whose list of models a client expects, by how it says who it is.
fn models_shape(path: &str, headers: &HeaderMap, query: Option<&str>) -> Protocol {
    let has_key = query.is_some_and(|query| query.split('&').any(|it| it.starts_with("key=")));
    if headers.contains_key("anthropic-version") {
        Protocol::AnthropicMessages
    } else if path.starts_with("/v1beta") || headers.contains_key("x-goog-api-key") || has_key {
        Protocol::Gemini
    } else {
        Protocol::OpenaiChat
    }
}

/// The protocol in which to refuse a request that is no protocol's own.
fn manner(path: &str, headers: &HeaderMap, query: Option<&str>) -> Protocol {
    if path.starts_with("/v1/messages") {
        return Protocol::AnthropicMessages;
    }
    if path.starts_with("/v1/responses") || path.starts_with("/v1/conversations") {
        return Protocol::OpenaiResponses;
    }
    if is_geminis(path) {
        return Protocol::Gemini;
    }
    models_shape(path, headers, query)
}

/// Whether nobody but Gemini has such paths: versions of its own, and verbs behind a model.
fn is_geminis(path: &str) -> bool {
    let path = path.strip_prefix("/upload").unwrap_or(path);
    path.starts_with("/v1beta")
        || path.starts_with("/v1alpha")
        || path.strip_prefix("/v1/models/").is_some_and(|rest| rest.contains(':'))
}

/// What would help a client whose path nobody serves.
pub(crate) fn advice(path: &str) -> &'static str {
    const OPENAI: [&str; 4] = ["/chat/completions", "/responses", "/models", "/embeddings"];
    match path {
        _ if path.starts_with("/v1/v1/") || path.starts_with("/v1/v1beta/") => {
            "the base URL of this client ends before /v1"
        }
        _ if OPENAI.contains(&path) => "the base URL of OpenAI's clients ends in /v1",
        _ => "a provider's other paths are below /passthrough/PROVIDER/",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        check(Method::DELETE, "/v1/responses/r_1", Endpoint::Unknown(Protocol::OpenaiResponses));
        check(Method::GET, "/v1/files", Endpoint::Unknown(Protocol::OpenaiChat));
        check(Method::POST, "/v1beta/files", Endpoint::Unknown(Protocol::Gemini));
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
