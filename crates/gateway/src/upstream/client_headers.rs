//! Which of a client's headers may reach a provider. They are known by the words of their names, so that a relative of a header
//! that stays here stays with it.

use http::{HeaderName, HeaderValue};

use crate::surface;

/// Whether a client's header may go to any provider.
pub(crate) fn may_go_on(name: &HeaderName) -> bool {
    let private = is_credential(name) || is_of_client(name.as_str());
    is_plain(name.as_str()) && !private && !changes_method(name.as_str())
}

/// Whether the operator configured a header that some servers take for this one.
pub(crate) fn is_configured(name: &HeaderName, configured: &[(HeaderName, HeaderValue)]) -> bool {
    configured.iter().any(|(own, _)| own.as_str().replace('_', "-") == name.as_str())
}

/// Whether a header asks for a part of an answer, or for another spelling of it: a secret in it could no longer be found.
/// Servers may always answer as if there were none.
pub(crate) fn cuts_answers(name: &HeaderName, value: &HeaderValue) -> bool {
    let name = name.as_str();
    let asks_for_part = words(name).any(|word| matches!(word, "range" | "ranges"));
    let asks_for_spelling = name == "accept" && names_charset(value.as_bytes())
        || words(name).any(|word| word == "encode");
    // What a client sends may well be a part.
    asks_for_part && !name.ends_with("content-range")
        || asks_for_spelling
        || name == "a-im"
        || name.ends_with("accept-charset")
}

/// Whether all servers read a name alike. Many take an underscore for a hyphen and find two headers of one name.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whether a header proves who somebody is. To a provider that is the operator's.
fn is_credential(name: &HeaderName) -> bool {
    let is_proof = |word: &str| PROOFS.contains(&word);
    let is_secret = |word: &str| SECRETS.contains(&word) && !name.as_str().ends_with(IDEMPOTENCY);
    surface::is_key_header(name)
        || words(name.as_str()).any(is_proof)
        || words(name.as_str()).next_back().is_some_and(is_secret)
}

/// Words of headers by which clients, or proxies before this gateway, prove who asks.
const PROOFS: &[&str] =
    &["assertion", "auth", "authentication", "authorization", "cookie", "cookie2", "jwt", "oidc"];
/// The last words of headers that hold a secret, and the header that ends like them and is none.
const SECRETS: &[&str] = &[
    "apikey",
    "apikeys",
    "credential",
    "credentials",
    "key",
    "keys",
    "password",
    "secret",
    "secrets",
    "token",
    "tokens",
];
const IDEMPOTENCY: &str = "idempotency-key";

/// Headers that are between the client and this gateway, where it asks from among them.
fn is_of_client(name: &str) -> bool {
    matches!(name, "origin" | "referer" | "forwarded" | "x-real-ip")
        || name.starts_with("x-forwarded-")
        || name.ends_with("accept-encoding")
        || name.starts_with("sabir-")
}

/// Headers by which some servers take a request for one of another method than was looked at here.
fn changes_method(name: &str) -> bool {
    words(name).any(|word| word == "method")
}

fn words(name: &str) -> std::str::Split<'_, char> {
    name.split('-')
}

fn names_charset(value: &[u8]) -> bool {
    const PARAMETER: &[u8] = b"charset";
    value.windows(PARAMETER.len()).any(|part| part.eq_ignore_ascii_case(PARAMETER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&'static str], is_kept_here: impl Fn(&HeaderName) -> bool, expected: bool) {
        for name in names.iter().copied().map(HeaderName::from_static) {
            assert_eq!(is_kept_here(&name), expected, "{name}");
        }
    }

    #[test]
    fn relatives_of_what_stays_here_stay_too() {
        let stays = |name: &HeaderName| !may_go_on(name);
        check(
            &[
                "authorization",
                "x-forwarded-authorization",
                "proxy-authorization",
                "x-api-key",
                "x_api_key",
                "x-goog-api-key",
                "x_goog_api_key",
                "x-goog-api_key",
                "api-key",
                "apikey",
                "x-auth-token",
                "ocp-apim-subscription-key",
                "cookie",
                "x-auth",
                "x-authentication",
                "cf-access-jwt-assertion",
                "x-amzn-oidc-data",
                "x-api-keys",
                "x-tokens",
                "forwarded",
                "x-forwarded-for",
                "x-real-ip",
                "origin",
                "accept-encoding",
                "accept_encoding",
                "x-accept-encoding",
                "x-http-method-override",
                "x-method-override",
                "x-http-method",
                "sabir-conversation",
                "x_team",
                "x.team",
            ],
            stays,
            true,
        );
        check(
            &[
                "accept",
                "accept-language",
                "content-type",
                "content-range",
                "idempotency-key",
                "x-idempotency-key",
                "if-none-match",
                "openai-organization",
                "x-goog-upload-protocol",
                "x-request-id",
                "x-tokens-max",
            ],
            stays,
            false,
        );
    }

    #[test]
    fn nothing_asks_for_an_answer_in_parts_or_in_another_spelling() {
        let plain = HeaderValue::from_static("x");
        let cuts = |name: &HeaderName| cuts_answers(name, &plain);
        let parts = [
            "range",
            "if-range",
            "request-range",
            "x-ms-range",
            "x-range",
            "x-goog-range-x",
            "a-im",
            "accept-charset",
            "x-accept-charset",
            "x-goog-encode-response-if-executable",
        ];
        check(&parts, cuts, true);
        check(&["content-range", "x-upload-content-range", "accept", "x-arranged"], cuts, false);
        let accept = HeaderName::from_static("accept");
        for value in ["text/plain;charset=utf-16", "text/*; q=1; Charset=\"UTF-16\", */*"] {
            assert!(cuts_answers(&accept, &HeaderValue::from_static(value)), "{value}");
        }
    }

    #[test]
    fn a_configured_header_has_no_twin() {
        let configured = [(HeaderName::from_static("x_team"), HeaderValue::from_static("a"))];
        let is_twin = |name: &HeaderName| is_configured(name, &configured);
        check(&["x-team"], is_twin, true);
        check(&["x-teams"], is_twin, false);
    }
}
