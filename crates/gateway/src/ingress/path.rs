//! What a path and a method ask for: the paths of Sabir itself, and those of all protocols by their surfaces.

use http::{HeaderMap, Method, Uri};
use sabir_backend::percent;
use sabir_wire::Protocol;

use crate::call::Action;
use crate::surface;
use crate::surface::{FromPath, Kept, PathMatch};

/// What a path and method ask for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// An answer or a count. Some protocols say in the path what others say in the body.
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
    /// What is kept for the client.
    Kept {
        client: Protocol,
        kept: Kept,
    },
    /// The configuration is to be read again.
    Reload,
    Own(Own),
    /// A path or method that is not served, and the protocol to say so in.
    Unknown(Protocol),
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
    pub(crate) fn error_protocol(&self) -> Protocol {
        match self {
            Self::Call { client: protocol, .. }
            | Self::Models { shape: protocol, .. }
            | Self::Kept { client: protocol, .. }
            | Self::Unknown(protocol) => *protocol,
            Self::Passthrough { .. } | Self::Embeddings | Self::Reload | Self::Own(_) => {
                surface::DEFAULT
            }
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
    found.or_else(kept).or_else(|| passthrough(uri)).unwrap_or_else(unknown)
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
    if let Some(own) = own {
        return Some(Endpoint::Own(own));
    }
    let shape = surface::of_models(path, headers, query);
    if surface::is_model_list(path) {
        return Some(Endpoint::Models { shape, listing: Listing::All });
    }
    let id = surface::below_models(path).filter(|id| !id.is_empty())?;
    Some(Endpoint::Models { shape, listing: Listing::One(percent::decode(id)) })
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
