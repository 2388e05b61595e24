//! Hosts and origins as requests name them, read so that no two readers could take one for two different hosts: a name, an
//! IPv4 address or an IPv6 address in brackets, a port of digits, and nothing else.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host with its port, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Authority<'t> {
    host: Host<'t>,
    port: Option<u16>,
}

/// Where a web page comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin<'t> {
    scheme: &'t str,
    authority: Authority<'t>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host<'t> {
    Name(&'t str),
    Address(IpAddr),
}

/// The port of plain HTTP, which a host need not name.
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// No name in the DNS is longer.
const NAME_BYTES_MAX: usize = 253;

impl<'t> Authority<'t> {
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let (host, behind) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, behind) = rest.split_once(']')?;
                (Host::Address(address.parse::<Ipv6Addr>().ok()?.into()), behind)
            }
            None => {
                let (host, behind) = text.split_at(text.find(':').unwrap_or(text.len()));
                let address = host.parse::<Ipv4Addr>().map(|it| Host::Address(it.into()));
                (address.ok().or_else(|| is_name(host).then_some(Host::Name(host)))?, behind)
            }
        };
        let port = match behind {
            "" => None,
            _ => Some(port(behind.strip_prefix(':')?)?),
        };
        Some(Self { host, port })
    }

    /// Whether both name one server of plain HTTP.
    pub(crate) fn is_same(&self, other: &Authority<'_>) -> bool {
        self.has_host_of(other) && self.port.unwrap_or(HTTP_PORT) == other.port.unwrap_or(HTTP_PORT)
    }

    /// Whether a host that an operator allows, with one port or with any, is this one.
    pub(crate) fn is_covered_by(&self, allowed: &Authority<'_>) -> bool {
        match allowed.port {
            Some(_) => self.is_same(allowed),
            None => self.has_host_of(allowed),
        }
    }

    pub(crate) fn has_address(&self, address: IpAddr) -> bool {
        self.host == Host::Address(address)
    }

    /// Whether it is this machine's own by its very name.
    pub(crate) fn is_loopback(&self) -> bool {
        match self.host {
            Host::Address(address) => address.is_loopback(),
            Host::Name(name) => {
                let last = name.rsplit('.').next().unwrap_or_default();
                last.eq_ignore_ascii_case("localhost")
            }
        }
    }

    fn has_host_of(&self, other: &Authority<'_>) -> bool {
        match (self.host, other.host) {
            (Host::Name(name), Host::Name(other)) => name.eq_ignore_ascii_case(other),
            (Host::Address(address), Host::Address(other)) => address == other,
            (Host::Name(_), Host::Address(_)) | (Host::Address(_), Host::Name(_)) => false,
        }
    }
}

/// Labels of letters, digits, `-` and `_`. What browsers would take for a number that is an IPv4 address is no name.
fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_label = |label: &str| !label.is_empty() && label.bytes().all(fits);
    let last = text.rsplit('.').next().unwrap_or_default();
    let is_decimal = last.bytes().all(|byte| byte.is_ascii_digit());
    let is_hex = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    text.len() <= NAME_BYTES_MAX
        && text.split('.').all(is_label)
        && !is_decimal
        && !is_hex.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A port in digits and nothing else: the standard library would take a sign before them.
