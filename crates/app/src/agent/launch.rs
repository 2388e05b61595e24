//! What an agent CLI is started with: arguments, and variables to set and to leave out.

use std::env;
use std::path::PathBuf;

/// How to start an agent CLI. It holds a key and hence cannot be printed.
#[derive(Default)]
pub(crate) struct Launch {
    /// Arguments that go before the user's own, whose later word counts.
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(&'static str, String)>,
    /// Variables that would lead the CLI elsewhere.
    pub(crate) removed: Vec<&'static str>,
    /// A private file that is of no use once the gateway has gone: it names the gateway's address.
    pub(crate) file: Option<PathBuf>,
}

impl Launch {
    pub(crate) fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.variables.push((name, value.into()));
    }

    pub(crate) fn remove(&mut self, names: &[&'static str]) {
        self.removed.extend_from_slice(names);
    }

    /// Keeps the way to the gateway off the user's proxy, which could not reach this machine's own address.
    pub(crate) fn past_proxy(&mut self, host: &str) {
        for (proxies, exceptions) in [
            (["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"], "NO_PROXY"),
            (["http_proxy", "https_proxy", "all_proxy"], "no_proxy"),
        ] {
            if proxies.iter().any(|name| env::var_os(name).is_some()) {
                self.set(exceptions, excepting(env::var(exceptions).ok(), host));
            }
        }
    }
}

/// A list of exceptions with this host in it.
fn excepting(list: Option<String>, host: &str) -> String {
    match list {
        Some(list) if list.split(',').any(|it| matches!(it.trim(), "*") || it.trim() == host) => {
            list
        }
        Some(list) if !list.trim().is_empty() => format!("{list},{host}"),
        _ => host.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: Option<&str>, expected: &str) {
        assert_eq!(excepting(list.map(str::to_owned), "127.0.0.1"), expected);
    }

    #[test]
    fn the_gateways_host_joins_the_users_own_exceptions_once() {
        check(None, "127.0.0.1");
        check(Some(""), "127.0.0.1");
        check(Some("a.example"), "a.example,127.0.0.1");
        check(Some("127.0.0.1, a.example"), "127.0.0.1, a.example");
        check(Some("*"), "*");
    }
}
