//! Who may knock: hosts and origins, so that no web page spends the operator's keys, and no gateway asks itself.

use std::net::IpAddr;

use http::HeaderMap;
use http::Uri;
use http::header::HOST;
use http::header::ORIGIN;
use http::header::VIA;
use sabir_wire::FaultKind;

use crate::Gateway;
use crate::failure::Failure;
use crate::failure::Result;
use crate::observe::Whose;

/// Refuses requests that come under a strange name, from a strange page, or from this gateway itself.
pub(crate) fn admit(gateway: &Gateway, uri: &Uri, headers: &HeaderMap) -> Result<()> {
    if !is_allowed_host(gateway, host(uri, headers)?) {
        let message =
            "this gateway does not answer under that host name; add it to `allowed_hosts`";
        return Err(refused(message));
    }
    if let Some(origin) = headers.get(ORIGIN)
        && !is_allowed_origin(gateway, origin.as_bytes())
    {
        let message = "web pages of that origin may not use this gateway; add it to `cors_origins`";
        return Err(refused(message));
    }
    if is_embedded(headers) {
        let message = "a web page may not use this gateway by embedding it";
        return Err(refused(message));
    }
    if has_come_through(headers, &gateway.instance) {
        let message = "this gateway is its own upstream: a provider's base_url points back to it";
        let failure = Failure::new(Whose::Gateway, FaultKind::Internal, message);
        return Err(failure.with_status(508));
    }
    Ok(())
}

/// The one host that a request names. What two readers could take for two different hosts is refused, so that none gets
/// past the check under one name and is served under the other.
fn host<'r>(uri: &Uri, headers: &'r HeaderMap) -> Result<&'r str> {
    let mut stated = headers.get_all(HOST).iter();
    let host = match (stated.next(), stated.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    };
    let agrees = |host: &&str| match uri.authority() {
        Some(authority) => {
            without_own_port(authority.as_str()).eq_ignore_ascii_case(without_own_port(host))
        }
        None => true,
    };
    host.filter(agrees).ok_or_else(|| {
        let message = "expected one `host` header that agrees with the request's target";
        Failure::client(FaultKind::BadRequest, message)
    })
}

/// A host without the port that plain HTTP has anyway.
fn without_own_port(host: &str) -> &str {
    host.strip_suffix(":80").unwrap_or(host)
}

/// Whether a browser fetches this for a page of another site that does not say which: an image, a script, a frame.
fn is_embedded(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(http::HeaderValue::as_bytes);
    matches!(site, Some(b"cross-site" | b"same-site")) && !headers.contains_key(ORIGIN)
}

fn refused(message: &'static str) -> Box<Failure> {
    Failure::new(Whose::Policy, FaultKind::Permission, message)
}

/// Loopback names, the address that is listened on, and what the operator allows.
fn is_allowed_host(gateway: &Gateway, host: &str) -> bool {
    let name = without_port(host);
    let config = &gateway.config;
    is_loopback(name)
        || name.parse::<IpAddr>().is_ok_and(|ip| ip == config.listen.ip())
        || config
            .allowed_hosts
            .iter()
            .any(|it| it == "*" || it.eq_ignore_ascii_case(name) || it.eq_ignore_ascii_case(host))
}

pub(crate) fn is_allowed_origin(gateway: &Gateway, origin: &[u8]) -> bool {
    let origins = &gateway.config.cors_origins;
    origins.iter().any(|it| it == "*" || it.as_bytes().eq_ignore_ascii_case(origin))
}

fn is_loopback(name: &str) -> bool {
    let below_localhost = name.strip_suffix("localhost").is_some_and(|rest| rest.ends_with('.'));
    name.eq_ignore_ascii_case("localhost")
        || below_localhost
        || name.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// The host without its port and without the brackets of IPv6.
fn without_port(host: &str) -> &str {
    if let Some(rest) = host.strip_prefix('[') {
        return rest.split(']').next().unwrap_or_default();
    }
    host.split(':').next().unwrap_or_default()
}

fn has_come_through(headers: &HeaderMap, instance: &str) -> bool {
    let passed = headers.get_all(VIA).iter().filter_map(|via| via.to_str().ok());
    passed.flat_map(|via| via.split(',')).any(|hop| hop.trim().ends_with(instance))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_brackets_do_not_belong_to_a_name() {
        for (host, name) in [
            ("localhost:4747", "localhost"),
            ("127.0.0.1", "127.0.0.1"),
            ("[::1]:4747", "::1"),
            ("[::1]", "::1"),
            ("", ""),
        ] {
            assert_eq!(without_port(host), name);
        }
    }

    #[test]
    fn loopback_has_many_names_and_no_others() {
        for name in ["localhost", "LOCALHOST", "127.0.0.1", "127.9.9.9", "::1", "a.localhost"] {
            assert!(is_loopback(name), "{name}");
        }
        for name in ["", "evil.com", "localhost.evil.com", "notlocalhost", "128.0.0.1"] {
            assert!(!is_loopback(name), "{name}");
        }
    }
}
