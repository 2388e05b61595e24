//! What must hold for any bytes that a client sends, up to the point where its model is looked for: shared by the fuzz target and
//! the property test.
//!
//! The function panics if a promise is broken and says nothing otherwise.

use std::net::IpAddr;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use http::header::HOST;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use sabir_wire::Protocol;
use sabir_wire::json::Json;

use crate::call::unmarked;
use crate::ingress::Endpoint;
use crate::state::Snapshot;
use crate::{config, ingress};

/// A gateway that asks for a key and is reached by loopback names alone.
static GATEWAY: LazyLock<Arc<Snapshot>> = LazyLock::new(|| {
    let toml = "env_providers = false\n[auth]\nrequired = true\n\
                [[auth.key]]\nname = \"k\"\nvalue = { value = \"gateway-key\" }\n";
    match config::parse(toml, Path::new("sabir.toml"), &|_| None) {
        Ok(config) => Arc::new(Snapshot::new(config)),
        Err(problems) => panic!("the configuration is a right one: {problems}"),
    }
});

/// What a body may become without its compression.
const BODY_BYTES_MAX: usize = 64 * 1024;

/// Lets a request in: a line with method and target, headers line by line, an empty line, and the body.
pub fn ingress(bytes: &[u8]) {
    let at = bytes.windows(2).position(|it| it == b"\n\n");
    let (head, body) = bytes.split_at(at.unwrap_or(bytes.len()));
    let Some((method, uri, headers)) = read_head(head) else { return };
    check_endpoint(&method, &uri, &headers);
    if ingress::admit(&GATEWAY, &uri, &headers).is_ok() {
        let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        assert!(is_loopback(host), "a strange host is let in: {host:?}");
    }
    let _ = ingress::check_head(&GATEWAY, &uri, &headers);
    if ingress::identify(&GATEWAY, &uri, &headers).is_ok() {
        let text = String::from_utf8_lossy(head);
        let is_spelt = text.contains("gateway-key") || text.contains('%');
        assert!(is_spelt, "somebody is known without the key");
    }
    check_body(body.strip_prefix(b"\n\n").unwrap_or(body), &headers);
}

fn read_head(head: &[u8]) -> Option<(Method, Uri, HeaderMap)> {
    let mut lines = head.split(|byte| *byte == b'\n');
    let mut words = lines.next()?.splitn(2, |byte| *byte == b' ');
    let method = Method::from_bytes(words.next()?).ok()?;
    let uri = Uri::try_from(words.next()?).ok()?;
    let mut headers = HeaderMap::new();
    for line in lines {
        let at = line.iter().position(|byte| *byte == b':')?;
        let name = HeaderName::from_bytes(&line[..at]).ok()?;
        headers.append(name, HeaderValue::from_bytes(line[at + 1..].trim_ascii()).ok()?);
    }
    Some((method, uri, headers))
}

/// Whatever a path asks for, nothing in it can end the line that a provider gets.
fn check_endpoint(method: &Method, uri: &Uri, headers: &HeaderMap) {
    let endpoint = ingress::find_endpoint(method, uri, headers);
    let _ = (endpoint.error_protocol(), crate::surface::advice(uri.path()));
    let is_open = matches!(uri.path(), "/" | "/healthz" | "/readyz");
    assert!(!endpoint.is_open_to_all() || is_open, "a path is open to all");
    if let Endpoint::Passthrough { path, .. } = endpoint {
        assert!(ingress::is_passthrough(uri.path()));
        let is_one_word = !path.bytes().any(|byte| byte <= b' ' || byte == 0x7f);
        assert!(path.starts_with('/') && is_one_word, "no target of a request: {path:?}");
    }
}

/// The top of a body is read as another reader does, and unpacking stays within its limit.
fn check_body(body: &[u8], headers: &HeaderMap) {
    let Some(body) = unpacked(body.to_vec(), headers) else { return };
    assert!(body.len() <= BODY_BYTES_MAX || !headers.contains_key("content-encoding"));
    let Ok(body) = ingress::text(&body) else { return };
    for protocol in Protocol::ALL {
        let Ok(skimmed) = ingress::skim(protocol, body) else { continue };
        let whole = Json::parse(unmarked(body));
        assert!(whole.is_ok(), "what is skimmed is JSON");
        if let (Some(model), Some(at)) = (skimmed.model, skimmed.model_at) {
            let value = body.get(at).expect("the model stands in the body");
            let is_name = |it: Json<'_>| it.reader().string().is_ok_and(|it| it == *model);
            let is_other = |it: Json<'_>| it.reader().string().is_err();
            let read = Json::parse(value).expect("the model is one value");
            assert!(is_name(read.clone()) || is_other(read), "another model stands there");
        }
    }
}

fn unpacked(body: Vec<u8>, headers: &HeaderMap) -> Option<Vec<u8>> {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime without I/O can always be made");
    }
    let unpacking = ingress::unpack(&GATEWAY, body, headers, BODY_BYTES_MAX);
    RUNTIME.with(|it| it.block_on(unpacking)).ok().map(|(body, _)| body)
}

/// Whether a host is one of this machine's own names, read by the grammar: a name or an address, and a port of digits.
fn is_loopback(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, port),
        _ => (host, ""),
    };
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    let in_brackets = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let address = match in_brackets {
        Some(inner) => inner.parse().ok().filter(IpAddr::is_ipv6),
        None => name.parse().ok().filter(IpAddr::is_ipv4),
    };
    let is_own_name = name
        .rsplit('.')
        .next()
        .is_some_and(|it| it.eq_ignore_ascii_case("localhost"))
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'_' | b'.'));
    is_port && (is_own_name || address.is_some_and(|it| it.is_loopback()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINES: &[&str] = &[
        "POST /v1/messages",
        "POST /v1/models/a%2Fb:generateContent?alt=sse&key=gateway-key",
        "GET /passthrough/p/v1/x?key=a&b=c",
        "TRACE /passthrough/p/..//%0d%0a",
        "OPTIONS *",
        "HEAD http://localhost/v1/models",
    ];

    const HEADERS: &[&str] = &[
        "\nhost: localhost",
        "\nhost: [::1]:4747",
        "\nhost: evil.example",
        "\nauthorization: bearer gateway-key",
        "\nx-api-key: gateway",
        "\ncontent-encoding: gzip, br",
        "\nvia: 1.1 sabir-0",
        "\norigin: null",
    ];

    const BODIES: &[&str] =
        &["{", "\"model\":\"m\",", "\"model\":1,", "\"stream\":true,", "\"a\":[{}]}", "\u{feff}"];

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2_000,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn requests_are_let_in_by_the_rules(
            line in proptest::sample::select(LINES),
            headers in proptest::collection::vec(proptest::sample::select(HEADERS), 0..6),
            body in proptest::collection::vec(proptest::sample::select(BODIES), 0..6),
            tail in proptest::collection::vec(any::<u8>(), 0..4),
        ) {
            let request = format!("{line}{}\n\n{}", headers.concat(), body.concat());
            ingress(&[request.as_bytes(), &tail].concat());
        }
    }
}
