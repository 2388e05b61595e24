//! The proxy variables that operators set for every program: which requests go through which proxy.

use std::fmt;
use std::net::IpAddr;

use http::Uri;

use crate::error::{Error, ErrorKind};
use crate::http::Address;
use crate::http::direct::Direct;
use crate::http::socks::{Login, Names, Socks};
use crate::percent;

/// What the environment says of proxies. Hosts of this machine are never asked through one.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    http: Option<Configured>,
    https: Option<Configured>,
    direct: Vec<Direct>,
}

/// A proxy, or why the one that the environment names cannot be used: going around it would be worse than failing.
type Configured = Result<Proxy, String>;

#[derive(Clone)]
pub(super) struct Proxy {
    pub(super) address: Address,
    pub(super) protocol: ProxyProtocol,
}

/// The protocol of a proxy.
#[derive(Clone)]
pub(super) enum ProxyProtocol {
    /// HTTP, in TLS if the proxy's address says so.
    Http(Http),
    Socks(Socks),
}

#[derive(Clone)]
pub(super) struct Http {
    /// The value of `proxy-authorization`.
    pub(super) credentials: Option<String>,
}

/// Where SOCKS proxies listen if nobody says otherwise.
const SOCKS_PORT: u16 = 1080;

impl Proxies {
    /// Reads `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` in either case.
    pub fn of(environment: &dyn Fn(&str) -> Option<String>) -> Self {
        let read = |name: &str| {
            let value = environment(&name.to_lowercase()).or_else(|| environment(name));
            value.filter(|value| !value.is_empty())
        };
        let proxy = |name| {
            let named = |name| read(name).map(|url| parse(name, &url));
            named(name).or_else(|| named("ALL_PROXY"))
        };
        let direct = read("NO_PROXY").unwrap_or_default();
        Self {
            http: proxy("HTTP_PROXY"),
            https: proxy("HTTPS_PROXY"),
            direct: direct.split(',').filter_map(Direct::parse).collect(),
        }
    }

    /// The proxy through which an address is asked.
    pub(super) fn for_address(&self, address: &Address) -> crate::Result<Option<&Proxy>> {
        let proxy = if address.is_tls() { &self.https } else { &self.http };
        match proxy.as_ref().filter(|_| !self.is_direct(address)) {
            None => Ok(None),
            Some(Ok(proxy)) => Ok(Some(proxy)),
            Some(Err(problem)) => Err(Error::new(ErrorKind::Connect, problem.as_str())),
        }
    }

    fn is_direct(&self, address: &Address) -> bool {
        let host = address.host().to_lowercase();
        is_loopback(&host) || self.direct.iter().any(|direct| direct.matches(&host, address.port()))
    }
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Reads a proxy's URL; one without a scheme is taken for `http`.
fn parse(variable: &str, url: &str) -> Configured {
    let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
    read(&url).ok_or_else(|| {
        format!(
            "the proxy of {variable} cannot be used; expected a URL such as http://host:port, \
             https://host:port or socks5://host:port"
        )
    })
}

fn read(url: &str) -> Option<Proxy> {
    let url: Uri = url.parse().ok()?;
    let (user, _) = url.authority()?.as_str().rsplit_once('@').unwrap_or_default();
    let names = match &*url.scheme_str()?.to_ascii_lowercase() {
        "socks5" => Names::Here,
        "socks5h" => Names::AtProxy,
        _ => {
            let address = Address::of(&url)?;
            return Some(Proxy { address, protocol: ProxyProtocol::Http(Http::of(user)) });
        }
    };
    let address = Address::of_other(&url, SOCKS_PORT)?;
    Some(Proxy { address, protocol: ProxyProtocol::Socks(Socks { login: login(user), names }) })
}

impl Http {
    fn of(user: &str) -> Self {
        let basic = |user: &str| sabir_wire::base64::encode(percent::decode(user).as_bytes());
        Self { credentials: (!user.is_empty()).then(|| format!("Basic {}", basic(user))) }
    }
}

fn login(user: &str) -> Option<Login> {
    let (name, password) = user.split_once(':').unwrap_or((user, ""));
    let [user, password] = [name, password].map(percent::decode);
    (!user.is_empty()).then_some(Login { user, password })
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
        let proxy = proxies.for_address(&address).unwrap();
        let proxy = proxy.map(|proxy| proxy.address.to_string());
        assert_eq!(proxy.as_deref(), expected, "{url} with {variables:?}");
    }

    #[test]
    fn each_scheme_has_its_own_proxy_and_all_proxy_stands_in() {
        let both = [("HTTPS_PROXY", "http://a:3128"), ("http_proxy", "b:3129")];
        check(&both, "https://api.example.com/v1", Some("a:3128"));
        check(&both, "http://api.example.com/v1", Some("b:3129"));
        check(&[("ALL_PROXY", "http://c:1")], "https://api.example.com", Some("c:1"));
        check(&[("HTTPS_PROXY", "")], "https://api.example.com", None);
    }