fn port(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

impl<'t> Origin<'t> {
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let is_scheme =
            scheme.starts_with(|it: char| it.is_ascii_alphabetic()) && scheme.bytes().all(fits);
        let authority = Authority::parse(authority).filter(|_| is_scheme)?;
        Some(Self { scheme, authority })
    }

    pub(crate) fn is_same(&self, other: &Origin<'_>) -> bool {
        self.scheme.eq_ignore_ascii_case(other.scheme)
            && self.authority.has_host_of(&other.authority)
            && self.port() == other.port()
    }

    fn port(&self) -> Option<u16> {
        let own = match self.scheme.to_ascii_lowercase().as_str() {
            "http" => Some(HTTP_PORT),
            "https" => Some(HTTPS_PORT),
            _ => None,
        };
        self.authority.port.or(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_has_many_names_and_no_others() {
        for (host, is_loopback) in [
            ("localhost", Some(true)),
            ("LOCALHOST:4747", Some(true)),
            ("a.localhost", Some(true)),
            ("A.B.LocalHost:1", Some(true)),
            ("127.0.0.1", Some(true)),
            ("127.9.9.9:65535", Some(true)),
            ("[::1]", Some(true)),
            ("[0:0:0:0:0:0:0:1]:4747", Some(true)),
            ("evil.com", Some(false)),
            ("localhost.evil.com", Some(false)),
            ("127.0.0.1.nip.io", Some(false)),
            ("notlocalhost", Some(false)),
            ("localhost-evil", Some(false)),
            ("evil-localhost", Some(false)),
            ("128.0.0.1", Some(false)),
            ("0.0.0.0", Some(false)),
            ("[::]", Some(false)),
            // No client needs it for this machine, and other readers take it for another address.
            ("[::ffff:127.0.0.1]", Some(false)),
        ] {
            let found = Authority::parse(host).map(|it| it.is_loopback());
            assert_eq!(found, is_loopback, "{host}");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_no_host() {
        for host in [
            "",
            ":",
            ":80",
            "[::1]evil.com",
            "[::1].evil.com",
            "[::1]:80evil",
            "[::1]:",
            "[::1",
            "::1",
            "[]",
            "[localhost]",
            "[127.0.0.1]",
            "[::1%lo]",
            "[::1%25lo]",
            "[fe80::1%eth0]:80",
            "[v1.localhost]",
            "127.0.0.1:80@evil.com",
            "localhost@evil.com",
            "evil.com@localhost",
            "user:password@localhost",
            "evil.com/.localhost",
            "evil.com/localhost",
            "evil.com?.localhost",
            "evil.com#.localhost",
            "evil.com\\.localhost",
            "evil.com\t.localhost",
            "evil.com .localhost",
            "evil.com,localhost",
            "evil.com;.localhost",
            "evil.com:80:localhost",
            "evil.com%2f.localhost",
            "evil.com%00.localhost",
            "loc%61lhost",
            "localhost%20",
            "localhost.",
            "localhost..",
            ".localhost",
            "a..localhost",
            "..localhost",
            "localhost:",
            "localhost:-1",
            "localhost:+80",
            "localhost:0x50",
            "localhost:80 ",
            "localhost:65536",
            "localhost:999999999999",
            "localhost:80/",
            "http://localhost",
            "//localhost",
            "*",
            "*.localhost",
            "löcalhost",
            "localhoſt",
            "ｌｏｃａｌｈｏｓｔ",
            "127。0。0。1",
            "127.0.0.1.",
            "127.0.0.01",
            "127.0.0.256",
            "127.1",
            "0x7f.1",
            "0x7f000001",
            "0177.0.0.1",
            "2130706433",
            "1.2.3",
            "evil.com.0x7f",
        ] {
            assert_eq!(Authority::parse(host), None, "{host:?}");
        }
        assert_eq!(Authority::parse(&"a".repeat(NAME_BYTES_MAX + 1)), None);
    }

    #[test]
    fn hosts_are_the_same_whatever_their_case_and_the_port_that_goes_without_saying() {
        let is_same = |one, other| match (Authority::parse(one), Authority::parse(other)) {
            (Some(one), Some(other)) => one.is_same(&other),
            _ => false,
        };
        assert!(is_same("Sabir.Example", "sabir.example:80"));
        assert!(is_same("[::1]:80", "[0:0::1]"));
        assert!(!is_same("sabir.example", "sabir.example:4747"));
        assert!(!is_same("sabir.example", "sabir.example.com"));
        let covers = |allowed, host| match (Authority::parse(host), Authority::parse(allowed)) {
            (Some(host), Some(allowed)) => host.is_covered_by(&allowed),
            _ => false,
        };
        assert!(covers("box", "BOX:1") && covers("box:4747", "box:4747"));
        assert!(!covers("box:4747", "box") && !covers("box", "box.evil.com"));
    }

    #[test]
    fn origins_have_a_scheme_a_host_and_nothing_behind_it() {
        let is_same = |one, other| match (Origin::parse(one), Origin::parse(other)) {
            (Some(one), Some(other)) => one.is_same(&other),
            _ => false,
        };
        assert!(is_same("https://app.example", "HTTPS://App.Example:443"));
        assert!(is_same("chrome-extension://abcdef", "chrome-extension://abcdef"));
        assert!(!is_same("https://app.example", "http://app.example"));
        assert!(!is_same("https://app.example", "https://app.example:444"));
        for origin in [
            "",
            "null",
            "https://",
            "https://app.example/",
            "https://app.example@evil.com",
            "https://evil.com/https://app.example",
            "https://app.example.",
            "https:app.example",
            "://app.example",
            "https ://app.example",
            "https://app.example https://evil.com",
            "https://app.example, https://evil.com",
        ] {
            assert_eq!(Origin::parse(origin), None, "{origin:?}");
        }
    }
}
