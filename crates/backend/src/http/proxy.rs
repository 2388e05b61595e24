//! The proxy variables that operators set for every program: which requests go through which proxy.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

use crate::http::Address;
use crate::percent;

/// What the environment says of proxies. Hosts of this machine are never asked through one.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    http: Option<Proxy>,
    https: Option<Proxy>,
    /// Names and their domains that are asked directly; `*` is all of them.
    direct: Vec<String>,
}

#[derive(Clone)]
pub(super) struct Proxy {
    pub(super) address: Address,
    /// The value of `proxy-authorization`.
    pub(super) credentials: Option<String>,
}

impl Proxies {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` in either case.
    pub fn of(environment: &dyn Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| {
            let value = environment(&name.to_lowercase()).or_else(|| environment(name));
            value.filter(|value| !value.is_empty())
        };
        let proxy = |name| read(name).or_else(|| read("ALL_PROXY")).and_then(|url| parse(&url));
        let direct = read("NO_PROXY").unwrap_or_default();
        let name = |name: &str| {
            name.trim().trim_start_matches("*.").trim_start_matches('.').to_lowercase()
        };
        Self {
            http: proxy("HTTP_PROXY"),
            https: proxy("HTTPS_PROXY"),
            direct: direct.split(',').map(name).filter(|name| !name.is_empty()).collect(),
        }
    }

    pub(super) fn for_address(&self, address: &Address) -> Option<&Proxy> {
        let proxy = if address.is_tls() { &self.https } else { &self.http };
        proxy.as_ref().filter(|_| !self.is_direct(address.host()))
    }

    fn is_direct(&self, host: &str) -> bool {
        let host = host.to_lowercase();
        let is_below = |name: &str| host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'));
        is_loopback(&host)
            || self.direct.iter().any(|name| name == "*" || host == *name || is_below(name))
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Reads a proxy's URL; one without a scheme is taken for `http`.
fn parse(url: &str) -> Option<Proxy> {
    let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    let url: Uri = url.parse().ok()?;
    let address = Address::of(&url)?;
    let (user, _) = url.authority()?.as_str().rsplit_once('@').unwrap_or_default();
    let credentials = (!user.is_empty())
        .then(|| format!("Basic {}", sabir_wire::base64::encode(percent::decode(user).as_bytes())));
    Some(Proxy { address, credentials })
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Proxy({})", self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Proxies {
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        Proxies::of(&move |name| {
            variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
        })
    }

    #[track_caller]
    fn check(variables: &[(&str, &str)], url: &str, expected: Option<&str>) {
        let address = Address::of(&url.parse().unwrap()).unwrap();
        let proxies = proxies(variables);
        let proxy = proxies.for_address(&address).map(|proxy| proxy.address.to_string());
        assert_eq!(proxy.as_deref(), expected, "{url}");
    }

    #[test]
    fn each_scheme_has_its_own_proxy_and_all_proxy_stands_in() {
        let both = [("HTTPS_PROXY", "http://a:3128"), ("http_proxy", "b:3129")];
        check(&both, "https://api.example.com/v1", Some("a:3128"));
        check(&both, "http://api.example.com/v1", Some("b:3129"));
        check(&[("ALL_PROXY", "http://c:1")], "https://api.example.com", Some("c:1"));
        check(&[("HTTPS_PROXY", "")], "https://api.example.com", None);
    }

    #[test]
    fn named_hosts_and_this_machine_are_asked_directly() {
        let variables = [("HTTPS_PROXY", "a:1"), ("NO_PROXY", "example.com, .corp ,*.test")];
        for (url, expected) in [
            ("https://example.com", None),
            ("https://api.example.com", None),
            ("https://notexample.com", Some("a:1")),
            ("https://x.corp", None),
            ("https://y.test", None),
            ("https://127.0.0.1:9", None),
            ("https://localhost:9", None),
        ] {
            check(&variables, url, expected);
        }
        check(&[("HTTPS_PROXY", "a:1"), ("NO_PROXY", "*")], "https://example.com", None);
    }

    #[test]
    fn credentials_are_sent_and_never_shown() {
        let proxies = proxies(&[("HTTPS_PROXY", "http://me:p%40ss@a:1")]);
        let credentials = proxies.https.as_ref().unwrap().credentials.as_deref();
        assert_eq!(credentials, Some("Basic bWU6cEBzcw=="));
        assert!(!format!("{proxies:?}").contains("bWU6"));
    }
}