    /// `NO_PROXY`, and who is asked directly under it and who is not. The rows with `hyper-util` behind them are those in
    /// which its matcher says otherwise, see decision 6.
    const NO_PROXY: [(&str, &[&str], &[&str]); 22] = [
        ("", &[], &["example.com"]),
        // This machine needs no entry: hyper-util.
        ("", &["localhost:9", "127.0.0.1:9", "127.8.8.8", "[::1]"], &["localhost.example.com"]),
        ("example.com", &["example.com", "api.example.com"], &["notexample.com", "com"]),
        (".example.com", &["example.com", "api.example.com"], &["notexample.com"]),
        ("Example.COM", &["example.com", "API.example.com"], &[]),
        // Every subdomain: hyper-util.
        ("*.example.com", &["api.example.com"], &["notexample.com"]),
        // A dot at the end of a name: hyper-util.
        ("example.com", &["example.com.", "api.example.com."], &[]),
        ("example.com.", &["example.com", "api.example.com"], &[]),
        // One port alone: hyper-util.
        ("example.com:8443", &["example.com:8443", "a.example.com:8443"], &["example.com"]),
        ("example.com:443", &["example.com"], &["example.com:8443"]),
        ("10.1.2.3:443", &["10.1.2.3"], &["10.1.2.3:8443"]),
        ("[fd00::1]:443", &["[fd00::1]"], &["[fd00::1]:8443", "[fd00::2]"]),
        ("*", &["example.com"], &[]),
        // Everything, numbers too: hyper-util.
        ("*", &["10.1.2.3", "[fd00::1]"], &[]),
        ("10.1.2.3", &["10.1.2.3"], &["10.1.2.30", "10.1.2.3.example.com"]),
        ("10.0.0.0/8", &["10.1.2.3"], &["11.1.2.3", "[fd00::1]"]),
        ("fd00::/8", &["[fd12::1]"], &["[fe80::1]", "10.1.2.3"]),
        ("fd00::1", &["[fd00::1]"], &["[fd00::2]"]),
        // In brackets, as in a URL: hyper-util.
        ("[fd00::1]", &["[fd00::1]"], &["[fd00::2]"]),
        ("10.0.0.0/33", &[], &["10.0.0.1"]),
        (".", &[], &["example.com"]),
        (" a.test ,, .b.test,c.test ", &["a.test", "x.b.test", "c.test"], &["d.test"]),
    ];

    #[test]
    fn named_hosts_and_this_machine_are_asked_directly() {
        for (entries, direct, proxied) in NO_PROXY {
            let variables = [("HTTPS_PROXY", "a:1"), ("NO_PROXY", entries)];
            for host in direct {
                check(&variables, &format!("https://{host}"), None);
            }
            for host in proxied {
                check(&variables, &format!("https://{host}"), Some("a:1"));
            }
        }
    }

    #[test]
    fn credentials_are_sent_and_never_shown() {
        let proxies = proxies(&[("HTTPS_PROXY", "http://me:p%40ss@a:1")]);
        let proxy = proxies.https.as_ref().unwrap().as_ref().unwrap();
        let ProxyProtocol::Http(http) = &proxy.protocol else { panic!("expected HTTP") };
        assert_eq!(http.credentials.as_deref(), Some("Basic bWU6cEBzcw=="));
        assert!(!format!("{proxies:?}").contains("bWU6"));
    }

    #[test]
    fn socks_is_spoken_to_those_who_have_it_for_a_scheme() {
        for (url, address, names, expected) in [
            ("socks5://a", "a:1080", Names::Here, None),
            ("SOCKS5H://a:9", "a:9", Names::AtProxy, None),
            ("socks5://me:p%40s%3As@a", "a:1080", Names::Here, Some(("me", "p@s:s"))),
            ("socks5h://me@[::1]:9", "::1:9", Names::AtProxy, Some(("me", ""))),
        ] {
            let proxies = proxies(&[("ALL_PROXY", url)]);
            let proxy = proxies.http.as_ref().unwrap().as_ref().unwrap();
            let ProxyProtocol::Socks(socks) = &proxy.protocol else {
                panic!("expected SOCKS: {url}")
            };
            let found = format!("{}:{}", proxy.address.host(), proxy.address.port());
            assert_eq!((&*found, socks.names), (address, names), "{url}");
            let login = socks.login.as_ref().map(|it| (&*it.user, &*it.password));
            assert_eq!(login, expected, "{url}");
            assert!(!format!("{proxies:?}").contains("p@s"), "{url}");
        }
    }

    #[test]
    fn a_proxy_may_want_tls() {
        check(&[("HTTPS_PROXY", "https://a:3129")], "https://api.example.com", Some("a:3129"));
        check(&[("HTTPS_PROXY", "https://a")], "https://api.example.com", Some("a"));
    }

    #[test]
    fn a_proxy_that_cannot_be_used_is_not_gone_around() {
        let address = Address::of(&"https://api.example.com".parse().unwrap()).unwrap();
        for url in ["socks4://me:secret@a:1", "ftp://me:secret@a:1", "http://me:secret@ a"] {
            let proxies = proxies(&[("HTTPS_PROXY", url)]);
            let error = proxies.for_address(&address).unwrap_err().to_string();
            assert!(error.contains("HTTPS_PROXY") && !error.contains("secret"), "{error}");
            assert!(!format!("{proxies:?}").contains("secret"));
        }
    }
}
