//! The entries of `NO_PROXY`: hosts that are asked without a proxy. The cases are in a table among the tests of `proxy`.

use std::net::IpAddr;

/// One entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Direct {
    Everything,
    /// A name and all names below it, at one port or at any.
    Name {
        name: String,
        port: Option<u16>,
    },
    /// A number, or the numbers that begin like it.
    Numbers {
        first: IpAddr,
        bits: u8,
        port: Option<u16>,
    },
}

impl Direct {
    /// Reads an entry: `*`, `name`, `.name`, `*.name`, a number or a range such as `10.0.0.0/8`, all but the first
    /// with a port if need be.
    pub(super) fn parse(entry: &str) -> Option<Self> {
        let entry = entry.trim().to_lowercase();
        if entry == "*" {
            return Some(Self::Everything);
        }
        if let Some(numbers) = Self::numbers(&entry, None) {
            return Some(numbers);
        }
        let (host, port) = match entry.rsplit_once(':') {
            Some((host, port)) => (host, Some(port.parse().ok()?)),
            None => (entry.as_str(), None),
        };
        let name = host.trim_start_matches("*.").trim_start_matches('.').trim_end_matches('.');
        let named = || (!name.is_empty()).then(|| Self::Name { name: name.to_owned(), port });
        Self::numbers(host, port).or_else(named)
    }

    fn numbers(text: &str, port: Option<u16>) -> Option<Self> {
        let (number, bits) = match text.split_once('/') {
            Some((number, bits)) => (number, Some(bits.parse::<u8>().ok()?)),
            None => (text, None),
        };
        let first: IpAddr = number.trim_matches(['[', ']']).parse().ok()?;
        let most = if first.is_ipv4() { 32 } else { 128 };
        let bits = bits.unwrap_or(most);
        (bits <= most).then_some(Self::Numbers { first, bits, port })
    }

    /// Whether a host, in lower case and without brackets, is asked directly.
    pub(super) fn matches(&self, host: &str, at: u16) -> bool {
        match self {
            Self::Everything => true,
            Self::Name { name, port } => {
                let rest = host.trim_end_matches('.').strip_suffix(name.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
                    && port.is_none_or(|port| port == at)
            }
            Self::Numbers { first, bits, port } => {
                host.parse().is_ok_and(|ip| begin_alike(*first, ip, *bits))
                    && port.is_none_or(|port| port == at)
            }
        }
    }
}

fn begin_alike(one: IpAddr, other: IpAddr, bits: u8) -> bool {
    let differ = match (one, other) {
        (IpAddr::V4(one), IpAddr::V4(other)) => u128::from(one.to_bits() ^ other.to_bits()) << 96,
        (IpAddr::V6(one), IpAddr::V6(other)) => one.to_bits() ^ other.to_bits(),
        _ => return false,
    };
    differ.leading_zeros() >= u32::from(bits)
}
