//! The base URL of a provider, as people write it and as the gateway needs it.

use http::Uri;
use sabir_wire::Protocol;

use crate::call::Action;
use crate::surface;

/// A path of older servers.
const COMPLETIONS: &str = "/completions";

/// Brings a base URL into the form of [`Location::Url`](crate::config::types::Location): with a version segment where the
/// protocol has one, without a slash at its end. The error is for people and does not quote the URL, which may hold a key.
pub(super) fn resolve(text: &str, protocol: Protocol) -> Result<Uri, String> {
    let text = text.trim();
    let uri: Uri = text.parse().map_err(|_| NO_URL)?;
    let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme));
    let authority = uri.authority().filter(|authority| !authority.host().is_empty());
    let (Some(scheme), Some(authority)) = (scheme, authority) else {
        return Err(NO_URL.to_owned());
    };
    if authority.as_str().contains('@') {
        return Err("must not hold a user or a password; use `api_key` or `headers`".to_owned());
    }
    if uri.query().is_some() || text.contains('#') {
        return Err("must not have a query or a fragment; use `api_key` or `headers`".to_owned());
    }
    let path = uri.path().trim_end_matches('/');
    // Who pastes the path of a single call meant what stands before it.
    let mut calls = surface::all().filter_map(|it| it.fixed(Action::Generate)).chain([COMPLETIONS]);
    if let Some(call) = calls.find(|call| path.ends_with(*call)) {
        return Err(format!("must end before `{call}`, which is added to it"));
    }
    let whole = format!("{scheme}://{authority}{path}{}", version(path, protocol));
    whole.parse().map_err(|_| NO_URL.to_owned())
}

const NO_URL: &str =
    "must be a URL with http:// or https:// and a host, as in \"https://api.openai.com/v1\"";

/// What is to be appended: nothing where the protocol leaves the version to the user, or where it is there.
fn version(path: &str, protocol: Protocol) -> &'static str {
    let last = path.rsplit('/').next().unwrap_or_default();
    let surface = surface::of(protocol);
    match surface.adds_version && !is_version(last) {
        true => surface.version(),
        false => "",
    }
}

/// `v1`, `v1beta`, `v1alpha2`: a `v`, a number, and perhaps a stage.
fn is_version(segment: &str) -> bool {
    let Some(rest) = segment.strip_prefix('v') else { return false };
    let stage = rest.trim_start_matches(|it: char| it.is_ascii_digit());
    let numbered = stage.len() < rest.len();
    let stage = stage.trim_end_matches(|it: char| it.is_ascii_digit());
    numbered && ["", "beta", "alpha", "p", "preview"].contains(&stage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, protocol: Protocol, expected: &str) {
        let uri = resolve(text, protocol).map(|uri| uri.to_string());
        assert_eq!(uri, Ok(expected.to_owned()), "{text}");
    }

    #[test]
    fn openai_urls_are_taken_as_they_are() {
        for protocol in [Protocol::OpenaiChat, Protocol::OpenaiResponses] {
            check("https://api.openai.com/v1", protocol, "https://api.openai.com/v1");
            check("https://api.openai.com/v1//", protocol, "https://api.openai.com/v1");
            check("http://[::1]:8000/a/b/", protocol, "http://[::1]:8000/a/b");
            // A URL without a path is one with the path `/`: there is no shorter way to say it.
            check("http://localhost:8000", protocol, "http://localhost:8000/");
        }
    }

    #[test]
    fn other_urls_get_their_version_once() {
        use Protocol::{AnthropicMessages as Anthropic, Gemini};
        check("https://api.anthropic.com", Anthropic, "https://api.anthropic.com/v1");
        check("https://api.anthropic.com/v1/", Anthropic, "https://api.anthropic.com/v1");
        check("https://a.example/anthropic", Anthropic, "https://a.example/anthropic/v1");
        check("https://a.example/v1beta", Gemini, "https://a.example/v1beta");
        check("https://a.example/", Gemini, "https://a.example/v1beta");
        check("https://a.example/v1alpha", Gemini, "https://a.example/v1alpha");
        check("https://a.example/vertex", Gemini, "https://a.example/vertex/v1beta");
    }

    #[test]
    fn what_is_no_base_url_is_refused_without_quoting_it() {
        let cases = [
            ("", "must be a URL"),
            ("api.openai.com/v1", "http:// or https://"),
            ("/v1", "http:// or https://"),
            ("ftp://a.example", "http:// or https://"),
            ("https://", "must be a URL"),
            ("https://:8080/v1", "must be a URL"),
            ("https://me:sesame@a.example/v1", "api_key"),
            ("https://a.example/v1?key=sesame", "query"),
            ("https://a.example/v1#sesame", "fragment"),
            ("https://a.example/v1/chat/completions", "/chat/completions"),
            ("https://a.example/v1/messages/", "/messages"),
            ("https://a b.example", "must be a URL"),
        ];
        for (text, expected) in cases {
            let error = resolve(text, Protocol::OpenaiChat).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
            assert!(!error.contains("sesame"), "{error}");
        }
    }
}
